(module_definition (module_binding (module_name) @name)) @definition.module
(module_type_definition (module_type_name) @name) @definition.interface
(type_definition (type_binding name: (_) @name body: (record_declaration)) @definition.struct)
(type_definition (type_binding name: (_) @name body: (variant_declaration)) @definition.enum)
(type_definition (type_binding name: (_) @name) @definition.type)
(variant_declaration (constructor_declaration (constructor_name) @name) @definition.enum_member)
(record_declaration (field_declaration (field_name) @name) @definition.field)
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.struct
(class_definition (class_binding (class_name) @name)) @definition.class
(method_definition (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.field
(value_definition (let_binding pattern: (value_name) @name (parameter))) @definition.function
(value_definition (let_binding pattern: (value_name) @name body: [(function_expression) (fun_expression)])) @definition.function
(value_definition (let_binding pattern: (value_name) @name)) @definition.constant
(value_specification (value_name) @name) @prototype.function
(external (value_name) @name) @prototype.function

(fun_expression) @scope
(open_module module: (_) @import)
(include_module module: (_) @import)
