// Expressions: precedence climbing over a bounded stack.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

// Loosest first. `not` is between and and the comparisons; a sign is between * and ^.
constexpr int kOr = 1;
constexpr int kAnd = 2;
constexpr int kComparison = 3;
constexpr int kAdditive = 4;
constexpr int kMultiplicative = 5;

struct BinaryOperator {
    TokenKind token;
    BinaryKind kind;
    int precedence;
};

constexpr BinaryOperator kBinaryOperators[] = {
    {TokenKind::kw_or, BinaryKind::logical_or, kOr},
    {TokenKind::kw_and, BinaryKind::logical_and, kAnd},
    {TokenKind::less, BinaryKind::less, kComparison},
    {TokenKind::less_equal, BinaryKind::less_equal, kComparison},
    {TokenKind::greater, BinaryKind::greater, kComparison},
    {TokenKind::greater_equal, BinaryKind::greater_equal, kComparison},
    {TokenKind::equal_equal, BinaryKind::equal, kComparison},
    {TokenKind::not_equal, BinaryKind::not_equal, kComparison},
    {TokenKind::plus, BinaryKind::add, kAdditive},
    {TokenKind::minus, BinaryKind::subtract, kAdditive},
    {TokenKind::star, BinaryKind::multiply, kMultiplicative},
    {TokenKind::slash, BinaryKind::divide, kMultiplicative},
};

const BinaryOperator* binary_operator(TokenKind token) {
    const auto* found = std::find_if(std::begin(kBinaryOperators), std::end(kBinaryOperators),
                                     [&](const BinaryOperator& entry) { return entry.token == token; });
    return found == std::end(kBinaryOperators) ? nullptr : found;
}

constexpr std::pair<std::string_view, FoldKind> kFolds[] = {
    {"sum", FoldKind::sum}, {"prod", FoldKind::prod}, {"min", FoldKind::min}, {"max", FoldKind::max}};

template <class Visit>
void for_each_operand(const Expr& expr, Visit&& visit) {
    std::visit(
        [&](const auto& node) {
            using Node = std::decay_t<decltype(node)>;
            if constexpr (std::is_same_v<Node, Member>) {
                visit(node.base);
                if (node.index) visit(*node.index);
            } else if constexpr (std::is_same_v<Node, Index>) {
                visit(node.base);
                for (ExprId subscript : node.subscripts)
                    visit(subscript);
            } else if constexpr (std::is_same_v<Node, CallExpr>) {
                for (const Argument& argument : node.arguments)
                    visit(argument.value);
            } else if constexpr (std::is_same_v<Node, UnaryExpr>) {
                visit(node.operand);
            } else if constexpr (std::is_same_v<Node, BinaryExpr>) {
                visit(node.left);
                visit(node.right);
            } else if constexpr (std::is_same_v<Node, Conditional>) {
                visit(node.condition);
                visit(node.then);
                visit(node.otherwise);
            } else if constexpr (std::is_same_v<Node, Fold>) {
                for (const RangeIndex& index : node.indices) {
                    visit(index.low);
                    visit(index.high);
                }
                visit(node.body);
                for (ExprId term : node.terms)
                    visit(term);
            } else if constexpr (std::is_same_v<Node, TableFold>) {
                for (const RowLet& let : node.lets)
                    visit(let.value);
                visit(node.body);
            } else if constexpr (std::is_same_v<Node, List>) {
                for (ExprId element : node.elements)
                    visit(element);
            }
        },
        expr.node);
}

}  // namespace

Parser::Nesting::Nesting(Parser& the_parser) : parser(the_parser) {
    if (++parser.nesting_ <= kMaxNesting || parser.failing_) return;
    parser
        .fail(
            DiagnosticKind::nesting_too_deep, parser.peek().where,
            fmt::format("more than {} brackets, signs or conditions are within each other here", kMaxNesting))
        .note("give the inner part a name with `let` or `def`");
}

ExprId Parser::make(Expr expr) {
    int height = 0;
    for_each_operand(expr,
                     [&](ExprId operand) { height = std::max<int>(height, heights_[operand.index] + 1); });
    if (height > kMaxExpressionHeight) {
        if (!failing_) {
            fail(DiagnosticKind::expression_too_long, peek().where,
                 fmt::format("this expression has more than {} operations one after another",
                             kMaxExpressionHeight))
                .note("split it with `let`, or write it as a `sum`");
        }
        return missing();
    }
    expr.iteration = iteration_;
    starts_.push_back(expr.where.begin);
    heights_.push_back(static_cast<std::uint16_t>(height));
    file_.exprs.push_back(std::move(expr));
    return {static_cast<std::uint32_t>(file_.exprs.size() - 1)};
}

