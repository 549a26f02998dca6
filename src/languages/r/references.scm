; The captures are explained in rust/references.scm.
(call function: (identifier) @call)
(call function: (namespace_operator rhs: (identifier) @call))
(call function: (extract_operator lhs: (_) @receiver rhs: (identifier) @call))
(argument value: (identifier) @name)
(braced_expression (identifier) @name)

(call
  function: (identifier) @_load
  arguments: (arguments . (argument value: [(identifier) (string)] @import.module))
  (#any-of? @_load "library" "require" "requireNamespace" "source"))

(parameter name: (identifier) @local)
(braced_expression (binary_operator lhs: (identifier) @binding rhs: (_) @from))
(for_statement variable: (identifier) @local)
(function_definition parameters: (_) @parameters)
