; The captures are explained in python/routes.scm.
; aspnet
(class_declaration
  (attribute_list (attribute name: (identifier) @_route (attribute_argument_list . (attribute_argument (string_literal) @prefix))))
  name: (identifier) @owner
  body: (_) @scope
  (#eq? @_route "Route"))
(method_declaration
  (attribute_list (attribute name: (identifier) @method (attribute_argument_list . (attribute_argument (string_literal) @path))) @route)
  name: (identifier) @handler
  (#match? @method "^Http(Get|Post|Put|Patch|Delete|Head|Options)$") (#set! framework "aspnet"))
(method_declaration
  (attribute_list (attribute name: (identifier) @method) @route)
  name: (identifier) @handler
  (#match? @method "^Http(Get|Post|Put|Patch|Delete|Head|Options)$") (#set! framework "aspnet"))
(invocation_expression
  function: (member_access_expression expression: (_) @router name: (identifier) @method)
  arguments: (argument_list . (argument (string_literal) @path) . (argument (_) @handler))
  (#match? @method "^Map(Get|Post|Put|Patch|Delete)$") (#set! framework "aspnet")) @route
(variable_declarator (identifier) @name
  (invocation_expression
    function: (member_access_expression expression: (_) @router name: (identifier) @_group)
    arguments: (argument_list . (argument (string_literal) @prefix)))
  (#eq? @_group "MapGroup")) @define
