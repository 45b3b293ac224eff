// Where a run's points lie, and the numbers that they have.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/run_analyzer.h"

namespace halo::sema {

const Symbol* RunAnalyzer::find_points(const syntax::Name& name) const {
    const Symbol* symbol = symbols_.find(name.text);
    return symbol && symbol->kind == Symbol::Kind::points ? symbol : nullptr;
}

void RunAnalyzer::read(const syntax::PlaceStatement& place) {
    const Symbol* points = find_points(place.points);
    if (!points) {
        if (const Symbol* symbol = symbols_.find(place.points.text)) {
            sink_.report(
                DiagnosticKind::misused_name, place.points.where,
                fmt::format("`{}` is {}; points are expected here", symbol->name, describe(symbol->kind)));
        } else {
            settings_.report_unknown(
                DiagnosticKind::unknown_name, place.points.text, place.points.where,
                fmt::format("`{}` has no points `{}`", result_.stencil, place.points.text),
                settings_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::points; }));
        }
        return;
    }
    if (!is_first(fmt::format("the positions of `{}`", points->name), place.where)) return;
    PointPlaces made{points->name, {}, place.where};
    const auto add_all = [&] {
        return std::all_of(place.positions.begin(), place.positions.end(),
                           [&](syntax::ExprId position) { return add_position(position, made.positions); });
    };
    const bool is_whole =
        place.indices.empty() ? add_all() : settings_.repeat(place.indices, place.where, add_all);
    if (is_whole) result_.places.push_back(std::move(made));
}

// False where something is reported.
bool RunAnalyzer::add_position(syntax::ExprId position, std::vector<double>& positions) {
    const auto* list = std::get_if<syntax::List>(&file_[position].node);
    if (!list || static_cast<int>(list->elements.size()) != symbols_.rank()) {
        if (!list && std::holds_alternative<syntax::Missing>(file_[position].node)) return false;
        Diagnostic& diagnostic =
            sink_.report(DiagnosticKind::point_shape, settings_.where(position),
                         list ? fmt::format("`{}` has {} {} ({}), and this position {}", result_.stencil,
                                            symbols_.rank(), symbols_.rank() == 1 ? "axis" : "axes",
                                            fmt::join(symbols_.axes(), ", "), list->elements.size())
                              : std::string("a position is a list of coordinates"));
        diagnostic.note(fmt::format("a point is written [{}]", fmt::join(symbols_.axes(), ", ")));
        return false;
    }
    for (const syntax::ExprId coordinate : list->elements) {
        const std::optional<double> value = settings_.known_in_loop(coordinate, "the place of a point");
        if (!value) return false;
        positions.push_back(*value);
    }
    return true;
}

