; The captures are explained in python/routes.scm.
; gin, echo, chi, fiber: `r.GET("/x", handler)`
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @method)
  arguments: (argument_list . (interpreted_string_literal) @path (_) @handler .)
  (#any-of? @method "GET" "POST" "PUT" "PATCH" "DELETE" "HEAD" "OPTIONS" "Any" "Get" "Post" "Put" "Patch" "Delete" "Head" "Options")
  (#not-any-of? @router "http" "client" "c.client" "resty") (#not-match? @handler "^(nil|\"|&|strings\\.|bytes\\.|map\\[|body$)")
  (#set! framework "gin")) @route
; net/http, gorilla: `mux.HandleFunc("GET /x", handler)`
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
  arguments: (argument_list . (interpreted_string_literal) @path . (_) @handler .)
  (#any-of? @_handle "HandleFunc" "Handle") (#set! framework "net/http")) @route
(call_expression
  function: (selector_expression
    operand: (call_expression
      function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
      arguments: (argument_list . (interpreted_string_literal) @path . (_) @handler .))
    field: (field_identifier) @_methods)
  (#any-of? @_handle "HandleFunc" "Handle") (#eq? @_methods "Methods")
  (#set! framework "net/http") (#set! methods "Methods")) @route
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
  arguments: (argument_list . (interpreted_string_literal) @method . (interpreted_string_literal) @path (_) @handler .)
  (#any-of? @_handle "Handle" "Method" "MethodFunc" "Add") (#set! framework "gin")) @route
; groups
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression
    function: (selector_expression operand: (_) @router field: (field_identifier) @_group)
    arguments: (argument_list . (interpreted_string_literal) @prefix)) @define)
  (#eq? @_group "Group"))
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression
    function: (selector_expression operand: (call_expression
      function: (selector_expression operand: (_) @router field: (field_identifier) @_path)
      arguments: (argument_list . (interpreted_string_literal) @prefix))
      field: (field_identifier) @_sub)) @define)
  (#eq? @_sub "Subrouter"))
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression function: (selector_expression field: (field_identifier) @_new)) @define)
  (#match? @_new "^(New|Default|NewRouter|NewServeMux)$"))
(parameter_declaration name: (identifier) @name type: (_) @_type
  (#match? @_type "(RouterGroup|IRouter|IRoutes|chi\\.Router|echo\\.Group|fiber\\.Router|mux\\.Router)$") (#set! part "1")) @define
; `users.Register(v1.Group("/users"))`
(call_expression function: [(identifier) (selector_expression)] @mount
  arguments: (argument_list (call_expression
    function: (selector_expression operand: (_) @router field: (field_identifier) @_group)
    arguments: (argument_list . (interpreted_string_literal) @prefix)))
  (#eq? @_group "Group"))
(call_expression function: [(identifier) (selector_expression)] @mount
  arguments: (argument_list (identifier) @router)
  (#match? @router "^(r|e|v[0-9]|mux|app|api|g|rg|group|engine|.*[rR]outer|.*Group)$") (#not-match? @mount "\\.(Run|Use|Serve|ListenAndServe|Handle|Mount|Handler)$"))
; chi: `r.Route("/x", func(r chi.Router) { … })`, `r.Mount("/x", handler())`
(call_expression function: (selector_expression field: (field_identifier) @_route)
  arguments: (argument_list . (interpreted_string_literal) @prefix (func_literal) @scope .)
  (#any-of? @_route "Route" "Group"))
(call_expression function: (selector_expression operand: (_) @router field: (field_identifier) @_mount)
  arguments: (argument_list . (interpreted_string_literal) @prefix . (_) @mount .)
  (#eq? @_mount "Mount"))
