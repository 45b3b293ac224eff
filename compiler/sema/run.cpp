#include "compiler/sema/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/analysis.h"
#include "compiler/sema/field_axes.h"
#include "compiler/sema/run_analyzer.h"
#include "compiler/sema/types.h"

namespace halo::sema {

void RunAnalyzer::run() {
    result_.stencil = symbols_.stencil().name.text;
    result_.where = run_.where;
    declare(settings_);
    settings_.declare_layouts();
    for (const syntax::RunStatement& statement : run_.statements) {
        std::visit([&](const auto& alternative) { read(alternative); }, statement);
    }
    check_cuts();
    for (auto& [name, fill] : fills_)
        finish(name, fill);
}

void RunAnalyzer::declare(Evaluator& evaluator) {
    evaluator.declare_params();
    evaluator.declare_coefs();
    evaluator.declare_axes();
}

bool RunAnalyzer::is_first(const std::string& what, SourceRange where) {
    const auto [found, is_new] = seen_.emplace(what, where);
    if (!is_new) {
        sink_.report(DiagnosticKind::duplicate_setting, where, fmt::format("this run gives {} twice", what))
            .label(found->second, "given here before");
    }
    return is_new;
}

void RunAnalyzer::read(const syntax::GridStatement& grid) {
    if (!is_first("its grid", grid.where)) return;
    if (static_cast<int>(grid.extents.size()) != symbols_.rank()) {
        const SourceRange where{settings_.where(grid.extents.front()).begin,
                                settings_.where(grid.extents.back()).end};
        sink_.report(DiagnosticKind::grid_shape, where,
                     fmt::format("`{}` has {} {} ({}), and this grid {}", result_.stencil, symbols_.rank(),
                                 symbols_.rank() == 1 ? "axis" : "axes", fmt::join(symbols_.axes(), ", "),
                                 grid.extents.size()));
        return;
    }
    rt::Extent extents{};
    bool valid = true;
    for (std::size_t i = 0; i < grid.extents.size(); ++i) {
        const std::string what = fmt::format("the number of cells along `{}`", symbols_.axes()[i]);
        const std::optional<std::int64_t> extent =
            settings_.integer(grid.extents[i], what, 1, std::numeric_limits<std::int32_t>::max());
        valid = valid && extent;
        if (extent) extents[i] = *extent;
    }
    if (valid) result_.grid = extents;
}

void RunAnalyzer::read(const syntax::StepsStatement& steps) {
    if (!is_first("its steps", steps.where)) return;
    result_.steps = settings_.integer(steps.count, "the number of steps", 0, kMaxRunCount);
    if (!steps.until) return;
    Until until;
    until.where = settings_.where(*steps.until);
    until.host.name = result_.stencil;
    Evaluator evaluator(file_, symbols_, Place::until, until.host, ir::Scalar::f64, sink_);
    declare(evaluator);
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::reduction) continue;
        ir::Param param;
        param.name = symbol.name;
        param.where = symbol.where;
        until.host.params.push_back(std::move(param));
    }
    const Value condition = evaluator.until(*steps.until);
    if (condition.is_poison()) return;
    until.condition = evaluator.arithmetic().as(condition, ir::Scalar::boolean, until.where);
    result_.until = std::move(until);
}

std::optional<Reference> RunAnalyzer::field_of(syntax::ExprId id) {
    bool failed = false;
    if (std::optional<Reference> field = settings_.reference(file_[id], failed)) return field;
    if (failed) return std::nullopt;
    const syntax::Expr* base = &file_[id];
    while (const auto* member = std::get_if<syntax::Member>(&base->node))
        base = &file_[member->base];
    const auto* name = std::get_if<syntax::NameUse>(&base->node);
    if (name) report_no_field(name->name, base->where);
    return std::nullopt;
}

void RunAnalyzer::report_no_field(const std::string& name, SourceRange where) {
    if (const Symbol* symbol = symbols_.find(name)) {
        Diagnostic& diagnostic =
            sink_.report(DiagnosticKind::misused_name, where,
                         fmt::format("`{}` is {}; a field is expected here", name, describe(symbol->kind)));
        if (symbol->kind == Symbol::Kind::let) diagnostic.note("a field that is assigned keeps its values");
        return;
    }
    const std::vector<std::string> fields =
        settings_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::field; });
    Diagnostic* diagnostic =
        settings_.report_unknown(DiagnosticKind::unknown_name, name, where,
                                 fmt::format("`{}` has no field `{}`", result_.stencil, name), fields);
    constexpr std::size_t kListed = 8;
    if (diagnostic && !fields.empty() && fields.size() <= kListed)
        diagnostic->note(fmt::format("it has {}", fmt::join(fields, ", ")));
}

