; The captures are explained in rust/references.scm.
(call_expression function: (_) @call)
(type_identifier) @type
(argument_list [(identifier) (selector_expression)] @name)
(expression_list [(identifier) (selector_expression)] @name)
(literal_element [(identifier) (selector_expression)] @name)
(binary_expression [(identifier) (selector_expression)] @name)

(package_clause (_) @package)
(import_spec !name path: (_) @import.module)
(import_spec name: (_) @import.alias path: (_) @import.module)

(parameter_declaration name: (identifier) @binding type: (_) @is)
(parameter_declaration name: (identifier) @local)
(var_spec name: (identifier) @binding type: (_) @is)
(var_spec name: (identifier) @binding !type value: (expression_list . (_) @from))
(short_var_declaration left: (expression_list . (identifier) @binding) right: (expression_list . (_) @from))
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (_) (identifier) @binding) right: (_) @each)
(type_switch_statement alias: (expression_list (identifier) @local))
(type_parameter_declaration name: (identifier) @binding type: (_) @is)
(field_declaration name: (_) @field type: (_) @is)
(type_spec name: (_) @binding type: [(map_type) (slice_type) (array_type) (channel_type) (pointer_type)] @is)

(field_declaration !name type: (_) @base)
(interface_type (type_elem (_) @base))
(function_declaration parameters: (_) @parameters)
(function_declaration result: (_) @result)
(method_declaration parameters: (_) @parameters)
(method_declaration result: (_) @result)
(method_elem parameters: (_) @parameters)
(method_elem result: (_) @result)
(func_literal parameters: (parameter_list (parameter_declaration name: (identifier) @inner type: (_) @is))) @closure
