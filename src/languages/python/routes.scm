; Captures: @route is a registration with its @method, @path and @handler, on a @router. The routes
; within a @scope have its @prefix (with `chain`, those in the rest of the chain of calls). @define
; gives a router its @name, and maybe a @prefix and the @router that it is a part of, or the @group (a
; chain of calls that leads to it); a `part` answers only when it is mounted. A @plugin is a function
; whose parameter is a router where the function is mounted. A registration that is `telling` is a
; route whatever its router is; another one counts only if the router is known. A path or a prefix may
; be any expression: the reader takes its text and the constants of the project. @mount is a router, function or module whose routes get the @prefix.
; A @resource stands for the routes in the table of `actions`.
; `methods`, `path` and `prefix` name the option of the registration that holds them.

; flask
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @_route)
    arguments: (argument_list . (_) @path)) @route)
  definition: (function_definition name: (identifier) @handler)
  (#eq? @_route "route") (#set! telling "1") (#set! framework "flask") (#set! method "GET") (#set! methods "methods"))
(call
  function: (attribute object: (_) @router attribute: (identifier) @_add)
  arguments: (argument_list . (_) @path
    (keyword_argument name: (identifier) @_view value: (_) @handler))
  (#eq? @_add "add_url_rule") (#eq? @_view "view_func") (#set! telling "1")
  (#set! framework "flask") (#set! method "GET") (#set! methods "methods")) @route
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "Blueprint$") (#set! framework "flask") (#set! prefix "url_prefix") (#set! part "1"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "(^|\\.)(Flask|Quart)$") (#set! framework "flask"))
; a function of the project that makes the application
(assignment left: (identifier) @name
  right: (call function: (_) @_make) @define
  (#match? @_make "(^|\\.)(create|make|build|get|init|setup)_?(flask_|fastapi_|web_)?(app|application|api)$"))
; `def register(app)`: the application itself, or a router that is mounted elsewhere
(parameters [(identifier) (typed_parameter)] @name @define
  (#match? @name "^app( *: *(\\w+\\.)?(Flask|FastAPI|Quart))?$|: *(\\w+\\.)?(Flask|FastAPI|Quart)$"))
(parameters [(identifier) (typed_parameter)] @name @define
  (#match? @name "^(router|blueprint|bp)$|: *(\\w+\\.)?(APIRouter|Blueprint)$") (#set! part "1"))
(call function: [(identifier) (attribute)] @mount arguments: (argument_list . (identifier) @router)
  (#match? @router "^(app|router|bp|blueprint)$") (#match? @mount "(^|[._])(init|register|setup|add|include|configure|create|mount|install|load)(_\\w+)?$")
  (#not-match? @mount "(include_router|register_blueprint|init_app)$"))
((call function: (attribute object: (_) @router attribute: (identifier) @_register)
  arguments: (argument_list . (_) @mount)) @route
  (#eq? @_register "register_blueprint") (#set! prefix "url_prefix") (#set! replaces "1"))

; fastapi
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @method)
    arguments: (argument_list . [(string) (concatenated_string) (binary_operator) (identifier) (attribute)] @path)) @route)
  definition: (function_definition name: (identifier) @handler)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "fastapi") (#set! telling "1"))
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @_route)
    arguments: (argument_list . (_) @path)) @route)
  definition: (function_definition name: (identifier) @handler)
  (#eq? @_route "api_route") (#set! framework "fastapi") (#set! method "GET") (#set! methods "methods") (#set! telling "1"))
(call
  function: (attribute object: (_) @router attribute: (identifier) @_add)
  arguments: (argument_list . (_) @path . (_) @handler)
  (#eq? @_add "add_api_route") (#set! framework "fastapi") (#set! method "GET") (#set! methods "methods") (#set! telling "1")) @route
(decorated_definition
  (decorator (call
    function: (attribute object: (_) @router attribute: (identifier) @method)
    arguments: (argument_list . (keyword_argument name: (identifier) @_path value: (_) @path))) @route)
  definition: (function_definition name: (identifier) @handler)
  (#eq? @_path "path")
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "fastapi") (#set! telling "1"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "APIRouter$") (#set! framework "fastapi") (#set! prefix "prefix") (#set! part "1"))
(assignment left: (identifier) @name
  right: (call function: (_) @_class) @define
  (#match? @_class "(^|\\.)(FastAPI|Starlette|Sanic|Bottle|RouteTableDef)$"))
; `self.router = APIRouter()`
(assignment left: (attribute attribute: (identifier) @name)
  right: (call function: (_) @_class) @define
  (#match? @_class "(^|\\.)(FastAPI|Flask)$"))
(assignment left: (attribute attribute: (identifier) @name)
  right: (call function: (_) @_class) @define
  (#match? @_class "APIRouter$") (#set! framework "fastapi") (#set! prefix "prefix") (#set! part "1"))
; `users = router = APIRouter()`
(assignment left: (identifier) @router
  right: (assignment left: (identifier) @name right: (call function: (_) @_class) @define)
  (#match? @_class "(FastAPI|APIRouter|Flask|Blueprint)$"))
(assignment left: (identifier) @name
  right: (assignment right: (call function: (_) @_class) @define)
  (#match? @_class "APIRouter$") (#set! framework "fastapi") (#set! prefix "prefix") (#set! part "1"))
(assignment left: (identifier) @name
  right: (assignment right: (call function: (_) @_class) @define)
  (#match? @_class "Blueprint$") (#set! framework "flask") (#set! prefix "url_prefix") (#set! part "1"))
((call function: (attribute object: (_) @router attribute: (identifier) @_mount)
  arguments: (argument_list . (_) @prefix . [(identifier) (attribute)] @mount))
  (#eq? @_mount "mount"))
((call function: (attribute object: (_) @router attribute: (identifier) @_include)
  arguments: (argument_list . (_) @mount)) @route
  (#eq? @_include "include_router") (#set! prefix "prefix"))
(call function: (identifier) @_class
  arguments: (argument_list . [(string) (concatenated_string) (binary_operator)] @path . (_) @handler)
  (#any-of? @_class "Route" "WebSocketRoute")
  (#set! framework "starlette") (#set! method "GET") (#set! methods "methods")) @route
(call function: (identifier) @_class
  arguments: (argument_list . [(string) (concatenated_string) (binary_operator)] @prefix (keyword_argument value: (list)) @scope)
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
