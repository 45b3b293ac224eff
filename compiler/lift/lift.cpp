#include "compiler/lift/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "compiler/lift/join_nests.h"
#include "compiler/lift/precision.h"
#include "compiler/sema/sema.h"
#include "compiler/support/error.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"

namespace halo::lift {

namespace {

// What a spec of that text would be refused for; empty: nothing.
std::string first_mistake(const std::string& text) {
    SourceFile source("lifted.halo", text);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::analyze(tree, sink);
    for (const Diagnostic& each : sink.sorted()) {
        if (severity_of(each.kind) == Severity::error)
            return each.message + " (" + std::string(source.line_at(each.where.begin)) + ")";
    }
    return "";
}

void append_wrapped(std::string& text, const std::string& sentence) {
    constexpr std::size_t kWidth = 110;
    std::string line = "#";
    std::size_t begin = 0;
    while (begin < sentence.size()) {
        const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
        const std::string word = sentence.substr(begin, end - begin);
        if (line.size() + 1 + word.size() > kWidth) {
            text += line + "\n";
            line = "#";
        }
        line += " " + word;
        begin = end + 1;
    }
    text += line + "\n";
}

// What docs/lift.md says of it at length.
constexpr char kKokkosTaken[] =
    "Takes to hold of Kokkos: views are in the host's memory, copies of one are one array, LayoutRight is "
    "that of a view without one, and the iterations of a parallel loop have no order.";

std::string access_of(const Model& model, const Symbol& size) {
    return model.scalars[static_cast<std::size_t>(size.scalar)].access;
}

// Whether something is read past a face of the grid.
bool has_boundary(const Form& form) {
    return std::ranges::any_of(form.fields, [](const Field& field) {
        return std::ranges::any_of(field.past, [](const auto& sides) {
            return sides[0] != Field::Past::nothing || sides[1] != Field::Past::nothing;
        });
    });
}

// An index that differs at an edge is a boundary, or what is read is chosen by a condition. A stencil that is
// to work on the program's arrays, which have no room past their faces, had better have no boundary.
void find_form_of(Lifted& result, const Options& options) {
    const auto choose = [&](bool chooses) {
        Model model = execute(result.unit, options.assume, chooses);
        Form form = find_form(model, options.form);
        return std::pair(std::move(model), std::move(form));
    };
    try {
        std::tie(result.model, result.form) = choose(false);
        if (!options.form.in_place || result.model.time_loop >= 0 || !has_boundary(result.form)) return;
    } catch (const Refusal& refusal) {
        if (!refusal.choosing_may_help) throw;
        try {
            std::tie(result.model, result.form) = choose(true);
        } catch (const Refusal&) {
            throw refusal;
        }
        return;
    }
    try {
        auto [model, form] = choose(true);
        if (!has_boundary(form)) std::tie(result.model, result.form) = std::pair(model, form);
    } catch (const Refusal&) {
        return;  // the boundary will do
    }
}

// Of the function that the unit names. Throws LiftError.
void make_spec(Lifted& result, const Options& options, const std::string& name) {
    const c::Function& function = result.unit.functions[static_cast<std::size_t>(result.unit.function)];
    result.equal_rims = options.form.equal_rims;
    result.first_line = static_cast<int>(result.unit.source.line_column(function.where.begin).line);
    try {
        if (result.unit.fast_math)
            throw Refusal(
                function.where,
                "the file is compiled with -ffast-math: what it computes is not said by its text",
                {"leave the flag out of the arguments after --; the spec is then what the text says"});
        find_form_of(result, options);
        if (result.unit.has_kokkos) result.model.remarks.emplace_back(kKokkosTaken);
        const Precision precision = find_precision(result.model, result.form);
        result.spec = write_spec(result.model, result.form, precision, options.form, name);
        const std::string mistake = first_mistake(result.spec.body);
        if (!mistake.empty()) throw Refusal(function.where, "a spec cannot say this: " + mistake);
    } catch (const Refusal& refusal) {
        Refusal placed = refusal;
        if (placed.where == SourceRange{}) placed.where = function.where;
        throw LiftError(refusal.what(), result.unit.source, placed);
    }
}

std::string stencil_name(const c::Unit& unit, const Options& options) {
    return options.name.empty() ? unit.functions[static_cast<std::size_t>(unit.function)].name : options.name;
}

// Looks for nests from outside in.
class NestFinder {
public:
    NestFinder(const Options& options, const c::Unit& unit)
        : options_(options), unit_(unit), flow_(unit, unit.function) {}

