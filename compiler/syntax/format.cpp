#include "compiler/syntax/format.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/syntax/lexer.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/tree.h"

namespace halo::syntax {

namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kMaxColumn = 60;    // brackets further right are continued as if they ended their line
constexpr std::size_t kMaxAligned = 100;  // longer lines do not move their neighbours' comments

bool is_opener(TokenKind kind) {
    return kind == TokenKind::left_paren || kind == TokenKind::left_bracket;
}
bool closes_bracket(TokenKind kind) {
    return kind == TokenKind::right_paren || kind == TokenKind::right_bracket;
}
bool is_arithmetic(TokenKind kind) {
    return kind == TokenKind::plus || kind == TokenKind::minus || kind == TokenKind::star ||
           kind == TokenKind::slash;
}

// What tokens alone do not tell: all by the first byte of a token.
struct Roles {
    std::unordered_set<std::uint32_t> statements;  // first words of statements
    std::unordered_set<std::uint32_t> callees;     // names that `(` follows without a space
    std::unordered_set<std::uint32_t> signs;       // unary operators
    std::unordered_set<std::uint32_t> indices;     // `[` of u[x+1]
    std::unordered_set<std::uint32_t> lists;       // `[` of [1, -2, 1]
    std::unordered_set<std::uint32_t> schedules;   // `schedule`
    std::unordered_set<std::uint32_t> tight;       // operators of `at x+1/2`
};

class RoleFinder {
public:
    RoleFinder(const File& file, const SourceFile& source) : file_(file), source_(source) {
        for (const Expr& expr : file.exprs)
            add(expr);
        for (const Use& use : file.uses)
            roles_.statements.insert(use.where.begin);
        for (const StencilStatement& statement : file.shared)
            add(statement);
        for (const SourceRange loop : file.name_loops)
            roles_.statements.insert(loop.begin);
        for (const Guard& guard : file.guards)
            if (guard.is_block) roles_.statements.insert(guard.where.begin);
        for (const Stencil& stencil : file.stencils) {
            roles_.statements.insert(stencil.where.begin);
            roles_.callees.insert(stencil.name.where.begin);
            for (const StencilStatement& statement : stencil.statements)
                add(statement);
        }
        for (const Run& run : file.runs) {
            roles_.statements.insert(run.where.begin);
            for (const RunStatement& statement : run.statements)
                add(statement);
        }
        add_indices(file);
    }
    Roles take() { return std::move(roles_); }

private:
    void add(const Expr& expr) {
        if (const auto* call = std::get_if<CallExpr>(&expr.node))
            roles_.callees.insert(call->callee.where.begin);
        if (const auto* fold = std::get_if<Fold>(&expr.node))
            (fold->kind == FoldKind::list ? roles_.lists : roles_.callees).insert(expr.where.begin);
        if (std::holds_alternative<List>(expr.node)) roles_.lists.insert(expr.where.begin);
        if (const auto* fold = std::get_if<TableFold>(&expr.node)) {
            roles_.callees.insert(expr.where.begin);
            add_terms(*fold);
        }
        if (std::holds_alternative<UnaryExpr>(expr.node)) roles_.signs.insert(expr.where.begin);
    }
    // The lines of a sum's block: its lets, which begin with the word before their name, and the term.
    void add_terms(const TableFold& fold) {
        for (const RowLet& let : fold.lets) {
            const std::size_t word = source_.text().rfind("let", let.name.where.begin);
            roles_.statements.insert(static_cast<std::uint32_t>(word));
        }
        if (!fold.is_block) return;
        const Expr& body = file_[fold.body];
        const std::size_t begin =
            body.parenthesised ? source_.text().rfind('(', body.where.begin) : body.where.begin;
        roles_.statements.insert(static_cast<std::uint32_t>(begin));
    }
    void add(const StencilStatement& statement) {
        std::visit([&](const auto& node) { roles_.statements.insert(node.where.begin); }, statement);
        if (const auto* field = std::get_if<FieldDecl>(&statement)) {
            add_position(field->at);
            for (const Component& component : field->type.components)
                add_position(component.at);
        }
        if (const auto* let = std::get_if<LetDecl>(&statement)) add_position(let->at);
        if (const auto* table = std::get_if<TableDecl>(&statement)) {
            for (const ColumnDecl& column : table->columns)
                roles_.statements.insert(column.names.front().where.begin);
        }
        if (const auto* def = std::get_if<DefDecl>(&statement)) roles_.callees.insert(def->name.where.begin);
        if (const auto* reduce = std::get_if<ReduceDecl>(&statement)) {
            roles_.callees.insert(reduce->operation.where.begin);
        }
        if (const auto* schedule = std::get_if<ScheduleBlock>(&statement)) {
            roles_.schedules.insert(schedule->where.begin);
        }
        if (const auto* loop = std::get_if<ForStatement>(&statement)) {
            for (const LoopBody& body : loop->body)
                add(body.statement);
        }
    }
    void add(const RunStatement& statement) {
        std::visit([&](const auto& node) { roles_.statements.insert(node.where.begin); }, statement);
        if (const auto* loop = std::get_if<InitLoop>(&statement)) {
            for (const InitStatement& body : loop->body)
                roles_.statements.insert(body.where.begin);
        }
    }
    void add_position(const std::vector<ExprId>& at) {
        for (ExprId id : at) {
            const auto* sum = std::get_if<BinaryExpr>(&file_[id].node);
            if (sum != nullptr) roles_.tight.insert(sum->operator_where.begin);
        }
    }
    // The `[` of an index is the first one behind its base.
    void add_indices(const File& file) {
        for (const Expr& expr : file.exprs) {
            const auto* index = std::get_if<Index>(&expr.node);
            if (index == nullptr) continue;
            std::size_t at = file[index->base].where.end;
            const std::string_view text = source_.text();
            if (file[index->base].parenthesised) continue;
            while (at < text.size() && text[at] == ' ')
                ++at;
            roles_.indices.insert(static_cast<std::uint32_t>(at));
        }
    }

