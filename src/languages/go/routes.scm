; The captures are explained in python/routes.scm.
; gin, echo, chi, fiber: `r.GET("/x", handler)`
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @method)
  arguments: (argument_list . (_) @path (_) @handler .)
  (#any-of? @method "GET" "POST" "PUT" "PATCH" "DELETE" "HEAD" "OPTIONS")
  (#set! framework "gin") (#set! telling "1")) @route
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @method)
  arguments: (argument_list . (_) @path (_) @handler .)
  (#any-of? @method "Any" "Get" "Post" "Put" "Patch" "Delete" "Head" "Options" "All")
  (#set! framework "gin")) @route
; net/http, gorilla: `mux.HandleFunc("GET /x", handler)`
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
  arguments: (argument_list . (_) @path . (_) @handler .)
  (#any-of? @_handle "HandleFunc" "Handle") (#set! framework "net/http")) @route
(call_expression
  function: (selector_expression
    operand: (call_expression
      function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
      arguments: (argument_list . (_) @path . (_) @handler .))
    field: (field_identifier) @_methods)
  (#any-of? @_handle "HandleFunc" "Handle") (#eq? @_methods "Methods")
  (#set! framework "net/http") (#set! methods "Methods")) @route
(call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @_handle)
  arguments: (argument_list . (interpreted_string_literal) @method . (_) @path (_) @handler .)
  (#any-of? @_handle "Handle" "Method" "MethodFunc" "Add") (#set! framework "gin")) @route
; groups: `v1 := r.Group("/v1")`
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression) @group)) @define
(assignment_statement left: (expression_list . (_) @name)
  right: (expression_list . (call_expression) @group)
  (#match? @name "^\\w+$")) @define
; routers
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression function: (selector_expression operand: (identifier) @_package field: (field_identifier) @_new)))
  (#any-of? @_package "gin" "echo" "fiber" "chi" "mux" "http" "httprouter")
  (#match? @_new "^(New|Default|NewRouter|NewServeMux)$") (#set! framework "gin")) @define
(var_spec name: (identifier) @name
  value: (expression_list . (call_expression function: (selector_expression operand: (identifier) @_package field: (field_identifier) @_new)))
  (#any-of? @_package "gin" "echo" "fiber" "chi" "mux" "http" "httprouter")
  (#match? @_new "^(New|Default|NewRouter|NewServeMux)$") (#set! framework "gin")) @define
; a function of the project that makes one
(short_var_declaration left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @_make))
  (#match? @_make "(^|\\.)([nN]ew|[sS]etup|[iI]nit|[cC]reate|[mM]ake|[bB]uild|[gG]et)\\w*(Router|Engine|Echo|App|Mux)$")) @define
(parameter_declaration name: (identifier) @name type: (_) @_type
  (#match? @_type "(gin\\.Engine|echo\\.Echo|fiber\\.App|chi\\.Mux|http\\.ServeMux)$") (#set! framework "gin")) @define
(parameter_declaration name: (identifier) @name type: (_) @_type
  (#match? @_type "(RouterGroup|IRouter|IRoutes|chi\\.Router|echo\\.Group|fiber\\.Router|mux\\.Router)$")
  (#set! framework "gin") (#set! part "1")) @define
(field_declaration name: (field_identifier) @name type: (_) @_type
  (#match? @_type "(gin\\.Engine|echo\\.Echo|fiber\\.App|chi\\.Mux|http\\.ServeMux|chi\\.Router|mux\\.Router)$")
  (#set! framework "gin")) @define
(field_declaration name: (field_identifier) @name type: (_) @_type
  (#match? @_type "(RouterGroup|IRouter|IRoutes|echo\\.Group|fiber\\.Router)$")
  (#set! framework "gin") (#set! part "1")) @define
; `users.Register(v1.Group("/users"))`
(call_expression function: [(identifier) (selector_expression)] @mount
  arguments: (argument_list (call_expression
    function: (selector_expression operand: (_) @router field: (field_identifier) @_group)
    arguments: (argument_list . (_) @prefix)))
  (#eq? @_group "Group"))
(call_expression function: [(identifier) (selector_expression)] @mount
  arguments: (argument_list (identifier) @router)
  (#match? @router "^(r|e|v[0-9]|mux|app|api|g|rg|group|engine|.*[rR]outer|.*Group)$") (#not-match? @mount "\\.(Run|Use|Serve|ListenAndServe|Handle|Mount|Handler)$"))
; chi: `r.Route("/x", func(r chi.Router) { … })`, `r.Group(func(r chi.Router) { … })`, `r.Mount("/x", handler())`
(call_expression function: (selector_expression operand: (_) @router field: (field_identifier) @_route)
  arguments: (argument_list . (_) @prefix (func_literal
    parameters: (parameter_list . (parameter_declaration name: (identifier) @name) @define)) .)
  (#any-of? @_route "Route" "Group"))
(call_expression function: (selector_expression operand: (_) @router field: (field_identifier) @_route)
  arguments: (argument_list . (func_literal
    parameters: (parameter_list . (parameter_declaration name: (identifier) @name) @define)) .)
  (#any-of? @_route "Route" "Group"))
(call_expression function: (selector_expression operand: (_) @router field: (field_identifier) @_mount)
  arguments: (argument_list . (_) @prefix . (_) @mount .)
  (#eq? @_mount "Mount"))
