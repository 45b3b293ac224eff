// Points off the grid: their declarations, what is injected and sampled at them, and where a run places them.
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

PointsDecl Parser::points(std::uint32_t begin) {
    PointsDecl result;
    advance();
    do {
        result.names.push_back(name("the name of the points"));
    } while (accept(TokenKind::comma));
    if (accept(TokenKind::colon)) {
        result.interpolation = name("`linear` or `sinc`");
        if (!failing_ && is(TokenKind::number) && !peek().newline_before) result.radius = primary();
    }
    result.where = since(begin);
    return result;
}

InjectStatement Parser::inject(std::uint32_t begin) {
    InjectStatement result;
    advance();
    result.target = postfix();
    expect_word("at", "and the points to inject at");
    result.points = name("the points to inject at");
    if (!failing_ && text(peek()) == "+=") {
        advance();
    } else if (!failing_) {
        fail_expected("`+=` and what to add");
    }
    result.value = expression();
    result.where = since(begin);
    return result;
}

SampleStatement Parser::sample(std::uint32_t begin) {
    SampleStatement result;
    advance();
    result.value = expression();
    expect_word("at", "and the points to sample at");
    result.points = name("the points to sample at");
    expect_word("into", "and a trace, as in `phones.trace[t]`");
    result.trace = postfix();
    result.unit = unit_of_value();
    result.where = since(begin);
    return result;
}

// phones at [10*i, 20] for i in 0..99
bool Parser::at_place() const {
    return !failing_ && is(TokenKind::identifier) && ahead(1).kind == TokenKind::identifier &&
           text(ahead(1)) == "at" && ahead(2).kind == TokenKind::left_bracket;
}

PlaceStatement Parser::place(std::uint32_t begin) {
    PlaceStatement result;
    result.points = name("the points");
    advance();
    do {
        if (!failing_ && !is(TokenKind::left_bracket)) fail_expected("`[` and the coordinates of a point");
        result.positions.push_back(primary());
    } while (accept(TokenKind::comma));
    if (accept_word("for")) result.indices = range_indices();
    result.where = since(begin);
    return result;
}

}  // namespace halo::syntax
