; The captures are explained in rust/references.scm.
(apply function: [(variable) (constructor) (qualified)] @call)
(infix operator: (infix_id (variable) @call))
(apply argument: (variable) @name)
(infix left_operand: (variable) @name)
(infix right_operand: (variable) @name)
(match expression: (variable) @name)
(name) @type
(import module: (_) @import.module)
(import module: (_) @import.module alias: (_) @import.alias)
(function patterns: (patterns (variable) @local))
