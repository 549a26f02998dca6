; The captures are explained in python/routes.scm.
; spring
(class_declaration
  (modifiers (annotation name: (identifier) @_mapping arguments: (annotation_argument_list . [(string_literal) @prefix (element_value_array_initializer . (string_literal) @prefix)])))
  body: (_) @scope
  (#eq? @_mapping "RequestMapping"))
(class_declaration
  (modifiers (annotation name: (identifier) @_mapping arguments: (annotation_argument_list
    (element_value_pair key: (identifier) @_key value: [(string_literal) @prefix (element_value_array_initializer . (string_literal) @prefix)]))))
  body: (_) @scope
  (#eq? @_mapping "RequestMapping") (#any-of? @_key "path" "value"))
(method_declaration
  (modifiers (marker_annotation name: (identifier) @method) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#set! framework "spring"))
(method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list . [(string_literal) @path (element_value_array_initializer (string_literal) @path)])) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$") (#set! framework "spring"))
(method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list (element_value_pair))) @route)
  name: (identifier) @handler
  (#match? @method "^(Get|Post|Put|Patch|Delete|Request)Mapping$")
  (#set! framework "spring") (#set! methods "method") (#set! path "path|value"))
