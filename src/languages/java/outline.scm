(class_declaration name: (_) @name) @definition.class
(record_declaration name: (_) @name) @definition.class
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @definition.field))
(interface_declaration name: (_) @name) @definition.interface
(annotation_type_declaration name: (_) @name) @definition.interface
(annotation_type_element_declaration name: (_) @name) @prototype.method
(enum_declaration name: (_) @name) @definition.enum
(enum_constant name: (_) @name) @definition.enum_member
(constructor_declaration name: (_) @name) @definition.method
(compact_constructor_declaration name: (_) @name) @definition.method
(method_declaration name: (_) @name body: (_)) @definition.method
(method_declaration name: (_) @name !body) @prototype.method
(field_declaration declarator: (variable_declarator name: (_) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant

(lambda_expression) @scope
(import_declaration [(scoped_identifier) (identifier)] @import)
