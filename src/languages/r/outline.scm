(binary_operator lhs: [(identifier) (string)] @name operator: ["<-" "<<-" "="] rhs: (function_definition)) @definition.function
(binary_operator
  lhs: (identifier) @name
  rhs: (call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)])
  (#any-of? @_class "R6Class" "setRefClass" "new_class")) @definition.class
(call
  function: (identifier) @_set
  arguments: (arguments . (argument value: (string) @name))
  (#any-of? @_set "setClass" "setRefClass")) @definition.class
(call
  function: (identifier) @_set
  arguments: (arguments . (argument value: (string) @name))
  (#any-of? @_set "setGeneric" "setMethod" "setReplaceMethod" "setValidity")) @definition.function
(argument name: (identifier) @name value: (function_definition)) @definition.method
(program (binary_operator lhs: (identifier) @name operator: ["<-" "="] rhs: (_)) @definition.constant)

(call
  function: (identifier) @_load
  arguments: (arguments . (argument value: [(identifier) (string)] @import))
  (#any-of? @_load "library" "require" "requireNamespace" "source"))
