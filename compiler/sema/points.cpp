// Points off the grid: what a stencil injects and samples at them. Columns and traces of points come to be by
// being used.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/sema/stencil_analyzer.h"

namespace halo::sema {

namespace {

constexpr std::int64_t kLeastRadius = 2, kMostRadius = 10, kUsualRadius = 4;  // of a sinc

// In PointColumns, until all columns are known.
constexpr int kFirstTrace = 1 << 20;

}  // namespace

// ---- numbers of points in expressions

const Symbol* Evaluator::points_of(syntax::ExprId id) const {
    const auto* name = std::get_if<syntax::NameUse>(&file_[id].node);
    const Symbol* symbol = name && !find_entry(name->name) ? find_symbol(name->name) : nullptr;
    return symbol && symbol->kind == Symbol::Kind::points ? symbol : nullptr;
}

// `shots.wavelet[t]`; nullopt where it is no such thing.
std::optional<Value> Evaluator::trace_value(const syntax::Index& node, const syntax::Expr& expr) {
    const auto* member = std::get_if<syntax::Member>(&file_[node.base].node);
    const Symbol* points = member ? points_of(member->base) : nullptr;
    if (!points) return std::nullopt;
    const std::string name = points->name + "." + member->member.text;
    const std::optional<Subscripts> at = subscripts(expr, name);
    if (!at) return Value();
    if (!at->has_time || at->time != 0 || at->offset != ir::Offset{} || at->half != 0) {
        report(DiagnosticKind::time_level, expr.where, "a trace is read at this step alone")
            .mend(expr.where, name + "[t]");
        return Value();
    }
    return point_value(*points, member->member, true, expr.where);
}

// A point's own number, or the value of its trace at this step.
Value Evaluator::point_value(const Symbol& points, const syntax::Name& member, bool is_trace,
                             SourceRange where) {
    if (member.text.empty()) return Value();
    const std::string name = points.name + "." + member.text;
    if (injected_ != &points) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}` is a number of each point and has no value at a cell", name))
            .note(fmt::format("`inject … at {} += …` can use it", points.name));
        return Value();
    }
    ir::Points& set = program_.points[static_cast<std::size_t>(points.index)];
    const auto column = std::find(set.columns.begin(), set.columns.end(), member.text);
    const auto trace = std::find_if(set.traces.begin(), set.traces.end(),
                                    [&](const ir::Points::Trace& each) { return each.name == member.text; });
    const bool is_known_trace = trace != set.traces.end();
    if (is_trace ? column != set.columns.end() : is_known_trace) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}` is used both with `[t]`, as a trace, and without", name));
        return Value();
    }
    if (is_known_trace && trace->sampled) {
        report(DiagnosticKind::misused_name, where,
               fmt::format("`{}` is sampled in this step, so it cannot be injected, too", name));
        return Value();
    }
    int number = 0;
    if (is_trace) {
        number = kFirstTrace + static_cast<int>(trace - set.traces.begin());
        if (!is_known_trace) set.traces.push_back({member.text, false});
    } else {
        number = static_cast<int>(column - set.columns.begin());
        if (column == set.columns.end()) set.columns.push_back(member.text);
    }
    const ir::PointsId id{static_cast<std::uint32_t>(points.index)};
    return arithmetic_.leaf(arithmetic_.compute_type(), ir::PointColumn{id, number}, false, where);
}

// ---- declarations

void StencilAnalyzer::declare_points() {
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::points) continue;
        ir::Points points;
        points.name = symbol.name;
        points.where = symbol.where;
        read_interpolation(*symbol.points, points);
        program_.points.push_back(std::move(points));
    }
}

void StencilAnalyzer::read_interpolation(const syntax::PointsDecl& declaration, ir::Points& points) {
    if (!declaration.interpolation) return;
    const syntax::Name& name = *declaration.interpolation;
    if (name.text == "sinc") {
        points.interpolation = ir::Interpolation::sinc;
        points.radius = kUsualRadius;
        if (!declaration.radius) return;
        const auto radius =
            evaluator_.integer(*declaration.radius, "the radius of a sinc", kLeastRadius, kMostRadius);
        points.radius = static_cast<int>(radius.value_or(kUsualRadius));
    } else if (name.text != "linear") {
        evaluator_.report_unknown(
            DiagnosticKind::unknown_interpolation, name.text, name.where,
            fmt::format("there is no interpolation `{}`; there are linear and sinc", name.text),
            {"linear", "sinc"});
    } else if (declaration.radius) {
        sink_.report(DiagnosticKind::unknown_interpolation, evaluator_.where(*declaration.radius),
                     "`linear` has no radius: a point lies between two cells along each axis");
    }
}

