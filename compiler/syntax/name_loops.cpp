// Loops over names: what they repeat is read again for each name, with that name in the place of the index.
// So nothing behind the parser knows of them, and whatever a name can be, an index can be.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

constexpr std::size_t kMaxNameLength = 1000;
constexpr std::size_t kMaxRepeatedTokens = 1'000'000;  // of a file, loops within each other multiplied out
constexpr std::size_t kMaxIterations = 4096;
constexpr std::string_view kNoFormulas =
    "a loop lists names and whole numbers: `const third = 1/3` gives another number a name";

// The number that an index stands for; nullopt: it stands for a name.
std::optional<std::int64_t> number_of(const std::string* name) {
    if (name == nullptr || name->empty() || name->front() < '0' || name->front() > '9') return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(name->data(), name->data() + name->size(), number);
    return number;
}

}  // namespace

// ---- names that an index is in

const std::string* Parser::chosen(std::string_view word) const {
    const auto found = std::find_if(chosen_.rbegin(), chosen_.rend(),
                                    [&](const Chosen& each) { return each.index == word; });
    return found == chosen_.rend() ? nullptr : &found->name;
}

// The name that a word stands for: that of an index, and `psi_x` for `psi_{a}`.
std::string Parser::resolved(const Token& token) {
    const std::string_view word = text(token);
    if (word.find('{') == std::string_view::npos) {
        const std::string* const name = chosen(word);
        return name != nullptr ? *name : std::string(word);
    }
    std::string result;
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t open = std::min(word.find('{', at), word.size());
        result += word.substr(at, open - at);
        if (open == word.size()) break;
        const std::size_t close = word.find('}', open);
        const std::string_view written = word.substr(open + 1, close - open - 1);
        const std::string_view index = written.substr(0, written.find_first_of("+-"));
        const std::string* const name = chosen(index);
        const auto begin = static_cast<std::uint32_t>(token.where.begin + open + 1);
        const SourceRange where{begin, static_cast<std::uint32_t>(begin + index.size())};
        if (name == nullptr) {
            if (!failing_) refuse_index(index, where);
            return {};
        }
        result += index.size() == written.size() ? *name : moved_index(*name, written, index.size(), where);
        at = close + 1;
    }
    if (result.size() > kMaxNameLength && !failing_) {
        fail(DiagnosticKind::program_too_large, token.where,
             fmt::format("this name has more than {} letters when it is written out", kMaxNameLength));
    }
    if (number_of(&result)) {
        if (!failing_)
            fail(DiagnosticKind::unexpected_token, token.where,
                 fmt::format("`{}` is `{}` here, and a name begins with a letter", word, result));
        return {};
    }
    const std::string* const index = chosen(result);  // `row_{b}`, where `row_x` is an index itself
    return index != nullptr ? *index : result;
}

// `l+1` in a name, where `l` stands for a number; empty where that is reported.
std::string Parser::moved_index(const std::string& name, std::string_view written, std::size_t sign,
                                SourceRange where) {
    std::int64_t distance = 0;
    const std::string_view digits = written.substr(sign + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), distance);
    std::optional<std::int64_t> number = number_of(&name);
    if (number) *number += written[sign] == '+' ? distance : -distance;
    if (number && *number >= 0) return std::to_string(*number);
    if (failing_) return {};
    if (number) {
        fail(DiagnosticKind::out_of_range, where,
             fmt::format("`{}` is below 0 where `{}` is {}, and names count from 0", written,
                         written.substr(0, sign), name));
    } else {
        fail(DiagnosticKind::unexpected_token, where,
             fmt::format("`{}` stands for the name `{}` here, and numbers alone are counted on from",
                         written.substr(0, sign), name));
    }
    return {};
}

void Parser::refuse_index(std::string_view index, SourceRange where) {
    const bool is_of_range = std::ranges::find(range_names_, index) != range_names_.end();
    if (is_of_range) {
        fail(DiagnosticKind::unknown_name, where,
             fmt::format("`{}` runs through a range that is computed, or beside another index", index))
            .note(fmt::format("a name is made of numbers that are written out: `for {} in 1..4 {{ … }}`",
                              index))
            .note(fmt::format("a field with components has numbers: `field f: f32[4]` and `f.{}`", index));
        return;
    }
    Diagnostic& diagnostic = fail(DiagnosticKind::unknown_name, where,
                                  fmt::format("`{}` is no index of a loop over names around here", index));
    std::vector<std::string> indices;
    for (const Chosen& each : chosen_)
        indices.push_back(each.index);
    if (indices.empty()) {
        diagnostic.note(fmt::format("as in `for {} in x, y {{ … }}`", index));
    } else if (const auto meant = closest_name(index, indices)) {
        diagnostic.mend(where, *meant);
    }
}

