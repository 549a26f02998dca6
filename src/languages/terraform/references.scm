; The captures are explained in rust/references.scm.
(function_call . (identifier) @call)
(expression (variable_expr (identifier) @_kind) . (get_attr (identifier) @name) (#any-of? @_kind "var" "local" "module"))
(expression (variable_expr (identifier) @_kind) . (get_attr) . (get_attr (identifier) @name) (#eq? @_kind "data"))
(expression (variable_expr (identifier) @_kind) . (get_attr (identifier) @name) . (get_attr)
  (#not-any-of? @_kind "var" "local" "module" "data" "each" "self" "count" "path"))

(block . (identifier) @_kind
  (body (attribute (identifier) @_key (expression (literal_value (string_lit (template_literal) @import.module)))))
  (#eq? @_kind "module") (#eq? @_key "source"))
