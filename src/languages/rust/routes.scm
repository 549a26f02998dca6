; The captures are explained in python/routes.scm.
; axum, actix: `.route("/x", get(f).post(g))`, `.route("/x", web::get().to(f))`
(call_expression function: (field_expression field: (field_identifier) @_route)
  arguments: (arguments . (_) @prefix . (_) @scope)
  (#eq? @_route "route") (#set! leaf "1"))
(call_expression function: [(identifier) @method (scoped_identifier name: (identifier) @method)]
  arguments: (arguments . (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options" "any")
  (#set! framework "axum") (#set! inside "1")) @route
(call_expression function: (field_expression field: (field_identifier) @method)
  arguments: (arguments . (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "axum") (#set! inside "1")) @route
(call_expression function: (field_expression
    value: (call_expression function: [(identifier) @method (scoped_identifier name: (identifier) @method)])
    field: (field_identifier) @_to)
  arguments: (arguments . (_) @handler .)
  (#any-of? @_to "to" "to_async") (#any-of? @method "get" "post" "put" "patch" "delete" "head" "route")
  (#set! framework "actix") (#set! inside "1")) @route
(call_expression function: (field_expression field: (field_identifier) @_nest)
  arguments: (arguments . (_) @prefix . (_) @scope)
  (#any-of? @_nest "nest" "nest_service"))
(call_expression function: (field_expression field: (field_identifier) @_nest)
  arguments: (arguments . (_)
    . [(identifier) (call_expression function: [(identifier) (scoped_identifier)])] @mount)
  (#eq? @_nest "nest"))
(call_expression function: (field_expression field: (field_identifier) @_merge)
  arguments: (arguments . [(identifier) (call_expression function: [(identifier) (scoped_identifier)])] @mount .)
  (#eq? @_merge "merge"))
(let_declaration pattern: (identifier) @name value: (_) @_value
  (#match? @_value "(Router|App)::new")) @define
(call_expression function: [(identifier) @_scope (scoped_identifier name: (identifier) @_scope)]
  arguments: (arguments . [(string_literal) (identifier) (scoped_identifier)] @prefix .)
  (#any-of? @_scope "scope" "resource") (#set! chain "1") (#set! leaf "1")) @scope
(call_expression function: (field_expression field: (field_identifier) @_service)
  arguments: (arguments . [(identifier) (scoped_identifier)] @mount .)
  (#any-of? @_service "service" "configure"))
; actix, rocket: `#[get("/x")] fn f()`
((attribute_item (attribute [(identifier) @method (scoped_identifier name: (identifier) @method)]
    arguments: (token_tree . (string_literal) @path))) @route
  . (attribute_item)* . (function_item name: (identifier) @handler)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "actix"))
(call_expression function: (field_expression field: (field_identifier) @_mount)
  arguments: (arguments . (string_literal) @prefix
    . (macro_invocation (token_tree (identifier) @mount)))
  (#eq? @_mount "mount"))