const Symbol* StencilAnalyzer::points_symbol(const syntax::Name& name) {
    const Symbol* symbol = symbols_.find(name.text);
    if (symbol && symbol->kind == Symbol::Kind::points) return symbol;
    if (symbol) {
        sink_
            .report(DiagnosticKind::misused_name, name.where,
                    fmt::format("`{}` is {}; points are expected here", name.text, describe(symbol->kind)))
            .label(symbol->where, "declared here");
        return nullptr;
    }
    evaluator_.report_unknown(
        DiagnosticKind::unknown_name, name.text, name.where,
        fmt::format("there are no points `{0}`; `points {0}` declares them", name.text),
        evaluator_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::points; }));
    return nullptr;
}

// ---- statements

// Refuses values that read neighbours: only the cell itself can be injected or sampled, and a `let` can hold
// what is made of its neighbours.
bool StencilAnalyzer::check_at_cell(const Value& value, SourceRange where, const Target* target) {
    if (!value.is_expr()) return true;
    bool at_cell = true, reads_target = false, sums = false;
    for_each_leaf(value, [&](const ir::Expr& expr) {
        sums = sums || std::holds_alternative<ir::TableSum>(expr.node);
        const auto* access = std::get_if<ir::Access>(&expr.node);
        if (!access) return;
        at_cell = at_cell && access->offset == ir::Offset{};
        reads_target = reads_target || (target && access->field.index == target->reference.first &&
                                        access->time == target->time);
    });
    if (!at_cell) {
        sink_
            .report(DiagnosticKind::invalid_offset, where,
                    "at points, fields are read at the cell itself alone")
            .note("name what is made of neighbours by a `let` before");
    } else if (reads_target) {
        sink_
            .report(DiagnosticKind::reads_what_it_writes, where,
                    "what is injected cannot be made of the level that it is added to")
            .note("keep what was there by a `let` before");
    } else if (sums) {
        sink_
            .report(DiagnosticKind::not_built_yet, where,
                    "a sum over a table is not built yet where points are injected or sampled")
            .note("give the sum a name before: `let total = sum(…) …`");
    }
    return at_cell && !reads_target && !sums;
}

bool StencilAnalyzer::can_inject(const Target& target, const syntax::InjectStatement& inject) {
    const SourceRange where = evaluator_.where(inject.target);
    const Reference& reference = target.reference;
    if (!program_.fields[reference.first].grid.has_all_axes())
        return refuse_assigning({reference.first}, where);
    if (program_.fields[reference.first].grid.factor != 1) {
        sink_
            .report(DiagnosticKind::not_built_yet, where,
                    "points at a field on a coarser grid are not built yet")
            .note("inject into a field of the grid itself, and restrict that");
        return false;
    }
    if (reference.shape->leaves() != 1) {
        sink_
            .report(
                DiagnosticKind::component_mismatch, where,
                fmt::format("`{}` is {}; a number is injected", reference.name, describe(*reference.shape)))
            .note(fmt::format("inject into a component, as in `{}.{}`", reference.name,
                              part_name(*reference.shape, 0)));
        return false;
    }
    const ir::Field& field = program_.fields[reference.first];
    const FieldInfo& info = evaluator_.fields()[reference.first];
    const bool is_written = info.written && (field.role == ir::Role::state) == (target.time == 1);
    if (!is_written) {
        Diagnostic& diagnostic =
            sink_.report(DiagnosticKind::read_before_written, where,
                         "what is injected is added to what a statement before it has written");
        if (field.role == ir::Role::state && target.time == 0)
            diagnostic.mend(where, reference.name + "[t+1]");
        return false;
    }
    if (!ir::is_real(field.type)) {
        sink_.report(DiagnosticKind::type_mismatch, where,
                     fmt::format("`{}` holds no real numbers, so nothing can be injected", reference.name));
        return false;
    }
    if (info.stagger != 0) {
        sink_.report(DiagnosticKind::not_built_yet, where,
                     "injecting into staggered fields is not built yet");
        return false;
    }
    return true;
}

void StencilAnalyzer::read_inject(const syntax::InjectStatement& inject) {
    const std::optional<Target> target = resolve_target(file_[inject.target]);
    const Symbol* points = points_symbol(inject.points);
    evaluator_.set_wanted(0);
    evaluator_.set_injected(points);
    const Value value = evaluator_.number(inject.value);
    evaluator_.set_injected(nullptr);
    if (value.is_poison() || !target || !points) has_poison_ = true;
    if (!target || !can_inject(*target, inject) || !points || value.is_poison()) return;
    const SourceRange where = evaluator_.where(inject.value);
    const std::string name = fmt::format("`{}`", target->reference.name);
    if (!evaluator_.require_position(value, 0, name, inject.value)) return;
    if (!check_at_cell(value, where, &*target)) return;
    ir::Inject made;
    made.target = ir::FieldId{target->reference.first};
    made.time = target->time;
    made.points = ir::PointsId{static_cast<std::uint32_t>(points->index)};
    made.value = evaluator_.arithmetic().as(value, program_[made.target].type, where);
    made.where = inject.where;
    program_.statements.emplace_back(made);
}

