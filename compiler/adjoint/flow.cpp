#include "compiler/adjoint/flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/adjoint/request.h"
#include "compiler/ir/analysis.h"

namespace halo::adjoint {

using ir::BinaryOp;
using ir::ExprId;
using ir::FieldId;

std::optional<ExprId> cells_of(Algebra& algebra, const ir::Region& region, const ir::Margins& margins) {
    std::optional<ExprId> condition;
    for (int axis = 0; axis < algebra.program().rank(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const auto require = [&](BinaryOp op, const ir::Region::Bound& bound) {
            condition =
                algebra.both(condition, algebra.compare(op, algebra.index(axis), algebra.place(bound, axis)));
        };
        const ir::Region::Range whole, &range = region.ranges[a];
        if (range.begin != whole.begin) require(BinaryOp::greater_equal, range.begin);
        if (range.end != whole.end) require(BinaryOp::less, range.end);
        if (margins[a][0] > 0) require(BinaryOp::greater_equal, {false, margins[a][0]});
        if (margins[a][1] > 0) require(BinaryOp::less, {true, -margins[a][1]});
    }
    return condition;
}

ExprId forward_step(Algebra& algebra, Names& names, std::optional<ir::ParamId>& steps) {
    ir::Program& program = algebra.program();
    if (!steps) {
        steps = ir::ParamId{static_cast<std::uint32_t>(program.params.size())};
        ir::Param param;
        param.name = names.take("steps");
        program.params.push_back(std::move(param));
    }
    const ExprId step =
        algebra.builder().add({ir::Scalar::f64, ir::Coordinate{ir::CoordinateKind::step, 0}, SourceRange{}});
    const ExprId before = algebra.sub(algebra.builder().param(*steps), algebra.number(1, ir::Scalar::f64));
    return algebra.sub(before, step);
}

namespace {

class FlowMaker {
public:
    FlowMaker(const ir::Program& program, Algebra& to, Names& names)
        : from_(program), a_(to), names_(names) {}

    Flow run() {
        for (std::uint32_t f = 0; f < from_.fields.size(); ++f) {
            const ir::Field& field = from_.fields[f];
            refuse_moving_boundary(field);
            if (field.role == ir::Role::input || field.role == ir::Role::state) add_levels({f});
        }
        for (const ir::Statement& statement : from_.statements)
            std::visit([&](const auto& each) { add(each); }, statement);
        for (const auto& [field, version] : written_at_)
            flow_.last[field] = version;
        return std::move(flow_);
    }

private:
    // A let that stands for a level of another time would see the boundary of this one.
    void refuse_moving_boundary(const ir::Field& field) const {
        for (const auto& faces : field.boundary)
            for (const ir::Face& face : faces)
                for (const ExprId ghost : face.ghosts)
                    if (ir::changes_with_step(from_, ghost))
                        throw RefusedError(
                            field.where,
                            fmt::format(
                                "the boundary of `{}` changes with time: that is not differentiated yet",
                                field.name),
                            "write the cells at the face in an `on` block");
    }

    void add_levels(FieldId field) {
        const ir::Field& given = from_[field];
        for (int past = 0; past <= given.history; ++past) {
            std::string name = given.name;
            if (past > 0)
                name = names_.take(fmt::format("{}_before{}", name, past > 1 ? std::to_string(past) : ""));
            if (past == 0 && name.find('.') != std::string::npos) name = names_.take(name);
            flow_.levels[field].push_back(copy_field(from_, field, a_, name, ir::Role::input, true));
        }
    }

    ExprId copy(ExprId root) {
        return copy_expr(from_, root, a_, [&](const ir::Expr& leaf) -> std::optional<ExprId> {
            if (const auto* access = std::get_if<ir::Access>(&leaf.node))
                return a_.read(version(*access), 0, access->offset);
            const auto* coordinate = std::get_if<ir::Coordinate>(&leaf.node);
            if (coordinate && coordinate->kind == ir::CoordinateKind::step)
                return forward_step(a_, names_, flow_.steps);
            return std::nullopt;
        });
    }

    FieldId version(const ir::Access& access) const {
        const ir::Field& field = from_[access.field];
        const bool is_level =
            field.role == ir::Role::input || (field.role == ir::Role::state && access.time < 1);
        if (is_level) return flow_.levels.at(access.field)[static_cast<std::size_t>(-access.time)];
        return written_at_.at(access.field);
    }

    // What the target holds before the statement.
    ExprId held(const ir::Assign& assign) {
        if (const auto found = written_at_.find(assign.target); found != written_at_.end())
            return a_.read(found->second);
        const ir::Field& field = from_[assign.target];
        if (field.role == ir::Role::state) return a_.read(flow_.levels.at(assign.target).front());
        refuse_kept_output(assign);
        return a_.number(0, field.type);
    }

    // An output that is given some cells alone keeps the others from step to step; 0 is what they hold where
    // no step gives them anything.
    void refuse_kept_output(const ir::Assign& assign) const {
        const auto writes = std::ranges::count_if(from_.statements, [&](const ir::Statement& each) {
            const auto* other = std::get_if<ir::Assign>(&each);
            const auto* inject = std::get_if<ir::Inject>(&each);
            return (other != nullptr && other->target == assign.target) ||
                   (inject != nullptr && inject->target == assign.target);
        });
        bool may_change = false;
        if (assign.condition) {
            for (const std::uint32_t i : ir::reached_exprs(from_, {*assign.condition}))
                may_change = may_change || std::holds_alternative<ir::Access>(from_.exprs[i].node) ||
                             ir::changes_with_step(from_.exprs[i]);
        }
        if (!may_change && writes == 1) return;
        throw RefusedError(
            assign.where,
            fmt::format("`{}` keeps values of the step before in some cells", from_[assign.target].name),
            "give it a value in all cells first, as in `c = 0`");
    }

    void add(const ir::Assign& assign) {
        const ir::Field& field = from_[assign.target];
        ExprId value = copy(assign.value);
        if (field.role != ir::Role::intermediate) {
            std::optional<ExprId> where = cells_of(a_, assign.region, assign.margins);
            if (assign.condition) where = a_.both(where, copy(*assign.condition));
            if (where) value = a_.select(*where, value, held(assign));
        }
        const bool is_first = !written_at_.contains(assign.target);
        std::string name = field.name;
        if (field.role == ir::Role::state) name = names_.take(name + "_new");
        if (field.role != ir::Role::state && (!is_first || name.find('.') != std::string::npos))
            name = names_.take(name);
        // A let that reads no field is an expression, without a boundary.
        const ir::Role role = a_.reads_field(value) ? ir::Role::intermediate : ir::Role::output;
        const FieldId made = copy_field(from_, assign.target, a_, name, role, true);
        written_at_[assign.target] = made;
        flow_.definitions.push_back({made, value, assign.target, std::nullopt});
    }

    void add(const ir::Reduce& reduce) {
        std::optional<ExprId> where = cells_of(a_, reduce.region, reduce.margins);
        if (reduce.condition) where = a_.both(where, copy(*reduce.condition));
        flow_.objectives.push_back({reduce.name, copy(reduce.value), where, reduce.square_root});
    }

    void add(const ir::Inject& inject) {
        const ExprId before = a_.read(written_at_.at(inject.target));
        ir::Inject copied = inject;
        copied.value = copy(inject.value);
        const std::string& name = from_[inject.target].name;
        const bool is_state = from_[inject.target].role == ir::Role::state;
        copied.target = copy_field(from_, inject.target, a_, names_.take(is_state ? name + "_new" : name),
                                   ir::Role::output, true);
        copied.time = 0;
        written_at_[inject.target] = copied.target;
        flow_.definitions.push_back({copied.target, before, inject.target, copied});
    }

    void add(const ir::Sample& sample) {
        flow_.samples.push_back(sample);
        flow_.samples.back().value = copy(sample.value);
    }

    const ir::Program& from_;
    Algebra& a_;
    Names& names_;
    std::map<FieldId, FieldId> written_at_;  // the last version
    Flow flow_;
};

}  // namespace

Flow make_flow(const ir::Program& program, Algebra& to, Names& names) {
    return FlowMaker(program, to, names).run();
}

}  // namespace halo::adjoint
