[
    (stencil_body) (run_body) (properties) (table) (schedule) (terms)
    (arguments) (list) (parenthesised) (conditional)
] @indent

["}" ")" "]"] @outdent
