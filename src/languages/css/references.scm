; The captures are explained in rust/references.scm.
(call_expression (function_name) @call.word)
(call_expression (function_name) @_var (arguments . (plain_value) @name.word) (#eq? @_var "var"))
(declaration (property_name) @_key (plain_value) @name.word (#match? @_key "^animation"))

(import_statement [(string_value) @import.module (call_expression (arguments (string_value) @import.module))])
