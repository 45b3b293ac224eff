;; Colours of .halo files. No two patterns are for the same node, as editors differ in which of them wins.

(comment) @comment
(string) @string
[(number) (digits)] @constant.numeric
(operator) @operator
["=" ".."] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter

;; Words that begin statements.
[
    "use" "stencil" "run" "def" "const" "coef" "param" "spacing" "origin" "field" "table" "series" "fast" "let"
    "reduce" "accuracy" "schedule" "for" "on" "where" "points" "inject" "sample" "sweep" "repeat" "solve" "grid"
    "steps" "rows" "init" "load" "save" "plot" "movie" "halo" "boundary" "layout" "unit"
] @keyword.control

;; Words within statements.
[
    "along" "arrows" "as" "at" "axes" "coarse" "contours" "do" "down" "every" "flip" "fps" "from" "in" "into" "log" "most"
    "over" "parts" "range" "start" "to" "together" "tol" "until" "up" "using"
] @keyword

["if" "then" "else" "and" "or" "not"] @keyword.operator
[(boundary_kind) "robin"] @constant.builtin

(type name: (identifier) @type.builtin
    (#match? @type.builtin "^(f32|f64|f16|bf16|i32|i64|u8|bool|c64|c128)$"))

;; Functions of the language, and those of a `def`.
["pos" "idx"] @function.builtin
((call function: (identifier) @function.builtin)
    (#match? @function.builtin "^(d|d2|laplacian|biharmonic|upwind|interpolate|grad|div|curl|pos|idx|len|min|max|sum|prod|dot|cross|norm|re|im|conj|arg|mod|random|normal|f32|f64|sqrt|rsqrt|cbrt|exp|log|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|abs|floor|ceil|round|trunc|pow)$"))
((call function: (identifier) @function)
    (#not-match? @function "^(d|d2|laplacian|biharmonic|upwind|interpolate|grad|div|curl|pos|idx|len|min|max|sum|prod|dot|cross|norm|re|im|conj|arg|mod|random|normal|f32|f64|sqrt|rsqrt|cbrt|exp|log|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|abs|floor|ceil|round|trunc|pow)$"))
(fold function: (identifier) @function.builtin)
(def name: (identifier) @function)

(stencil name: (identifier) @type)
(run name: (identifier) @type)
(chain stencil: (identifier) @type)
(phase stencil: (identifier) @type)
(parameters (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(member component: (identifier) @variable.other.member)
(index name: (identifier) @variable.parameter)
