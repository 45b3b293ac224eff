#include "compiler/lift/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace halo::lift {

namespace {

using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

constexpr char kHead[] = R"(
#ifdef __cplusplus
extern "C"
#else
extern
#endif
unsigned char halo_lift_seen[];
#define HALO_LIFT_SAW(k, ...) \
    ((__VA_ARGS__) ? (int)(halo_lift_seen[2 * (k)] = 1) : (int)(halo_lift_seen[2 * (k) + 1] = 1) * 0)
)";

class Instrumenter {
public:
    explicit Instrumenter(const c::Unit& unit) : unit_(unit), text_(unit.source.text()) {}

    Instrumented make() {
        for (const c::Function& each : unit_.functions) {
            if (each.body < 0 || line_of(text_, each.where.begin).is_system) continue;
            walk(each.body);
        }
        std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
            if (a.at != b.at) return a.at < b.at;
            if (a.is_end != b.is_end) return a.is_end;
            return a.is_end ? a.width < b.width : a.width > b.width;
        });
        result_.text = kHead;
        std::size_t from = 0;
        for (const Edit& each : edits_) {
            result_.text += text_.substr(from, each.at - from);
            result_.text += each.text;
            from = each.at;
        }
        result_.text += text_.substr(from);
        return std::move(result_);
    }

private:
    struct Edit {
        std::size_t at = 0, width = 0;  // of what it encloses
        bool is_end = false;
        std::string text;
    };

    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    std::string_view words(SourceRange where) const {
        return text_.substr(where.begin, where.end - where.begin);
    }

    void walk(int id) {
        if (id < 0) return;
        const c::Statement& each = unit_.statements[static_cast<std::size_t>(id)];
        for (const int declared : each.variables)
            walk_expr(unit_.variables[static_cast<std::size_t>(declared)].init);
        // A run in which it ends the program is not compared.
        const bool is_check =
            std::ranges::any_of(each.statements, [this](int side) { return c::ends_program(unit_, side); });
        if (each.kind != StatementKind::branch || !is_check) walk_expr(each.expr);
        if (each.kind == StatementKind::for_loop) walk_expr(each.step);
        const std::string_view head = words(each.where);
        const bool is_constant = head.rfind("if constexpr", 0) == 0;
        if (each.kind == StatementKind::branch && !is_constant && !is_check) condition(each.expr, true);
        if (each.kind == StatementKind::for_loop || each.kind == StatementKind::while_loop)
            condition(each.expr, false);
        const bool is_case = each.kind == StatementKind::unknown && !each.statements.empty() &&
                             (head.rfind("case", 0) == 0 || head.rfind("default", 0) == 0);
        if (is_case) {
            const SourceRange inner =
                unit_.statements[static_cast<std::size_t>(each.statements.back())].where;
            const int k = point(each.where.begin, std::string(head.substr(0, head.find(':'))), false);
            edits_.push_back({inner.begin, 0, false, fmt::format("halo_lift_seen[{}] = 1; ", 2 * k)});
        }
        for (const int inner : each.statements)
            walk(inner);
    }
    void walk_expr(int id) {
        if (id < 0) return;
        const c::Expr& from = expr(id);
        if (from.kind == ExprKind::conditional) {
            const bool is_check = expr(from.operands[1]).is_end || expr(from.operands[2]).is_end;
            if (!is_check) condition(from.operands[0], true);
            if (!is_check) walk_expr(from.operands[0]);
            walk_expr(from.operands[1]);
            walk_expr(from.operands[2]);
            return;
        }
        const bool chooses = from.kind == ExprKind::binary && (from.text == "&&" || from.text == "||");
        if (chooses) {
            condition(from.operands[0], true);
            condition(from.operands[1], true);
        }
        for (const int operand : from.operands)
            walk_expr(operand);
    }
    void condition(int id, bool needs_false) {
        if (id < 0) return;
        const c::Expr* from = &expr(id);
        while (from->kind == ExprKind::convert || (from->kind == ExprKind::unary && from->text == "!")) {
            if (from->kind == ExprKind::unary) needs_false = true;
            from = &expr(from->operands[0]);
        }
        if (is_constant(*from)) return;
        if (from->kind == ExprKind::binary && (from->text == "&&" || from->text == "||")) {
            condition(from->operands[0], needs_false);
            condition(from->operands[1], needs_false);
            return;
        }
        const SourceRange where = from->where;
        if (where.end <= where.begin || !done_.insert({where.begin, where.end}).second) return;
        const int k = point(where.begin, std::string(words(where)), needs_false);
        edits_.push_back({where.begin, where.end - where.begin, false, fmt::format("HALO_LIFT_SAW({}, ", k)});
        edits_.push_back({where.end, where.end - where.begin, true, ")"});
    }
    // Only one of its sides can be taken.
    bool is_constant(const c::Expr& from) const {
        if (from.kind == ExprKind::integer || from.kind == ExprKind::real) return true;
        if (from.kind == ExprKind::variable) {
            const c::Variable& named = unit_.variables[static_cast<std::size_t>(from.variable)];
            if (named.storage == c::Variable::Storage::parameter) return is_constant_argument(from.variable);
            return named.storage != c::Variable::Storage::parameter && named.init >= 0 &&
                   (named.is_const || is_never_changed(from.variable)) && is_constant(expr(named.init));
        }
        const bool is_value = from.kind == ExprKind::unary || from.kind == ExprKind::binary ||
                              from.kind == ExprKind::convert || from.kind == ExprKind::conditional ||
                              from.kind == ExprKind::list || from.kind == ExprKind::subscript ||
                              (from.kind == ExprKind::call && is_of_arguments(from.function));
        return is_value && std::all_of(from.operands.begin(), from.operands.end(),
                                       [&](int operand) { return is_constant(expr(operand)); });
    }
    // Whether each call of the function gives the compiler a number for this parameter, and it stays that.
    bool is_constant_argument(int id) const {
        if (!asked_.insert(id).second || !is_never_changed(id)) return false;
        bool is_called = false, is_fixed = true;
        for (std::size_t f = 0; f < unit_.functions.size(); ++f) {
            const std::vector<int>& parameters = unit_.functions[f].parameters;
            const auto at = std::ranges::find(parameters, id) - parameters.begin();
            if (at == std::ssize(parameters)) continue;
            is_fixed = static_cast<int>(f) != unit_.function;
            for (const c::Expr& call : unit_.exprs) {
                if (call.function != static_cast<int>(f)) continue;
                is_called = true;
                is_fixed = is_fixed && call.kind == ExprKind::call && at < std::ssize(call.operands) &&
                           is_constant(expr(call.operands[static_cast<std::size_t>(at)]));
            }
        }
        asked_.erase(id);
        return is_called && is_fixed;
    }
    // Whether what the function returns is made of its arguments and constants alone.
    bool is_of_arguments(int id) const {
        if (id < 0 || !asked_functions_.insert(id).second) return false;
        const c::Function& called = unit_.functions[static_cast<std::size_t>(id)];
        const auto in_statement = [&](const auto& self, int at) -> bool {
            if (at < 0) return true;
            const c::Statement& each = unit_.statements[static_cast<std::size_t>(at)];
            const bool is_plain = each.kind == StatementKind::none || each.kind == StatementKind::block ||
                                  each.kind == StatementKind::branch ||
                                  each.kind == StatementKind::return_statement;
            return is_plain && (each.expr < 0 || is_constant(expr(each.expr))) &&
                   std::ranges::all_of(each.statements, [&](int inner) { return self(self, inner); });
        };
        const bool is_pure = called.body >= 0 && in_statement(in_statement, called.body);
        asked_functions_.erase(id);
        return is_pure;
    }
    // Whether a variable of a function keeps what it begins with: wherever it is named, it is read.
    bool is_never_changed(int id) const {
        const c::Variable& named = unit_.variables[static_cast<std::size_t>(id)];
        const auto is_opaque = [](const auto& each) { return each.is_opaque; };
        return named.storage != c::Variable::Storage::global && !named.is_static &&
               unit_.types[static_cast<std::size_t>(named.type)].kind == c::Type::Kind::number &&
               std::ranges::all_of(unit_.exprs,
                                   [id](const c::Expr& each) {
                                       return each.kind != ExprKind::variable || each.variable != id ||
                                              each.is_loaded;
                                   }) &&
               std::ranges::none_of(unit_.exprs, is_opaque) &&
               std::ranges::none_of(unit_.statements, is_opaque);
    }
    int point(std::size_t at, const std::string& text, bool needs_false) {
        const Line line = line_of(text_, at);
        result_.points.push_back({line.file, line.line, text, needs_false});
        return static_cast<int>(result_.points.size()) - 1;
    }

    const c::Unit& unit_;
    mutable std::set<int> asked_, asked_functions_;  // that are being asked about
    std::string_view text_;
    std::vector<Edit> edits_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> done_;
    Instrumented result_;
};

}  // namespace

