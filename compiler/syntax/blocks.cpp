// Blocks of statements: for some of the cells (`on`, `where`), in an order (`sweep`), several times
// (`repeat`).
#include <algorithm>

#include <fmt/format.h>

#include "compiler/syntax/keywords.h"
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

namespace {

constexpr std::size_t kMaxGuards = 16;
constexpr std::size_t kMaxRepeats = 8;

}  // namespace

bool Parser::in_sweep() const {
    return std::ranges::any_of(guards_, [&](GuardId id) { return file_[id].sweep.has_value(); });
}

// `on x.low { … }`, `where c > 0 { … }`: what is between the braces is for some of the cells; `sweep y up { …
// }`: for all of them in an order.
bool Parser::guarded(Stencil& result) {
    const bool is_guard =
        at_statement("on") || at_statement("where") || at_statement("sweep") || at_statement("repeat");
    if (!is_guard || ahead(1).kind == TokenKind::left_brace) return false;
    if (is_word("repeat") && !failing_) check_place_of_repeat();
    const GuardId id = guard(true);
    if (guards_.size() >= kMaxGuards && !failing_) {
        fail(DiagnosticKind::nesting_too_deep, file_[id].where,
             fmt::format("more than {} `on` and `where` are within each other", kMaxGuards));
    }
    const std::uint32_t opening = opening_brace("`{` and the statements for these cells");
    if (failing_) return true;
    guards_.push_back(id);
    statements(Block::stencil, result.unread_names, [&] { stencil_statement(result); });
    guards_.pop_back();
    close_block(opening);
    return true;
}

// A sweep in a sweep goes along two axes, as loops within each other do.
void Parser::place_in_sweep(SweepOrder& order, SourceRange where) {
    const auto sweeps = [&](GuardId id) { return file_[id].sweep.has_value(); };
    const auto outer = std::ranges::find_if(guards_, sweeps);
    if (outer == guards_.end()) return;
    SweepOrder& around = *file_.guards[outer->index].sweep;
    const bool is_third = std::any_of(outer + 1, guards_.end(), sweeps);
    if (is_third || around.has_inner)
        fail(DiagnosticKind::not_built_yet, where,
             is_third ? "a sweep along more than two axes is not built yet"
                      : "a sweep around more than one other is not built yet")
            .note("`sweep y up { sweep x up { … } }` goes along each row, one row after the other");
    else if (around.in_parts || order.in_parts)
        fail(DiagnosticKind::not_built_yet, where, "a sweep along two axes in parts is not built yet")
            .note("without `in parts` it is done cell after cell");
    around.has_inner = true;
    order.around = *outer;
}

void Parser::check_place_of_repeat() {
    const auto is_repeat = [&](GuardId id) { return file_[id].repeat.has_value(); };
    if (!std::ranges::all_of(guards_, is_repeat)) {
        fail(DiagnosticKind::not_built_yet, peek().where,
             "a `repeat` within `on`, `where` or `sweep` is not built yet: it stands among the stencil's "
             "statements, or in another `repeat`")
            .note("`on`, `where` and `sweep` can stand within it");
    } else if (guards_.size() >= kMaxRepeats) {
        fail(DiagnosticKind::nesting_too_deep, peek().where,
             fmt::format("more than {} `repeat` are within each other", kMaxRepeats));
    }
}

GuardId Parser::guard(bool is_block) {
    Guard result;
    result.is_block = is_block;
    const std::uint32_t begin = peek().where.begin;
    if (accept_word("on")) {
        do {
            result.region.push_back(region_entry());
        } while (accept(TokenKind::comma));
    } else if (accept_word("sweep")) {
        SweepOrder order;
        order.axis = name("an axis and `up` or `down`, as in `sweep x up { … }`");
        order.upwards = accept_word("up");
        if (!order.upwards && !accept_word("down")) fail_expected("`up` or `down`");
        if (accept_word("in")) {
            order.in_parts = accept_word("parts");
            if (!order.in_parts) fail_expected("`parts`, as in `sweep x up in parts { … }`");
        }
        if (!failing_) place_in_sweep(order, since(begin));
        result.sweep = std::move(order);
    } else if (accept_word("repeat")) {
        result.repeat = repeat_count();
        if (!guards_.empty()) result.repeat->around = guards_.back();
    } else {
        advance();
        result.condition = condition();
    }
    result.where = since(begin);
    file_.guards.push_back(std::move(result));
    return {static_cast<std::uint32_t>(file_.guards.size() - 1)};
}

RepeatCount Parser::repeat_count() {
    RepeatCount result;
    const auto is_name_before = [&](std::string_view word) {
        return is(TokenKind::identifier) && ahead(1).kind == TokenKind::identifier && text(ahead(1)) == word;
    };
    if (is_name_before("to") || is_name_before("until"))
        result.level = name("the name of the iteration, as in `repeat k to 20 { … }`");
    if (is_word("until") && ahead(1).kind != TokenKind::left_brace) {
        advance();
        const std::size_t first = at_;
        result.until = condition();
        for (std::size_t i = first; i < at_; ++i)
            result.until_text +=
                (i > first && tokens_[i].space_before ? " " : "") + std::string(text(tokens_[i]));
        at_most(result);
        return result;
    }
    if (result.level) expect_word("to", "and the number of iterations, as in `repeat k to 20 { … }`");
    result.count = expression();
    if (is_word("until") && !failing_) {
        fail(DiagnosticKind::unexpected_token, peek().where,
             "a `repeat` has a number of iterations, or a condition and the most of them")
            .note("write `repeat until change < 1e-6, at most 20 { … }`");
    }
    return result;
}

void Parser::at_most(RepeatCount& result) {
    if (failing_) return;
    if (!is(TokenKind::comma) || text(ahead(1)) != "at" || text(ahead(2)) != "most") {
        fail(DiagnosticKind::unexpected_token, peek().where,
             "a `repeat until …` says how many iterations it makes at most")
            .note(
                "as in `repeat until change < 1e-6, at most 500 { … }`: if the condition never holds, it "
                "ends "
                "there");
        return;
    }
    advance();
    advance();
    advance();
    result.count = expression();
}

RegionEntry Parser::region_entry() {
    RegionEntry result;
    const std::uint32_t begin = peek().where.begin;
    if (ahead(1).kind == TokenKind::dot) {
        const std::optional<FaceRef> named = face();
        result.axis = named->axis;
        result.side = named->side;
    } else {
        result.axis = name("an axis or a face, as in `x.low` or `x in 2..-3`");
        if (expect_word("in", "and a range of cells, or a face as in `x.low`")) {
            result.low = bound();
            expect(TokenKind::dot_dot, "`..` and the last cell");
            result.high = bound();
        }
    }
    result.where = since(begin);
    return result;
}

}  // namespace halo::syntax
