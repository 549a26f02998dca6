; Beside ecmascript.refs.scm.
(formal_parameters (identifier) @local)
(formal_parameters (assignment_pattern left: (identifier) @local))
(field_definition property: (_) @field value: (_) @from)
(class_heritage (_) @base)