// ---- lists of names

// Whether indices and names follow, as in `a in axes`, `a in x, y`, `a, b in (x, y), (y, x)`; not a range,
// nor the name of a table.
bool Parser::at_name_lists(std::size_t at) const {
    if (at_numbers(at)) return true;
    while (ahead(at).kind == TokenKind::identifier && ahead(at + 1).kind == TokenKind::comma)
        at += 2;
    const bool is_in = ahead(at).kind == TokenKind::identifier &&
                       ahead(at + 1).kind == TokenKind::identifier && text(ahead(at + 1)) == "in";
    if (!is_in) return false;
    const Token& first = ahead(at + 2);
    const Token& next = ahead(at + 3);
    if (first.kind == TokenKind::left_paren)
        return (ahead(at + 3).kind == TokenKind::identifier || ahead(at + 3).kind == TokenKind::number) &&
               ahead(at + 4).kind == TokenKind::comma;
    if (first.kind != TokenKind::identifier) return false;
    const bool ends = next.kind == TokenKind::comma || next.kind == TokenKind::left_brace ||
                      next.kind == TokenKind::right_paren || next.kind == TokenKind::right_bracket;
    if (text(first) == "axes" && ends) return true;
    return next.kind == TokenKind::comma && ahead(at + 4).kind == TokenKind::identifier &&
           !(ahead(at + 5).kind == TokenKind::identifier && text(ahead(at + 5)) == "in");
}

// How many tokens a bound of a range takes that is known here: `4`, or `top`, `top+1` where an outer loop's
// index stands for a number. 0: there is none.
std::size_t Parser::tokens_of_number(std::size_t at) const {
    if (ahead(at).kind == TokenKind::number) return 1;
    if (ahead(at).kind != TokenKind::identifier) return 0;
    if (!number_of(chosen(text(ahead(at))))) return 0;
    const bool is_moved = ahead(at + 1).kind == TokenKind::plus || ahead(at + 1).kind == TokenKind::minus;
    return is_moved && ahead(at + 2).kind == TokenKind::number ? 3 : 1;
}

// Whether `l in 1, 2, 4` follows; or a range before a block with `{l}` in names, `l in 1..4`, or `1..4 down`.
// Other ranges are no concern of the parser.
bool Parser::at_numbers(std::size_t at) const {
    const bool is_in = ahead(at).kind == TokenKind::identifier &&
                       ahead(at + 1).kind == TokenKind::identifier && text(ahead(at + 1)) == "in";
    if (!is_in) return false;
    if (ahead(at + 2).kind == TokenKind::number && ahead(at + 3).kind == TokenKind::comma)
        return ahead(at + 4).kind == TokenKind::number;
    const std::size_t low = tokens_of_number(at + 2);
    if (low == 0 || ahead(at + 2 + low).kind != TokenKind::dot_dot) return false;
    const std::size_t high = tokens_of_number(at + 3 + low);
    if (high == 0) return false;
    const std::size_t behind = at + 3 + low + high;
    const Token& next = ahead(behind);
    if (next.kind == TokenKind::identifier) return text(next) == "down";
    const std::size_t opening = at_ + behind;
    if (next.kind != TokenKind::left_brace || match_[opening] == kUnmatched) return false;
    return is_in_names(text(ahead(at)), opening) || begins_range(text(ahead(at)), opening);
}

// Whether `{l}`, `{l+1}` or `{l-1}` is in a name of the block.
bool Parser::is_in_names(std::string_view index, std::size_t opening) const {
    const std::string written = "{" + std::string(index);
    for (std::size_t i = opening + 1; i < match_[opening]; ++i) {
        if (tokens_[i].kind != TokenKind::identifier) continue;
        const std::string_view word = text(tokens_[i]);
        for (std::size_t found = word.find(written); found != word.npos;
             found = word.find(written, found + 1)) {
            const char after = word[found + written.size()];
            if (after == '}' || after == '+' || after == '-') return true;
        }
    }
    return false;
}

