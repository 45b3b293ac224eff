// `solve`: an equation whose left-hand side is linear in the unknown. It becomes statements that the language
// has (solve_methods.cpp); no room behind sema knows of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/sema/hidden_fields.h"
#include "compiler/sema/stencil_analyzer.h"
#include "compiler/sema/symmetry.h"
#include "runtime/core/launch_plan.h"

namespace halo::sema {

using ir::FieldId;
using ir::Role;

namespace {

std::string method_names() {
    std::vector<std::string_view> names;
    for (const SolveMethod& method : kSolveMethods)
        names.push_back(method.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

constexpr const char* kIterationExample = "`using cg tol 1e-8, at most 500`";
constexpr const char* kGridsExample = "`using multigrid over 5 tol 1e-8, at most 50`";
constexpr int kMostGrids = 12;

}  // namespace

void StencilAnalyzer::find_solve_target(const syntax::SolveStatement& solve) {
    see_levels_of(solve.repeat);
    std::optional<Target> target = resolve_target(file_[solve.target]);
    const SourceRange where = evaluator_.where(solve.target);
    if (target && target->is_iterate) {
        refuse_iterate(*target, where);
        target.reset();
    }
    const std::size_t leaves = target ? target->reference.shape->leaves() : 0;
    for (std::uint32_t i = 0; target && i < leaves; ++i)
        if (!claim({target->reference.first + i}, target->time, where)) target.reset();
    if (target && solve.repeat) note_solved(*solve.repeat, *target, where);
    solve_targets_[&solve] = std::move(target);
}

void StencilAnalyzer::refuse_iterate(const Target& target, SourceRange where) {
    has_poison_ = true;
    sink_
        .report(DiagnosticKind::not_built_yet, where,
                fmt::format("`{}` has levels of a `repeat`; solving for it there is not built yet",
                            target.reference.name))
        .note("solve for another field, and assign its next level what that is");
}

const SolveMethod* StencilAnalyzer::method_of(const syntax::SolveStatement& solve) {
    const SolveMethod* const method = find_solve_method(solve.method.text);
    if (method == nullptr) {
        if (solve.method.text.empty()) return nullptr;
        Diagnostic& diagnostic = sink_.report(
            DiagnosticKind::unknown_method, solve.method.where,
            fmt::format("there is no method `{}`; there are {}", solve.method.text, method_names()));
        std::vector<std::string> names;
        for (const SolveMethod& each : kSolveMethods)
            names.emplace_back(each.name);
        if (const auto meant = closest_name(solve.method.text, names))
            diagnostic.mend(solve.method.where, *meant);
        return nullptr;
    }
    const auto misfit = [&](SourceRange where, const std::string& message, const std::string& note) {
        sink_.report(DiagnosticKind::unfit_method, where, message).note(note);
        return nullptr;
    };
    if (method->iterates && solve.along)
        return misfit(solve.along->where, fmt::format("`{}` is for all axes at once", method->name),
                      "`using tridiagonal along x` goes along one");
    if (!method->has_grids && solve.grids)
        return misfit(
            evaluator_.where(*solve.grids), fmt::format("`{}` has one grid", method->name),
            "`using multigrid over 5 tol 1e-8, at most 50` has five, each half as fine as the one before");
    if (method->has_grids && !solve.grids)
        return misfit(
            solve.method.where, "`multigrid` needs the number of its grids",
            fmt::format("as in {}: the coarsest has a 16th of the cells along each axis", kGridsExample));
    if (method->iterates && (!solve.tolerance || !solve.most))
        return misfit(
            solve.method.where,
            fmt::format("`{}` iterates: it needs a tolerance, and the most iterations", method->name),
            fmt::format("as in {}", method->has_grids ? kGridsExample : kIterationExample));
    if (!method->iterates && (solve.tolerance || solve.most))
        return misfit(evaluator_.where(solve.tolerance ? *solve.tolerance : *solve.most),
                      fmt::format("`{}` is exact, and iterates nothing", method->name),
                      "leave `tol` and `at most` out");
    if (!method->iterates && !solve.along)
        return misfit(solve.method.where, fmt::format("`{}` goes along one axis", method->name),
                      fmt::format("say which: `using {} along {}`", method->name, symbols_.axes().front()));
    return method;
}

// What can be an unknown: a closed list.
bool StencilAnalyzer::can_be_unknown(const Target& target, SourceRange where) {
    const Reference& reference = target.reference;
    const auto refuse = [&](const std::string& message, const std::string& note) {
        sink_.report(DiagnosticKind::not_built_yet, where, message).note(note);
        return false;
    };
    if (reference.shape->kind != Shape::Kind::scalar)
        return refuse(fmt::format("an unknown that is {} is not built yet", describe(*reference.shape)),
                      reference.shape->kind == Shape::Kind::vector
                          ? "solve for one component after the other, each by a `solve` of its own"
                          : "declare two real fields for its parts");
    const ir::Field& field = program_.fields[reference.first];
    const bool is_plain = (field.type == ir::Scalar::f32 && field.storage == ir::Storage::f32) ||
                          (field.type == ir::Scalar::f64 && field.storage == ir::Storage::f64);
    if (!is_plain)
        return refuse(
            fmt::format("`{}` is stored as another type than f32 and f64; solving for it is not built yet",
                        field.name),
            "declare it f64, and assign what is found to a field of that type");
    if (evaluator_.fields()[reference.first].stagger != 0)
        return refuse(fmt::format("`{}` is staggered; solving for it is not built yet", field.name),
                      "solve for a field at the cells' points");
    if (field.grid.factor != 1)
        return refuse(fmt::format("`{}` lies on a coarser grid; solving for it is not built yet", field.name),
                      "sweeps in a `repeat` solve there, as in the example multigrid_poisson2d");
    if (ir::interleave(program_, {reference.first}).count() > 1)
        return refuse(fmt::format("`{}` has `layout aos`; solving for it is not built yet", field.name),
                      "leave the layout out");
    return true;
}

void StencilAnalyzer::read_solve(const syntax::SolveStatement& solve) {
    const std::optional<Target> target = solve_targets_[&solve];
    const SolveMethod* const method = method_of(solve);
    computes_ = true;
    for (const syntax::GuardId id : file_.repeats_to(solve.repeat))
        if (target && repeats_.at(id.index).iterates.written.contains(target->reference.first))
            return refuse_iterate(*target, evaluator_.where(solve.target));
    for (const ir::StretchedAxis& stretched : program_.stretched) {
        has_poison_ = true;
        sink_
            .report(
                DiagnosticKind::not_built_yet, solve.where,
                fmt::format("`solve` is not built yet where the spacing of `{}` differs from cell to cell",
                            symbols_.axes()[static_cast<std::size_t>(stretched.axis)]))
            .label(evaluator_.spacing_where(stretched.axis), "given here")
            .note(
                "`d_stretched` and `d2_stretched` of coordinates.halo derive with a spacing that is a "
                "number");
        if (target) evaluator_.fields()[target->reference.first].written = true;
        return;
    }
    const bool can_read =
        target && method != nullptr && can_be_unknown(*target, evaluator_.where(solve.target));
    const std::optional<Equation> equation = can_read ? equation_of(solve, *target, *method) : std::nullopt;
    if (target) evaluator_.fields()[target->reference.first].written = true;
    if (!equation || !fits(*equation, *method, solve)) {
        has_poison_ = true;
        return;
    }
    const std::size_t first = program_.statements.size();
    const SolveCounts counts{repeat_count_, sweep_count_};
    const std::vector<ExchangedFields> exchanged = method->solve(evaluator_, *equation, counts);
    exchanged_.insert(exchanged_.end(), exchanged.begin(), exchanged.end());
    solved_.push_back({first, program_.statements.size(), &solve});
}

std::optional<Equation> StencilAnalyzer::equation_of(const syntax::SolveStatement& solve,
                                                     const Target& target, const SolveMethod& method) {
    Equation equation;
    equation.where = solve.where;
    equation.unknown = {target.reference.first};
    equation.time = target.time;
    equation.is_written = evaluator_.fields()[equation.unknown.index].written;
    const int before = solves_of_[equation.unknown.index]++;
    if (before > 0) equation.suffix = std::to_string(before + 1);
    evaluator_.set_target(*target.reference.symbol, evaluator_.where(solve.target));
    evaluator_.set_wanted(Halves{0});
    evaluator_.set_grid(1);
    const std::string& name = program_.fields[equation.unknown.index].name;
    equation.direction =
        add_field_like(evaluator_, equation.unknown, fmt::format("{}.direction{}", name, equation.suffix),
                       Role::output, true);
    make_homogeneous(evaluator_, equation.direction);

    const auto evaluate = [this, unknown = equation.unknown, level = equation.time, left = solve.left](
                              FieldId field, int time) {
        evaluator_.set_unknown(UnknownField{unknown, level, field, time});
        const Value value = evaluator_.number(left);
        evaluator_.set_unknown(std::nullopt);
        return value;
    };
    equation.apply = evaluate;
    // Of the unknown itself first, so that messages speak of it.
    evaluator_.fields()[equation.unknown.index].written = true;
    if (evaluate(equation.unknown, equation.time).is_poison()) return std::nullopt;
    equation.of_direction = evaluate(equation.direction, 0);
    evaluator_.set_unknown(UnknownField{equation.unknown, equation.time, equation.direction, 0});
    equation.right = evaluator_.number(solve.right);
    evaluator_.set_unknown(std::nullopt);
    if (method.iterates) {
        equation.tolerance = evaluator_.number(*solve.tolerance);
        const auto most = evaluator_.integer(*solve.most, "the most iterations", 1, rt::kMostIterations);
        if (!most || !check_tolerance(equation.tolerance, *solve.tolerance)) return std::nullopt;
        equation.most = *most;
    } else if (!find_axis_along(*solve.along, equation)) {
        return std::nullopt;
    }
    if (method.has_grids) {
        const auto grids = evaluator_.integer(*solve.grids, "the number of grids", 2, kMostGrids);
        if (!grids) return std::nullopt;
        equation.grids = static_cast<int>(*grids);
    }
    const bool is_read = !equation.of_direction.is_poison() && !equation.right.is_poison();
    if (!is_read || !check_sides(solve, equation) || !find_form(solve, equation)) return std::nullopt;
    return equation;
}

bool StencilAnalyzer::check_tolerance(const Value& tolerance, syntax::ExprId id) {
    if (tolerance.is_poison()) return false;
    if (tolerance.is_number() && !(tolerance.number > Rational(0))) {
        sink_.report(DiagnosticKind::out_of_range, evaluator_.where(id), "a tolerance is above 0");
        return false;
    }
    if (tolerance.is_uniform()) return true;
    sink_.report(DiagnosticKind::not_uniform, evaluator_.where(id), "a tolerance is one number for all cells")
        .note("it is made of numbers, params and reductions");
    return false;
}

bool StencilAnalyzer::find_axis_along(const syntax::Name& along, Equation& equation) {
    const Symbol* const symbol = symbols_.find(along.text);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::axis) {
        if (!along.text.empty()) evaluator_.report_unknown_axis(along.text, along.where);
        return false;
    }
    equation.axis = symbol->index;
    return true;
}

bool StencilAnalyzer::check_sides(const syntax::SolveStatement& solve, const Equation& equation) {
    const auto& [left, right] = std::pair(equation.of_direction, equation.right);
    const std::string name = fmt::format("`{}`", program_[equation.unknown].name);
    if (!evaluator_.check_grid(left, 1, evaluator_.where(solve.left)) ||
        !evaluator_.check_grid(right, 1, evaluator_.where(solve.right)) ||
        !evaluator_.require_position(left, 0, name, solve.left) ||
        !evaluator_.require_position(right, 0, name, solve.right))
        return false;
    if (!right.is_expr()) return true;
    for (const std::uint32_t e : ir::reached_exprs(program_, {right.id})) {
        const auto* access = std::get_if<ir::Access>(&program_.exprs[e].node);
        if (access == nullptr || access->field != equation.direction) continue;
        sink_
            .report(DiagnosticKind::not_linear, evaluator_.where(solve.right),
                    fmt::format("the unknown `{}` is on the right-hand side", text_of_unknown(equation)))
            .note("what is made of the unknown stands on the left; a `let` before keeps what was there");
        return false;
    }
    return true;
}

std::string StencilAnalyzer::text_of_unknown(const Equation& equation) const {
    return access_text(program_[equation.unknown].name, equation.time, {}, symbols_.axes());
}

bool StencilAnalyzer::find_form(const syntax::SolveStatement& solve, Equation& equation) {
    const std::string unknown = text_of_unknown(equation);
    const SourceRange left = evaluator_.where(solve.left);
    if (!equation.of_direction.is_expr()) {
        sink_.report(DiagnosticKind::not_linear, left,
                     fmt::format("the unknown `{}` is not in this", unknown));
        return false;
    }
    equation.form = linear_form(evaluator_.arithmetic(), equation.of_direction.id, equation.direction);
    if (evaluator_.arithmetic().is_exhausted()) return false;
    if (const auto& fault = equation.form.fault) {
        const bool is_missing = fault->is_constant && equation.form.factors.empty();
        // A term may stand in a statement before, too, and have its place from there.
        const bool is_within = fault->where.begin >= left.begin && fault->where.end <= left.end;
        Diagnostic& diagnostic = sink_.report(
            DiagnosticKind::not_linear,
            is_missing || (fault->is_constant && !is_within) ? left : fault->where,
            is_missing           ? fmt::format("the unknown `{}` is not in this", unknown)
            : fault->is_constant ? fmt::format("this is a term without the unknown `{}`", unknown)
                                 : fmt::format("this is not linear in the unknown `{}`", unknown));
        if (!fault->is_constant && !is_within) diagnostic.label(left, "on this left-hand side");
        diagnostic.note(
            fault->is_constant
                ? "the left-hand side has the terms with the unknown, and the right-hand side all others"
                : "sums of the unknown, each with a factor that does not read it, are linear: a factor "
                  "may be made of the values before the step");
        return false;
    }
    const auto has = [&](const Value& value, auto&& is_refused) -> std::optional<SourceRange> {
        if (!value.is_expr()) return std::nullopt;
        for (const std::uint32_t e : ir::reached_exprs(program_, {value.id}))
            if (is_refused(program_.exprs[e])) return program_.exprs[e].where;
        return std::nullopt;
    };
    // The left-hand side is evaluated more than once.
    if (const auto where = has(equation.of_direction, [](const ir::Expr& expr) {
            return std::holds_alternative<ir::Noise>(expr.node);
        })) {
        sink_
            .report(DiagnosticKind::not_built_yet, *where,
                    "noise on the left-hand side of a `solve` is not built yet")
            .note("`let noise = random()` before is the same in all iterations");
        return false;
    }
    for (const Value& side : {equation.of_direction, equation.right}) {
        const auto where =
            has(side, [](const ir::Expr& expr) { return std::holds_alternative<ir::TableSum>(expr.node); });
        if (!where) continue;
        sink_
            .report(DiagnosticKind::not_built_yet, *where, "a sum over a table in a `solve` is not built yet")
            .note("give the sum a name before: `let total = sum(…) …`");
        return false;
    }
    return check_faces(solve, equation);
}

bool StencilAnalyzer::check_faces(const syntax::SolveStatement& solve, Equation& equation) {
    for (const auto& [offset, factor] : equation.form.factors) {
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const int distance = offset[static_cast<std::size_t>(axis)];
            if (distance == 0) continue;
            const int side = distance < 0 ? 0 : 1;
            const ir::BoundaryKind kind = program_[equation.unknown].boundary[axis][side].kind;
            // An elimination reads nothing past faces: by what lies there alone grids are refused that have
            // too few cells for it.
            const bool is_read_alone = solve.along && kind == ir::BoundaryKind::formula;
            equation.has_given_values = equation.has_given_values || is_read_alone ||
                                        has_given_value(evaluator_, equation.unknown, axis, side);
            if (kind != ir::BoundaryKind::free) continue;
            const std::string face =
                symbols_.axes()[static_cast<std::size_t>(axis)] + (side == 0 ? ".low" : ".high");
            const std::string& name = program_[equation.unknown].name;
            sink_
                .report(DiagnosticKind::boundary_needed, evaluator_.where(solve.target),
                        fmt::format("the equation reads `{}` past {}, where it has no boundary", name, face))
                .label(program_[equation.unknown].where, "declared here")
                .note(fmt::format("say what lies there, as in `field {} … {{ boundary {} fixed 0 }}`", name,
                                  face));
            return false;
        }
    }
    return true;
}

// Its name, with the grids of multigrid.
SourceRange StencilAnalyzer::method_words(const syntax::SolveStatement& solve) const {
    SourceRange words = solve.method.where;
    if (solve.grids) words.end = evaluator_.where(*solve.grids).end;
    return words;
}

// Whether the method solves such an equation.
bool StencilAnalyzer::fits(const Equation& equation, const SolveMethod& method,
                           const syntax::SolveStatement& solve) {
    if (!method.iterates) return is_tridiagonal(equation, solve);
    if (!method.needs_symmetry) return true;
    const Value diagonal = equation.form.diagonal();
    if (diagonal.is_number() && diagonal.number.is_zero()) {
        sink_
            .report(DiagnosticKind::unfit_method, evaluator_.where(solve.left),
                    fmt::format("`{}` solves definite equations, and this does not read the cell itself",
                                method.name))
            .mend(method_words(solve), "bicgstab");
        return false;
    }
    if (!can_find_asymmetry(equation.form, program_.rank())) {
        sink_
            .report(DiagnosticKind::unfit_method, solve.method.where,
                    fmt::format("the left-hand side reaches so far that nothing tells whether it is "
                                "symmetric, as `{}` needs it",
                                method.name))
            .mend(method_words(solve), "bicgstab");
        return false;
    }
    const auto asymmetry = find_asymmetry(evaluator_, equation.form, equation.direction);
    if (!asymmetry) return true;
    const std::string unknown = text_of_unknown(equation);
    Diagnostic& diagnostic =
        sink_.report(DiagnosticKind::unfit_method, solve.method.where,
                     fmt::format("`{}` solves symmetric equations, and this left-hand side is not symmetric",
                                 method.name));
    if (asymmetry->axis < 0) {
        diagnostic.label(evaluator_.where(solve.left),
                         fmt::format("two cells have different factors for each other's `{}`", unknown));
    } else {
        diagnostic.label(program_[equation.unknown].where,
                         fmt::format("its boundary past {}.{} makes it so",
                                     symbols_.axes()[static_cast<std::size_t>(asymmetry->axis)],
                                     asymmetry->side == 0 ? "low" : "high"));
        diagnostic.note(
            "`fixed`, `periodic`, `symmetric` and `antisymmetric` keep a symmetric operator as it is");
    }
    diagnostic.mend(method_words(solve), "bicgstab");
    return false;
}

bool StencilAnalyzer::is_tridiagonal(const Equation& equation, const syntax::SolveStatement& solve) {
    const std::string& along = symbols_.axes()[static_cast<std::size_t>(equation.axis)];
    const auto refuse = [&](const std::string& why) -> Diagnostic& {
        return sink_
            .report(DiagnosticKind::unfit_method, evaluator_.where(solve.left),
                    fmt::format("`tridiagonal along {}` is for three neighbouring cells along that axis; {}",
                                along, why))
            .note("`cg` solves symmetric equations of any cells, and `bicgstab` others");
    };
    const std::string& name = program_[equation.unknown].name;
    for (const auto& [offset, factor] : equation.form.factors) {
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const int distance = offset[static_cast<std::size_t>(axis)];
            const bool is_near = axis == equation.axis ? std::abs(distance) <= 1 : distance == 0;
            if (is_near) continue;
            refuse(fmt::format("this reads `{}`", access_text(name, equation.time, offset, symbols_.axes())));
            return false;
        }
    }
    if (equation.form.diagonal().is_number() && equation.form.diagonal().number.is_zero()) {
        refuse("this does not read the cell itself");
        return false;
    }
    for (int side = 0; side < 2; ++side) {
        const std::string face = along + (side == 0 ? ".low" : ".high");
        const ir::BoundaryKind kind = program_[equation.unknown].boundary[equation.axis][side].kind;
        if (kind == ir::BoundaryKind::periodic) {
            refuse(fmt::format("`{}` is periodic, so that its ends are neighbours", name));
            return false;
        }
        for (const GhostTerm& term : ghost_terms(evaluator_, equation.direction, equation.axis, side, 1)) {
            if (term.cell <= 1) continue;
            refuse(fmt::format("past {} `{}` is made of more cells", face, name));
            return false;
        }
    }
    return true;
}

// Cells that a statement leaves out, as what it reads has nothing past a face, would not be solved for.
void StencilAnalyzer::check_solves() {
    for (const Solved& solved : solved_) {
        const auto first = program_.statements.begin() + static_cast<std::ptrdiff_t>(solved.first);
        const auto past = program_.statements.begin() + static_cast<std::ptrdiff_t>(solved.past);
        const bool leaves_cells = std::any_of(first, past, [](const ir::Statement& statement) {
            return ir::margins_of(statement) != ir::Margins{};
        });
        if (!leaves_cells) continue;
        sink_
            .report(
                DiagnosticKind::boundary_needed, solved.statement->where,
                "this equation has no value in cells at a face: a field that it reads has no boundary there")
            .note("give each field that it reads at neighbours a boundary, as in `boundary clamp`");
    }
}

}  // namespace halo::sema