void StencilAnalyzer::read_sample(const syntax::SampleStatement& sample) {
    const Symbol* points = points_symbol(sample.points);
    const Halves place = evaluator_.own_place(sample.value);
    evaluator_.set_wanted(place);
    Value value = evaluator_.number(sample.value);
    const std::optional<int> trace = points ? sampled_trace(*points, sample) : std::nullopt;
    computes_ = true;
    if (!points || !trace || value.is_poison()) {
        has_poison_ = true;
        return;
    }
    const SourceRange where = evaluator_.where(sample.value);
    if (place != 0) {
        sink_.report(DiagnosticKind::not_built_yet, where, "sampling staggered fields is not built yet")
            .note("interpolate to the cells by a `let` before");
        return;
    }
    if (!evaluator_.check_grid(value, 1, where)) return;
    if (!check_at_cell(value, where, nullptr)) return;
    ir::Scalar type = value.is_expr() ? value.type : ir::Scalar::f64;
    if (value.is_uniform()) type = ir::Scalar::f64;
    if (!ir::is_real(type)) type = evaluator_.arithmetic().compute_type();
    ir::Sample made;
    made.points = ir::PointsId{static_cast<std::uint32_t>(points->index)};
    made.trace = *trace;
    made.value = evaluator_.arithmetic().as(value, type, where);
    made.where = sample.where;
    program_.statements.emplace_back(made);
}

// The trace that `into phones.trace[t]` names.
std::optional<int> StencilAnalyzer::sampled_trace(const Symbol& points,
                                                  const syntax::SampleStatement& sample) {
    const auto is_this_step = [&](const std::vector<syntax::ExprId>& subscripts) {
        const auto* name =
            subscripts.size() == 1 ? std::get_if<syntax::NameUse>(&file_[subscripts[0]].node) : nullptr;
        return name && name->name == "t";
    };
    const auto* index = std::get_if<syntax::Index>(&file_[sample.trace].node);
    const auto* member = std::get_if<syntax::Member>(&file_[index ? index->base : sample.trace].node);
    const auto* base = member ? std::get_if<syntax::NameUse>(&file_[member->base].node) : nullptr;
    const bool is_named = member && !member->member.text.empty();
    const std::string wanted =
        fmt::format("{}.{}[t]", points.name, is_named ? member->member.text : std::string("trace"));
    const SourceRange where = evaluator_.where(sample.trace);
    if (!index || !base || !is_named || base->name != points.name || !is_this_step(index->subscripts)) {
        sink_
            .report(DiagnosticKind::invalid_target, where,
                    fmt::format("what is sampled goes into a trace of `{}`", points.name))
            .mend(where, wanted);
        return std::nullopt;
    }
    ir::Points& set = program_.points[static_cast<std::size_t>(points.index)];
    if (std::find(set.columns.begin(), set.columns.end(), member->member.text) != set.columns.end()) {
        sink_.report(DiagnosticKind::misused_name, where,
                     fmt::format("`{}` is used both with `[t]`, as a trace, and without",
                                 points.name + "." + member->member.text));
        return std::nullopt;
    }
    for (const ir::Points::Trace& trace : set.traces) {
        if (trace.name != member->member.text) continue;
        sink_.report(DiagnosticKind::written_twice, where,
                     trace.sampled ? fmt::format("`{}` is sampled twice in a step", wanted)
                                   : fmt::format("`{}` is injected, so it cannot be sampled, too", wanted));
        return std::nullopt;
    }
    set.traces.push_back({member->member.text, true, sample.unit ? sample.unit->text : std::string()});
    return static_cast<int>(set.traces.size()) - 1;
}

// ---- the end

// Columns come first, and are all known by now.
void StencilAnalyzer::number_traces() {
    for (ir::Expr& expr : program_.exprs) {
        auto* column = std::get_if<ir::PointColumn>(&expr.node);
        if (!column || column->column < kFirstTrace) continue;
        column->column += static_cast<int>(program_[column->points].columns.size()) - kFirstTrace;
    }
}

// Refuses to sample a let that reads past a free face, as it has no value beside that face, where a point may
// lie.
void StencilAnalyzer::check_point_margins() {
    std::vector<bool> has_margins(program_.fields.size());
    for (const ir::Statement& writer : program_.statements) {
        const auto* assign = std::get_if<ir::Assign>(&writer);
        if (assign && program_[assign->target].role == ir::Role::intermediate)
            has_margins[assign->target.index] = assign->margins != ir::Margins{};
    }
    for (const ir::Statement& statement : program_.statements) {
        const bool is_at_points =
            std::holds_alternative<ir::Inject>(statement) || std::holds_alternative<ir::Sample>(statement);
        if (!is_at_points) continue;
        for (const std::uint32_t i : ir::reached_exprs(program_, ir::roots_of(statement))) {
            const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
            if (!access || !has_margins[access->field.index]) continue;
            sink_
                .report(DiagnosticKind::boundary_needed,
                        std::visit([](const auto& node) { return node.where; }, statement),
                        fmt::format("`{}` has no value beside the free faces, where points may lie",
                                    program_[access->field].name))
                .label(program_[access->field].where, "declared here")
                .note("give what it reads another boundary than `free`");
            return;
        }
    }
}

}  // namespace halo::sema
