(class_declaration declaration_kind: "extension" name: (_) @name) @definition.impl
(class_declaration declaration_kind: "struct" name: (_) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name) @definition.enum
(class_declaration name: (_) @name) @definition.class
(protocol_declaration name: (_) @name) @definition.interface
(enum_entry name: (simple_identifier) @name) @definition.enum_member
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

; The return type is a `name` as well; what stands before the parameters is the function's.
(function_declaration "func" . name: _ @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @prototype.method
(init_declaration "init" @name body: (_)) @definition.method
(init_declaration "init" @name !body) @prototype.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant

; Properties are declared as local variables are: these bodies have no name.
[(lambda_literal) (computed_property) (willset_didset_block)] @scope
(import_declaration (identifier) @import)