// Whether a range of the block is written out whose bounds have the index, as `for m in l..4 { … e_{m} … }`.
bool Parser::begins_range(std::string_view index, std::size_t opening) const {
    for (std::size_t i = opening + 2; i < match_[opening]; ++i) {
        if (tokens_[i].kind != TokenKind::identifier || text(tokens_[i]) != "in") continue;
        const std::string_view inner = text(tokens_[i - 1]);
        std::size_t end = i + 1;
        bool has_index = false;
        for (; end < match_[opening] && tokens_[end].kind != TokenKind::left_brace; ++end)
            has_index = has_index || text(tokens_[end]) == index;
        if (has_index && end < match_[opening] && match_[end] != kUnmatched && is_in_names(inner, end))
            return true;
    }
    return false;
}

std::vector<Parser::NameList> Parser::name_lists() {
    std::vector<NameList> lists;
    do {
        NameList list;
        do {
            list.indices.push_back(index_name(lists, list));
        } while (accept(TokenKind::comma));
        expect_word("in", "and the names, as in `a in x, y`");
        read_rows(list);
        lists.push_back(std::move(list));
    } while (!failing_ && accept(TokenKind::comma));
    return lists;
}

// An index is written as it is: what stands for another name cannot be one.
std::string Parser::index_name(const std::vector<NameList>& before, const NameList& list) {
    const Token token = peek();
    if (!expect(TokenKind::identifier, "the name of an index")) return {};
    std::string result(text(token));
    const bool is_axis = std::ranges::any_of(axes_, [&](const Name& axis) { return axis.text == result; });
    const auto has = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, result) != names.end();
    };
    const bool is_taken =
        chosen(result) != nullptr || has(list.indices) ||
        std::ranges::any_of(before, [&](const NameList& other) { return has(other.indices); });
    if (result.find('{') != std::string::npos) {
        fail(DiagnosticKind::unexpected_token, token.where, "an index has a name of its own");
    } else if (is_axis || result == "t") {
        fail(DiagnosticKind::reserved_name, token.where,
             fmt::format("the index of a loop cannot be called `{}`, like {}", result,
                         is_axis ? "the axis" : "the time level"));
    } else if (is_taken) {
        fail(DiagnosticKind::duplicate_name, token.where,
             fmt::format("`{}` is the index of a loop already", result));
    }
    return result;
}

// x, y, z; axes; (x, sxx), (y, sxy).
void Parser::read_rows(NameList& list) {
    const std::uint32_t begin = peek().where.begin;
    if (is_word("axes") && list.indices.size() == 1 && ahead(1).kind != TokenKind::left_paren) {
        const Token word = advance();
        for (const Name& axis : axes_)
            list.rows.push_back({axis.text});
        if (axes_.empty() && !failing_) {
            fail(DiagnosticKind::unknown_name, word.where, "which axes there are is known within a stencil")
                .note("here the axes are named, as in `a in x, y`");
        }
        return;
    }
    const std::size_t low = tokens_of_number(0);
    if (low > 0 && ahead(low).kind == TokenKind::dot_dot && list.indices.size() == 1) return read_range(list);
    for (bool goes_on = true; goes_on && !failing_;) {
        const std::uint32_t row_begin = peek().where.begin;
        std::vector<std::string> row = read_row(list);
        if (!failing_ && std::ranges::find(list.rows, row) != list.rows.end()) {
            fail(DiagnosticKind::duplicate_name, since(row_begin),
                 fmt::format("{} is in this list twice",
                             row.size() == 1 ? fmt::format("`{}`", row.front()) : "this"));
        }
        list.rows.push_back(std::move(row));
        // After a comma may come another index: `a in x, y, b in x, y`.
        const bool is_next_index =
            is(TokenKind::comma) && ahead(1).kind == TokenKind::identifier && at_index_after_comma();
        goes_on = !is_next_index && accept(TokenKind::comma);
    }
    if (list.rows.size() > kMaxIterations && !failing_) {
        fail(DiagnosticKind::too_many_terms, since(begin),
             fmt::format("this list has more than {} names, and each is written out", kMaxIterations));
    }
}

