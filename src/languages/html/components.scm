; The components that markup uses: tags that are no elements of HTML.
(start_tag (tag_name) @component)
(self_closing_tag (tag_name) @component)

; What it calls and shows: `@click="toggle"`, `:name="shown"`.
(attribute (attribute_name) @_key (quoted_attribute_value (attribute_value) @call) (#match? @_key "^(@|v-on:|on:)"))
(attribute (attribute_name) @_key (quoted_attribute_value (attribute_value) @name) (#match? @_key "^(:|v-)"))
