; What JavaScript, TypeScript and TSX share. The captures are explained in rust/references.scm.
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(arguments [(identifier) (member_expression)] @name)
(pair value: [(identifier) (member_expression)] @name)
(shorthand_property_identifier) @name
(array [(identifier) (member_expression)] @name)
(variable_declarator value: [(identifier) (member_expression)] @name)
(assignment_expression right: [(identifier) (member_expression)] @name)
(return_statement [(identifier) (member_expression)] @name)
(binary_expression [(identifier) (member_expression)] @name)
(ternary_expression [(identifier) (member_expression)] @name)
(arrow_function body: [(identifier) (member_expression)] @name)

(import_statement !source) @_
(import_statement (import_clause (identifier) @import.alias) source: (_) @import.module)
(import_statement (import_clause (namespace_import (identifier) @import.alias)) source: (_) @import.module)
(import_statement (import_clause (named_imports (import_specifier name: (_) @import.name !alias))) source: (_) @import.module)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_) @import.alias)))
  source: (_) @import.module)
(export_statement (export_clause (export_specifier name: (_) @import.name !alias)) source: (_) @import.module)
(export_statement !source (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias)))
(export_statement (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias)) source: (_) @import.module)
(export_statement "*" @import.name source: (_) @import.module)
(export_statement (namespace_export (_) @import.alias) source: (_) @import.module)
(variable_declarator
  name: (identifier) @import.alias
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias))
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module))
  (#eq? @_require "require"))
(variable_declarator
  name: (identifier) @import.alias
  value: (member_expression
    object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module))
    property: (property_identifier) @import.name)
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @import.module))

; What is required is an import.
(variable_declarator name: (identifier) @binding value: (_) @from (#not-match? @from "^require\\("))
(for_in_statement left: (identifier) @binding right: (_) @each)
(arrow_function parameter: (identifier) @local)
(variable_declarator name: (array_pattern (identifier) @local))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @local))
(assignment_expression left: (member_expression object: (this) property: (_) @field) right: (_) @from)
(function_declaration parameters: (_) @parameters)
(method_definition parameters: (_) @parameters)
(variable_declarator value: (arrow_function parameters: (_) @parameters))
(return_statement (_) @returned)
; What a module exports without a name.
(export_statement "default" @import.alias value: (identifier) @import.name)
(assignment_expression left: (member_expression) @import.alias right: (identifier) @import.name (#eq? @import.alias "module.exports"))
