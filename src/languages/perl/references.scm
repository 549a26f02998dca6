; The captures are explained in rust/references.scm.
(function_call_expression function: (function) @call)
(ambiguous_function_call_expression function: (function) @call)
(method_call_expression invocant: (_) @receiver method: (method) @call)
(package_statement name: (package) @package)

(use_statement module: (package) @import.module (#not-any-of? @import.module "strict" "warnings" "constant" "parent" "base" "utf8"))
(require_expression (bareword) @import.module)
