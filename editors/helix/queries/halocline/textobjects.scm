(stencil body: (_) @class.inside) @class.around
(run body: (_) @class.inside) @class.around
(def value: (_) @function.inside) @function.around
(parameters (identifier) @parameter.inside)
(comment) @comment.inside
(comment)+ @comment.around
