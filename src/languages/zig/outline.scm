(function_declaration name: (_) @name body: (_)) @definition.function
(function_declaration name: (_) @name !body) @prototype.function
(variable_declaration . (identifier) @name (struct_declaration)) @definition.struct
(variable_declaration . (identifier) @name (union_declaration)) @definition.struct
(variable_declaration . (identifier) @name (opaque_declaration)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration)) @definition.enum
(variable_declaration . (identifier) @name (error_set_declaration)) @definition.enum
; What is imported is an import, not a constant.
(variable_declaration . (identifier) @name . (_) @_value (#not-match? @_value "^@import")) @definition.constant
(enum_declaration (container_field name: (_) @name) @definition.enum_member)
(error_set_declaration (identifier) @name @definition.enum_member)
(container_field name: (_) @name) @definition.field
(test_declaration [(string (string_content) @name) (identifier) @name]) @definition.function

(comptime_declaration) @scope
(builtin_function (builtin_identifier) @_import (arguments . (string) @import)
  (#any-of? @_import "@import" "@cImport" "@embedFile"))
