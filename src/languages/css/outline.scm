(stylesheet (rule_set (selectors . (_) @name)) @definition.rule)
(block (rule_set (selectors . (_) @name)) @definition.rule)
(keyframes_statement (keyframes_name) @name) @definition.function
(declaration (property_name) @name (#match? @name "^--")) @definition.constant

(import_statement [(string_value) @import (call_expression (arguments (string_value) @import))])
