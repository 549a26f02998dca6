(create_table (object_reference name: (identifier) @name)) @definition.table
(create_view (object_reference name: (identifier) @name)) @definition.table
(create_materialized_view (object_reference name: (identifier) @name)) @definition.table
(create_table (column_definitions (column_definition name: (identifier) @name) @definition.field))
(create_function . (_) . (object_reference name: (identifier) @name)) @definition.function
(create_function (keyword_function) . (object_reference name: (identifier) @name)) @definition.function
(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @definition.function
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_index column: (identifier) @name) @definition.constant
(create_schema (identifier) @name) @definition.module
