#include "compiler/adjoint/tangent.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/adjoint/active.h"
#include "compiler/adjoint/copy.h"
#include "compiler/adjoint/faces.h"
#include "compiler/adjoint/partials.h"
#include "compiler/adjoint/refusals.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;

namespace {

class Tangent {
public:
    Tangent(const ir::Program& program, const Request& request)
        : given_(program), request_(request), result_(program), a_(result_), names_(program) {}

    ir::Program run() {
        const Chosen chosen = choose(given_, request_);
        refuse_unsupported(given_);
        result_.name = given_.name + "_tangent";
        result_.groups.clear();
        flatten_names();
        std::vector<Dependence> step;
        for (const ir::Statement& statement : given_.statements)
            if (const auto* assign = std::get_if<ir::Assign>(&statement))
                step.push_back({assign->target, {assign->value}});
        for (const ir::Statement& statement : given_.statements)
            if (const auto* inject = std::get_if<ir::Inject>(&statement))
                step.push_back({inject->target, {inject->value}});
        const std::set<ir::ParamId> params(chosen.params.begin(), chosen.params.end());
        const std::set<FieldId> sources(chosen.fields.begin(), chosen.fields.end());
        const std::set<PointNumber> numbers(chosen.numbers.begin(), chosen.numbers.end());
        varied_.emplace(result_, dependent_fields(given_, step, sources, params, numbers), params, numbers);
        for (const auto& [points, column] : chosen.numbers)
            add_number(points, column);
        for (const ir::ParamId param : chosen.params)
            add_param(param);
        for (std::uint32_t f = 0; f < given_.fields.size(); ++f)
            if (varied_->has({f})) add_field({f});
        result_.statements.clear();
        for (const ir::Statement& statement : given_.statements)
            std::visit([&](const auto& each) { add(each); }, statement);
        complete(result_);
        return std::move(result_);
    }

private:
    void flatten_names() {
        for (ir::Field& field : result_.fields)
            if (field.name.find('.') != std::string::npos) field.name = names_.take(field.name);
    }

    void add_param(ir::ParamId param) {
        ir::Param dot;
        dot.name = names_.take(result_[param].name + "_dot");
        dot.default_value = 0.0;
        dot.where = result_[param].where;
        param_dots_[param] = {static_cast<std::uint32_t>(result_.params.size())};
        result_.params.push_back(std::move(dot));
    }

    int add_trace(ir::PointsId points, const std::string& like, bool sampled) {
        ir::Points& declared = result_.points[points.index];
        declared.traces.push_back({like + "_dot", sampled});
        return static_cast<int>(declared.traces.size()) - 1;
    }

    void add_number(ir::PointsId points, int column) {
        const int columns = static_cast<int>(result_[points].columns.size());
        const std::string like = result_[points].traces[static_cast<std::size_t>(column - columns)].name;
        number_dots_[{points, column}] = columns + add_trace(points, like, false);
    }

    void add_field(FieldId field) {
        const ir::Field given = result_[field];
        if (!ir::is_real(given.type))
            throw RefusedError(
                given.where,
                fmt::format("`{}` depends on what is named, and holds no real numbers", given.name),
                "make it a field of f32 or f64");
        const FieldId dot = add_field_like(a_, field, names_.take(given.name + "_dot"), given.role);
        result_.fields[dot.index].history = given.history;
        set_linear_boundary(a_, field, dot);
        dots_[field] = dot;
    }

    // How the expression changes; nullopt where it does not.
    std::optional<ExprId> dot(ExprId root) {
        if (!(*varied_)(root)) return std::nullopt;
        if (const auto found = known_.find(root.index); found != known_.end()) return found->second;
        ExprId result;
        const ir::Expr expr = result_[root];
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
            result = a_.read(dots_.at(access->field), access->time, access->offset);
        } else if (const auto* param = std::get_if<ir::ParamRef>(&expr.node)) {
            result = a_.builder().param(param_dots_.at(param->param));
        } else if (const auto* number = std::get_if<ir::PointColumn>(&expr.node)) {
            const int column = number_dots_.at({number->points, number->column});
            result = a_.builder().add({expr.type, ir::PointColumn{number->points, column}, expr.where});
        } else {
            result = sum_of_partials(root);
        }
        return known_[root.index] = result;
    }

