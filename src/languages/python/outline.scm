(class_definition name: (identifier) @name) @definition.class
(function_definition name: (identifier) @name) @definition.function
(class_definition body: (block . (expression_statement (string) @doc)))
(function_definition body: (block . (expression_statement (string) @doc)))
(assignment left: (identifier) @name) @definition.constant
(type_alias_statement left: (type (identifier) @name)) @definition.type

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (_) @import))
(import_from_statement module_name: (_) @import)