ExprId Parser::missing() {
    starts_.push_back(tokens_[at_].where.begin);
    heights_.push_back(0);
    file_.exprs.push_back({{tokens_[at_].where.begin, tokens_[at_].where.begin}, false, Missing{}});
    return {static_cast<std::uint32_t>(file_.exprs.size() - 1)};
}

std::uint32_t Parser::begin_of(ExprId id) const {
    return starts_[id.index];
}

ExprId Parser::expression() {
    const Nesting nesting(*this);
    return binary(kOr);
}

ExprId Parser::binary(int min_precedence) {
    ExprId left = prefix();
    bool has_comparison = false;
    for (;;) {
        const BinaryOperator* op = binary_operator(peek().kind);
        if (op == nullptr || op->precedence < min_precedence) return left;
        if (op->precedence == kComparison && has_comparison) {
            fail(DiagnosticKind::chained_comparison, peek().where, "comparisons cannot be chained")
                .note("write `a < b and b < c`");
            return left;
        }
        has_comparison = op->precedence == kComparison;
        const Token token = advance();
        const ExprId right = binary(op->precedence + 1);
        if (failing_) return left;
        left = make({since(begin_of(left)), false, BinaryExpr{op->kind, left, right, token.where}});
    }
}

ExprId Parser::prefix() {
    const Token token = peek();
    const bool is_not = token.kind == TokenKind::kw_not;
    if (!is_not && token.kind != TokenKind::minus && token.kind != TokenKind::plus) return power();
    const Nesting nesting(*this);
    advance();
    const ExprId operand = is_not ? binary(kComparison) : prefix();
    if (failing_) return operand;
    const UnaryKind kind = is_not                           ? UnaryKind::logical_not
                           : token.kind == TokenKind::minus ? UnaryKind::negate
                                                            : UnaryKind::plus;
    return make({since(token.where.begin), false, UnaryExpr{kind, operand}});
}

// Right-associative; the exponent may have a sign: 2^-3^2 is 2^(-(3^2)).
ExprId Parser::power() {
    const ExprId base = postfix();
    if (!is(TokenKind::caret) || failing_) return base;
    const Nesting nesting(*this);
    const Token token = advance();
    const bool has_sign = is(TokenKind::minus) || is(TokenKind::plus);
    const ExprId exponent = has_sign ? prefix() : power();
    if (failing_) return base;
    return make({since(begin_of(base)), false, BinaryExpr{BinaryKind::power, base, exponent, token.where}});
}

ExprId Parser::postfix() {
    ExprId base = primary();
    while (!failing_) {
        const Token& token = peek();
        if (token.kind == TokenKind::left_bracket && !token.newline_before) {
            const std::uint32_t opening = open(TokenKind::left_bracket, "`[`");
            Index index{base, {}};
            do {
                index.subscripts.push_back(expression());
            } while (accept(TokenKind::comma));
            close(opening, TokenKind::right_bracket);
            if (failing_) return base;
            base = make({since(begin_of(base)), false, std::move(index)});
        } else if (token.kind == TokenKind::dot) {
            base = member(base);
        } else {
            return base;
        }
    }
    return base;
}

// v.x, f.3, f.(opposite[i])
ExprId Parser::member(ExprId base) {
    advance();
    const Token token = peek();
    if (token.newline_before) {
        fail_expected("a component's name after `.`");
        return base;
    }
    Member result{base, {}, std::nullopt};
    if (token.kind == TokenKind::number) {
        advance();
        result.member = {std::string(text(token)), token.where};
    } else if (token.kind == TokenKind::left_paren) {
        const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
        result.index = expression();
        close(opening, TokenKind::right_paren);
        result.member.where = since(token.where.begin);
        result.member.text = source_.text(result.member.where);
    } else if (const std::string* number = is(TokenKind::identifier) ? chosen(text(token)) : nullptr;
               number != nullptr && !number->empty() && number->front() >= '0' && number->front() <= '9') {
        advance();
        result.member = {*number, token.where};
    } else {
        result.member = name("a component's name after `.`");
    }
    if (failing_) return base;
    return make({since(begin_of(base)), false, std::move(result)});
}

