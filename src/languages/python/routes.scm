; Captures: @route is a registration with its @method, @path and @handler, on a @router. The routes
; within a @scope have its @prefix (with `chain`, those in the rest of the chain of calls). @define
; gives a router its @name, and maybe a @prefix and the @router that it is a part of; a `part` answers
; only when it is mounted. @mount is a router, function or module whose routes get the @prefix.
; A @resource stands for the routes in the table of `actions`.
; `methods`, `path` and `prefix` name the option of the registration that holds them.

; flask
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @_route)
    arguments: (argument_list . (string) @path)) @route)
  definition: (function_definition name: (identifier) @handler)
  (#eq? @_route "route") (#set! framework "flask") (#set! method "GET") (#set! methods "methods"))
(call
  function: (attribute object: (_) @router attribute: (identifier) @_add)
  arguments: (argument_list . (string) @path
    (keyword_argument name: (identifier) @_view value: (_) @handler))
  (#eq? @_add "add_url_rule") (#eq? @_view "view_func")
  (#set! framework "flask") (#set! method "GET") (#set! methods "methods")) @route
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "Blueprint$") (#set! prefix "url_prefix") (#set! part "1"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "^(flask\\.)?Flask$"))
((call function: (attribute object: (_) @router attribute: (identifier) @_register)
  arguments: (argument_list . (_) @mount)) @route
  (#eq? @_register "register_blueprint") (#set! prefix "url_prefix"))

; fastapi
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @method)
    arguments: (argument_list . (string) @path)) @route)
  definition: (function_definition name: (identifier) @handler)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "fastapi"))
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @method)
    arguments: (argument_list . (keyword_argument name: (identifier) @_path value: (string) @path))) @route)
  definition: (function_definition name: (identifier) @handler)
  (#eq? @_path "path")
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "fastapi"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "APIRouter$") (#set! prefix "prefix") (#set! part "1"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "FastAPI$"))
((call function: (attribute object: (_) @router attribute: (identifier) @_include)
  arguments: (argument_list . (_) @mount)) @route
  (#eq? @_include "include_router") (#set! prefix "prefix"))
(call function: (identifier) @_class
  arguments: (argument_list . (string) @path . (_) @handler)
  (#any-of? @_class "Route" "WebSocketRoute")
  (#set! framework "starlette") (#set! method "GET") (#set! methods "methods")) @route
(call function: (identifier) @_class
  arguments: (argument_list . (string) @prefix (keyword_argument value: (list)) @scope)
  (#eq? @_class "Mount"))

; django
(call function: (identifier) @_path
  arguments: (argument_list . (string) @path . (_) @handler)
  (#eq? @_path "path") (#not-match? @handler "^(\\w+\\.)*include\\(|\\.urls$|^\\[|^\"|^'") (#set! framework "django")) @route
(call function: (identifier) @_path
  arguments: (argument_list . (string) @path . (_) @handler)
  (#any-of? @_path "re_path" "url") (#not-match? @handler "^(\\w+\\.)*include\\(|\\.urls$|^\\[|^\"|^'")
  (#set! framework "django") (#set! regex "1")) @route
(call function: (identifier) @_path
  arguments: (argument_list . (string) @prefix
    . (call function: (_) @_include arguments: (argument_list . [(string) (tuple . (string))] @mount)))
  (#any-of? @_path "path" "re_path" "url") (#match? @_include "include$"))
(call function: (identifier) @_path
  arguments: (argument_list . (string) @prefix
    . (call function: (_) @_include arguments: (argument_list . [(identifier) (attribute)] @mount)))
  (#any-of? @_path "path" "re_path" "url") (#match? @_include "include$"))
(call function: (attribute object: (_) @router attribute: (identifier) @_register)
  arguments: (argument_list . (string) @resource . [(identifier) (attribute)] @handler)
  (#eq? @_register "register") (#set! framework "django") (#set! actions "django")) @route
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "(Default|Simple|Nested\\w*)Router$") (#set! part "1"))
