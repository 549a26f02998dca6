; What JavaScript, TypeScript and TSX share.
(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(method_definition name: (_) @name) @definition.method

(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @definition.function
(variable_declarator name: (identifier) @name value: (class)) @definition.class
; What is required is an import, not a constant.
(variable_declarator name: (identifier) @name value: (_) @_value (#not-match? @_value "^require\\(")) @definition.constant
(variable_declarator name: (identifier) @name !value) @definition.constant
(variable_declarator
  name: [
    (array_pattern (identifier) @name)
    (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)])
  ]
  value: (_) @_value
  (#not-match? @_value "^require\\(")) @definition.constant

; CommonJS: exports.x = …, module.exports.x = …, module.exports = …
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name @export)
  right: [(arrow_function) (function_expression) (generator_function)]
  (#any-of? @_exports "exports" "module.exports")) @definition.function
(assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name @export)
  right: (class)
  (#any-of? @_exports "exports" "module.exports")) @definition.class
(assignment_expression
  left: (member_expression) @name @export
  right: [(arrow_function) (function_expression)]
  (#eq? @name "module.exports")) @definition.function
(assignment_expression
  left: (member_expression) @name @export
  right: (class)
  (#eq? @name "module.exports")) @definition.class
(assignment_expression
  left: (member_expression) @name @export
  right: [(object) (call_expression) (new_expression)] @_value
  (#eq? @name "module.exports") (#not-match? @_value "^require\\(")) @definition.constant
(assignment_expression
  left: (member_expression) @_left
  right: [
    (identifier) @export
    (object [
      (shorthand_property_identifier) @export
      (pair value: (identifier) @export)
    ])
  ]
  (#match? @_left "^(module\\.)?exports"))

; Foo.prototype.bar = function …, foo.bar = function …
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @receiver property: (_) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]
  (#eq? @_prototype "prototype")) @definition.method
(assignment_expression
  left: (member_expression object: (identifier) @receiver property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @definition.method
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @definition.method

(export_statement "default" @name value: [(arrow_function) (function_expression !name)]) @definition.function
(export_statement value: (function_expression name: (_) @name)) @definition.function
(export_statement "default" @name value: (class !name)) @definition.class
(export_statement "default" @name value: [(object) (call_expression) (new_expression) (ternary_expression)]) @definition.constant
(export_statement value: (identifier) @export)
(export_statement !source (export_clause (export_specifier name: (identifier) @export)))

[(arrow_function) (function_expression) (generator_function) (class_static_block)] @scope

(import_statement source: (_) @import)
(export_statement source: (_) @import)
(call_expression
  function: [(identifier) (import)] @_require
  arguments: (arguments . (string) @import)
  (#any-of? @_require "require" "import"))
