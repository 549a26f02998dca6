; The captures are explained in rust/references.scm.
(message_or_enum_type (identifier) @type .)
(package (full_ident) @package)
(import path: (string) @import.module)
(field (type) @is . (identifier) @field)
(oneof_field (type) @is . (identifier) @field)
