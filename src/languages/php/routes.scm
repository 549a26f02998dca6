; The captures are explained in python/routes.scm.
; laravel
(scoped_call_expression scope: (name) @_route name: (name) @method
  arguments: (arguments . (argument (_) @path) . (argument [(array_creation_expression . (array_element_initializer (_) @handler) . (array_element_initializer (_) @member)) (class_constant_access_expression) @handler (string) @handler (encapsed_string) @handler (anonymous_function) @handler (arrow_function) @handler]))
  (#eq? @_route "Route") (#any-of? @method "get" "post" "put" "patch" "delete" "any" "options")
  (#set! framework "laravel")) @route
(member_call_expression object: (_) @_chain name: (name) @method
  arguments: (arguments . (argument (_) @path) . (argument [(array_creation_expression . (array_element_initializer (_) @handler) . (array_element_initializer (_) @member)) (class_constant_access_expression) @handler (string) @handler (encapsed_string) @handler (anonymous_function) @handler (arrow_function) @handler]))
  (#match? @_chain "^(Route::|\\$(app|router|route|group)$)") (#any-of? @method "get" "post" "put" "patch" "delete" "any" "options")
  (#set! framework "laravel")) @route
(scoped_call_expression scope: (name) @_route name: (name) @_match
  arguments: (arguments . (argument (array_creation_expression) @method) . (argument (_) @path) . (argument [(array_creation_expression . (array_element_initializer (_) @handler) . (array_element_initializer (_) @member)) (class_constant_access_expression) @handler (string) @handler (anonymous_function) @handler (arrow_function) @handler]))
  (#eq? @_route "Route") (#eq? @_match "match") (#set! framework "laravel")) @route
(scoped_call_expression scope: (name) @_route name: (name) @_resource
  arguments: (arguments . (argument (_) @resource) . (argument (_) @handler))
  (#eq? @_route "Route") (#eq? @_resource "resource")
  (#set! framework "laravel") (#set! actions "laravel") (#set! id "name")) @route
(scoped_call_expression scope: (name) @_route name: (name) @_resource
  arguments: (arguments . (argument (_) @resource) . (argument (_) @handler))
  (#eq? @_route "Route") (#eq? @_resource "apiResource")
  (#set! framework "laravel") (#set! actions "laravel-api") (#set! id "name")) @route
(member_call_expression object: (_) @_chain name: (name) @_resource
  arguments: (arguments . (argument (_) @resource) . (argument (_) @handler))
  (#match? @_chain "^Route::") (#eq? @_resource "resource")
  (#set! framework "laravel") (#set! actions "laravel") (#set! id "name")) @route
; files of routes
(require_expression (function_call_expression arguments: (arguments (argument (string) @mount))))
(member_call_expression name: (name) @_group
  arguments: (arguments . (argument (function_call_expression arguments: (arguments (argument (string) @mount)))))
  (#eq? @_group "group"))
(argument name: (name) @_api (binary_expression right: (string) @mount)
  (#eq? @_api "api") (#set! fixed "api"))
; prefixes
(scoped_call_expression scope: (name) @_route name: (name) @_prefix
  arguments: (arguments . (argument (_) @prefix) .)
  (#eq? @_route "Route") (#eq? @_prefix "prefix") (#set! chain "1")) @scope
(member_call_expression object: (_) @_chain name: (name) @_prefix
  arguments: (arguments . (argument (_) @prefix) .)
  (#match? @_chain "^Route::") (#eq? @_prefix "prefix") (#set! chain "1")) @scope
(scoped_call_expression scope: (name) @_route name: (name) @_group
  arguments: (arguments . (argument (array_creation_expression (array_element_initializer (_) @_key (_) @prefix))) . (argument (_) @scope))
  (#eq? @_route "Route") (#eq? @_group "group") (#match? @_key "prefix"))
(member_call_expression object: (variable_name) name: (name) @_group
  arguments: (arguments . (argument (string) @prefix) . (argument (anonymous_function) @scope))
  (#eq? @_group "group"))
