; The captures are explained in rust/references.scm.
(command command_name: (command_name) @call.word)
(invokation_expression (type_literal (type_spec (type_name) @receiver)) . (member_name (simple_name) @call))
(invokation_expression [(variable) (member_access) (invokation_expression)] @receiver . (member_name (simple_name) @call))
(type_identifier) @type

(command
  command_name: (command_name) @_load
  command_elements: (command_elements (generic_token) @import.module .)
  (#any-of? @_load "using" "Import-Module"))

(class_statement (simple_name) . (simple_name) @base)
(script_parameter (variable) @local)
