; Everything is a call. The name of a function is the target of the call in its head, or the whole head without
; arguments; `when` stands around the head.
(call target: (identifier) @_def (arguments . (alias) @name) (do_block)
  (#eq? @_def "defmodule")) @definition.module
(call target: (identifier) @_def (arguments . (alias) @name)
  (#eq? @_def "defprotocol")) @definition.interface
(call target: (identifier) @_def (arguments . (_) @name)
  (#eq? @_def "defimpl")) @definition.impl
(call target: (identifier) @_def @name
  (#any-of? @_def "defstruct" "defexception")) @definition.struct

(call target: (identifier) @_def
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
  ])
  (#any-of? @_def "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp")) @definition.function @clause
(call target: (identifier) @_def
  (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])
  (#any-of? @_def "defmacro" "defmacrop")) @definition.macro @clause
; Operators: def a <> b
(call target: (identifier) @_def
  (arguments . [
    (binary_operator operator: _ @name)
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")
  ])
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")
  (#not-eq? @name "when")) @definition.function @clause
(call target: (identifier) @_test (arguments . (string (quoted_content) @name)) (do_block)
  (#eq? @_test "test")) @definition.function

(unary_operator operator: "@" operand: (call target: (identifier) @_type
  (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_type "type" "typep" "opaque")) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @_callback
  (arguments [
    (binary_operator left: (call target: (identifier) @name) operator: "::")
    (binary_operator left: (binary_operator left: (call target: (identifier) @name)) operator: "when")
  ]))
  (#any-of? @_callback "callback" "macrocallback")) @prototype.function @clause
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . (_)))
  (#not-any-of? @name "moduledoc" "doc" "typedoc" "spec" "type" "typep" "opaque" "callback" "macrocallback"
    "optional_callbacks" "impl" "behaviour" "deprecated" "dialyzer" "derive" "enforce_keys" "external_resource"
    "compile" "before_compile" "after_compile" "on_load" "on_definition" "tag" "moduletag" "describetag" "since"
    )) @definition.constant

(unary_operator operator: "@" operand: (call target: (identifier) @_moduledoc (arguments [(string) (sigil)]))
  (#eq? @_moduledoc "moduledoc")) @doc
(unary_operator operator: "@" operand: (call target: (identifier) @_doc (arguments [(string) (sigil)]))
  (#any-of? @_doc "doc" "typedoc")) @attached.doc
(unary_operator operator: "@" operand: (call target: (identifier) @_attr)
  (#any-of? @_attr "doc" "typedoc" "spec" "impl" "deprecated" "since" "tag" "dialyzer")) @attached

(anonymous_function) @scope
(call target: (identifier) @_use (arguments . (_) @import)
  (#any-of? @_use "alias" "import" "use" "require"))
