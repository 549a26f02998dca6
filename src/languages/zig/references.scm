; The captures are explained in rust/references.scm.
(call_expression function: (_) @call)
(call_expression (identifier) @name)
(struct_initializer . (_) @call)
(parameter type: (identifier) @type)
(parameter name: (_) @binding type: (_) @is)
(variable_declaration
  (identifier) @import.alias
  (builtin_function (builtin_identifier) @_import (arguments (string) @import.module))
  (#eq? @_import "@import"))
