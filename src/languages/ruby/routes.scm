; The captures are explained in python/routes.scm.
; rails
(call !receiver method: (identifier) @method
  arguments: (argument_list . (pair key: (string) @path value: (string) @handler))
  (#any-of? @method "get" "post" "put" "patch" "delete" "match")
  (#set! framework "rails") (#set! action "1") (#set! methods "via") (#set! member "1")) @route
(call !receiver method: (identifier) @method
  arguments: (argument_list . (pair key: (string) @path value: (call)))
  (#any-of? @method "get" "post" "put" "patch" "delete" "match")
  (#set! framework "rails") (#set! action "redirect") (#set! methods "via")) @route
(call !receiver method: (identifier) @method
  arguments: (argument_list . [(string) (simple_symbol)] @path) !block
  (#any-of? @method "get" "post" "put" "patch" "delete" "match")
  (#set! framework "rails") (#set! action "1") (#set! methods "via") (#set! member "1")) @route
(call !receiver method: (identifier) @_root
  arguments: (argument_list . [(string) @handler (pair key: (_) @_to value: (string) @handler)])
  (#eq? @_root "root") (#set! framework "rails") (#set! action "1") (#set! method "GET")) @route
(call !receiver method: (identifier) @_resources
  arguments: (argument_list . (simple_symbol) @resource)
  block: (_)? @scope
  (#eq? @_resources "resources") (#set! framework "rails") (#set! actions "rails")) @route
(call !receiver method: (identifier) @_resources
  arguments: (argument_list . (simple_symbol) @resource)
  block: (_)? @scope
  (#eq? @_resources "resource") (#set! framework "rails") (#set! actions "rails") (#set! single "1")) @route
(call !receiver method: (identifier) @_namespace
  arguments: (argument_list . [(simple_symbol) (string)] @prefix)
  block: (_) @scope
  (#eq? @_namespace "namespace") (#set! module "prefix")) @route
(call !receiver method: (identifier) @_scope
  arguments: (argument_list . [(simple_symbol) (string)] @prefix)
  block: (_) @scope
  (#eq? @_scope "scope") (#set! module "module")) @route
(call !receiver method: (identifier) @_scope
  arguments: (argument_list . (pair))
  block: (_) @scope
  (#eq? @_scope "scope") (#set! module "module")) @route
(call !receiver method: (identifier) @_collection
  block: (_) @scope
  (#eq? @_collection "collection") (#set! pop ".."))
(call !receiver method: (identifier) @_member
  block: (_) @scope
  (#eq? @_member "member") (#set! pop "../{id}"))
; sinatra
(call !receiver method: (identifier) @method
  arguments: (argument_list . (string) @path)
  block: (_)
  (#any-of? @method "get" "post" "put" "patch" "delete")
  (#match? @path "^['\"]/") (#set! framework "sinatra")) @route
