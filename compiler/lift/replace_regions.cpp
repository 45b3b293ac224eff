#include "compiler/lift/replace_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "compiler/lift/outline_flow.h"

namespace halo::lift {

namespace {

using StatementKind = c::Statement::Kind;
using ExprKind = c::Expr::Kind;

std::string_view stripped(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

// Takes a word from the front of a directive.
bool take(std::string_view& rest, std::string_view word) {
    rest = stripped(rest);
    if (rest.rfind(word, 0) != 0) return false;
    const std::size_t n = word.size();
    if (n < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[n])) != 0 || rest[n] == '_'))
        return false;
    rest.remove_prefix(n);
    return true;
}

// The clauses of a directive by name, with what is in their parentheses; false: they are not of that form.
bool read_clauses(std::string_view rest, std::vector<std::pair<std::string, std::string>>& clauses) {
    for (rest = stripped(rest); !rest.empty(); rest = stripped(rest)) {
        if (rest[0] == ',') {
            rest.remove_prefix(1);
            continue;
        }
        std::size_t n = 0;
        while (n < rest.size() && (std::isalpha(static_cast<unsigned char>(rest[n])) != 0 || rest[n] == '_'))
            ++n;
        if (n == 0) return false;
        const std::string name(rest.substr(0, n));
        rest = stripped(rest.substr(n));
        std::string inside;
        if (!rest.empty() && rest[0] == '(') {
            const std::size_t end = rest.find(')');
            if (end == std::string_view::npos) return false;
            inside = std::string(rest.substr(1, end - 1));
            if (inside.find('(') != std::string::npos) return false;
            rest.remove_prefix(end + 1);
        }
        clauses.emplace_back(name, inside);
    }
    return true;
}

std::set<std::string> names_in(std::string_view list) {
    std::set<std::string> names;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        const std::string_view name = stripped(list.substr(0, end));
        if (!name.empty()) names.emplace(name);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return names;
}

// A line that ends before `end`; begin: where it does.
struct DirectiveLine {
    std::size_t begin = 0, end = 0;
    std::string_view words;
};

class Splitter {
public:
    Splitter(const c::Unit& unit, const std::string& text, const SourceRange& block)
        : unit_(unit), text_(text), block_(block), flow_(unit, function_around(unit, block)) {}

