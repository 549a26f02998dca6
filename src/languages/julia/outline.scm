(module_definition name: (identifier) @name) @definition.module
(abstract_definition (type_head . [(identifier) @name (binary_expression . (identifier) @name)])) @definition.interface
(struct_definition (type_head . [(identifier) @name (binary_expression . (identifier) @name)])) @definition.struct
(struct_definition (type_head . (parametrized_type_expression . (identifier) @name))) @definition.struct
(struct_definition (type_head . (binary_expression . (parametrized_type_expression . (identifier) @name)))) @definition.struct
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(function_definition (signature [
  (call_expression . [(identifier) @name (field_expression (identifier) @name .)])
  (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)]))
  (where_expression . (typed_expression . (call_expression . [(identifier) @name (field_expression (identifier) @name .)])))])) @definition.function
(function_definition (signature (identifier) @name)) @prototype.function
(macro_definition (signature (call_expression . (identifier) @name))) @definition.macro
(assignment . (call_expression . [(identifier) @name (field_expression (identifier) @name .)])) @definition.function
(assignment . (typed_expression . (call_expression . (identifier) @name))) @definition.function
(const_statement (assignment . (identifier) @name)) @definition.constant

(export_statement (identifier) @export)
(do_clause) @scope
(using_statement [(identifier) (scoped_identifier)] @import)
(using_statement (selected_import . (_) @import))
(import_statement [(identifier) (scoped_identifier)] @import)
(import_statement (selected_import . (_) @import))
((call_expression . (identifier) @_include (argument_list (string_literal) @import)) (#eq? @_include "include"))
(module_definition (string_literal) @attached.doc)
(source_file (string_literal) @attached.doc)
