; The captures are explained in rust/references.scm.
(function_call name: (_) @call)
(arguments (identifier) @name)
(field value: (identifier) @name)
(variable_declaration
  (assignment_statement
    (variable_list name: (identifier) @import.alias)
    (expression_list value: (function_call name: (identifier) @_require arguments: (arguments (string content: (_) @import.module)))))
  (#eq? @_require "require"))
(parameters (identifier) @local)
(function_declaration parameters: (_) @parameters)
