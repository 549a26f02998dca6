(class_definition name: (_) @name) @definition.class
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (_) @name) @definition.field))
(class_parameter ["val" "var"] name: (_) @name) @definition.field
(object_definition name: (_) @name) @definition.class
(package_object name: (_) @name) @definition.module
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(simple_enum_case name: (_) @name) @definition.enum_member
(full_enum_case name: (_) @name) @definition.enum_member
(type_definition name: (_) @name) @definition.type
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @prototype.function
(given_definition name: (_) @name) @definition.impl
(given_definition !name . return_type: (_) @name) @definition.impl
(extension_definition parameters: (parameters (parameter type: (_) @name))) @definition.impl

(template_body [
  (val_definition pattern: (identifier) @name)
  (var_definition pattern: (identifier) @name)
  (val_declaration name: (_) @name)
  (var_declaration name: (_) @name)
] @definition.field)
(val_definition pattern: (identifier) @name) @definition.constant
(val_definition pattern: (tuple_pattern (identifier) @name)) @definition.constant
(var_definition pattern: (identifier) @name) @definition.constant

; Values are declared as local ones are: these bodies have no name.
[(block) (indented_block) (lambda_expression) (case_block)] @scope
(import_declaration) @import
