#include "compiler/sema/stencil.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/fields.h"
#include "compiler/sema/guards.h"
#include "compiler/sema/stencil_analyzer.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BoundaryKind;
using ir::FieldId;
using ir::Role;

void StencilAnalyzer::run() {
    program_.name = symbols_.stencil().name.text;
    if (!has_real_field(symbols_.stencil())) evaluator_.arithmetic().count_in_integers();
    result_.where = symbols_.stencil().where;
    evaluator_.declare_layouts();
    evaluator_.declare_params();
    evaluator_.check_consts();
    evaluator_.declare_coefs();
    evaluator_.declare_axes();
    evaluator_.declare_accuracy();
    evaluator_.declare_fast();
    evaluator_.declare_tables();
    declare_fields(evaluator_);
    declare_points();
    for (const syntax::StencilStatement& statement : symbols_.stencil().statements)
        write_out(statement);
    find_let_places();
    for (const Step& step : steps_) {
        evaluator_.set_loop_indices(step.indices);
        if (const auto* assignment = std::get_if<syntax::Assignment>(step.statement)) {
            evaluator_.enter_iteration(file_[assignment->target].iteration);
            find_target(*assignment);
        }
        if (const auto* solve = std::get_if<syntax::SolveStatement>(step.statement)) {
            evaluator_.enter_iteration(file_[solve->target].iteration);
            find_solve_target(*solve);
        }
    }
    claim_iterates();
    evaluator_.enter_iteration(0);
    check_layouts(evaluator_);
    for (const Step& step : steps_) {
        enter(step);
        evaluator_.enter_iteration(iteration_of(*step.statement));
        enter_repeat(repeat_of_statement(*step.statement));
        read(*step.statement);
    }
    enter_repeat(std::nullopt);
    evaluator_.set_grid(1);
    evaluator_.enter_iteration(0);
    number_traces();
    check_defs();
    if (!computes_) report_nothing_to_compute();
    ir::infer_halos(program_);
    widen_halos_of_iterates();
    make_ghosts(evaluator_);
    ir::infer_reaches(program_);
    ir::infer_margins(program_, keeping_);
    check_sweeps();
    check_solves();
    check_stretched_axes();
    check_reads_of_grids();
    check_four_axes();
    divide_means();
    check_point_margins();
    keep_cells_of_sweeps();
    find_fields_without_boundary();
    result_.uses_spacing = evaluator_.uses_spacing();
    const std::set<Difference>& made = evaluator_.made_differences();
    result_.differences.assign(made.begin(), made.end());
}

void StencilAnalyzer::write_out(const syntax::StencilStatement& statement) {
    const auto* loop = std::get_if<syntax::ForStatement>(&statement);
    if (!loop) {
        steps_.push_back({&statement, evaluator_.loop_indices(), iterations_});
        return;
    }
    const bool is_whole = evaluator_.repeat(loop->indices, loop->indices.front().name.where, [&] {
        if (steps_.size() > kMaxSteps) {
            sink_.report(DiagnosticKind::program_too_large, loop->where,
                         fmt::format("loops make more than {} statements of this", kMaxSteps));
            return false;
        }
        iterations_.push_back(++turn_count_);
        for (const syntax::LoopBody& body : loop->body)
            write_out(body.statement);
        iterations_.pop_back();
        return true;
    });
    if (is_whole) return;
    has_poison_ = true;
    evaluator_.set_targets_unknown();
}

std::uint32_t StencilAnalyzer::iteration_of(const syntax::StencilStatement& statement) const {
    return std::visit(
        [&](const auto& node) -> std::uint32_t {
            if constexpr (requires { file_[node.value].iteration; }) {
                return file_[node.value].iteration;
            } else if constexpr (requires { file_[node.left].iteration; }) {
                return file_[node.left].iteration;
            } else {
                return 0;
            }
        },
        statement);
}

void StencilAnalyzer::find_target(const syntax::Assignment& assignment) {
    const std::optional<syntax::GuardId> repeat = repeat_around(assignment.guards);
    see_levels_of(repeat);
    std::optional<Target> target = resolve_target(file_[assignment.target]);
    const SourceRange where = evaluator_.where(assignment.target);
    const std::size_t leaves = target ? target->reference.shape->leaves() : 0;
    for (std::uint32_t i = 0; target && !target->is_iterate && i < leaves; ++i) {
        if (!claim({target->reference.first + i}, target->time, where)) target.reset();
    }
    if (const auto sweep = sweep_around(assignment.guards); sweep && target)
        note_swept(*sweep, *target, where);
    if (repeat && target && target->is_iterate && has_other_levels(*repeat, *target, where)) target.reset();
    if (repeat && target) note_repeated(*repeat, *target, assignment);
    if (repeat && !target) note_misread(*repeat, assignment.target);
    steps_of_targets_.push_back(&assignment);
    targets_.push_back(std::move(target));
}

