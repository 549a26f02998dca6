(module name: (_) @name) @definition.module
(class name: (_) @name) @definition.class
(method name: (_) @name) @definition.function
(singleton_method name: (_) @name) @definition.method
(assignment left: (constant) @name) @definition.constant
(assignment left: (scope_resolution) @name) @definition.constant
(assignment left: (class_variable) @name) @definition.field
(call
  method: (identifier) @_attr
  arguments: (argument_list [(simple_symbol) (string)] @name @definition.field)
  (#match? @_attr "^[mc]?attr(_[a-z]+)?$"))
(call
  !receiver
  method: (identifier) @_define
  arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_define "define_method" "define_singleton_method")) @definition.method

(call method: (identifier) @_require arguments: (argument_list . (string) @import)
  (#any-of? @_require "require" "require_relative" "load"))
(call method: (identifier) @_autoload arguments: (argument_list (_) . (string) @import) (#eq? @_autoload "autoload"))
