(element
  [(start_tag (attribute (attribute_name) @_id [(quoted_attribute_value (attribute_value) @name) (attribute_value) @name]))
   (self_closing_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name)))]
  (#eq? @_id "id")) @definition.element
(element (start_tag (tag_name) @name (#any-of? @name "head" "body"))) @definition.element

(start_tag
  (tag_name) @_tag
  (attribute (attribute_name) @_key (quoted_attribute_value (attribute_value) @import))
  (#any-of? @_tag "script" "link") (#any-of? @_key "src" "href"))
