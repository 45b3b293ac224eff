// The grammar of .halo files for tree-sitter. It accepts every spec that the compiler accepts, and some that it refuses:
// clauses of a statement come in any order, say. `src/parser.c` is generated from it (docs/editors.md says how).
// Where statements end, and what is a number beside `..`, decides `src/scanner.c`.

const PREC = { choice: 1, or: 2, and: 3, not: 4, compare: 5, sum: 6, fold: 7, product: 8, sign: 9, power: 10, postfix: 11 };

// The words that begin statements of a stencil are names like any other where `=`, `[` or `.` follows.
const STATEMENT_WORDS = [
    "param", "const", "spacing", "origin", "coef", "field", "table", "series", "fast", "def", "let", "reduce",
    "schedule", "for", "on", "where", "points", "inject", "sample", "sweep", "repeat", "solve",
];

const list = (rule) => seq(rule, repeat(seq(",", rule)));
const lines = ($, rule) => seq(repeat(choice(seq(rule, choice($._end, ";")), ";")), optional(rule));
const block = ($, rule) => seq("{", lines($, rule), "}");

module.exports = grammar({
    name: "halocline",

    extras: ($) => [/[ \t\r\n]/, $.comment],
    word: ($) => $.identifier,
    externals: ($) => [$._end, $.number, $._recovering],
    conflicts: ($) => [[$._reference, $.indices_of_fold]],
    supertypes: ($) => [$.expression],

    rules: {
        source_file: ($) => lines_of_file($),

        comment: () => token(/#[^\n]*/),
        string: () => token(/"[^"\r\n]*"/),
        // In loops over names: psi_{a}, {k}_{l+1}. A block such as `{a}` has nothing behind its `}`.
        identifier: () => token(choice(
            /[A-Za-z_]([A-Za-z_0-9]|\{[A-Za-z_][A-Za-z_0-9]*([+-][0-9]+)?\})*/,
            /\{[A-Za-z_][A-Za-z_0-9]*([+-][0-9]+)?\}([A-Za-z_0-9]|\{[A-Za-z_][A-Za-z_0-9]*([+-][0-9]+)?\})+/)),

        // ---- blocks
        use_statement: ($) => seq("use", $.string),
        stencil: ($) => seq("stencil", field("name", $.identifier), $.axes, field("body", $.stencil_body)),
        axes: ($) => seq("(", list($.identifier), ")"),
        stencil_body: ($) => block($, $._statement),
        run: ($) => seq("run", field("name", $.identifier), field("body", $.run_body)),
        // A line that begins with `then` ends the one before, where that has no `if`.
        run_body: ($) => block($, choice(seq($._action, repeat($.phase)), repeat1($.phase))),

        // ---- statements of a stencil
        _statement: ($) => choice(
            $.definitions, $.axis_values, $.accuracy, $.coef, $.field_declaration, $.table, $.names, $.points,
            $.inject, $.sample, $.def, $.let, $.reduce, $.guard, $.schedule, $.solve, $.loop, $.assignment),

        definitions: ($) => seq(choice("param", "const"), list($.definition)),
        definition: ($) => seq(field("name", $.identifier), optional($._of_type), optional($._value), optional($.unit)),
        unit: ($) => seq("unit", $.string),
        axis_values: ($) => seq(choice("spacing", "origin"), list(seq($.identifier, $._value, optional($.unit)))),
        accuracy: ($) => seq("accuracy", $.expression),
        coef: ($) => seq(optional("param"), "coef", field("name", $.identifier), "[", list($.range), "]", optional($._of_type), $._value),

        field_declaration: ($) => seq("field", list(field("name", $.identifier)), ":", choice($.type, $.components),
            optional($.over), optional($.coarse), optional($.position), optional($.properties)),
        _of_type: ($) => seq(":", $.type),
        type: ($) => seq(field("name", $.identifier), optional(seq("[", $.expression, "]")), optional(seq("as", $.identifier))),
        // A comma may go on with a component's place or begin the next component.
        components: ($) => seq("(", list(choice($.component, $.expression)), ")"),
        component: ($) => seq(field("name", $.identifier), ":", $.type, optional(seq("at", $.expression))),
        over: ($) => seq("over", list($.identifier)),
        coarse: ($) => seq("on", "coarse", "(", $.expression, ")"),
        position: ($) => seq("at", $._expressions),
        properties: ($) => block($, $._property),
        _property: ($) => choice($.unit, $.halo, $.boundary, $.layout),
        halo: ($) => seq("halo", list(prec(-1, seq(optional(field("face", $._reference)), $.expression)))),
        boundary: ($) => seq("boundary", list($.edge)),
        edge: ($) => seq(repeat($.face), choice(
            seq($.boundary_kind, optional($.expression)),
            seq("robin", $.expression, ",", $.expression, ",", $.expression))),
        // Of an axis, or a component that has the boundary: x, x.low, v.x
        face: ($) => seq($.identifier, optional(seq(".", $.identifier))),
        boundary_kind: () => choice("periodic", "fixed", "clamp", "mirror", "free", "antimirror", "symmetric",
            "antisymmetric", "extrapolate", "gradient"),
        layout: ($) => seq("layout", $.identifier),

        table: ($) => seq("table", field("name", $.identifier), block($, $.column)),
        column: ($) => seq(list(field("name", $.identifier)), optional($._of_type), optional($._value)),
        names: ($) => seq(choice("series", "fast"), list($.identifier)),
        points: ($) => seq("points", list(field("name", $.identifier)), optional(seq(":", $.identifier, optional($.number)))),
        inject: ($) => seq("inject", $._reference, "at", $.identifier, alias("+=", $.operator), $.expression),
        sample: ($) => seq("sample", $.expression, "at", $.identifier, "into", $._reference, optional($.unit)),

        def: ($) => seq("def", field("name", $.identifier), $.parameters, $._value),
        parameters: ($) => seq("(", optional(list($.identifier)), ")"),
        let: ($) => seq("let", field("name", $.identifier), optional($.coarse), optional($.position), optional($.properties),
            $._value),
        reduce: ($) => seq("reduce", field("name", $.identifier), "=", $.call,
            optional(seq("start", $.expression)), optional($.coarse), optional($.cells), optional($.condition), optional($.unit)),

        guard: ($) => seq(choice($.cells, $.condition, $.sweep, $.repeat), field("body", $.stencil_body)),
        cells: ($) => seq("on", list($.region)),
        region: ($) => seq(field("axis", $.identifier), choice(seq(".", $.identifier), seq("in", $.range))),
        condition: ($) => seq("where", $.expression),
        sweep: ($) => seq("sweep", $.identifier, choice("up", "down"), optional(seq("in", "parts"))),
        repeat: ($) => seq("repeat", choice(
            seq(optional(seq(field("level", $.identifier), "to")), $.expression),
            seq(optional(field("level", $.identifier)), "until", $.expression, $._at_most))),
        _at_most: ($) => seq(",", "at", "most", $.expression),
        schedule: ($) => seq("schedule", "{", repeat($.schedule_word), "}"),
        schedule_word: () => token(/[^\s{}#]+/),
        solve: ($) => seq("solve", $._reference, ":", $.expression, $._value, "using", $.identifier,
            optional(seq("along", $.identifier)), optional(seq("over", $.expression)), optional(seq("tol", $.expression)), optional($._at_most)),
        loop: ($) => seq("for", $.indices, field("body", $.stencil_body)),
        assignment: ($) => seq(field("target", $._target), $._value),
        _target: ($) => choice($._reference, $.word_target),
        // A name that is also the first word of a statement.
        word_target: ($) => prec.right(1, seq($._word_name, repeat(choice($._subscripts, $._member)))),
        _word_name: ($) => prec(1, choice(...STATEMENT_WORDS.map((word) => alias(word, $.identifier)))),

        // Loops over numbers and over names: after a comma comes another value or another index.
        indices: ($) => list(choice($.index, $._listed)),
        index: ($) => seq(field("name", $.identifier), "in", $._listed),
        _listed: ($) => choice("axes", $.expression, seq($.range, optional("down")), $.tuple),
        tuple: ($) => seq("(", $.expression, ",", $._expressions, ")"),
        range: ($) => seq($.expression, "..", $.expression),

        // ---- statements of a run
        _action: ($) => choice($.grid, $.steps, $.rows, $.init, $.load, $.output, $.place, $.chain, $.run_loop, alias($.setting, $.assignment)),
        grid: ($) => seq("grid", $._expressions),
        steps: ($) => seq("steps", $.expression, optional(seq("until", $.expression))),
        chain: ($) => seq("every", $.expression, optional(seq("from", $.expression)), optional(seq("to", $.expression)),
            "do", field("stencil", $.identifier)),
        phase: ($) => seq("then", field("stencil", $.identifier), "for", $.expression),
        rows: ($) => seq("rows", $.identifier, $._value),
        init: ($) => seq("init", $._reference, $._value),
        load: ($) => seq("load", $._reference, "from", $.string),
        output: ($) => seq(choice("save", "plot", "movie"), list($._reference), repeat($._clause)),
        _clause: ($) => choice($.cut, $.part, $.contours, $.arrows,
            seq(choice("every", "from", "to", "fps"), $.expression), seq("to", field("file", $.string)), "together",
            seq("range", $.range), "log", seq("flip", list($.identifier))),
        cut: ($) => seq("at", list(seq($._place, $._value))),
        _place: ($) => choice($.identifier, seq(choice("pos", "idx"), "(", $.identifier, ")")),
        part: ($) => prec.right(seq("on", list(seq($.identifier, choice(seq("in", $.range, optional(seq("every", $.expression))), seq("every", $.expression)))))),
        contours: ($) => seq("contours", $._reference, optional(seq("=", $._expressions))),
        arrows: ($) => seq("arrows", list($._reference)),
        place: ($) => seq(field("name", $.identifier), "at", list($.list), optional(seq("for", $.indices))),
        run_loop: ($) => seq("for", $.indices, field("body", $.run_body)),
        setting: ($) => seq(field("target", $.identifier), $._value),

        // ---- expressions
        _value: ($) => seq("=", field("value", $.expression)),
        _expressions: ($) => list($.expression),
        expression: ($) => choice($.binary, $.unary, $.conditional, $.fold, $.call, $._reference, $.number, $.parenthesised, $.list),
        binary: ($) => choice(...[
            ["or", PREC.or], ["and", PREC.and], [alias($._comparison, $.operator), PREC.compare],
            [alias($._sign, $.operator), PREC.sum], [alias($._factor, $.operator), PREC.product],
        ].map(([sign, level]) => prec.left(level, seq($.expression, sign, $.expression))),
            prec.right(PREC.power, seq($.expression, alias("^", $.operator), $.expression))),
        // One token for each level, so that the tables of the parser stay small.
        _comparison: () => token(/[<>]=?|[=!]=/),
        _sign: () => token(/[+-]/),
        _factor: () => token(/[*\/]/),
        unary: ($) => choice(prec(PREC.sign, seq(alias($._sign, $.operator), $.expression)), prec(PREC.not, seq("not", $.expression))),
        conditional: ($) => prec.right(PREC.choice, seq("if", $.expression, "then", $.expression, "else", $.expression)),
        // A sum over a range, over names, or over the rows of a table.
        fold: ($) => prec(PREC.fold, seq(field("function", $.identifier), "(", $.indices_of_fold, ")", choice($.expression, $.terms))),
        indices_of_fold: ($) => seq(repeat(seq($.identifier, ",")), $.index, repeat(seq(",", choice($.index, $._listed)))),
        terms: ($) => seq("{", repeat(seq($.let, choice($._end, ";"))), $.expression, optional(choice($._end, ";")), "}"),
        call: ($) => prec(PREC.postfix, seq(field("function", $.identifier), $.arguments)),
        arguments: ($) => seq("(", optional(list(choice($.expression, $.named_argument))), ")"),
        named_argument: ($) => seq(field("name", $.identifier), $._value),
        _reference: ($) => choice($.identifier, $.subscript, $.member),
        subscript: ($) => prec(PREC.postfix, seq($._operand, $._subscripts)),
        member: ($) => prec(PREC.postfix, seq($._operand, $._member)),
        _operand: ($) => choice($._reference, $.call, $.parenthesised, $.list),
        _subscripts: ($) => seq("[", $._expressions, "]"),
        _member: ($) => seq(".", choice(field("component", $.identifier), $.digits, seq("(", $.expression, ")"))),
        digits: () => token(/[0-9]+/),
        parenthesised: ($) => seq("(", $.expression, ")"),
        list: ($) => seq("[", optional(seq($.expression, choice(seq("for", $.indices), seq(repeat(seq(",", $.expression)), optional(","))))), "]"),
    },
});

// Blocks end by themselves; `use`, `def`, `const` and `coef` end as statements do.
function lines_of_file($) {
    const shared = choice($.use_statement, $.def, $.definitions, $.coef);
    return repeat(choice(seq(shared, choice($._end, ";")), $.stencil, $.run, ";"));
}
