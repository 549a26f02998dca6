(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(trait_declaration name: (_) @name) @definition.trait
(enum_declaration name: (_) @name) @definition.enum
(enum_case name: (_) @name) @definition.enum_member
(function_definition name: (_) @name) @definition.function
(method_declaration name: (_) @name body: (_)) @definition.method
(method_declaration name: (_) @name !body) @prototype.method
(property_declaration (property_element name: (variable_name (name) @name))) @definition.field
(const_declaration (const_element . (name) @name)) @definition.constant
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @definition.constant

[(anonymous_function) (arrow_function)] @scope
(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @import))
; use A\{B, C}: the whole statement.
(namespace_use_declaration body: (namespace_use_group)) @import
([
  (require_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (require_once_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (include_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (include_once_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
])
