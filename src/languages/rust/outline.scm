; Captures: @definition.KIND is the whole definition, @prototype.KIND a declaration without a body,
; @name its name; @import what is imported; @doc a documentation string inside a definition.

(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(enum_variant name: (identifier) @name) @definition.enum_member
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(trait_item name: (type_identifier) @name) @definition.trait
(impl_item type: (_) @name) @definition.impl
(mod_item name: (identifier) @name body: (_)) @definition.module
(macro_definition name: (identifier) @name) @definition.macro
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @prototype.function

(use_declaration argument: (_) @import)
(mod_item name: (identifier) @import !body)