    const File& file_;
    const SourceFile& source_;
    Roles roles_;
};

struct Line {
    std::size_t indent = 0;
    std::string text;
    std::string comment;  // at its end
    bool blank_before = false;
};

class Formatter {
public:
    Formatter(const SourceFile& source, const Tokens& tokens, Roles roles)
        : source_(source), tokens_(tokens), roles_(std::move(roles)), match_(match_brackets(tokens.tokens)) {}

    std::string run() {
        std::size_t comment = 0;
        for (std::size_t i = 0; i + 1 < tokens_.tokens.size(); ++i) {
            const Token& token = tokens_.tokens[i];
            for (; comment < tokens_.comments.size() && tokens_.comments[comment].begin < token.where.begin;
                 ++comment) {
                add_comment(tokens_.comments[comment]);
            }
            add_token(i);
        }
        for (; comment < tokens_.comments.size(); ++comment)
            add_comment(tokens_.comments[comment]);
        align_comments();
        return print();
    }

private:
    // An open ( or [. Lines within it begin at its column; 0 where it ends its line, and they are indented.
    struct Bracket {
        bool is_index = false;
        std::size_t column = 0;
    };
    struct Block {
        bool is_multi_line = true;
        bool is_schedule = false;
    };

    std::string_view text(SourceRange where) const { return source_.text(where); }

    // Newlines between the last item and a place.
    std::size_t newlines_before(std::uint32_t begin) const {
        const std::string_view between = text({last_end_, begin});
        return static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
    }

    void start_line(std::size_t indent, std::uint32_t begin, bool may_be_blank_before) {
        Line line;
        line.indent = indent;
        const bool after_block = blocks_.empty() && last_was_closing_brace_;
        line.blank_before = !lines_.empty() && may_be_blank_before && !last_was_opening_brace_ &&
                            (newlines_before(begin) > 1 || after_block);
        lines_.push_back(std::move(line));
        needs_break_ = false;
    }

    void finish(SourceRange where, bool is_opening_brace, bool is_closing_brace) {
        last_end_ = where.end;
        last_was_opening_brace_ = is_opening_brace;
        last_was_closing_brace_ = is_closing_brace;
    }

    void add_comment(SourceRange where) {
        const std::string_view comment = text(where);
        const bool is_trailing =
            !lines_.empty() && newlines_before(where.begin) == 0 && lines_.back().comment.empty();
        if (is_trailing) {
            lines_.back().comment = comment;
        } else {
            const bool within_statement = in_statement_ && !may_end_statement(where.end);
            start_line(within_statement ? continuation() : kIndent * blocks_.size(), where.begin, true);
            lines_.back().text = comment;
        }
        needs_break_ = true;
        finish(where, is_trailing && last_was_opening_brace_, false);
    }

    // Whether the next token begins a statement or ends a block.
    bool may_end_statement(std::uint32_t from) const {
        const auto next = std::lower_bound(
            tokens_.tokens.begin(), tokens_.tokens.end(), from,
            [](const Token& token, std::uint32_t begin) { return token.where.begin < begin; });
        return next == tokens_.tokens.end() || begins_statement(*next) ||
               next->kind == TokenKind::right_brace || next->kind == TokenKind::end;
    }