    ExprId sum_of_partials(ExprId root) {
        const ir::Scalar type = result_[root].type;
        std::vector<Partial> partials;
        for_each_partial(
            a_, root, [&](ExprId operand) { return (*varied_)(operand); },
            [&](const Partial& partial) { partials.push_back(partial); });
        ExprId sum = a_.number(0, type);
        for (const Partial& partial : partials) {
            const ExprId change = a_.as(*dot(partial.operand), type);
            const bool divides = partial.kind == Partial::Kind::quotient;
            ExprId term = divides ? a_.div(change, partial.value) : a_.mul(partial.value, change);
            if (partial.where) {
                const ExprId zero = a_.number(0, type);
                term = partial.holds ? a_.select(*partial.where, term, zero)
                                     : a_.select(*partial.where, zero, term);
            }
            sum = a_.add(sum, term);
        }
        return sum;
    }

    // The cells outside of the margins, which a tangent that reads less would not leave out.
    std::optional<ExprId> with_margins(std::optional<ExprId> condition, const ir::Margins& margins) {
        for (int axis = 0; axis < result_.rank(); ++axis) {
            const auto& [low, high] = margins[static_cast<std::size_t>(axis)];
            if (low > 0)
                condition = a_.both(condition, a_.compare(ir::BinaryOp::greater_equal, a_.index(axis),
                                                          a_.place({false, low}, axis)));
            if (high > 0)
                condition = a_.both(
                    condition, a_.compare(ir::BinaryOp::less, a_.index(axis), a_.place({true, -high}, axis)));
        }
        return condition;
    }

    // Before the statement, as it may change in place what its tangent reads.
    void add(const ir::Assign& assign) {
        if (const auto found = dots_.find(assign.target); found != dots_.end()) {
            ir::Assign change = assign;
            const ir::Scalar type = result_[assign.target].type;
            change.target = found->second;
            change.value = dot(assign.value).value_or(a_.number(0, type));
            if (result_[assign.target].role != ir::Role::intermediate) {
                change.condition = with_margins(assign.condition, assign.margins);
            } else if (!a_.reads_field(
                           change.value)) {  // a let that reads none is an expression without a boundary
                result_.fields[found->second.index].role = ir::Role::output;
            }
            result_.statements.emplace_back(std::move(change));
        }
        result_.statements.emplace_back(assign);
    }

    void add(const ir::Reduce& reduce) {
        result_.statements.emplace_back(reduce);
        const ir::ReductionId number{reductions_++};
        const std::optional<ExprId> rate = dot(reduce.value);
        if (!rate || reduce.op != ir::ReduceOp::sum) return;
        ++reductions_;
        ir::Reduce change = reduce;
        change.name = names_.take(reduce.name + "_dot");
        change.square_root = false;
        change.initial = 0;
        change.value = *rate;
        if (reduce.square_root) {
            const ExprId root = a_.builder().add({ir::Scalar::f64, ir::ReductionRef{number}, SourceRange{}});
            const ExprId twice = a_.mul(a_.number(2, ir::Scalar::f64), root);
            change.value = a_.div(*rate, a_.as(twice, result_[*rate].type));
        }
        change.condition = with_margins(reduce.condition, reduce.margins);
        result_.statements.emplace_back(std::move(change));
    }

    void add(const ir::Inject& inject) {
        result_.statements.emplace_back(inject);
        const std::optional<ExprId> rate = dot(inject.value);
        if (!rate) return;
        ir::Inject change = inject;
        change.target = dots_.at(inject.target);
        change.value = *rate;
        result_.statements.emplace_back(std::move(change));
    }

    void add(const ir::Sample& sample) {
        result_.statements.emplace_back(sample);
        const std::optional<ExprId> rate = dot(sample.value);
        if (!rate) return;
        ir::Sample change = sample;
        const auto trace = static_cast<std::size_t>(sample.trace);
        change.trace = add_trace(sample.points, given_[sample.points].traces[trace].name, true);
        change.value = *rate;
        result_.statements.emplace_back(std::move(change));
    }

    const ir::Program& given_;
    const Request& request_;
    ir::Program result_;
    Algebra a_;
    Names names_;
    std::optional<Varied> varied_;
    std::map<FieldId, FieldId> dots_;
    std::map<ir::ParamId, ir::ParamId> param_dots_;
    std::map<PointNumber, int> number_dots_;
    std::map<std::uint32_t, ExprId> known_;
    std::uint32_t reductions_ = 0;
};

}  // namespace

ir::Program make_tangent(const ir::Program& program, const Request& request) {
    return Tangent(program, request).run();
}

}  // namespace halo::adjoint
