(block . (identifier) @_kind . (string_lit (template_literal)) . (string_lit (template_literal) @name)
  (#any-of? @_kind "resource" "data")) @definition.block
(block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start)
  (#any-of? @_kind "module" "provider" "job" "group" "task" "source" "build")) @definition.block
(block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start)
  (#any-of? @_kind "variable" "output")) @definition.constant
(block . (identifier) @_kind (body (attribute . (identifier) @name) @definition.constant) (#eq? @_kind "locals"))
(config_file (body (attribute . (identifier) @name) @definition.constant))

(block . (identifier) @_kind
  (body (attribute (identifier) @_key (expression (literal_value (string_lit (template_literal) @import)))))
  (#eq? @_kind "module") (#eq? @_key "source"))
