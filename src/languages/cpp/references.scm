; Beside c.refs.scm: classes and templates.
(new_expression type: (_) @call)
(init_declarator value: (argument_list)) @_
(declaration type: (_) @call declarator: (init_declarator value: (argument_list)))
(field_initializer . (field_identifier) @call)
(qualified_identifier scope: (namespace_identifier) @type)
(parameter_declaration type: (_) @is declarator: (reference_declarator (identifier) @binding))
(declaration type: (_) @is declarator: (init_declarator declarator: (reference_declarator (identifier) @binding)))
(declaration type: (placeholder_type_specifier) declarator: (init_declarator declarator: (identifier) @binding value: (_) @from))
(field_declaration type: (_) @is declarator: (reference_declarator (field_identifier) @field))
(for_range_loop type: (_) @is declarator: (_) @binding)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(using_declaration (qualified_identifier) @import.path)
(alias_declaration name: (_) @binding type: (_) @is)
