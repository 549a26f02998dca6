; The captures are explained in python/routes.scm.
; nest
(call_expression function: (member_expression property: (property_identifier) @_global)
  arguments: (arguments . (_) @prefix)
  (#eq? @_global "setGlobalPrefix") (#set! global "nest"))
; the versions of controllers are a part of their paths, unless another type is given
(call_expression function: (member_expression property: (property_identifier) @_versions)
  arguments: (arguments) @_options
  (#eq? @_versions "enableVersioning") (#not-match? @_options "type: *(VersioningType.)?(HEADER|MEDIA_TYPE|CUSTOM|[0-9])")
  (#set! global "nest-versions") (#set! fixed "v"))
; modules have prefixes of their own, which the code of a controller does not show
(call_expression function: (member_expression object: (identifier) @_module property: (property_identifier) @_register)
  (#eq? @_module "RouterModule") (#any-of? @_register "register" "forRoutes") (#set! global "nest") (#set! fixed "…"))
(decorator (call_expression function: (identifier) @_controller arguments: (arguments . (object
    (pair key: (property_identifier) @_version value: (_) @prefix)))) @scope
  (#eq? @_controller "Controller") (#eq? @_version "version") (#set! class "1") (#set! only_with "nest-versions"))
(decorator (call_expression function: (identifier) @_controller arguments: (arguments . (object
    (pair key: (property_identifier) @_path value: (_) @prefix)))) @scope
  (#eq? @_controller "Controller") (#eq? @_path "path") (#set! class "1"))
(decorator (call_expression function: (identifier) @_controller arguments: (arguments . (_) @prefix)) @scope
  (#eq? @_controller "Controller") (#not-match? @prefix "^\\{") (#set! class "1"))
(class_body
  (decorator (call_expression function: (identifier) @method arguments: (arguments . (_)? @path))) @route
  . (decorator)* . (method_definition name: (_) @handler)
  (#any-of? @method "Get" "Post" "Put" "Patch" "Delete" "All" "Head" "Options") (#not-match? @path "^\\[")
  (#set! framework "nest"))
(class_body
  (decorator (call_expression function: (identifier) @method arguments: (arguments . (array (_) @path)))) @route
  . (decorator)* . (method_definition name: (_) @handler)
  (#any-of? @method "Get" "Post" "Put" "Patch" "Delete" "All" "Head" "Options")
  (#set! framework "nest"))
(public_field_definition name: (property_identifier) @name value: (_) @_value
  (#match? @_value "^(express|fastify|Fastify)\\(|^new (Hono|Koa)\\b") (#set! framework "express")) @define
(public_field_definition name: (property_identifier) @name value: (_) @_value
  (#match? @_value "^(new )?(\\w+\\.)?Router\\(") (#set! framework "express") (#set! part "1")) @define
; parameters and variables with the type of a router
(required_parameter pattern: (identifier) type: (_) @_type
  (#match? @_type "^: *(express\\.)?(Express|Application|Koa|Hono)\\b") (#set! framework "express")) @name @define
(required_parameter pattern: (identifier) type: (_) @_type
  (#match? @_type "^: *(express\\.)?(Router|IRouter|FastifyInstance)\\b") (#set! framework "express") (#set! part "1")) @name @define
