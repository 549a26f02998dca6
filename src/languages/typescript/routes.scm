; The captures are explained in python/routes.scm.
; nest
(call_expression function: (member_expression property: (property_identifier) @_global)
  arguments: (arguments . (string) @prefix)
  (#eq? @_global "setGlobalPrefix") (#set! global "nest"))
(class_declaration
  decorator: (decorator (call_expression function: (identifier) @_controller arguments: (arguments . (string) @prefix)))
  body: (_) @scope
  (#eq? @_controller "Controller"))
(export_statement
  decorator: (decorator (call_expression function: (identifier) @_controller arguments: (arguments . (string) @prefix)))
  declaration: (class_declaration body: (_) @scope)
  (#eq? @_controller "Controller"))
(class_body
  (decorator (call_expression function: (identifier) @method arguments: (arguments . (string)? @path))) @route
  . (decorator)* . (method_definition name: (_) @handler)
  (#any-of? @method "Get" "Post" "Put" "Patch" "Delete" "All" "Head" "Options")
  (#set! framework "nest"))
