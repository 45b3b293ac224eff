#include "compiler/adjoint/refusals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/print.h"
#include "compiler/ir/repeats.h"
#include "runtime/core/launch_plan.h"

namespace halo::adjoint {

namespace {

[[noreturn]] void refuse(SourceRange where, const std::string& message, const std::string& mend) {
    throw RefusedError(where, message, mend);
}

// Whether a `solve` has added the reduction.
bool is_of_solve(const ir::Program& program, ir::ReductionId reduction) {
    std::uint32_t index = 0;
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce != nullptr && index++ == reduction.index) return rt::is_hidden_reduction(reduce->name);
    }
    return false;
}

void refuse_expr(const ir::Program& program, const ir::Expr& expr) {
    if (std::holds_alternative<ir::Noise>(expr.node))
        refuse(expr.where, "noise is not differentiated yet: it would be drawn again on the way back",
               "give it as an input");
    if (std::holds_alternative<ir::TableSum>(expr.node))
        refuse(expr.where, "sums over tables are not differentiated yet",
               "compute the sum once by a stencil of its own, and give it as an input");
    const auto* access = std::get_if<ir::Access>(&expr.node);
    if (access != nullptr && program[access->field].grid.factor != 1)
        refuse(expr.where, "a field on a coarser grid is not differentiated yet",
               "write the step with the fields of the grid itself");
    if (access != nullptr && !program[access->field].grid.is_whole())
        refuse(expr.where, "a field over fewer axes is not differentiated yet",
               "leave `over` out: a field over all axes may have the same values along one");
    if (const auto* reduction = std::get_if<ir::ReductionRef>(&expr.node); reduction != nullptr) {
        if (is_of_solve(program, reduction->reduction))
            refuse(expr.where, "an equation that `solve` solves is not differentiated yet",
                   "write an explicit scheme, or a fixed number of iterations, once for each");
        refuse(expr.where, "a statement that reads a reduction is not differentiated yet",
               "give the number as a param");
    }
}

void refuse_statement(const ir::Program& program, const ir::Statement& statement) {
    const auto* assign = std::get_if<ir::Assign>(&statement);
    if (assign != nullptr && assign->sweep)
        refuse(assign->where, "a sweep along an axis is not differentiated yet",
               "write an explicit scheme, whose statements are for all cells at once");
    const ir::Repeat* const repeat = ir::repeat_of(statement);
    if (repeat != nullptr && ir::end_condition(program, *repeat) != nullptr)
        refuse(std::visit([](const auto& each) { return each.where; }, statement),
               "an inner iteration that ends by a condition is not differentiated yet",
               "how many iterations there are depends on the values: write a fixed number of its statements");
    if (repeat != nullptr)
        refuse(std::visit([](const auto& each) { return each.where; }, statement),
               "an inner iteration is not differentiated yet", "write its statements once for each time");
    if (ir::grid_factor(program, statement) != 1)
        refuse(std::visit([](const auto& each) { return each.where; }, statement),
               "a statement for a coarser grid is not differentiated yet",
               "write the step with the fields of the grid itself");
    for (const std::uint32_t i : ir::reached_exprs(program, ir::roots_of(statement)))
        refuse_expr(program, program.exprs[i]);
}

template <class Declarations>
std::optional<std::uint32_t> find(const Declarations& all, const std::string& name) {
    const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.name == name; });
    if (found == all.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - all.begin());
}

// The components that a name stands for: those of a group, or the one field.
std::vector<ir::FieldId> fields_of(const ir::Program& program, const std::string& name) {
    for (const ir::Group& group : program.groups)
        if (group.name == name) return group.fields;
    if (const auto field = find(program.fields, name)) return {ir::FieldId{*field}};
    return {};
}

std::string listed(const std::vector<std::string>& known) {
    if (known.empty()) return "the stencil has none";
    return fmt::format("there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
}

void refuse_integers(const ir::Field& field) {
    if (ir::is_real(field.type)) return;
    refuse(field.where, fmt::format("`{}` holds no real numbers, so it has no derivative", field.name),
           "name fields of f32 or f64");
}

// A trace or number of points by its name, shots.wavelet.
std::optional<PointNumber> find_point_number(const ir::Program& program, const std::string& name) {
    for (std::uint32_t p = 0; p < program.points.size(); ++p) {
        const ir::Points& points = program.points[p];
        std::vector<std::string> names = points.columns;
        for (const ir::Points::Trace& trace : points.traces)
            names.push_back(trace.name);
        for (std::size_t i = 0; i < names.size(); ++i)
            if (points.name + "." + names[i] == name)
                return PointNumber{ir::PointsId{p}, static_cast<int>(i)};
    }
    return std::nullopt;
}

void choose_number(const ir::Program& program, const std::string& name, const PointNumber& number,
                   Chosen& chosen) {
    const ir::Points& points = program[number.first];
    const int trace = number.second - static_cast<int>(points.columns.size());
    if (trace < 0)
        refuse(points.where,
               fmt::format("`{}` is a number of each point: that is not differentiated yet", name),
               "name a trace that is injected");
    if (points.traces[static_cast<std::size_t>(trace)].sampled)
        refuse(points.where, fmt::format("`{}` is sampled in each step, so nothing depends on it", name),
               "name a trace that is injected");
    chosen.numbers.push_back(number);
}

void choose_with(const ir::Program& program, const std::string& name, Chosen& chosen) {
    if (const auto param = find(program.params, name)) {
        const ir::Param& found = program.params[*param];
        if (found.is_integer())
            refuse(found.where, fmt::format("`{}` is a whole number, so it has no derivative", name),
                   "name params without an integer type");
        chosen.params.push_back({*param});
        return;
    }
    if (const auto coef = find(program.coefs, name))
        refuse(program.coefs[*coef].where, "the weights of a `param coef` are not differentiated yet",
               "write the weights as params");
    if (const auto number = find_point_number(program, name))
        return choose_number(program, name, *number, chosen);
    const std::vector<ir::FieldId> fields = fields_of(program, name);
    std::vector<std::string> known;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::input || field.role == ir::Role::state) known.push_back(field.name);
    for (const ir::Param& param : program.params)
        known.push_back(param.name);
    if (fields.empty())
        refuse({}, fmt::format("there is no input, state or param `{}`", name), listed(known));
    for (const ir::FieldId field : fields) {
        refuse_integers(program[field]);
        const ir::Role role = program[field].role;
        if (role != ir::Role::input && role != ir::Role::state)
            refuse(
                program[field].where,
                fmt::format("`{}` is computed in each step, so nothing is differentiated with respect to it",
                            name),
                listed(known));
        chosen.fields.push_back(field);
    }
}