    Nests find() {
        visit(unit_.functions[static_cast<std::size_t>(unit_.function)].body);
        // One nest is called like its function, several are numbered.
        for (std::size_t i = 0; found_.lifted.size() > 1 && i < found_.lifted.size(); ++i) {
            Lifted& each = found_.lifted[i];
            make_spec(each, options_, stencil_name(unit_, options_) + "_" + std::to_string(i + 1));
        }
        return std::move(found_);
    }

private:
    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }

    // Every loop is accounted for: in a nest that is lifted or refused, or around such nests.
    void visit(int id) {
        if (id < 0) return;
        const c::Statement& each = statement(id);
        if (each.kind == c::Statement::Kind::for_loop) {
            visit_loop(id);
            return;
        }
        if (c::is_call_of_loops(unit_, each)) {
            visit_call(id);
            return;
        }
        visit_closures(each);
        const std::size_t reported = reports();
        for (const int inner : each.statements)
            visit(inner);
        if (each.kind == c::Statement::Kind::block && options_.form.in_place) join_nests(id);
        if (!each.is_loop) return;
        if (reports() == reported)
            refuse(each, each.text);
        else
            found_.around.push_back(
                {each.where.begin, LiftError(each.text, unit_.source, Refusal(each.where, each.text))});
    }
    std::size_t reports() const { return found_.lifted.size() + found_.refused.size(); }

    void visit_call(int id) {
        try {
            found_.lifted.push_back(lift_one(id));
        } catch (LiftError& refused) {
            refused.nest = statement(id).where;
            found_.refused.push_back(refused);
        }
    }

    void visit_loop(int id) {
        const c::Statement& each = statement(id);
        try {
            Lifted made = lift_one(id);
            if (is_slice(made))
                refuse(each,
                       "this is a row or plane of what the loops around it compute, and is not lifted by "
                       "itself");
            else
                found_.lifted.push_back(std::move(made));
        } catch (LiftError& refused) {
            refused.nest = each.where;
            const std::size_t lifted = found_.lifted.size(), errors = found_.refused.size();
            around_.push_back(each.statements[0]);
            visit(each.statements[1]);
            around_.pop_back();
            if (found_.lifted.size() > lifted) {
                found_.around.push_back({each.where.begin, refused});
                return;
            }
            // A single inner loop that is the whole body, or has the same reason, is the same nest and is
            // refused once. Other inner loops have reasons of their own.
            const auto first = found_.refused.begin() + static_cast<std::ptrdiff_t>(errors);
            const bool is_one =
                found_.refused.end() - first == 1 &&
                (is_loop_alone(each.statements[1]) || first->refusal.where == refused.refusal.where);
            if (is_one) found_.refused.erase(first);
            const bool is_said = std::any_of(first, found_.refused.end(), [&](const LiftError& inner) {
                return inner.refusal.where == refused.refusal.where;
            });
            if (is_said)
                found_.around.push_back({each.where.begin, refused});
            else
                found_.refused.insert(first, refused);
        }
    }
    bool is_loop_alone(int id) const {
        const c::Statement& each = statement(id);
        const bool is_list = each.kind == c::Statement::Kind::block;
        return each.is_loop || (is_list && each.statements.size() == 1 && is_loop_alone(each.statements[0]));
    }
    void refuse(const c::Statement& each, const std::string& why) {
        found_.refused.emplace_back(why, unit_.source, Refusal(each.where, why));
        found_.refused.back().nest = each.where;
    }

    // Makes one stencil of nests that follow one after the other in a block, of as many as can be.
    void join_nests(int block) {
        const std::vector<int>& list = statement(block).statements;
        for (std::size_t first = 0, past = 0; first < list.size(); first = std::max(past, first + 1)) {
            const auto nest = std::ranges::find(found_.lifted, list[first], nest_of);
            if (nest == found_.lifted.end()) continue;
            std::optional<Lifted> all;
            for (past = first + 1; past < list.size(); ++past) {
                std::optional<Lifted> more = joined(block, first, past, nest - found_.lifted.begin());
                if (!more) break;
                all = std::move(more);
            }
            if (!all) continue;
            *nest = std::move(*all);
            found_.lifted.erase(nest + 1, nest + static_cast<std::ptrdiff_t>(past - first));
        }
    }
    static int nest_of(const Lifted& each) { return each.outline->nest; }
    // Statements `first` to `last`, of which all but the last have been joined; nest: the first of those that
    // are lifted. Nothing where they are better left apart.
    std::optional<Lifted> joined(int block, std::size_t first, std::size_t last, std::ptrdiff_t nest) const {
        const std::vector<int>& list = statement(block).statements;
        const std::span<const Lifted> parts =
            std::span(found_.lifted).subspan(static_cast<std::size_t>(nest));
        const std::size_t count = last + 1 - first;
        if (parts.size() < count || nest_of(parts[count - 1]) != list[last]) return std::nullopt;
        if (!are_adjacent(unit_, list[last - 1], list[last])) return std::nullopt;
        const auto repeats = [](const Lifted& each) { return each.model.time_loop >= 0; };
        if (std::ranges::any_of(parts.first(count), repeats)) return std::nullopt;
        try {
            Lifted made;
            made.outline = outline_several(unit_, block, first, last + 1);
            made.unit = made.outline->unit;
            make_spec(made, options_, stencil_name(unit_, options_));
            if (is_as_good(made, parts.first(count))) return made;
        } catch (const Refusal&) {
        } catch (const LiftError&) {
        }
        return std::nullopt;
    }

