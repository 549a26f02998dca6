(function_declaration name: (identifier) @name) @definition.function
(function_declaration name: (dot_index_expression table: (_) @receiver field: (_) @name)) @definition.function
(function_declaration name: (method_index_expression table: (_) @receiver method: (_) @name)) @definition.method
(assignment_statement
  (variable_list . name: (identifier) @name) (expression_list . value: (function_definition))) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @receiver field: (_) @name))
  (expression_list . value: (function_definition))) @definition.function
(field name: (identifier) @name value: (function_definition)) @definition.method
; What is required is an import, not a constant.
(assignment_statement
  (variable_list name: (identifier) @name) (expression_list . value: (_) @_value)
  (#not-match? @_value "^require\\b")) @definition.constant
(assignment_statement
  (variable_list . name: (dot_index_expression table: (identifier) @receiver field: (_) @name))
  (expression_list)) @definition.constant
(variable_declaration (variable_list name: (identifier) @name)) @definition.constant

(function_definition) @scope
(function_call name: (_) @_require arguments: (arguments . (string (string_content) @import)) (#any-of? @_require "require" "dofile"))