bool RunAnalyzer::is_first_start(const Reference& field, SourceRange where) {
    bool result = true;
    for (std::uint32_t i = 0; i < field.shape->leaves() && result; ++i)
        result = is_first(fmt::format("the start of `{}`", stencil_.fields[field.first + i].name), where);
    return result;
}

void RunAnalyzer::read(const syntax::InitLoop& loop) {
    settings_.repeat(loop.indices, loop.indices.front().name.where, [&] {
        for (const syntax::InitStatement& init : loop.body)
            read(init);
        return true;
    });
}

void RunAnalyzer::read(const syntax::InitStatement& init) {
    const Target target = target_of(init.field);
    if (is_table(target.name)) return read_column(init, target);
    if (const Symbol* points = find_points(target.name)) return read_point_number(init, *points, target);
    const std::optional<Reference> reference = field_of(init.field);
    const bool is_new = !reference || is_first_start(*reference, settings_.where(init.field));
    if (!init_) {
        result_.init.emplace();
        result_.init->name = result_.stencil + "_init";
        init_.emplace(file_, symbols_, Place::init, *result_.init, ir::Scalar::f64, sink_);
        declare(*init_);
    }
    init_->set_loop_indices(settings_.loop_indices());
    if (!reference) {
        init_->quantity(init.value);
        return;
    }
    std::map<Halves, std::optional<std::vector<Value>>> known;  // its value at each place
    for (std::uint32_t i = 0; i < reference->shape->leaves(); ++i) {
        const ir::Field& field = stencil_.fields[reference->first + i];
        const auto [found, is_first] = known.try_emplace(place_of(field));
        if (is_first) found->second = values_at(found->first, *reference, init);
        if (!found->second || !is_new) return;
        fill(field, (*found->second)[i], init);
    }
}

Halves RunAnalyzer::place_of(const ir::Field& field) const {
    Halves place = 0;
    for (int axis = 0; axis < symbols_.rank(); ++axis)
        place = static_cast<Halves>(place | (field.staggered[axis] ? axis_bit(axis) : Halves{0}));
    return place;
}

std::optional<std::vector<Value>> RunAnalyzer::values_at(Halves place, const Reference& reference,
                                                         const syntax::InitStatement& init) {
    init_->set_wanted(place);
    init_->set_grid(stencil_.fields[reference.first].grid.factor);
    const bool is_condition =
        reference.shape->leaves() == 1 && stencil_.fields[reference.first].type == ir::Scalar::boolean;
    const Value value = is_condition ? init_->condition(init.value) : init_->quantity(init.value);
    if (value.is_poison()) return std::nullopt;
    std::optional<std::vector<Value>> leaves = fit(value, *reference.shape);
    if (leaves) return leaves;
    sink_.report(DiagnosticKind::component_mismatch, init_->where(init.value),
                 fmt::format("this is {}, and `{}` is {}", describe(value), reference.name,
                             describe(*reference.shape)));
    return std::nullopt;
}

// Whether what a field over fewer axes starts with is the same along the others; reported otherwise.
bool RunAnalyzer::depends_on_own_axes(const ir::Field& target, const Value& value,
                                      const syntax::InitStatement& init) {
    if (!value.is_expr() || target.grid.has_all_axes()) return true;
    const ir::Program& program = *result_.init;
    for (const std::uint32_t index : ir::reached_exprs(program, {value.id})) {
        const ir::Expr& expr = program.exprs[index];
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        int along = coordinate != nullptr && !ir::is_uniform_leaf(expr) ? coordinate->axis : -1;
        if (const auto* position = std::get_if<ir::Access>(&expr.node))
            while (++along < symbols_.rank() && !program[position->field].grid.has(along)) {
            }
        if (along < 0 || target.grid.has(along)) continue;
        const std::string& axis = symbols_.axes()[static_cast<std::size_t>(along)];
        report_missing_axis(target.name, target.grid, fmt::format("values that differ along {}", axis),
                            init_->where(init.value), symbols_.axes(), sink_)
            .note(fmt::format("its `init` is computed from the coordinates along {}",
                              axes_text(target.grid, symbols_.axes())));
        return false;
    }
    return true;
}

