; The captures are explained in rust/references.scm.
(command name: (command_name (word) @call))
(command
  name: (command_name (word) @_source)
  argument: [(word) (string)] @import.module
  (#any-of? @_source "source" "."))
