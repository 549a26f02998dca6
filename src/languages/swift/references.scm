; The captures are explained in rust/references.scm.
(call_expression . (_) @call)
(constructor_expression constructed_type: (_) @call)
(type_identifier) @type
(value_argument value: (simple_identifier) @name)
(import_declaration (identifier) @import.module)
(parameter name: (_) @binding type: (_) @is)
(property_declaration name: (pattern (simple_identifier) @binding) (type_annotation type: (_) @is))
(property_declaration name: (pattern (simple_identifier) @binding) value: (_) @from)
(inheritance_specifier inherits_from: (_) @base)
(function_declaration return_type: (_) @result)