namespace {

std::string listed(const std::vector<std::string>& names) {
    return names.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

// What the run gives of `shots.wavelet`; nullopt where that is reported.
std::optional<RunAnalyzer::PointNumber> RunAnalyzer::given_number(const Symbol& points,
                                                                  const Target& target) {
    const ir::Points& set = stencil_.points[static_cast<std::size_t>(points.index)];
    std::vector<std::string> given = set.columns;
    for (const ir::Points::Trace& trace : set.traces) {
        if (!trace.sampled) given.push_back(trace.name);
    }
    if (!target.member) {
        sink_
            .report(DiagnosticKind::misused_name, target.name.where,
                    fmt::format("`{}` are points; their numbers are given one by one", set.name))
            .note(given.empty() ? fmt::format("nothing injects numbers of `{}`", set.name)
                                : fmt::format("as in `init {}.{} = …`", set.name, given.front()));
        return std::nullopt;
    }
    const std::string& name = target.member->text;
    if (std::find(set.columns.begin(), set.columns.end(), name) != set.columns.end())
        return PointNumber{set.name, name, false};
    for (const ir::Points::Trace& trace : set.traces) {
        if (trace.name != name) continue;
        if (!trace.sampled) return PointNumber{set.name, name, true};
        sink_.report(
            DiagnosticKind::misused_name, target.member->where,
            fmt::format("`{}.{}` is sampled by the stencil; a run saves or plots it", set.name, name));
        return std::nullopt;
    }
    sink_
        .report(DiagnosticKind::unknown_column, target.member->where,
                fmt::format("nothing of `{}` reads `{}.{}`", result_.stencil, set.name, name))
        .note(fmt::format("these are given: {}", listed(given)));
    return std::nullopt;
}

// `init shots.wavelet = …`: a program whose cells are the points and, for a trace, the steps.
void RunAnalyzer::read_point_number(const syntax::InitStatement& init, const Symbol& points,
                                    const Target& target) {
    const std::optional<PointNumber> number = given_number(points, target);
    if (!number) return;
    const std::string name = number->points + "." + number->name;
    if (!is_first(fmt::format("the values of `{}`", name), init.where)) return;
    PointFill fill;
    fill.points = number->points;
    fill.name = number->name;
    fill.is_trace = number->is_trace;
    fill.where = init.where;
    ir::Program& program = fill.init;
    program.name = fmt::format("{}_{}_{}", result_.stencil, fill.points, fill.name);
    Evaluator evaluator(file_, symbols_, Place::row, program, ir::Scalar::f64, sink_);
    evaluator.declare_params();
    evaluator.declare_coefs();
    Arithmetic& arithmetic = evaluator.arithmetic();
    const auto add_axis = [&](const char* axis) {
        program.axes.push_back({axis, arithmetic.as_uniform(Value::of(Rational(1)), init.where),
                                arithmetic.as_uniform(Value::of(Rational(0)), init.where)});
        const ir::Coordinate index{ir::CoordinateKind::index, program.rank() - 1};
        Value value = arithmetic.leaf(ir::Scalar::f64, index, false, init.where);
        value.whole = true;
        return value;
    };
    evaluator.define_local("point", add_axis("point"));
    if (fill.is_trace) evaluator.set_step(add_axis("step"));
    const Value value = evaluator.number(init.value);
    if (value.is_poison()) return;
    ir::Field field;
    field.name = fill.name;
    field.type = ir::Scalar::f64;
    field.storage = ir::Storage::f64;
    field.role = ir::Role::output;
    field.where = target.name.where;
    ir::Assign assign;
    assign.value = arithmetic.as(value, field.type, settings_.where(init.value));
    assign.where = init.where;
    program.fields.push_back(std::move(field));
    program.statements.emplace_back(assign);
    result_.point_fills.push_back(std::move(fill));
}

void RunAnalyzer::load_points(const syntax::LoadStatement& load, const Symbol& points, const Target& target) {
    const bool valid = check_path(load.path, FileUse::load_points);
    if (!target.member) {
        if (is_first(fmt::format("the positions of `{}`", points.name), load.where) && valid)
            result_.point_loads.push_back({points.name, load.path.text, load.where});
        return;
    }
    const std::optional<PointNumber> number = given_number(points, target);
    if (!number) return;
    const std::string name = number->points + "." + number->name;
    if (is_first(fmt::format("the values of `{}`", name), load.where) && valid)
        result_.point_loads.push_back({name, load.path.text, load.where});
}

// The name of the sampled trace that a `save` or `plot` names; nullopt where that is reported.
std::optional<std::string> RunAnalyzer::sampled_trace(const Symbol& points, const Target& target) {
    const ir::Points& set = stencil_.points[static_cast<std::size_t>(points.index)];
    std::vector<std::string> sampled;
    for (const ir::Points::Trace& trace : set.traces) {
        if (!trace.sampled) continue;
        sampled.push_back(trace.name);
        if (target.member && trace.name == target.member->text) return set.name + "." + trace.name;
    }
    if (sampled.empty() && has_sample(points)) return std::nullopt;  // which is wrong, and that is reported
    Diagnostic& diagnostic = sink_.report(
        DiagnosticKind::unknown_column, target.member ? target.member->where : target.name.where,
        target.member ? fmt::format("`{}.{}` is sampled by nothing", set.name, target.member->text)
                      : fmt::format("`{}` are points; a run saves and plots their traces", set.name));
    if (sampled.empty()) {
        diagnostic.note(fmt::format("`sample EXPR at {0} into {0}.trace[t]` samples them", set.name));
    } else {
        diagnostic.note(fmt::format("these are sampled: {}", listed(sampled)));
    }
    return std::nullopt;
}

bool RunAnalyzer::has_sample(const Symbol& points) const {
    const auto& statements = symbols_.stencil().statements;
    return std::any_of(statements.begin(), statements.end(), [&](const syntax::StencilStatement& statement) {
        const auto* sample = std::get_if<syntax::SampleStatement>(&statement);
        return sample && sample->points.text == points.name;
    });
}

}  // namespace halo::sema
