; The captures are explained in python/routes.scm.
; phoenix
(call target: (identifier) @method
  (arguments . (_) @path . (alias) @handler . (atom) @member)
  (#any-of? @method "get" "post" "put" "patch" "delete" "head" "options")
  (#set! framework "phoenix")) @route
(call target: (identifier) @_live
  (arguments . (_) @path . (alias) @handler)
  (#eq? @_live "live") (#set! framework "phoenix") (#set! method "GET")) @route
(call target: (identifier) @_resources
  (arguments . (string) @resource . (alias) @handler)
  (do_block)? @scope
  (#eq? @_resources "resources") (#set! framework "phoenix") (#set! actions "phoenix")) @route
(call target: (identifier) @_scope
  (arguments . (_) @prefix)
  (do_block) @scope
  (#eq? @_scope "scope") (#not-match? @prefix "^(as|alias|path|host):"))
(call target: (identifier) @_scope
  (arguments . (keywords (pair key: (keyword) @_key value: (_) @prefix)))
  (do_block) @scope
  (#eq? @_scope "scope") (#match? @_key "^path:"))
