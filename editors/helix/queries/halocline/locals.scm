(stencil) @local.scope
(run) @local.scope
(def) @local.scope
(fold) @local.scope
(loop) @local.scope
(run_loop) @local.scope

(field_declaration name: (identifier) @local.definition)
(definition name: (identifier) @local.definition)
(coef name: (identifier) @local.definition)
(let name: (identifier) @local.definition)
(reduce name: (identifier) @local.definition)
(table name: (identifier) @local.definition)
(points name: (identifier) @local.definition)
(axes (identifier) @local.definition)
(parameters (identifier) @local.definition)
(index name: (identifier) @local.definition)

(identifier) @local.reference