bool StencilAnalyzer::claim(FieldId id, int time, SourceRange where) {
    FieldInfo& info = evaluator_.fields()[id.index];
    ir::Field& field = program_.fields[id.index];
    const Role role = time == 1 ? Role::state : Role::output;
    if (!field.grid.has_all_axes()) return refuse_assigning(id, where);
    if (info.assigned && field.role == role) return true;
    if (info.assigned) {
        sink_
            .report(DiagnosticKind::invalid_assignment, where,
                    fmt::format("`{}` is assigned both with and without `[t+1]`", field.name))
            .label(info.written_where, "written here before");
        return false;
    }
    info.assigned = true;
    info.written_where = where;
    field.role = role;
    return true;
}

const syntax::Expr& StencilAnalyzer::base_of(const syntax::Expr& expr) const {
    const syntax::Expr* base = &expr;
    for (;;) {
        if (const auto* index = std::get_if<syntax::Index>(&base->node)) {
            base = &file_[index->base];
        } else if (const auto* member = std::get_if<syntax::Member>(&base->node)) {
            base = &file_[member->base];
        } else {
            return *base;
        }
    }
}

std::optional<StencilAnalyzer::Target> StencilAnalyzer::resolve_target(const syntax::Expr& expr) {
    bool failed = false;
    if (const std::optional<Reference> field = evaluator_.reference(expr, failed))
        return at_level(*field, expr);
    if (failed) return std::nullopt;
    const syntax::Expr& base = base_of(expr);
    const auto* name = std::get_if<syntax::NameUse>(&base.node);
    if (!name) return std::nullopt;
    const Symbol* symbol = symbols_.find(name->name);
    if (!symbol) {
        evaluator_.report_unknown(
            DiagnosticKind::unknown_name, name->name, base.where,
            fmt::format("there is no field `{0}`; `field {0}: f32` declares one", name->name),
            evaluator_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::field; }));
        return std::nullopt;
    }
    if (symbol->kind != Symbol::Kind::field) {
        sink_
            .report(
                DiagnosticKind::invalid_assignment, expr.where,
                fmt::format("`{}` is {}; a statement assigns a field", name->name, describe(symbol->kind)))
            .label(symbol->where, "declared here");
        return std::nullopt;
    }
    sink_.report(DiagnosticKind::invalid_assignment, expr.where, "a target has one pair of brackets")
        .note(fmt::format("as in `{}[t+1]`", name->name));
    return std::nullopt;
}

std::optional<StencilAnalyzer::Target> StencilAnalyzer::at_level(const Reference& reference,
                                                                 const syntax::Expr& expr) {
    Target target{reference, 0};
    if (!reference.subscript) return target;
    const std::optional<Subscripts> at = evaluator_.subscripts(*reference.subscript, reference.name);
    if (!at) return std::nullopt;
    if (at->offset != ir::Offset{}) {
        sink_
            .report(DiagnosticKind::invalid_assignment, expr.where,
                    "a statement gives the value of each cell itself, not of its neighbour")
            .note("shift the right-hand side instead");
        return std::nullopt;
    }
    if (at->iterate) {
        target.is_iterate = true;
        if (!evaluator_.is_innermost(*at->level)) {
            refuse_outer_level(*at->level, reference.name, expr.where);
            return std::nullopt;
        }
        if (*at->iterate == 1 && !at->has_time) return target;
        const std::string written = fmt::format("{0}[{1}+1]", reference.name, at->level->name);
        sink_
            .report(DiagnosticKind::invalid_assignment, expr.where,
                    fmt::format("an iteration writes `{}`", written))
            .mend(expr.where, written);
        return std::nullopt;
    }
    if (at->has_time && at->time != 1) {
        Diagnostic& diagnostic =
            sink_.report(DiagnosticKind::invalid_assignment, expr.where,
                         fmt::format("a step writes the level t+1 of `{}`", reference.name));
        diagnostic.mend(expr.where, reference.name + "[t+1]");
        return std::nullopt;
    }
    target.time = at->time;
    return target;
}

void StencilAnalyzer::read(const syntax::StencilStatement& statement) {
    evaluator_.begin_statement();
    if (const auto* assignment = std::get_if<syntax::Assignment>(&statement)) {
        read_assignment(*assignment);
    } else if (const auto* let = std::get_if<syntax::LetDecl>(&statement)) {
        read_let(*let);
    } else if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement)) {
        read_reduction(*reduce);
    } else if (const auto* schedule = std::get_if<syntax::ScheduleBlock>(&statement)) {
        read_schedule(*schedule);
    } else if (const auto* inject = std::get_if<syntax::InjectStatement>(&statement)) {
        read_inject(*inject);
    } else if (const auto* sample = std::get_if<syntax::SampleStatement>(&statement)) {
        read_sample(*sample);
    } else if (const auto* solve = std::get_if<syntax::SolveStatement>(&statement)) {
        read_solve(*solve);
    }
}