ExprId Parser::primary() {
    const Token& token = peek();
    switch (failing_ ? TokenKind::end : token.kind) {
        case TokenKind::number:
            return number();
        case TokenKind::left_paren:
            return parenthesised();
        case TokenKind::kw_if:
            return conditional();
        case TokenKind::identifier: {
            const Token& next = ahead(1);
            const bool is_call = next.kind == TokenKind::left_paren && !next.newline_before;
            if (is_call && at_fold()) return fold();
            if (is_call) return call();
            // Two names in a row on a new line are a statement: `field v: f32`.
            if (token.newline_before && at_ > statement_start_ && open_.empty() &&
                next.kind == TokenKind::identifier && !next.newline_before) {
                resume_at_ = at_;
                fail_expected("an expression");
                return missing();
            }
            advance();
            return name_or_number(token, resolved(token));
        }
        case TokenKind::left_bracket:
            return list();
        default:
            if (!failing_) fail_expected("an expression");
            return missing();
    }
}

ExprId Parser::parenthesised() {
    const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
    const ExprId inner = expression();
    close(opening, TokenKind::right_paren);
    if (failing_) return inner;
    file_.exprs[inner.index].parenthesised = true;
    starts_[inner.index] = tokens_[opening].where.begin;
    return inner;
}

ExprId Parser::number() {
    const Token token = advance();
    std::string_view digits = text(token);
    const bool is_imaginary = digits.ends_with('i');
    if (is_imaginary) digits.remove_suffix(1);
    if (std::optional<Rational> value = Rational::parse(digits)) {
        return make({token.where, false, Number{*std::move(value), is_imaginary}});
    }
    sink_.report(DiagnosticKind::number_out_of_range, token.where, "this number is out of range")
        .note(fmt::format("numbers have at most {} digits and lie between 1e-{} and 1e{}",
                          Rational::kMaxDigits, Rational::kMaxDecimalExponent,
                          Rational::kMaxDecimalExponent));
    return make({token.where, false, Missing{}});
}

// What `if` and `where` ask.
ExprId Parser::condition() {
    const ExprId result = expression();
    const SourceRange assign = peek().where;
    if (!failing_ && is(TokenKind::assign)) {
        fail(DiagnosticKind::foreign_operator, assign, "`=` gives a value; two values are compared by `==`")
            .mend(assign, "==");
    }
    return result;
}

ExprId Parser::conditional() {
    const Token token = advance();
    Conditional node;
    node.condition = condition();
    expect(TokenKind::kw_then, "`then` and the value where the condition holds");
    node.then = expression();
    expect(TokenKind::kw_else, "`else` and the value where the condition does not hold");
    node.otherwise = expression();
    if (failing_) return node.condition;
    return make({since(token.where.begin), false, node});
}

// An index that stands for a number is that number.
ExprId Parser::name_or_number(const Token& token, std::string name) {
    if (name.empty() || name.front() < '0' || name.front() > '9')
        return make({token.where, false, NameUse{std::move(name)}});
    std::int64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    return make({token.where, false, Number{Rational(number)}});
}

// sum(i in …
bool Parser::at_fold() const {
    const std::string_view word = text(peek());
    const bool is_fold_name = std::any_of(std::begin(kFolds), std::end(kFolds),
                                          [&](const auto& entry) { return entry.first == word; });
    const bool is_fold = ahead(2).kind == TokenKind::identifier && ahead(3).kind == TokenKind::identifier &&
                         text(ahead(3)) == "in";
    return is_fold_name && (is_fold || at_name_lists(2));
}

ExprId Parser::fold() {
    const Nesting nesting(*this);
    if (failing_) return missing();  // nested too deep: there is no token to go by
    const Token token = advance();
    const auto* kind = std::find_if(std::begin(kFolds), std::end(kFolds),
                                    [&](const auto& entry) { return entry.first == text(token); });
    Fold node{kind->second, {}, {}};
    const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
    if (at_name_lists()) {
        const std::vector<NameList> lists = name_lists();
        close(opening, TokenKind::right_paren);
        if (failing_) return missing();
        node.terms = terms(lists, [&] { return binary(kMultiplicative); });
        node.body = node.terms.front();
        if (failing_) return node.body;
        return make({since(token.where.begin), false, std::move(node)});
    }
    // One name and no range: the rows of a table.
    if (is(TokenKind::identifier) && ahead(2).kind == TokenKind::identifier &&
        ahead(3).kind == TokenKind::right_paren) {
        Name row = name("the name of a row");
        expect_word("in", "and a range, as in `i in 1..4`");
        return table_fold(token, opening, std::move(row));
    }
    node.indices = range_indices();
    close(opening, TokenKind::right_paren);
    node.body = binary(kMultiplicative);
    if (failing_) return node.body;
    return make({since(token.where.begin), false, std::move(node)});
}