    // Loops in the body of a lambda are lifted where a function that calls it is.
    void visit_closures(const c::Statement& each) {
        visit_closures(each.expr);
        for (const int declared : each.variables)
            visit_closures(unit_.variables[static_cast<std::size_t>(declared)].init);
    }
    void visit_closures(int id) {
        if (id < 0) return;
        const c::Expr& from = unit_.exprs[static_cast<std::size_t>(id)];
        if (from.kind == c::Expr::Kind::closure)
            refuse_loops(unit_.functions[static_cast<std::size_t>(from.function)].body);
        for (const int operand : from.operands)
            visit_closures(operand);
    }
    void refuse_loops(int id) {
        if (id < 0) return;
        const c::Statement& each = statement(id);
        if (each.is_loop) {
            refuse(each, "this loop is in a lambda, which is lifted with what calls it or not at all");
            return;
        }
        for (const int inner : each.statements)
            refuse_loops(inner);
    }

    // Whether a loop around it, which is refused, is one of its axes: what is left then is a row or plane.
    bool is_slice(const Lifted& made) const {
        const auto has = [&](const Polynomial& poly, int symbol) { return poly.has(symbol); };
        for (std::size_t s = 0; s < made.model.symbols.size(); ++s) {
            const int scalar = made.model.symbols[s].scalar;
            if (scalar < 0 || !counts_around(made.model.scalars[static_cast<std::size_t>(scalar)].variable))
                continue;
            const int symbol = static_cast<int>(s);
            for (const Polynomial& each : made.form.grid) {
                if (has(each, symbol)) return true;
            }
            for (const Field& each : made.form.fields) {
                if (std::ranges::any_of(each.first, [&](const Polynomial& at) { return has(at, symbol); }))
                    return true;
            }
            for (const Statement& each : made.form.statements) {
                for (const Range& range : each.region) {
                    if (has(range.lower, symbol) || has(range.upper, symbol)) return true;
                }
            }
        }
        return false;
    }
    bool counts_around(int variable) const {
        return std::any_of(around_.begin(), around_.end(), [&](int start) {
            if (start < 0) return false;
            const c::Statement& each = unit_.statements[static_cast<std::size_t>(start)];
            if (std::count(each.variables.begin(), each.variables.end(), variable) > 0) return true;
            if (each.expr < 0) return false;
            const c::Expr& set = unit_.exprs[static_cast<std::size_t>(each.expr)];
            if (set.operands.empty()) return false;
            return unit_.exprs[static_cast<std::size_t>(set.operands[0])].variable == variable;
        });
    }

    Lifted lift_one(int id) const {
        Lifted made;
        try {
            made.outline = outline(unit_, flow_, id);
        } catch (const Refusal& refusal) {
            throw LiftError(refusal.what(), unit_.source, refusal);
        }
        made.unit = made.outline->unit;
        make_spec(made, options_, stencil_name(unit_, options_));
        return made;
    }

    const Options& options_;
    const c::Unit& unit_;
    Flow flow_;
    std::vector<int> around_;  // where the refused loops around begin
    Nests found_;
};

Lifted lift_whole(const Options& options, const c::Unit& unit) {
    Lifted result;
    result.unit = unit;
    make_spec(result, options, stencil_name(unit, options));
    return result;
}

}  // namespace

Lifted lift(const Options& options) {
    return lift_whole(options, ParsedFile(options.source).function(options.source.function));
}

namespace {

Nests nests_of(const Options& options, const c::Unit& unit) {
    Nests found;
    const c::Function& function = unit.functions[static_cast<std::size_t>(unit.function)];
    const bool returns = unit.types[static_cast<std::size_t>(function.result)].plain != "void";
    try {
        if (options.keep_result && returns && !function.is_kernel) return NestFinder(options, unit).find();
        found.lifted.push_back(lift_whole(options, unit));
        found.is_whole = true;
    } catch (const LiftError& refused) {
        if (!function.is_kernel && !unit.fast_math) found = NestFinder(options, unit).find();
        if (found.lifted.empty() && found.refused.empty()) found.refused.push_back(refused);
    }
    return found;
}

}  // namespace