void choose_of(const ir::Program& program, const std::string& name, Chosen& chosen) {
    std::vector<std::string> known;
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce == nullptr) continue;
        known.push_back(reduce->name);
        if (reduce->name != name) continue;
        if (reduce->op != ir::ReduceOp::sum)
            refuse(reduce->where,
                   fmt::format("`{}` is a {}, which has no derivative", name, ir::name_of(reduce->op)),
                   "`sum`, `mean`, `norm1` and `norm2` have one");
        if (!ir::is_real(program[reduce->value].type))
            refuse(reduce->where, fmt::format("`{}` is a whole number, so it has no derivative", name),
                   "reduce real numbers");
        chosen.reductions.push_back(reduce);
        return;
    }
    for (const ir::Statement& statement : program.statements) {
        const auto* sample = std::get_if<ir::Sample>(&statement);
        if (sample == nullptr) continue;
        const ir::Points& points = program[sample->points];
        known.push_back(points.name + "." + points.traces[static_cast<std::size_t>(sample->trace)].name);
        if (known.back() != name) continue;
        chosen.samples.push_back(sample);
        return;
    }
    const std::vector<ir::FieldId> fields = fields_of(program, name);
    for (const ir::FieldId field : fields) {
        refuse_integers(program[field]);
        const ir::Role role = program[field].role;
        if (role != ir::Role::state && role != ir::Role::output)
            refuse(program[field].where, fmt::format("`{}` is no result of a step", name),
                   "name a reduction, a state or an output");
        chosen.results.push_back(field);
    }
    if (!fields.empty()) return;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state || field.role == ir::Role::output) known.push_back(field.name);
    refuse({}, fmt::format("there is no reduction, state or output `{}`", name), listed(known));
}

// Params whose change moves more than expressions of statements.
void refuse_in_settings(const ir::Program& program, ir::ParamId param) {
    const auto reads = [&](ir::ExprId root) {
        for (const std::uint32_t i : ir::reached_exprs(program, {root})) {
            const auto* found = std::get_if<ir::ParamRef>(&program.exprs[i].node);
            if (found != nullptr && found->param == param) return true;
        }
        return false;
    };
    const std::string& name = program[param].name;
    bool has_positions = false;
    for (const ir::Expr& expr : program.exprs) {
        const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node);
        has_positions = has_positions || (coordinate && coordinate->kind == ir::CoordinateKind::position);
    }
    for (const ir::Axis& axis : program.axes)
        if (has_positions && (reads(axis.spacing) || reads(axis.origin)))
            refuse(program[param].where,
                   fmt::format("`{}` moves the cells, whose `pos` is read: that is not differentiated yet",
                               name),
                   "use `idx`, or a param of its own for the spacing");
    for (const ir::Field& field : program.fields) {
        for (const auto& faces : field.boundary) {
            for (const ir::Face& face : faces) {
                const bool is_read = (face.kind == ir::BoundaryKind::fixed && reads(face.value)) ||
                                     std::ranges::any_of(face.ghosts, reads);
                if (is_read)
                    refuse(program[param].where,
                           fmt::format("`{}` is in the boundary of `{}`: that is not differentiated yet",
                                       name, field.name),
                           "name other params");
            }
        }
    }
}

}  // namespace

void refuse_unsupported(const ir::Program& program) {
    if (!program.stretched.empty())
        refuse(program[program.axes[static_cast<std::size_t>(program.stretched.front().axis)].spacing].where,
               "a spacing that differs from cell to cell is not differentiated yet",
               "`d_stretched` and `d2_stretched` of coordinates.halo derive with a spacing that is a number");
    for (const ir::Table& table : program.tables)
        if (table.is_series)
            refuse(table.where, fmt::format("`{}` is a series, which is not differentiated yet", table.name),
                   "traces of points change with the step, too, and a number that does not is a param");
    for (const ir::Statement& statement : program.statements)
        refuse_statement(program, statement);
}

Chosen choose(const ir::Program& program, const Request& request) {
    Chosen chosen;
    for (const std::string& name : request.with)
        choose_with(program, name, chosen);
    for (const std::string& name : request.of)
        choose_of(program, name, chosen);
    for (const ir::ParamId param : chosen.params)
        refuse_in_settings(program, param);
    return chosen;
}

}  // namespace halo::adjoint