void StencilAnalyzer::read_assignment(const syntax::Assignment& assignment) {
    const std::optional<Target> target = targets_[next_target_++];
    const std::optional<syntax::GuardId> sweep = sweep_around(assignment.guards);
    const bool is_valid_sweep = !sweep || begin_sweep(*sweep);
    std::vector<Halves> places{0};
    evaluator_.set_grid(target ? program_.fields[target->reference.first].grid.factor : 1);
    if (target) {
        evaluator_.set_target(*target->reference.symbol, evaluator_.where(assignment.target));
        places = evaluator_.places_of(*target->reference.shape, target->reference.first);
    }
    evaluator_.set_wanted(places);
    const bool is_condition = target && target->reference.shape->leaves() == 1 &&
                              program_.fields[target->reference.first].type == ir::Scalar::boolean;
    const Value value =
        is_condition ? evaluator_.condition(assignment.value) : evaluator_.quantity(assignment.value);
    if (places.size() > 1 && !assignment.guards.empty()) return refuse_guards(assignment);
    std::optional<Cells> cells = guards_.cells_of(assignment.guards, places.front());
    if (cells && sweep && is_valid_sweep) cells->sweep = sweeps_.at(sweep->index).order;
    if (!is_valid_sweep) cells.reset();
    if (!target) return;
    bool again = false, is_kept = false;
    const Reference& reference = target->reference;
    for (std::uint32_t i = 0; target->is_iterate && value.is_poison() && i < reference.shape->leaves(); ++i)
        repeats_.at(repeat_around(assignment.guards)->index).iterates.unread.insert(reference.first + i);
    for (std::uint32_t i = 0; i < reference.shape->leaves(); ++i)  // iterates are written before
        again = std::exchange(evaluator_.fields()[reference.first + i].written, true) || again;
    for (std::uint32_t i = 0; i < reference.shape->leaves(); ++i)
        is_kept = std::exchange(evaluator_.fields()[reference.first + i].kept, false) || is_kept;
    if (sweep) again = !sweeps_.at(sweep->index).fresh.contains(reference.first);
    computes_ = true;
    const SourceRange where = evaluator_.where(assignment.value);
    if (!evaluator_.check_grid(value, evaluator_.grid(), where)) {
        has_poison_ = true;
        return;
    }
    std::optional<std::vector<Value>> leaves = fit(value, *reference.shape);
    for (std::size_t i = 0; leaves && i < leaves->size(); ++i) {
        const std::string name = fmt::format("`{}`", program_.fields[reference.first + i].name);
        const Halves place = evaluator_.fields()[reference.first + i].stagger;
        if (!evaluator_.require_position((*leaves)[i], place, name, assignment.value)) {
            has_poison_ = true;
            return;
        }
        const ir::Field& field = program_.fields[reference.first + i];
        const Value& leaf = (*leaves)[i];
        if (leaf.is_number() && !check_number(leaf.number, field.type, field.storage, where, sink_)) {
            has_poison_ = true;
            return;
        }
    }
    if (!leaves || !cells) {
        has_poison_ = true;
        if (!leaves && !value.is_poison()) report_misfit(value, reference, where);
        return;
    }
    if (target->is_iterate && sweep) {
        sink_
            .report(DiagnosticKind::not_built_yet, assignment.where,
                    "a sweep that writes the next level of an iteration is not built yet")
            .note("in a `repeat` a sweep changes a field in place: assign it without the iteration's level");
        return;
    }
    if (target->is_iterate)
        return assign_iterate(*repeat_around(assignment.guards), *target, *leaves, *cells, assignment);
    // Of a sweep other statements read what was there, too, and where it begins that remains.
    if (again && !is_kept && !sweep && cells->are_all() && !reads_level(*leaves, *target) &&
        !is_read_since(*target)) {
        report_written_twice(assignment, reference);
        return;
    }
    const bool is_output = program_.fields[reference.first].role == Role::output;
    if (sweep && !check_swept(*sweep, *leaves, *target, *cells, assignment)) return;
    const bool in_place = !sweep && (again || (is_output && !cells->are_all()));
    if (in_place && leaves->size() > 1 && reads_level(*leaves, *target)) {
        sink_
            .report(DiagnosticKind::not_built_yet, assignment.where,
                    "components that are changed in place from one another are not built yet")
            .note("assign them one by one, from lets that keep what was there");
        return;
    }
    for (std::uint32_t i = 0; i < leaves->size(); ++i) {
        const ir::Assign made =
            assign({reference.first + i}, target->time, (*leaves)[i], where, assignment.where, *cells);
        if (in_place || sweep) check_in_place(made);
    }
}

