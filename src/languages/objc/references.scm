; The captures are explained in rust/references.scm.
(message_expression receiver: (_) @receiver . method: (identifier) @call)
(class_interface superclass: (identifier) @base)
(class_interface (parameterized_arguments (type_name (type_identifier) @base)))
(protocol_reference_list (identifier) @base)
(method_parameter (method_type (type_name) @is) (identifier) @binding)
(property_declaration (struct_declaration (type_identifier) @is (struct_declarator (pointer_declarator declarator: (identifier) @field))))
