; The captures are explained in python/routes.scm.
; express, fastify, hono, koa-router: `router.get("/x", handler)`
(call_expression
  function: (member_expression object: (_) @router property: (property_identifier) @method)
  arguments: (arguments . [(string) (template_string)] @path (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "del" "all" "head" "options")
  (#match? @router "([aA]pp|[rR]outer|[sS]erver|[fF]astify|[aA]pi|[rR]outes?|Hono\\(.*\\))$")
  (#not-match? @handler "^\\{")
  (#set! framework "express")) @route
; the same with any name, if it is known to hold a router: `const users = Router()`
(call_expression
  function: (member_expression object: (identifier) @router property: (property_identifier) @method)
  arguments: (arguments . [(string) (template_string)] @path (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "del" "all" "head" "options")
  (#not-match? @handler "^\\{")
  (#set! framework "express") (#set! defined "1")) @route
; `router.route("/x").get(handler)`
(call_expression function: (member_expression property: (property_identifier) @_route)
  arguments: (arguments . (string) @prefix .)
  (#eq? @_route "route") (#set! chain "1") (#set! leaf "1")) @scope
(call_expression
  function: (member_expression object: (call_expression) property: (property_identifier) @method)
  arguments: (arguments . [(identifier) (member_expression) (arrow_function) (function_expression) (call_expression)] . [(identifier) (member_expression) (arrow_function) (function_expression) (call_expression)]? @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "all")
  (#set! framework "express") (#set! inside "1")) @route
(call_expression
  function: (member_expression object: (call_expression) property: (property_identifier) @method)
  arguments: (arguments [(identifier) (member_expression) (arrow_function) (function_expression) (call_expression)] @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "all")
  (#set! framework "express") (#set! inside "1")) @route
; fastify: `fastify.route({ method: "GET", url: "/x", handler })`
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_route)
  arguments: (arguments . (object
    (pair key: (property_identifier) @_url value: (string) @path)
    (pair key: (property_identifier) @_handler value: (_) @handler)) .)
  (#eq? @_route "route") (#any-of? @_url "url" "path") (#eq? @_handler "handler")
  (#set! framework "express") (#set! methods "method")) @route
; mounts; koa: `app.use(router.routes())`
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . (call_expression
    function: (member_expression object: (_) @mount property: (property_identifier) @_routes)) .)
  (#eq? @_use "use") (#eq? @_routes "routes"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . (string) @prefix [(identifier) (member_expression) (call_expression)] @mount .)
  (#any-of? @_use "use" "route"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . [(identifier) (member_expression)] @mount .)
  (#any-of? @_use "use" "register"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . (string) @prefix
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @mount)) .)
  (#eq? @_use "use") (#eq? @_require "require"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments
    . (call_expression function: (identifier) @_require arguments: (arguments . (string) @mount)) .)
  (#eq? @_use "use") (#eq? @_require "require"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . (_) @mount . (object (pair key: (property_identifier) @_prefix value: (string) @prefix)))
  (#eq? @_use "register") (#eq? @_prefix "prefix"))
(variable_declarator name: (identifier) @name value: (_) @_value
  (#match? @_value "^(new )?(express\\.|\\w+\\.)?Router\\(|require\\(['\"]express['\"]\\)\\.Router\\(") (#set! part "1") (#set! prefix "prefix")) @define
(variable_declarator name: (identifier) @name value: (_) @_value
  (#match? @_value "^(express|fastify|Fastify)\\(|^new (Hono|OpenAPIHono|Koa)\\(")) @define
