(class_declaration name: (_) @name) @definition.class
(record_declaration name: (_) @name) @definition.class
(record_declaration (parameter_list (parameter name: (_) @name) @definition.field))
(struct_declaration name: (_) @name) @definition.struct
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(enum_member_declaration name: (_) @name) @definition.enum_member
(delegate_declaration name: (_) @name) @definition.type

(method_declaration name: (_) @name body: (_)) @definition.method
(method_declaration name: (_) @name !body) @prototype.method
(constructor_declaration name: (_) @name) @definition.method
(destructor_declaration name: (_) @name) @definition.method
(operator_declaration operator: _ @name) @definition.method
(conversion_operator_declaration type: (_) @name) @definition.method
(local_function_statement name: (_) @name) @definition.function

(property_declaration name: (_) @name) @definition.field
(indexer_declaration "this" @name) @definition.field
(event_declaration name: (_) @name) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field

(using_directive !name (identifier) @import)
(using_directive [(qualified_name) (alias_qualified_name)] @import)
