; The captures are explained in python/routes.scm.
; ktor: `route("/x") { get("/y") { … } }`
(call_expression . (simple_identifier) @method
  (call_suffix (value_arguments . (value_argument . (_) @path .) .) (annotated_lambda))
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "ktor")) @route
(call_expression . (simple_identifier) @_route
  (call_suffix (value_arguments . (value_argument . (_) @prefix .) .) (annotated_lambda) @scope)
  (#eq? @_route "route"))
; `fun Route.users() { … }` answers where it is called
(function_declaration receiver: (receiver_type) @_type (simple_identifier) @name
  (#match? @_type "^(Route|Routing)$") (#set! part "1")) @define
(call_expression . (simple_identifier) @mount (call_suffix (value_arguments))
  (#match? @mount "(Route|Routes|Routing|Api|Endpoints)$"))
