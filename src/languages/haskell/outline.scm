(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(type_family name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
(class name: (_) @name) @definition.class
(instance name: (_) @name) @definition.impl
; Constructors and record fields
(data_constructor constructor: (_ name: (_) @name)) @definition.enum_member
(gadt_constructor name: (_) @name) @definition.enum_member
(field name: (field_name) @name) @definition.field

; A type signature and all equations are clauses of one function. Only those that are not local (where, let).
(declarations [
  (signature name: (_) @name)
] @prototype.function @clause)
(class_declarations (signature name: (_) @name) @prototype.method @clause)
(declarations [
  (function name: (_) @name)
  (bind name: (_) @name)
  (function (infix operator: (_) @name))
] @definition.function @clause)
(class_declarations [
  (function name: (_) @name)
  (bind name: (_) @name)
  (function (infix operator: (_) @name))
] @definition.method @clause)
(instance_declarations [
  (function name: (_) @name)
  (bind name: (_) @name)
  (function (infix operator: (_) @name))
] @definition.method @clause)
(instance_declarations (signature name: (_) @name) @prototype.method @clause)

(export variable: (_) @export)
(export type: (_) @export)
(import module: (_) @import)
