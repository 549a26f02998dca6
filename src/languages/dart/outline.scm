(class_declaration name: (identifier) @name) @definition.class
(mixin_declaration name: (identifier) @name) @definition.trait
(extension_declaration name: (identifier) @name) @definition.impl
(enum_declaration name: (identifier) @name) @definition.enum
(enum_entry name: (identifier) @name) @definition.enum_member
(type_alias . (type_identifier) @name) @definition.type
(function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(local_function_declaration (function_signature name: (identifier) @name)) @definition.function
(method_declaration signature: (method_signature [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (constructor_signature name: (identifier) @name .)
  (constructor_signature name: (identifier) @name . parameters: (_))
  (factory_constructor_signature name: (identifier) @name . parameters: (_))
  (operator_signature operator: (_) @name)])) @definition.method
(declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
  (constructor_signature name: (identifier) @name . parameters: (_))]) @prototype.method
(declaration (initialized_identifier_list (initialized_identifier name: (identifier) @name))) @definition.field
(top_level_variable_declaration (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @definition.constant
(top_level_variable_declaration (initialized_identifier_list (initialized_identifier name: (identifier) @name))) @definition.constant

(function_expression) @scope
(import_specification uri: (_) @import)