// 1..4; 1..4 down; top+1..4, which may be empty where `top` is 4.
void Parser::read_range(NameList& list) {
    const std::uint32_t begin = peek().where.begin;
    const bool is_low_written = is(TokenKind::number);
    const std::optional<std::int64_t> low = bound_number();
    advance();  // ..
    const bool is_written = is_low_written && is(TokenKind::number);
    const std::optional<std::int64_t> high = bound_number();
    if (!low || !high) return;
    if (*high - *low >= static_cast<std::int64_t>(kMaxIterations)) {
        fail(DiagnosticKind::too_many_terms, since(begin),
             fmt::format("this range has more than {} numbers, and each is written out", kMaxIterations));
        return;
    }
    if (*high < *low && is_written) {
        fail(DiagnosticKind::empty_range, since(begin), fmt::format("no number lies in {}..{}", *low, *high))
            .note(fmt::format("from the highest to the lowest it is `{}..{} down`", *high, *low));
        return;
    }
    for (std::int64_t each = *low; each <= *high; ++each)
        list.rows.push_back({std::to_string(each)});
    if (accept_word("down")) std::ranges::reverse(list.rows);
}

// A bound of a range: a number, or an index that stands for one, and what is added to it.
std::optional<std::int64_t> Parser::bound_number() {
    if (is(TokenKind::number)) return listed_number();
    const std::int64_t number = number_of(chosen(text(advance()))).value_or(0);
    const bool is_less = is(TokenKind::minus);
    if (!is_less && !is(TokenKind::plus)) return number;
    advance();
    const std::optional<std::int64_t> distance = listed_number();
    if (!distance) return std::nullopt;
    return is_less ? number - *distance : number + *distance;
}

// A number that is written, and can be in a name.
std::optional<std::int64_t> Parser::listed_number() {
    const Token token = peek();
    if (!expect(TokenKind::number, "a number")) return std::nullopt;
    std::int64_t number = 0;
    const std::string_view digits = text(token);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size()) return number;
    fail(DiagnosticKind::not_an_integer, token.where,
         "what a loop writes out is counted by whole numbers: `for l in 1..4 { … }`")
        .note(std::string(kNoFormulas));
    return std::nullopt;
}

bool Parser::at_index_after_comma() const {
    std::size_t at = 1;
    while (ahead(at).kind == TokenKind::identifier && ahead(at + 1).kind == TokenKind::comma)
        at += 2;
    return ahead(at).kind == TokenKind::identifier && ahead(at + 1).kind == TokenKind::identifier &&
           text(ahead(at + 1)) == "in" && !(at > 1 && ahead(at + 2).kind != TokenKind::left_paren);
}

std::vector<std::string> Parser::read_row(const NameList& list) {
    std::vector<std::string> row;
    const auto add = [&] {
        if (is(TokenKind::number)) {
            if (const std::optional<std::int64_t> number = listed_number())
                row.push_back(std::to_string(*number));
            return;
        }
        if (is(TokenKind::minus)) {
            if (!failing_) fail_expected("a name or a whole number").note(std::string(kNoFormulas));
            return;
        }
        Name listed = name("a name or a whole number");
        row.push_back(listed.text);
        if (!failing_) file_.listed_names.push_back(std::move(listed));
    };
    if (list.indices.size() == 1) {
        add();
        return row;
    }
    const auto refuse_formula = [&] {
        const TokenKind kind = peek().kind;
        if (failing_ || kind < TokenKind::plus || kind > TokenKind::caret) return;
        fail_expected("`,` or `)`").note(std::string(kNoFormulas));
    };
    const std::uint32_t begin = peek().where.begin;
    const std::uint32_t opening =
        open(TokenKind::left_paren, fmt::format("`(` and {} names, one for each of {}", list.indices.size(),
                                                fmt::join(list.indices, ", ")));
    do {
        add();
        refuse_formula();
    } while (!failing_ && accept(TokenKind::comma));
    close(opening, TokenKind::right_paren);
    if (!failing_ && row.size() != list.indices.size()) {
        fail(DiagnosticKind::unexpected_token, since(begin),
             fmt::format("here {} {} for {}", row.size(), row.size() == 1 ? "name is" : "names are",
                         fmt::join(list.indices, ", ")));
    }
    return row;
}

// ---- repetition

// Calls `body`, which reads from the same place each time, for all names of the lists; the last one's run
// fastest.
void Parser::for_each_choice(const std::vector<NameList>& lists, const std::function<void()>& body,
                             std::size_t level) {
    if (repeated_tokens_ > kMaxRepeatedTokens) failing_ = true;  // that has had its message
    if (failing_) return;
    if (level == lists.size()) return repeat_once(body);
    const NameList& list = lists[level];
    for (const std::vector<std::string>& row : list.rows) {
        const std::size_t before = chosen_.size();
        for (std::size_t i = 0; i < list.indices.size() && i < row.size(); ++i)
            chosen_.push_back({list.indices[i], row[i], true});
        for_each_choice(lists, body, level + 1);
        chosen_.resize(before);
        if (failing_) return;
    }
}

