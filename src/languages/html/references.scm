; The captures are explained in rust/references.scm.
(start_tag (tag_name) @call.word (#match? @call.word "-"))
(self_closing_tag (tag_name) @call.word (#match? @call.word "-"))
(attribute (attribute_name) @_key (quoted_attribute_value (attribute_value) @call) (#match? @_key "^on"))

(start_tag
  (tag_name) @_tag
  (attribute (attribute_name) @_key (quoted_attribute_value (attribute_value) @import.module))
  (#any-of? @_tag "script" "link") (#any-of? @_key "src" "href"))