    bool begins_statement(const Token& token) const {
        if (roles_.statements.count(token.where.begin) != 0) return true;
        if (blocks_.empty()) return false;
        if (blocks_.back().is_schedule) return token.newline_before || last_was_opening_brace_;
        const std::string_view word = text(token.where);
        return brackets_.empty() && blocks_.size() >= 2 &&
               (token.newline_before || last_was_opening_brace_) &&
               (word == "halo" || word == "boundary" || word == "layout" || word == "unit");
    }

    bool is_multi_line(std::size_t opening) const {
        const std::uint32_t closing = match_[opening];
        if (closing == opening + 1) return false;
        for (std::size_t i = opening + 1; i < closing; ++i) {
            if (tokens_.tokens[i].kind == TokenKind::semicolon || tokens_.tokens[i].newline_before)
                return true;
        }
        return tokens_.tokens[closing].newline_before;
    }

    // Of a line that goes on with a statement.
    std::size_t continuation() const {
        const bool is_aligned = !brackets_.empty() && brackets_.back().column > 0;
        return is_aligned ? brackets_.back().column : kIndent * (blocks_.size() + 1);
    }

    std::size_t indent_of(const Token& token, bool is_start) const {
        const bool is_aligned = !brackets_.empty() && brackets_.back().column > 0;
        const bool is_outdented =
            is_start || token.kind == TokenKind::left_brace || (closes_bracket(token.kind) && !is_aligned);
        return is_outdented ? kIndent * blocks_.size() : continuation();
    }

    void add_token(std::size_t i) {
        const Token& token = tokens_.tokens[i];
        if (token.kind == TokenKind::semicolon && !(!blocks_.empty() && blocks_.back().is_schedule)) {
            needs_break_ = true;
            after_semicolon_ = true;
            last_end_ = token.where.end;
            return;
        }
        const bool closes_block = token.kind == TokenKind::right_brace;
        const Block closed = closes_block && !blocks_.empty() ? blocks_.back() : Block{};
        if (closes_block && !blocks_.empty()) blocks_.pop_back();
        const bool follows_semicolon = std::exchange(after_semicolon_, false);
        const bool begins = follows_semicolon || begins_statement(token);
        if (needs_line(token, begins, closes_block, closed)) {
            start_line(indent_of(token, begins || closes_block), token.where.begin, begins);
        } else if (space_between(i, closed)) {
            lines_.back().text += ' ';
        }
        lines_.back().text += text(token.where);
        track(i, begins);
        finish(token.where, token.kind == TokenKind::left_brace && needs_break_, closes_block);
    }

    bool needs_line(const Token& token, bool begins, bool closes_block, const Block& closed) const {
        if (lines_.empty() || needs_break_) return true;
        if (closes_block) return closed.is_multi_line;
        if (begins && (blocks_.empty() || blocks_.back().is_multi_line)) return true;
        return token.newline_before && token.kind != TokenKind::left_brace;
    }

    void track(std::size_t i, bool begins) {
        const Token& token = tokens_.tokens[i];
        if (begins) is_schedule_next_ = roles_.schedules.count(token.where.begin) != 0;
        in_statement_ = token.kind != TokenKind::left_brace && token.kind != TokenKind::right_brace;
        if (is_opener(token.kind)) {
            const std::size_t column = width_of(lines_.back());
            const bool is_hanging = tokens_.tokens[i + 1].newline_before || column > kMaxColumn;
            brackets_.push_back({roles_.indices.count(token.where.begin) != 0, is_hanging ? 0 : column});
        }
        if (closes_bracket(token.kind) && !brackets_.empty()) brackets_.pop_back();
        if (token.kind == TokenKind::left_brace) {
            blocks_.push_back({is_multi_line(i), std::exchange(is_schedule_next_, false)});
            needs_break_ = blocks_.back().is_multi_line;
        }
    }

