(package_statement name: (package) @name (block)) @definition.module
(package_statement name: (package) @name) @prototype.module
(class_statement name: (package) @name) @definition.class
(subroutine_declaration_statement name: (bareword) @name) @definition.function
(method_declaration_statement name: (bareword) @name) @definition.method
(use_statement module: (package) @_constant (list_expression . (autoquoted_bareword) @name) (#eq? @_constant "constant")) @definition.constant
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (_ (varname) @name)))) @definition.constant)
(source_file (expression_statement (variable_declaration variable: (_ (varname) @name))) @definition.constant)

(anonymous_subroutine_expression) @scope
(use_statement module: (package) @import (#not-any-of? @import "strict" "warnings" "constant" "parent" "base" "utf8"))
(require_expression (bareword) @import)
