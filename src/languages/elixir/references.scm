; The captures are explained in rust/references.scm.
(call target: (_) @call)
(alias) @type
(binary_operator operator: "|>" right: (identifier) @call)
(arguments (identifier) @name)
(call target: (identifier) @_import (arguments . (alias) @import.path) (#any-of? @_import "alias" "import" "require" "use"))
(call target: (identifier) @_behaviour (arguments . (alias) @base) (#eq? @_behaviour "use"))
