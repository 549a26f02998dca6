; The captures are explained in python/routes.scm.
; express, fastify, hono, koa-router: `router.get("/x", handler)`
(call_expression
  function: (member_expression object: (_) @router property: (property_identifier) @method)
  arguments: (arguments . [(string) (template_string) (binary_expression)] @path (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "del" "all" "head" "options")
  (#set! framework "express")) @route
(call_expression
  function: (member_expression object: [(identifier) (member_expression)] @router property: (property_identifier) @method)
  arguments: (arguments . [(identifier) (member_expression)] @path (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "del" "all" "head" "options")
  (#set! framework "express")) @route
(call_expression
  function: (member_expression object: (_) @router property: (property_identifier) @method)
  arguments: (arguments . (array [(string) (template_string) (binary_expression) (identifier) (member_expression)] @path) (_) @handler .)
  (#any-of? @method "get" "post" "put" "patch" "delete" "del" "all" "head" "options")
  (#set! framework "express")) @route
; `router.route("/x").get(handler)`
(call_expression function: (member_expression property: (property_identifier) @_route)
  arguments: (arguments . (_) @prefix .)
  (#eq? @_route "route") (#not-match? @prefix "^\\{") (#set! chain "1") (#set! leaf "1")) @scope
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
    (pair key: (property_identifier) @_url value: (_) @path)
    (pair key: (property_identifier) @_handler value: (_) @handler)) .)
  (#eq? @_route "route") (#any-of? @_url "url" "path") (#eq? @_handler "handler")
  (#set! framework "express") (#set! methods "method")) @route
; mounts; koa: `app.use(router.routes())`
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . (call_expression
    function: (member_expression object: (_) @mount property: (property_identifier) @_routes)) .)
  (#eq? @_use "use") (#eq? @_routes "routes"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . [(string) (template_string) (binary_expression) (identifier) (member_expression)] @prefix [(identifier) (member_expression) (call_expression function: (identifier))] @mount .)
  (#any-of? @_use "use" "route"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . [(identifier) (member_expression) (call_expression function: (identifier))] @mount .)
  (#any-of? @_use "use" "register"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_use)
  arguments: (arguments . [(identifier) (member_expression) (call_expression function: (identifier))] @mount . (object) .)
  (#eq? @_use "register") (#set! prefix "prefix")) @route
; `require("./users")(app)`, `register(app)`
(call_expression function: (call_expression) @mount arguments: (arguments . (identifier) @router))
(call_expression function: [(identifier) (member_expression)] @mount arguments: (arguments . (identifier) @router)
  (#match? @router "^(app|router|server|fastify|instance)$") (#not-match? @mount "(use|register|listen|createServer|request|serve|inject)$"))
; routers
(variable_declarator name: (identifier) @name value: (_) @_value
  (#match? @_value "^(new )?(\\w+\\.)?(\\w*Router)\\(|^require\\(['\"](express|koa-router|@koa/router)['\"]\\)(\\.Router)?\\(") (#not-match? @_value "^(use|create\\w*Browser)|^require\\(['\"]express['\"]\\)\\(")
  (#set! framework "express") (#set! part "1") (#set! prefix "prefix")) @define
(variable_declarator name: (identifier) @name value: (_) @_value
  (#match? @_value "^(await )?(express|fastify|Fastify|restana|polka)\\(|^new (Hono|OpenAPIHono|Koa|Elysia)(<|\\()|^require\\(['\"](fastify|express)['\"]\\)\\(") (#not-match? @_value "\\.basePath\\(")
  (#set! framework "express")) @define
(assignment_expression left: [(identifier) (member_expression property: (property_identifier) @name)] right: (_) @_value
  (#match? @_value "^(express|fastify|Fastify)\\(|^new (Hono|OpenAPIHono)\\(") (#set! framework "express")) @define
(assignment_expression left: [(identifier) (member_expression property: (property_identifier) @name)] right: (_) @_value
  (#match? @_value "^(express\\.)?Router\\(") (#set! framework "express") (#set! part "1")) @define
; hono: `const api = new Hono().basePath("/api")`
(variable_declarator name: (identifier) @name
  value: (call_expression
    function: (member_expression object: (new_expression constructor: (identifier) @_class) property: (property_identifier) @_base)
    arguments: (arguments . (_) @prefix .))
  (#match? @_class "Hono$") (#eq? @_base "basePath") (#set! framework "express")) @define
(variable_declarator name: (identifier) @name value: (call_expression
  function: (member_expression object: (identifier) property: (property_identifier) @_base)) @group
  (#eq? @_base "basePath")) @define
; the parameter of a function to which a router is given
(formal_parameters . (_) @name @define
  (#match? @name "^app\\b"))
(formal_parameters . (_) @name @define
  (#match? @name "^(router|fastify|instance)\\b") (#set! part "1"))
(arrow_function parameter: (identifier) @name @define
  (#eq? @name "app"))
(arrow_function parameter: (identifier) @name @define
  (#match? @name "^(router|fastify|instance)$") (#set! part "1"))
; fastify: `app.register(plugin, { prefix: "/x" })`, where the plugin is a function
(function_declaration name: (identifier) @plugin parameters: (formal_parameters . (_) @name @define)
  (#set! part "1"))
(variable_declarator name: (identifier) @plugin
  value: [(arrow_function parameters: (formal_parameters . (_) @name @define)) (function_expression parameters: (formal_parameters . (_) @name @define))]
  (#set! part "1"))
(call_expression function: (member_expression object: (_) @router property: (property_identifier) @_register)
  arguments: (arguments . [
    (arrow_function parameters: (formal_parameters . (_) @name @define))
    (function_expression parameters: (formal_parameters . (_) @name @define))
    (arrow_function parameter: (identifier) @name @define)])
  (#eq? @_register "register") (#set! prefix "prefix")) @route