std::vector<RangeIndex> Parser::range_indices() {
    std::vector<RangeIndex> result;
    do {
        RangeIndex index;
        index.name = name("the name of an index");
        expect_word("in", "and a range, as in `i in 1..4`");
        index.low = bound();
        if (!accept(TokenKind::dot_dot) && !failing_) {
            Diagnostic& diagnostic = fail_expected("`..` and the last value of the index");
            if (std::holds_alternative<NameUse>(file_[index.low].node))
                diagnostic.note(
                    "names are two or more, with commas: `a in x, y`; those of all axes are `axes`");
        }
        index.high = bound();
        result.push_back(std::move(index));
    } while (accept(TokenKind::comma));
    return result;
}

ExprId Parser::table_fold(const Token& token, std::uint32_t opening, Name row) {
    TableFold node{std::move(row), name("the name of a table"), {}, {}};
    close(opening, TokenKind::right_paren);
    if (text(token) != "sum") {
        fail(DiagnosticKind::not_built_yet, token.where,
             fmt::format("`{}` over a table is not built yet", text(token)))
            .note("`sum` over a table is");
    }
    if (failing_) return missing();
    if (!is(TokenKind::left_brace)) {
        node.body = binary(kMultiplicative);
    } else {
        const std::uint32_t brace = opening_brace("`{`");
        node.is_block = true;
        open_.push_back(brace);  // where a mistake is, reading goes on after it
        if (!read_row_lets(node)) return missing();
        node.body = expression();
        while (!failing_ && accept(TokenKind::semicolon)) {
        }
        if (!failing_ && !is(TokenKind::right_brace)) {
            fail_expected("`}` after what is summed")
                .label(tokens_[brace].where, "the sum's block begins here");
        }
        if (!failing_) open_.pop_back();
        accept(TokenKind::right_brace);
    }
    if (failing_) return node.body;
    return make({since(token.where.begin), false, std::move(node)});
}

// let NAME = expression, each on a line of its own or ended by `;`.
bool Parser::read_row_lets(TableFold& node) {
    while (is_word("let") && ahead(1).kind == TokenKind::identifier) {
        advance();
        RowLet let;
        let.name = name("a name");
        expect(TokenKind::assign, "`=` and an expression");
        let.value = expression();
        if (!failing_ && !is(TokenKind::semicolon) && !peek().newline_before) {
            fail_expected("the end of the line, or `;`, after this `let`");
        }
        while (!failing_ && accept(TokenKind::semicolon)) {
        }
        node.lets.push_back(std::move(let));
    }
    return !failing_;
}

ExprId Parser::bound() {
    return binary(kAdditive);
}

ExprId Parser::call() {
    const Token token = advance();
    CallExpr node{{resolved(token), token.where}, {}};
    const std::uint32_t opening = open(TokenKind::left_paren, "`(`");
    if (!is(TokenKind::right_paren)) {
        do {
            Argument argument;
            if (is(TokenKind::identifier) && ahead(1).kind == TokenKind::assign) {
                argument.keyword = name("a name");
                advance();
            }
            argument.value = expression();
            node.arguments.push_back(std::move(argument));
        } while (accept(TokenKind::comma));
    }
    close(opening, TokenKind::right_paren);
    if (failing_) return missing();
    return make({since(token.where.begin), false, std::move(node)});
}

ExprId Parser::value_or_list() {
    return is(TokenKind::left_bracket) && !failing_ ? list() : expression();
}

// The rest of [body for i in a..b].
ExprId Parser::comprehension(ExprId body, std::uint32_t opening) {
    advance();
    Fold node{FoldKind::list, range_indices(), body};
    close(opening, TokenKind::right_bracket);
    if (failing_) return missing();
    return make({since(tokens_[opening].where.begin), false, std::move(node)});
}

ExprId Parser::list() {
    const Nesting nesting(*this);
    if (failing_) return missing();
    const std::uint32_t begin = peek().where.begin;
    const std::uint32_t opening = open(TokenKind::left_bracket, "`[`");
    if (const std::optional<std::size_t> loop = names_of_list(opening)) return list_of_names(opening, *loop);
    List list;
    while (!at_list_end(TokenKind::right_bracket)) {
        list.elements.push_back(value_or_list());
        if (is_word("for") && list.elements.size() == 1) return comprehension(list.elements[0], opening);
        if (!accept(TokenKind::comma)) break;
    }
    close(opening, TokenKind::right_bracket);
    if (failing_) return missing();
    return make({since(begin), false, std::move(list)});
}

}  // namespace halo::syntax
