; The captures are explained in rust/references.scm.
(call_expression function: (_) @call)
(type_identifier) @type
(arguments [(identifier) (member_expression)] @name)
(additive_expression [(identifier) (member_expression)] @name)
(multiplicative_expression [(identifier) (member_expression)] @name)
(annotation name: (identifier) @name)

(import_specification uri: (_) @import.module !alias)
(import_specification uri: (_) @import.module alias: (identifier) @import.alias)
(import_specification uri: (_) @import.module (combinator (identifier) @import.name))

(formal_parameter (type) @is name: (identifier) @binding)
(formal_parameter !name (identifier) @local)
(initialized_variable_declaration name: (identifier) @binding value: (_) @from)
(declaration (type) @is (initialized_identifier_list (initialized_identifier name: (identifier) @field)))

(superclass type: (type) @base)
(mixins (type) @base)
(interfaces (type) @base)
(function_signature parameters: (_) @parameters)
(function_signature return_type: (_) @result)
(getter_signature return_type: (_) @result)
