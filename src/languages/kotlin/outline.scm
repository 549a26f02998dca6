(class_declaration "interface" . (type_identifier) @name) @definition.interface
(class_declaration (type_identifier) @name (enum_class_body)) @definition.enum
(class_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name) @definition.class
(companion_object (type_identifier) @name) @definition.class
(companion_object "companion" @name "object" . [":" (class_body)]) @definition.class
(enum_entry (simple_identifier) @name) @definition.enum_member
(type_alias (type_identifier) @name) @definition.type
(class_parameter (binding_pattern_kind) . (simple_identifier) @name) @definition.field

(function_declaration receiver: (receiver_type) @receiver (simple_identifier) @name) @definition.function
(function_declaration (simple_identifier) @name (function_body)) @definition.function
(function_declaration (simple_identifier) @name) @prototype.function
(secondary_constructor "constructor" @name) @definition.method

(property_declaration receiver: (receiver_type) @receiver (variable_declaration (simple_identifier) @name)) @definition.field
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
(property_declaration (variable_declaration (simple_identifier) @name)) @definition.constant
(property_declaration (multi_variable_declaration (variable_declaration (simple_identifier) @name))) @definition.constant

; Properties are declared as local variables are: these bodies have no name.
[(lambda_literal) (anonymous_function) (anonymous_initializer) (getter) (setter) (control_structure_body)] @scope
(import_header (identifier) @import)
