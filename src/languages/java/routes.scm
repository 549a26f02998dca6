; The captures are explained in python/routes.scm.
; spring
(class_declaration
  (modifiers (annotation name: (identifier) @_mapping arguments: (annotation_argument_list . (_) @prefix)))
  body: (_) @scope
  (#eq? @_mapping "RequestMapping") (#not-match? @prefix "^\\w+\\s*="))
(class_declaration
  (modifiers (annotation name: (identifier) @_mapping arguments: (annotation_argument_list
    (element_value_pair key: (identifier) @_key value: (_) @prefix))))
  body: (_) @scope
  (#eq? @_mapping "RequestMapping") (#any-of? @_key "path" "value"))
(method_declaration
  (modifiers (marker_annotation name: (identifier) @method) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#set! framework "spring"))
; one path, which may be the name of a constant
(method_declaration
  (modifiers (annotation name: (identifier) @method arguments: (annotation_argument_list . (_) @path)) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#not-match? @path "^(\\{|\\w+\\s*=)") (#set! framework "spring"))
(method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list . (element_value_array_initializer (_) @path))) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#set! framework "spring"))
(method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list (element_value_pair key: (identifier) @_key value: (_) @path))) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#any-of? @_key "path" "value") (#not-match? @path "^\\{")
  (#set! framework "spring") (#set! methods "method"))
(method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list (element_value_pair key: (identifier) @_key value: (element_value_array_initializer (_) @path)))) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#any-of? @_key "path" "value")
  (#set! framework "spring") (#set! methods "method"))
; no path
(method_declaration
  (modifiers (annotation name: (identifier) @method arguments: (annotation_argument_list . (element_value_pair)) @_all) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#not-match? @_all "\\b(path|value)\\s*=")
  (#set! framework "spring") (#set! methods "method"))
; jax-rs
(class_declaration
  (modifiers (annotation name: (identifier) @_path arguments: (annotation_argument_list . (_) @prefix)))
  body: (_) @scope
  (#eq? @_path "Path") (#not-match? @prefix "^\\w+\\s*="))
(method_declaration
  (modifiers
    (marker_annotation name: (identifier) @method) @route
    (annotation name: (identifier) @_path arguments: (annotation_argument_list . (_) @path)))
  name: (identifier) @handler
  (#any-of? @method "GET" "POST" "PUT" "PATCH" "DELETE" "HEAD" "OPTIONS") (#eq? @_path "Path") (#set! framework "jax-rs"))
(method_declaration
  (modifiers
    (annotation name: (identifier) @_path arguments: (annotation_argument_list . (_) @path))
    (marker_annotation name: (identifier) @method) @route)
  name: (identifier) @handler
  (#any-of? @method "GET" "POST" "PUT" "PATCH" "DELETE" "HEAD" "OPTIONS") (#eq? @_path "Path") (#set! framework "jax-rs"))
(method_declaration
  (modifiers (marker_annotation name: (identifier) @method) @route)
  name: (identifier) @handler
  (#any-of? @method "GET" "POST" "PUT" "PATCH" "DELETE" "HEAD" "OPTIONS") (#set! framework "jax-rs"))
(class_declaration
  (modifiers (annotation name: (identifier) @_path arguments: (annotation_argument_list . (_) @prefix)))
  (#eq? @_path "ApplicationPath") (#set! global "jax-rs"))
