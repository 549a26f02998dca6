; Beside ecmascript.scm; TSX has the same rules.
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
(public_field_definition name: (_) @name) @definition.field

(function_signature name: (_) @name) @prototype.function
(abstract_class_declaration name: (_) @name) @definition.class
(abstract_method_signature name: (_) @name) @prototype.method
(class_body (method_signature name: (_) @name) @prototype.method)
(interface_declaration name: (_) @name) @definition.interface
(interface_body [(method_signature name: (_) @name) (property_signature name: (_) @name type: (type_annotation (function_type)))] @prototype.method)
(interface_body (property_signature name: (_) @name) @definition.field)
(type_alias_declaration name: (_) @name) @definition.type
(type_alias_declaration value: (object_type (method_signature name: (_) @name) @prototype.method))
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))
(enum_declaration name: (_) @name) @definition.enum
(enum_body name: (_) @name @definition.enum_member)
(enum_assignment name: (_) @name) @definition.enum_member
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(import_require_clause source: (_) @import)
