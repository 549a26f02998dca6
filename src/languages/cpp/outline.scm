; As c.scm, with classes and templates.
; Tests are macros: TEST(Suite, Case) { … } is named by its arguments.
(function_definition
  declarator: (function_declarator declarator: (identifier) @_test parameters: (parameter_list) @name)
  (#match? @_test "^(TYPED_)?TEST(_[A-Z]+)?$")) @definition.function
(function_definition
  !type
  declarator: (function_declarator declarator: (identifier) @_test) @declarator
  (#not-match? @_test "^(TYPED_)?TEST(_[A-Z]+)?$")) @definition.function
(function_definition type: (_) declarator: (_) @declarator) @definition.function
(function_definition
  !type
  declarator: [
    (function_declarator declarator: [(destructor_name) (operator_name) (qualified_identifier) (template_function) (field_identifier)])
    (operator_cast)
    (qualified_identifier)
    (reference_declarator)
    (pointer_declarator)
  ] @declarator) @definition.function
(declaration (storage_class_specifier) @_extern declarator: (_) @declarator (#eq? @_extern "extern")) @prototype.constant
(declaration declarator: (_) @declarator) @definition.constant
(field_declaration declarator: (_) @declarator) @definition.field

(class_specifier name: (_) @name body: (_)) @definition.class
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(enumerator name: (_) @name) @definition.enum_member
(concept_definition name: (_) @name) @definition.type
(alias_declaration name: (_) @name) @definition.type
(type_definition type: (struct_specifier !name body: (_)) declarator: (_) @declarator) @definition.struct
(type_definition type: (union_specifier !name body: (_)) declarator: (_) @declarator) @definition.struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @definition.enum
(type_definition type: (struct_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition type: (union_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition type: (enum_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition declarator: (_) @declarator) @definition.type

(preproc_function_def name: (_) @name) @definition.macro
(preproc_def name: (_) @name value: (_)) @definition.constant

(lambda_expression) @scope
(preproc_include path: (_) @import)
