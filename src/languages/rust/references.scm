; How a file refers to other code. `@call` is the whole callee, or its name where `@receiver` is captured beside it; `@name` an
; identifier used as a value, `@type` the name of a type, `@base` a supertype of the definition around it. `@binding` is a name whose
; type is written (`@is`), or follows from an expression: `@from` (its value), `@each` (an element of it), `@first` and `@second`
; (of a tuple). `@inner` is a parameter of a `@closure`, which hides a variable of its name around it. `@field` is the same
; for a member of the type around it, `@element` the type of one that has a number for a name; `@local` a name of which nothing is known. `@parameters`, `@result`
; (its type) and `@returned` (a value) belong to the function around them. `@import.path` is a path whose last part is the imported name; otherwise `@import.module`, with `@import.name`
; and `@import.alias` if there are any; `@package` is what the file says that it belongs to. `@call.word` and `@name.word` are names as they
; stand, whatever is in them; `@own` is the name of a definition that looks like a call; `@component` a tag of a template;
; `@call.macro` a callee that can only be a macro; `@namespace` one of several namespaces of the file.

(call_expression function: (_) @call)
(macro_invocation macro: (_) @call.macro)
; The arguments of macros are not parsed.
(token_tree (identifier) @call.token . (token_tree))
(token_tree (identifier) @call.token . "!" . (token_tree))
(token_tree (identifier) @binding . ":" . (identifier) @is (#match? @is "^[A-Z]"))
(token_tree (identifier) @binding . ":" . "&" . (identifier) @is (#match? @is "^[A-Z]"))
(token_tree (identifier) @name)

(type_identifier) @type
(scoped_identifier path: (identifier) @type (#match? @type "^[A-Z]"))
(scoped_identifier path: (scoped_identifier name: (identifier) @type) (#match? @type "^[A-Z]"))
(token_tree (identifier) @type (#match? @type "^[A-Z].*[a-z]"))
(arguments [(identifier) (scoped_identifier)] @name)
(field_initializer value: [(identifier) (scoped_identifier)] @name)
(shorthand_field_initializer (identifier) @name)
(let_declaration value: [(identifier) (scoped_identifier)] @name)
(reference_expression value: [(identifier) (scoped_identifier)] @name)
(binary_expression [(identifier) (scoped_identifier)] @name)
(match_pattern [(identifier) (scoped_identifier)] @name)
(tuple_struct_pattern type: (_) @name)
(scoped_identifier name: (identifier) @name (#match? @name "^[A-Z]"))

(use_declaration argument: (_) @import.path)
(mod_item name: (identifier) @import.module !body)
(extern_crate_declaration name: (_) @import.module alias: (_) @import.alias)

(let_declaration pattern: (identifier) @binding type: (_) @is)
(let_declaration pattern: (identifier) @binding !type value: (_) @from)
(let_declaration pattern: (tuple_pattern . (identifier) @binding) !type value: (_) @first)
(let_declaration pattern: (tuple_pattern . (_) . (identifier) @binding) !type value: (_) @second)
(let_condition pattern: (tuple_struct_pattern (identifier) @binding .) value: (_) @each)
(parameter pattern: (identifier) @binding type: (_) @is)
(for_expression pattern: (identifier) @binding value: (_) @each)
(closure_parameters (identifier) @local)
(type_parameter name: (type_identifier) @binding bounds: (trait_bounds . (_) @is))
(where_predicate left: (type_identifier) @binding bounds: (trait_bounds . (_) @is))
(field_declaration name: (_) @field type: (_) @is)
(ordered_field_declaration_list type: (_) @element)
(const_item name: (_) @binding type: (_) @is)
(static_item name: (_) @binding type: (_) @is)
(type_item name: (_) @binding type: (_) @is)
(associated_type name: (_) @field bounds: (trait_bounds . (_) @is))

(impl_item trait: (_) @base)
(trait_item bounds: (trait_bounds (_) @base))
(function_item parameters: (_) @parameters)
(function_item return_type: (_) @result)
(function_signature_item parameters: (_) @parameters)
(function_signature_item return_type: (_) @result)
