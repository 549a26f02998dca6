; The captures are explained in rust/references.scm.
(application_expression function: (_) @call)
(method_invocation object: (_) @receiver method: (_) @call)
(type_constructor_path (type_constructor) @type)
(application_expression argument: (value_path) @name)
(constructor_path (constructor_name) @name)
(infix_expression [(value_path) (constructor_path)] @name)

(open_module module: (_) @import.module)
(include_module module: (_) @import.module)

(parameter pattern: (value_pattern) @local)
(parameter pattern: (typed_pattern pattern: (value_pattern) @binding type: (_) @is))
(field_declaration (field_name) @field type: (_) @is)
(inheritance_definition (class_path) @base)
