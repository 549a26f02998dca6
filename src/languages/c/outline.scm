; @declarator is the whole declarator: the name is what lies innermost in it, and a variable or field whose name is
; followed by parameters is the prototype of a function.
(function_definition declarator: (_) @declarator) @definition.function
(declaration (storage_class_specifier) @_extern declarator: (_) @declarator (#eq? @_extern "extern")) @prototype.constant
(declaration declarator: (_) @declarator) @definition.constant
(field_declaration declarator: (_) @declarator) @definition.field

(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(enumerator name: (_) @name) @definition.enum_member
; Without a name of its own, the typedef names the struct. With one, the struct has its symbol, and the typedef is the
; name after it.
(type_definition type: (struct_specifier !name body: (_)) declarator: (_) @declarator) @definition.struct
(type_definition type: (union_specifier !name body: (_)) declarator: (_) @declarator) @definition.struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @definition.enum
(type_definition type: (struct_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition type: (union_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition type: (enum_specifier name: (_) body: (_)) declarator: (type_identifier) @name @definition.type)
(type_definition declarator: (_) @declarator) @definition.type

(preproc_function_def name: (_) @name) @definition.macro
; A name without a value is an include guard or a switch.
(preproc_def name: (_) @name value: (_)) @definition.constant

(preproc_include path: (_) @import)
