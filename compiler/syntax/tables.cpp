// Tables and their columns, and series.
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

TableDecl Parser::table(std::uint32_t begin) {
    TableDecl result;
    advance();
    result.name = name("the name of the table");
    const std::uint32_t opening = opening_brace("`{` and the columns, as in `{ x, y, q: f32 }`");
    if (failing_) return result;
    std::vector<std::string> unread_names;
    statements(Block::table, unread_names, [&] {
        ColumnDecl read = column();
        if (failing_) {
            unread_names.push_back(result.name.text);
        } else {
            result.columns.push_back(std::move(read));
        }
    });
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    close_block(opening);
    result.where = since(begin);
    return result;
}

SeriesDecl Parser::series(std::uint32_t begin) {
    SeriesDecl result;
    advance();
    do {
        result.names.push_back(name("the name of the series"));
    } while (accept(TokenKind::comma));
    if (!failing_ && is(TokenKind::colon))
        fail_expected("the end of the statement: the values of a series are f64, as those of params are");
    result.where = since(begin);
    return result;
}

ColumnDecl Parser::column() {
    ColumnDecl result;
    do {
        result.names.push_back(name("the name of a column"));
    } while (accept(TokenKind::comma));
    result.type = optional_type();
    if (failing_) return result;
    if (result.names.size() == 1 && accept(TokenKind::assign)) {
        result.value = expression();
    } else if (!result.type) {
        fail_expected("`:` and the type of the columns, or `=` and what the column is computed from");
    }
    return result;
}

}  // namespace halo::syntax
