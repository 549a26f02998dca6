(function_statement (function_name) @name) @definition.function
(class_statement . (simple_name) @name) @definition.class
(class_method_definition (simple_name) @name) @definition.method
(class_property_definition (variable) @name) @definition.field
(enum_statement . (simple_name) @name) @definition.enum
(enum_member . (simple_name) @name) @definition.enum_member
(program (statement_list (pipeline (assignment_expression
  (left_assignment_expression) @name (#match? @name "^\\$[A-Za-z_]+$"))) @definition.constant))

(command
  command_name: (command_name) @_load
  command_elements: (command_elements (generic_token) @import .)
  (#any-of? @_load "using" "Import-Module"))
