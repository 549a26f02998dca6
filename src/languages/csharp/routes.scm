; The captures are explained in python/routes.scm.
; aspnet
(class_declaration
  (attribute_list (attribute name: (identifier) @_route (attribute_argument_list . (attribute_argument . (_) @prefix .))))
  name: (identifier) @owner
  body: (_) @scope
  (#eq? @_route "Route"))
(method_declaration
  (attribute_list (attribute name: (identifier) @method (attribute_argument_list . (attribute_argument . (_) @path .))) @route)
  name: (identifier) @handler
  (#match? @method "^Http(Get|Post|Put|Patch|Delete|Head|Options)$") (#set! framework "aspnet"))
(method_declaration
  (attribute_list (attribute name: (identifier) @method) @route)
  name: (identifier) @handler
  (#match? @method "^Http(Get|Post|Put|Patch|Delete|Head|Options)$") (#set! framework "aspnet"))
(invocation_expression
  function: (member_access_expression expression: (_) @router name: (identifier) @method)
  arguments: (argument_list . (argument . (_) @path .) . (argument . (_) @handler .))
  (#match? @method "^Map(Get|Post|Put|Patch|Delete)$") (#set! framework "aspnet") (#set! telling "1")) @route
; an action whose path is in an attribute of its own
(method_declaration
  (attribute_list (attribute name: (identifier) @method) @route)
  (attribute_list (attribute name: (identifier) @_route (attribute_argument_list . (attribute_argument . (_) @path .))))
  name: (identifier) @handler
  (#match? @method "^Http(Get|Post|Put|Patch|Delete|Head|Options)$") (#eq? @_route "Route") (#set! framework "aspnet"))
; groups and applications
(variable_declarator (identifier) @name (invocation_expression) @group) @define
(variable_declarator (identifier) @name (invocation_expression) @_value
  (#match? @_value "WebApplication\\.Create\\(|\\.Build\\(\\)$")) @define
(parameter type: (_) @_type name: (identifier) @name @define
  (#match? @_type "^WebApplication$"))
(parameter type: (_) @_type name: (identifier) @name @define
  (#match? @_type "^(IEndpointRouteBuilder|RouteGroupBuilder|IEndpointConventionBuilder)$") (#set! part "1"))
; `app.MapCatalogApi()` calls a function of the project that adds routes
(invocation_expression
  function: (member_access_expression expression: (_) @router name: (identifier) @mount)
  (#match? @mount "^(Map|Use|Add|Register)\\w*(Api|Apis|Endpoint|Endpoints|Routes|V[0-9]+)$"))
