; The captures are explained in rust/references.scm.
(call !receiver method: (_) @call)
(call receiver: (_) @receiver method: (_) @call)
(constant) @type
; Without arguments a call looks like a variable.
(body_statement (identifier) @call)
(argument_list (identifier) @name)
(assignment left: (identifier) @binding right: (_) @from)
(assignment left: (instance_variable) @field right: (_) @from)
(method_parameters (identifier) @local)
(optional_parameter name: (_) @local)
(keyword_parameter name: (_) @local)
(block_parameters (identifier) @local)
(superclass (_) @base)
(call method: (identifier) @_include arguments: (argument_list (_) @base) (#any-of? @_include "include" "extend" "prepend"))
(call method: (identifier) @_require arguments: (argument_list (string (string_content) @import.module))
  (#any-of? @_require "require" "require_relative" "load"))
(method parameters: (_) @parameters)