    SplitRegion make() {
        DirectiveLine pragma;
        if (!directive_before(block_.begin, pragma))
            return refused("it does not begin with one line `#pragma omp parallel`");
        std::string_view rest = pragma.words.substr(1);
        if (!take(rest, "pragma") || !take(rest, "omp") || !take(rest, "parallel"))
            return refused("it does not begin with one line `#pragma omp parallel`");
        std::vector<std::pair<std::string, std::string>> clauses;
        if (!read_clauses(rest, clauses)) return refused("its directive is not understood");
        for (const auto& [name, inside] : clauses) {
            if (name == "private")
                private_.merge(names_in(inside));
            else if (name != "shared" && (name != "default" || inside != "shared"))
                return refused("its directive has `" + name + "`");
        }
        const std::string_view inside =
            std::string_view(text_).substr(block_.begin, block_.end - block_.begin);
        if (inside.find("_Pragma") != std::string_view::npos) return refused("a `_Pragma` is in it");
        for (std::size_t i = 0; i < unit_.statements.size(); ++i) {
            const c::Statement& each = unit_.statements[i];
            if (each.kind != StatementKind::block || !(each.where == block_)) continue;
            visit(static_cast<int>(i));
            break;
        }
        if (why_not_.empty() && directives_within(inside) != loops_)
            why_not_ = "another directive is in it than `for` in front of a loop";
        if (!why_not_.empty()) return refused(why_not_);
        const bool has_comment = pragma.words.find("/*") != std::string_view::npos ||
                                 pragma.words.find("//") != std::string_view::npos;
        if (has_comment) return refused("its directive has a comment");
        insertions_.push_back({pragma.begin, "/* "});
        insertions_.push_back(
            {pragma.end, ": each loop is parallel by itself, between calls of stencils */"});
        return {"", std::move(insertions_)};
    }

private:
    static int function_around(const c::Unit& unit, const SourceRange& block) {
        for (std::size_t i = 0; i < unit.functions.size(); ++i) {
            const int body = unit.functions[i].body;
            if (body < 0) continue;
            const SourceRange where = unit.statements[static_cast<std::size_t>(body)].where;
            if (where.begin <= block.begin && block.end <= where.end) return static_cast<int>(i);
        }
        return unit.function;
    }
    static SplitRegion refused(const std::string& why) { return {why, {}}; }

    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }
    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }

    // The directives in front of a statement in lines of their own; the first is that of OpenMP.
    bool directive_before(std::size_t at, DirectiveLine& found) const {
        bool has_one = false;
        std::size_t end = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
        if (!stripped(std::string_view(text_).substr(end, at - end)).empty()) return false;
        while (end > 0) {
            const std::size_t begin = end < 2 ? 0 : text_.rfind('\n', end - 2) + 1;
            const std::string_view line = std::string_view(text_).substr(begin, end - 1 - begin);
            const std::string_view words = stripped(line);
            if (!words.empty() && (words[0] != '#' || words.back() == '\\')) break;
            if (!words.empty()) {
                std::string_view rest = words.substr(1);
                if (!take(rest, "pragma")) return false;  // an #if chooses among several
                if (take(rest, "omp")) {
                    if (has_one) return false;
                    has_one = true;
                    const std::size_t first = begin + static_cast<std::size_t>(words.data() - line.data());
                    found = {first, first + words.size(), words};
                }
            }
            end = begin;
        }
        const bool goes_on = end > 1 && stripped(std::string_view(text_).substr(0, end)).back() == '\\';
        return has_one && !goes_on;
    }

    static std::size_t directives_within(std::string_view text) {
        std::size_t count = 0;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string_view line = stripped(text.substr(0, end));
            if (!line.empty() && line[0] == '#') {
                line.remove_prefix(1);
                if (!take(line, "pragma") || take(line, "omp") || take(line, "acc")) ++count;
            }
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return count;
    }

    void refuse(const std::string& why) {
        if (why_not_.empty()) why_not_ = why;
    }

    void visit(int id) {
        if (id < 0 || !why_not_.empty()) return;
        const c::Statement& each = statement(id);
        switch (each.kind) {
            case StatementKind::none:
                return;
            case StatementKind::block:
                for (const int inner : each.statements)
                    visit(inner);
                return;
            case StatementKind::branch:
                check(each.expr, false);
                for (const int inner : each.statements)
                    visit(inner);
                return;
            case StatementKind::expression:
                return check(each.expr, true);
            case StatementKind::for_loop:
                return loop(id);
            default:
                return refuse("something else is done in it than loops, conditions and assignments");
        }
    }

    void loop(int id) {
        const c::Statement& each = statement(id);
        DirectiveLine pragma;
        if (directive_before(each.where.begin, pragma)) return shared_loop(id, pragma);
        const int start = each.statements[0];
        if (start >= 0 && statement(start).kind != StatementKind::expression)
            return refuse("a variable is declared in it");
        visit(start);
        check(each.expr, false);
        check(each.step, true);
        visit(each.statements[1]);
    }

    // Each thread has some of its iterations.
    void shared_loop(int id, const DirectiveLine& pragma) {
        std::string_view rest = pragma.words.substr(1);
        take(rest, "pragma");
        take(rest, "omp");
        rest = stripped(rest);
        const auto word = pragma.begin + static_cast<std::size_t>(rest.data() - pragma.words.data());
        std::vector<std::pair<std::string, std::string>> clauses;
        if (!take(rest, "for")) return refuse("a loop in it has another directive than `for`");
        if (take(rest, "simd")) rest = stripped(rest);
        // `reduction(+ : a)` and the like are not read, but for their names.
        if (!read_clauses(rest, clauses)) return refuse("the directive of a loop in it is not understood");
        std::set<std::string> own = private_;
        for (const auto& [name, inside] : clauses) {
            if (name == "nowait" || name == "ordered" || name == "linear")
                return refuse("a loop in it has `" + name + "`");
            const std::size_t colon = inside.rfind(':');
            for (const std::string& known :
                 names_in(colon == std::string::npos ? inside : std::string_view(inside).substr(colon + 1)))
                own.erase(known);
        }
        insertions_.push_back({word, "parallel "});
        std::string list;
        for (const std::string& each : own)
            if (keeps_own(each, id))
                refuse("each thread has its own `" + each + "`, which goes from loop to loop");
        for (const std::string& each : own)
            list += (list.empty() ? "" : ", ") + each;
        if (!list.empty()) insertions_.push_back({pragma.end, " private(" + list + ")"});
        ++loops_;
    }

    bool keeps_own(const std::string& name, int loop) const {
        for (std::size_t i = 0; i < unit_.variables.size(); ++i)
            if (unit_.variables[i].name == name && flow_.is_live_after(static_cast<int>(i), loop))
                return true;
        return false;
    }

    // What one thread may do in the place of all: whole numbers, reals and pointers are computed, and where
    // `may_set` variables are set. Nothing is called, and arrays are not changed.
    void check(int id, bool may_set) {
        if (id < 0 || !why_not_.empty()) return;
        const c::Expr& each = expr(id);
        switch (each.kind) {
            case ExprKind::assign:
            case ExprKind::step:
                if (!may_set) return refuse("a condition in it changes something");
                if (expr(each.operands[0]).kind != ExprKind::variable)
                    return refuse("an array is changed in it, outside of a loop that threads share");
                break;
            case ExprKind::integer:
            case ExprKind::real:
            case ExprKind::variable:
            case ExprKind::unary:
            case ExprKind::binary:
            case ExprKind::conditional:
            case ExprKind::convert:
            case ExprKind::subscript:
            case ExprKind::dereference:
            case ExprKind::member:
                break;
            default:
                return refuse("something is called in it, outside of a loop that threads share");
        }
        if (each.kind == ExprKind::variable &&
            private_.count(unit_.variables[static_cast<std::size_t>(each.variable)].name) > 0)
            return refuse("each thread has its own `" +
                          unit_.variables[static_cast<std::size_t>(each.variable)].name +
                          "`, which is used between the loops");
        for (const int operand : each.operands)
            check(operand, may_set);
    }

    const c::Unit& unit_;
    const std::string& text_;
    const SourceRange block_;
    const Flow flow_;
    std::set<std::string> private_;
    std::string why_not_;
    std::size_t loops_ = 0;
    std::vector<Insertion> insertions_;
};

}  // namespace

SplitRegion split_region(const c::Unit& unit, const std::string& text, const SourceRange& block) {
    return Splitter(unit, text, block).make();
}

}  // namespace halo::lift
