; The captures are explained in rust/references.scm.
; What is defined looks like a call.
(signature [(call_expression . (_) @own) (_ . (call_expression . (_) @own)) (_ . (_ . (call_expression . (_) @own)))])
(assignment . (call_expression . (_) @own))
(call_expression . [(identifier) (field_expression)] @call)
(broadcast_call_expression . [(identifier) (field_expression)] @call)
(macrocall_expression (macro_identifier (identifier) @call))
(typed_expression (_) (identifier) @type)
(parametrized_type_expression . (identifier) @type)
(curly_expression (identifier) @type)
(argument_list [(identifier) (field_expression)] @name)
(binary_expression [(identifier) (field_expression)] @name)

(using_statement [(identifier) (scoped_identifier)] @import.module)
(using_statement (selected_import . (_) @import.module (identifier) @import.name))
(import_statement [(identifier) (scoped_identifier)] @import.module)
(import_statement (selected_import . (_) @import.module (identifier) @import.name))
((call_expression . (identifier) @_include (argument_list (string_literal) @import.module)) (#eq? @_include "include"))

(signature (call_expression (argument_list (identifier) @local)))
(signature (call_expression (argument_list (typed_expression (identifier) @binding (_) @is))))
(struct_definition (typed_expression (identifier) @field (_) @is))
(assignment . (identifier) @binding (operator) (_) @from)

(type_head (binary_expression (identifier) (operator) (identifier) @base))
(signature (call_expression (argument_list) @parameters))