void StencilAnalyzer::refuse_guards(const syntax::Assignment& assignment) {
    has_poison_ = true;
    sink_
        .report(DiagnosticKind::not_built_yet, assignment.where,
                "some cells alone of components that lie at different places are not built yet")
        .note("assign the components one by one");
}

void StencilAnalyzer::report_misfit(const Value& value, const Reference& reference, SourceRange where) {
    Diagnostic& diagnostic = sink_.report(DiagnosticKind::component_mismatch, where,
                                          fmt::format("this is {}, and `{}` is {}", describe(value),
                                                      reference.name, describe(*reference.shape)));
    if (reference.shape->kind == Shape::Kind::vector && !value.has_parts())
        diagnostic.note("a vector is written `[a, b]`, with one value for each component");
    if (reference.shape->kind == Shape::Kind::scalar && value.is_complex())
        diagnostic.note("`re(z)`, `im(z)` and `abs(z)` are real");
}

ir::Assign StencilAnalyzer::assign(FieldId field, int time, const Value& value, SourceRange value_where,
                                   SourceRange where, const Cells& cells) {
    ir::Assign made;
    made.target = field;
    made.time = time;
    made.value = evaluator_.arithmetic().as(value, program_[field].type, value_where);
    made.region = cells.region;
    made.condition = cells.condition;
    made.sweep = cells.sweep;
    made.where = where;
    program_.statements.emplace_back(made);
    return made;
}

void StencilAnalyzer::read_schedule(const syntax::ScheduleBlock& block) {
    if (result_.schedule) {
        sink_.report(DiagnosticKind::duplicate_setting, block.where, "this stencil has a schedule already")
            .label(result_.schedule->where, "given here before");
        return;
    }
    result_.schedule = ScheduleText{block.text, block.where};
}

void StencilAnalyzer::check_defs() {
    for (const Symbol& symbol : symbols_.all()) {
        if (!symbol.function) continue;
        std::vector<std::string_view> seen;
        for (const syntax::Name& parameter : symbol.function->parameters) {
            const Symbol* other = symbols_.find(parameter.text);
            const bool is_axis = !symbol.is_shared && other && other->kind == Symbol::Kind::axis;
            if (is_axis || parameter.text == "t") {
                sink_.report(DiagnosticKind::reserved_name, parameter.where,
                             fmt::format("a parameter cannot be called `{}`, like {}", parameter.text,
                                         is_axis ? "the axis" : "the time level"));
            } else if (std::find(seen.begin(), seen.end(), parameter.text) != seen.end()) {
                sink_.report(DiagnosticKind::duplicate_name, parameter.where,
                             fmt::format("`{}` has two parameters called `{}`", symbol.name, parameter.text));
            }
            seen.push_back(parameter.text);
        }
    }
}

void StencilAnalyzer::report_nothing_to_compute() {
    const syntax::Stencil& stencil = symbols_.stencil();
    const bool reads_all =
        stencil.unread_names.empty() && !has_poison_ &&
        std::none_of(targets_.begin(), targets_.end(), [](const auto& target) { return !target; });
    if (!reads_all) return;
    sink_
        .report(DiagnosticKind::nothing_to_compute, stencil.name.where,
                fmt::format("`{}` assigns no field, so it computes nothing", stencil.name.text))
        .note("a step assigns a field, as in `u[t+1] = …` or `df = …`");
}

void StencilAnalyzer::find_fields_without_boundary() {
    const bool leaves_cells = std::ranges::any_of(program_.statements, [](const ir::Statement& statement) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        return assign && assign->time == 1 && assign->margins != ir::Margins{};
    });
    if (!leaves_cells) return;
    std::vector<std::string>& names = result_.without_boundary;
    for (const ir::Expr& expr : program_.exprs) {
        const auto* access = std::get_if<ir::Access>(&expr.node);
        if (!access || access->offset == ir::Offset{}) continue;
        const Symbol* symbol = evaluator_.fields()[access->field.index].symbol;
        const bool is_silent = symbol->field && symbol->field->boundaries.empty();
        if (is_silent && std::ranges::find(names, symbol->name) == names.end()) names.push_back(symbol->name);
    }
}

AnalyzedStencil analyze_stencil(const syntax::File& file, const Symbols& symbols, DiagnosticSink& sink) {
    AnalyzedStencil result;
    StencilAnalyzer(file, symbols, result, sink).run();
    return result;
}

}  // namespace halo::sema
