; The captures are explained in rust/references.scm.
(call_expression function: (_) @call)
(instance_expression (_) @call)
(infix_expression operator: (identifier) @call)
(type_identifier) @type
(arguments (identifier) @name)
(package_clause name: (_) @package)
(import_declaration) @import.path
(parameter name: (_) @binding type: (_) @is)
(class_parameter name: (_) @field type: (_) @is)
(val_definition pattern: (identifier) @binding type: (_) @is)
(val_definition pattern: (identifier) @binding !type value: (_) @from)
(extends_clause type: (_) @base)
(function_definition parameters: (_) @parameters)
(function_definition return_type: (_) @result)
(function_declaration parameters: (_) @parameters)
(function_declaration return_type: (_) @result)