    // Between tokens i - 1 and i, which share a line.
    bool space_between(std::size_t i, const Block& closed) const {
        const Token& left = tokens_.tokens[i - 1];
        const Token& right = tokens_.tokens[i];
        if (right.kind == TokenKind::right_brace)
            return left.kind != TokenKind::left_brace || closed.is_multi_line;
        if (left.kind == TokenKind::left_brace || right.kind == TokenKind::left_brace) return true;
        if (left.kind == TokenKind::right_brace)  // of a sum's block, perhaps within brackets
            return !closes_bracket(right.kind) && right.kind != TokenKind::comma;
        if (!blocks_.empty() && blocks_.back().is_schedule) return right.space_before;
        // `4.` is a number, and so is `.5` where it follows one; in `f.3` it is not.
        if (left.kind == TokenKind::number && right.kind == TokenKind::dot) return true;
        if (left.kind == TokenKind::dot && right.kind == TokenKind::number && i >= 2 &&
            tokens_.tokens[i - 2].kind == TokenKind::number)
            return true;
        // `++` is no operator.
        if (left.kind == TokenKind::plus && right.kind == TokenKind::plus) return true;
        if (is_tight(left) || is_tight(right)) return false;
        if (is_opener(left.kind) || closes_bracket(right.kind)) return false;
        if (right.kind == TokenKind::comma || right.kind == TokenKind::colon) return false;
        if (left.kind == TokenKind::assign || right.kind == TokenKind::assign) return !is_keyword_argument();
        if (is_sign(left)) return left.kind == TokenKind::kw_not;
        if (right.kind == TokenKind::left_paren && left.kind == TokenKind::identifier) {
            return roles_.callees.count(left.where.begin) == 0 && !is_coordinate(i) && !is_grid(i);
        }
        if (roles_.lists.count(right.where.begin) != 0) return !is_arithmetic(left.kind) || is_spaced(i - 1);
        if (right.kind == TokenKind::left_bracket) {
            const bool is_index = roles_.indices.count(right.where.begin) != 0;  // also behind f.1
            return !is_index && left.kind != TokenKind::identifier && !closes_bracket(left.kind);
        }
        if (is_arithmetic(left.kind) && !is_sign(left)) return is_spaced(i - 1);
        if (is_arithmetic(right.kind) && !is_sign(right)) return is_spaced(i);
        return true;
    }

    static bool is_tight(const Token& token) {
        return token.kind == TokenKind::dot || token.kind == TokenKind::dot_dot ||
               token.kind == TokenKind::caret;
    }
    bool is_sign(const Token& token) const { return roles_.signs.count(token.where.begin) != 0; }
    bool is_keyword_argument() const { return !brackets_.empty(); }

    // The `(` of `on coarse(2)`.
    bool is_grid(std::size_t i) const {
        return i >= 2 && text(tokens_.tokens[i - 1].where) == "coarse" &&
               text(tokens_.tokens[i - 2].where) == "on";
    }

    // The `(` of `at pos(z) = 0.5`.
    bool is_coordinate(std::size_t i) const {
        const std::string_view word = text(tokens_.tokens[i - 1].where);
        return word == "pos" || word == "idx";
    }

    // Offsets are tight (u[x+1]); a sum outside brackets is spaced; elsewhere 2*p stays as the user has it.
    bool is_spaced(std::size_t op) const {
        if (!brackets_.empty() && brackets_.back().is_index) return false;
        const Token& token = tokens_.tokens[op];
        if (roles_.tight.count(token.where.begin) != 0) return false;
        if (brackets_.empty() && (token.kind == TokenKind::plus || token.kind == TokenKind::minus))
            return true;
        const Token& next = tokens_.tokens[op + 1];
        return token.space_before || token.newline_before || next.space_before || next.newline_before;
    }

    void align_comments() {
        for (std::size_t first = 0; first < lines_.size();) {
            std::size_t last = first;
            std::size_t width = 0;
            while (last < lines_.size() && joins_run(lines_[last], last == first)) {
                width = std::max(width, width_of(lines_[last]));
                ++last;
            }
            for (std::size_t i = first; i < last; ++i) {
                lines_[i].text.append(width - width_of(lines_[i]) + 2, ' ');
                lines_[i].text += lines_[i].comment;
                lines_[i].comment.clear();
            }
            first = std::max(last, first + 1);
        }
    }
    static std::size_t width_of(const Line& line) { return line.indent + line.text.size(); }
    static bool joins_run(const Line& line, bool is_first) {
        return !line.comment.empty() && width_of(line) <= kMaxAligned && (is_first || !line.blank_before);
    }

    std::string print() const {
        std::string out;
        for (const Line& line : lines_) {
            if (line.blank_before) out += '\n';
            out.append(line.indent, ' ');
            out += line.text;
            if (!line.comment.empty()) out += "  " + line.comment;
            out += '\n';
        }
        return out;
    }

    const SourceFile& source_;
    const Tokens& tokens_;
    const Roles roles_;
    const std::vector<std::uint32_t> match_;
    std::vector<Line> lines_;
    std::vector<Block> blocks_;
    std::vector<Bracket> brackets_;
    std::uint32_t last_end_ = 0;
    bool last_was_opening_brace_ = false;
    bool last_was_closing_brace_ = false;
    bool needs_break_ = false;
    bool after_semicolon_ = false;
    bool in_statement_ = false;
    bool is_schedule_next_ = false;
};

}  // namespace

std::optional<std::string> format(const SourceFile& source, DiagnosticSink& sink) {
    const File file = parse(source, sink);
    if (sink.has_errors()) return std::nullopt;
    const Tokens tokens = lex(source);
    return Formatter(source, tokens, RoleFinder(file, source).take()).run();
}

}  // namespace halo::syntax