Instrumented instrument(const c::Unit& unit) {
    return Instrumenter(unit).make();
}

// A marker is `# 12 "solver.c" 1 3`; of its flags 3 says that the file is the system's.
Line line_of(std::string_view text, std::size_t at) {
    Line found;
    std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1);
    begin = begin == std::string_view::npos ? 0 : begin + 1;
    int lines = 0;  // from after the marker to here
    for (std::size_t line = begin;; ++lines) {
        const std::string_view words = text.substr(line, text.find('\n', line) - line);
        if (words.size() > 2 && words[0] == '#' && words[1] == ' ' && words[2] >= '0' && words[2] <= '9') {
            const std::size_t open = words.find('"'), close = words.rfind('"');
            found.line = std::atoi(std::string(words.substr(2)).c_str()) + lines - 1;
            if (close != std::string_view::npos && close > open) {
                found.file = words.substr(open + 1, close - open - 1);
                found.is_system = words.find(" 3", close) != std::string_view::npos;
            }
            return found;
        }
        if (line < 2) return found;
        const std::size_t before = text.rfind('\n', line - 2);
        line = before == std::string_view::npos ? 0 : before + 1;
    }
}

std::vector<std::string> unseen(const std::vector<BranchPoint>& points, const unsigned char* seen) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const bool was_true = seen[2 * k] != 0, was_false = seen[2 * k + 1] != 0;
        if (was_true && (was_false || !points[k].needs_false)) continue;
        const bool is_case = points[k].text.rfind("case", 0) == 0 || points[k].text.rfind("default", 0) == 0;
        if (is_case || (!was_true && !was_false))
            all.push_back(fmt::format("line {} was never reached", points[k].line));
        else
            all.push_back(fmt::format("in line {} `{}` was never {}", points[k].line, points[k].text,
                                      was_true ? "false" : "true"));
    }
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace halo::lift