void Parser::repeat_once(const std::function<void()>& body) {
    const std::uint32_t outer = iteration_;
    std::string note;
    for (const Chosen& each : chosen_) {
        if (each.is_index)
            note += fmt::format("{}`{}` is `{}`", note.empty() ? "here " : ", ", each.index, each.name);
    }
    if (file_.iterations.empty()) file_.iterations.emplace_back();
    iteration_ = static_cast<std::uint32_t>(file_.iterations.size());
    file_.iterations.push_back(std::move(note));
    const std::size_t begin = at_;
    body();
    iteration_ = outer;
    const std::size_t before = repeated_tokens_;
    repeated_tokens_ += std::max(at_, begin) - begin;
    if (repeated_tokens_ <= kMaxRepeatedTokens || before > kMaxRepeatedTokens || failing_) return;
    fail(DiagnosticKind::program_too_large, tokens_[begin].where,
         fmt::format("loops over names write out more than {} words of this", kMaxRepeatedTokens));
}

// `for` is the next word: a loop over names around statements.
void Parser::name_loop(Block block, const std::function<void()>& statement) {
    const std::uint32_t begin = peek().where.begin;
    const Nesting nesting(*this);
    if (failing_) return;
    advance();
    const std::vector<NameList> lists = name_lists();
    const std::uint32_t opening = opening_brace("`{` and what to repeat");
    if (failing_) return;
    const std::size_t body = at_;
    std::vector<std::string> unread_names;
    for_each_choice(lists, [&] {
        at_ = body;
        statements(block, unread_names, statement);
    });
    unread_->insert(unread_->end(), unread_names.begin(), unread_names.end());
    // A range from an index on may be empty.
    if (at_ == body && match_[opening] != kUnmatched) at_ = match_[opening];
    if (failing_) {  // too much is written out: on behind the loop
        if (match_[opening] != kUnmatched) resume_at_ = match_[opening] + 1;
        return;
    }
    close_block(opening);
    file_.name_loops.push_back(since(begin));
}

// What a sum, or a list, is made of: the expression that begins here, for all names.
std::vector<ExprId> Parser::terms(const std::vector<NameList>& lists, const std::function<ExprId()>& term) {
    std::vector<ExprId> result;
    const std::size_t body = at_;
    for_each_choice(lists, [&] {
        at_ = body;
        result.push_back(term());
    });
    return result;
}

// The `for` of `[body for a in x, y]`, whose names are known before the body is read.
std::optional<std::size_t> Parser::names_of_list(std::uint32_t opening) const {
    if (failing_ || match_[opening] == kUnmatched) return std::nullopt;
    for (std::size_t i = opening + 1; i < match_[opening]; ++i) {
        if (match_[i] != kUnmatched) i = match_[i];
        const bool is_for = tokens_[i].kind == TokenKind::identifier && text(tokens_[i]) == "for";
        if (is_for && at_name_lists(i + 1 - at_)) return i;
    }
    return std::nullopt;
}

ExprId Parser::list_of_names(std::uint32_t opening, std::size_t loop) {
    const std::size_t body = at_;
    at_ = loop + 1;
    const std::vector<NameList> lists = name_lists();
    const std::size_t end = at_;
    if (failing_) return missing();
    at_ = body;
    Fold node{FoldKind::list, {}, {}};
    node.terms = terms(lists, [&] {
        const ExprId term = expression();
        if (!failing_ && at_ != loop) fail_expected("`for` after what the list is made of");
        return term;
    });
    node.body = node.terms.front();
    if (failing_) return node.body;
    at_ = end;
    close(opening, TokenKind::right_bracket);
    if (failing_) return node.body;
    return make({since(tokens_[opening].where.begin), false, std::move(node)});
}

// A `let` of a loop over names is known in its iteration alone, unless an index is in its name.
void Parser::keep_in_iteration(Name& let, const Token& word) {
    const bool is_plain = text(word) == let.text && !let.text.empty();
    if (!is_plain || failing_) return;
    std::string name = let.text;
    for (const Chosen& each : chosen_) {
        if (each.is_index) name += "." + each.name;
    }
    if (name == let.text) return;
    chosen_.push_back({let.text, name, false});
    let.text = std::move(name);
}

}  // namespace halo::syntax