Nests lift_nests(const Options& options) {
    return lift_nests(options, ParsedFile(options.source));
}

Nests lift_nests(const Options& options, const ParsedFile& file) {
    return lift_nests(options, file.function(options.source.function));
}

Nests lift_nests(const Options& options, c::Unit unit) {
    Nests found = nests_of(options, unit);
    found.unit = std::move(unit);
    for (const auto& [access, value] : options.assume) {
        const bool is_used = std::any_of(found.lifted.begin(), found.lifted.end(), [&](const Lifted& each) {
            return std::any_of(each.model.symbols.begin(), each.model.symbols.end(),
                               [&](const Symbol& symbol) {
                                   return symbol.assumed && access_of(each.model, symbol) == access;
                               }) ||
                   (each.model.block && access.rfind("blockDim.", 0) == 0);
        });
        if (!is_used) found.unused_assumptions.push_back(access);
    }
    return found;
}

bool has_several_nests(const Lifted& lifted) {
    if (!lifted.outline) return false;
    const auto nest = static_cast<std::size_t>(lifted.outline->nest);
    return lifted.unit.statements[nest].kind == c::Statement::Kind::block;
}

std::string file_text(const Lifted& lifted, const std::vector<std::string>& verdict) {
    const c::Function& function = lifted.unit.functions[static_cast<std::size_t>(lifted.unit.function)];
    const Model& model = lifted.model;
    std::string text;
    append_wrapped(text, fmt::format("{}: lifted from {}:{}, {} {}.", lifted.spec.name,
                                     lifted.unit.source.name(function.where.begin), lifted.first_line,
                                     !lifted.outline             ? "function"
                                     : has_several_nests(lifted) ? "loop nests of function"
                                                                 : "a loop nest of function",
                                     function.name));
    std::string grid;
    for (std::size_t a = 0; a < lifted.form.axes.size(); ++a)
        grid += fmt::format("{}{} = {}", a ? ", " : "", lifted.form.axes[a], model.text(lifted.form.grid[a]));
    std::string steps = !lifted.outline             ? "A step is one call."
                        : has_several_nests(lifted) ? "The nests are one step."
                                                    : "The nest is one step.";
    if (model.time_loop >= 0) {
        const Loop& time = model.loop(model.time_loop);
        steps = fmt::format("{} is {} steps.", lifted.outline ? "The nest" : "A call",
                            model.text(time.upper - time.lower));
    }
    append_wrapped(text, fmt::format("Grid: {}. {}", grid, steps));
    for (const Symbol& each : model.symbols) {
        if (each.assumed)
            append_wrapped(text, fmt::format("Assumes that {} = {}.", access_of(model, each), *each.assumed));
    }
    for (const auto& [length, others] : lifted.unit.same_lengths) {
        const bool is_used = std::ranges::any_of(model.scalars, [length](const Scalar& each) {
            return each.variable == length && each.symbol >= 0;
        });
        for (const std::string& each : others) {
            const std::string& name = lifted.unit.variables[static_cast<std::size_t>(length)].name;
            if (is_used) append_wrapped(text, fmt::format("Assumes that {} = {}.", each, name));
        }
    }
    for (const std::string& each : lifted.form.assumptions)
        append_wrapped(text, "Assumes that " + each + ".");
    for (const auto& [id, name] : lifted.spec.fields) {
        const Field& field = lifted.form.fields[static_cast<std::size_t>(id)];
        std::string begin;
        for (std::size_t a = 0; a < field.first.size(); ++a) {
            if (field.first[a].is_zero()) continue;
            begin += fmt::format("{}{} = {}", begin.empty() ? "" : ", ", lifted.form.axes[a],
                                 model.text(field.first[a]));
        }
        if (!begin.empty())
            append_wrapped(text,
                           fmt::format("The first cell of `{}` is that of the function at {}.", name, begin));
        for (std::size_t a = 0; a < field.extents.size(); ++a) {
            if (field.lies_along(a) && !(field.extents[a] == lifted.form.grid[a]))
                append_wrapped(text, fmt::format("Of `{}` the function has {} cells along {}.", name,
                                                 model.text(field.extents[a]), lifted.form.axes[a]));
        }
    }
    for (const std::string& each : model.remarks)
        append_wrapped(text, each);
    for (const std::string& each : lifted.spec.remarks)
        append_wrapped(text, each);
    for (const std::string& each : verdict)
        append_wrapped(text, each);
    SourceFile source("lifted.halo", text + lifted.spec.body);
    DiagnosticSink sink;
    std::optional<std::string> formatted = syntax::format(source, sink);
    if (!formatted) throw InternalError("a lifted spec cannot be formatted");
    return *formatted;
}

}  // namespace halo::lift