// The distances between cells are known before any position is.
bool RunAnalyzer::comes_before_positions(const ir::Field& target, const Value& value,
                                         const syntax::InitStatement& init) {
    const bool is_distance = std::ranges::any_of(
        stencil_.stretched, [&](const ir::StretchedAxis& axis) { return axis.field == target.name; });
    if (!is_distance || !value.is_expr()) return true;
    const ir::Program& program = *result_.init;
    for (const std::uint32_t index : ir::reached_exprs(program, {value.id})) {
        if (!std::holds_alternative<ir::Access>(program.exprs[index].node)) continue;
        sink_
            .report(DiagnosticKind::misused_name, init_->where(init.value),
                    fmt::format("`{}` is a spacing, from which positions follow, and here it is made of them",
                                target.name))
            .note("`idx` is the index of a cell");
        return false;
    }
    return true;
}

void RunAnalyzer::fill(const ir::Field& target, const Value& value, const syntax::InitStatement& init) {
    ir::Program& program = *result_.init;
    ir::Field field;
    field.name = target.name;
    field.type = target.type;
    field.storage = target.storage;
    if (value.is_number() &&
        !check_number(value.number, field.type, field.storage, init_->where(init.value), sink_))
        return;
    if (!depends_on_own_axes(target, value, init) || !comes_before_positions(target, value, init)) return;
    field.role = ir::Role::output;
    field.grid = target.grid;
    field.where = init_->where(init.field);
    ir::Assign assign;
    assign.target = ir::FieldId{static_cast<std::uint32_t>(program.fields.size())};
    assign.value = init_->arithmetic().as(value, field.type, init_->where(init.value));
    assign.where = init.where;
    program.fields.push_back(std::move(field));
    program.statements.emplace_back(assign);
}

void RunAnalyzer::read(const syntax::OverrideStatement& override) {
    const Symbol* symbol = symbols_.find(override.name.text);
    if (!symbol) {
        const auto can_be_given = [](Symbol::Kind kind) {
            return kind == Symbol::Kind::param || kind == Symbol::Kind::coef;
        };
        settings_.report_unknown(DiagnosticKind::unknown_name, override.name.text, override.name.where,
                                 fmt::format("`{}` has no param `{}`", result_.stencil, override.name.text),
                                 settings_.candidates(can_be_given));
        return;
    }
    const bool is_weights = symbol->kind == Symbol::Kind::coef && symbol->coef->is_param;
    if (symbol->kind != Symbol::Kind::param && !is_weights) {
        Diagnostic& diagnostic = sink_.report(
            DiagnosticKind::invalid_override, override.name.where,
            fmt::format("`{}` is {}; a run can set params", override.name.text, describe(symbol->kind)));
        diagnostic.label(symbol->where, "declared here");
        if (symbol->kind == Symbol::Kind::field)
            diagnostic.note(fmt::format("`init {} = …` fills it", symbol->name));
        if (symbol->kind == Symbol::Kind::constant || symbol->kind == Symbol::Kind::coef) {
            diagnostic.note("declared with `param` it could be set");
        }
        return;
    }
    if (!is_first(fmt::format("`{}`", symbol->name), override.name.where)) return;
    if (is_weights) {
        if (auto values = settings_.coef_values(*symbol, override.value)) {
            result_.coefs.push_back({symbol->name, std::move(*values), override.where});
        }
    } else if (names_integer(symbol->definition->type)) {
        const bool narrow = symbol->definition->type->storage.text == "i32";
        const std::int64_t most = narrow ? 2147483647 : ir::kLargestExact;
        const std::string what = fmt::format("`{}`", symbol->name);
        if (const auto value = settings_.integer(override.value, what, -most - (narrow ? 1 : 0), most))
            result_.params.push_back({symbol->name, static_cast<double>(*value), override.where});
    } else if (const auto value = settings_.known(override.value, fmt::format("`{}`", symbol->name))) {
        result_.params.push_back({symbol->name, *value, override.where});
    }
}

RunSpec analyze_run(const syntax::File& file, const syntax::Run& run, const Symbols& symbols,
                    const ir::Program& stencil, DiagnosticSink& sink) {
    RunSpec result;
    RunAnalyzer(file, run, symbols, stencil, result, sink).run();
    return result;
}

}  // namespace halo::sema
