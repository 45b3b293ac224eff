// How to add up a weighted sum over one level's cells where neighbouring cells share what they compute: from
// sums along the rows to sums in the planes to the whole. Private to the room; factor_sums decides which sums
// are worth it. Along an axis, each place in the other axes has a column of weights. Places with columns in
// proportion are one class K: their (weighted) sum S_K is computed once in each plane, by the same method
// along the axes that are left. Planes in which all S_K have the same weights share Q, their weighted sum,
// which the total then takes at each of these planes. Places with a weight in one plane alone are added up in
// that plane.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::passes {

struct Weight {  // factor * scale
    std::optional<ir::ExprId> factor;
    Rational scale = 1;

    bool is_sign() const { return !factor && abs(scale) == Rational(1); }
    friend std::strong_ordering operator<=>(const Weight&, const Weight&) = default;
};

struct Tap {  // of one level's sum: weight * value at the offset
    ir::Offset offset{};
    Weight weight;
};

struct SumPlan {
    struct Part {  // weight * value at the shift
        Weight weight;
        ir::Offset shift{};
        const SumPlan* value = nullptr;  // nullptr: the field's own
    };
    std::vector<Part> parts;  // in order; two or more
};

class SumPlanner {
public:
    // The parts of a sum over offsets along the axes up to `axis`, each offset once, by their place along
    // `axis`.
    std::vector<SumPlan::Part> plan(const std::vector<Tap>& taps, int axis);

private:
    using Part = SumPlan::Part;
    using Column = std::vector<std::pair<int, Weight>>;  // by place along the axis
    struct Class {
        Column column;
        std::vector<Tap> members;  // beside the axis; their weights are in proportion to the column's
    };
    using Row = std::vector<std::pair<std::size_t, Weight>>;  // of one plane: its classes
    struct Planes {
        std::map<int, std::vector<Part>> parts;  // by place along the axis
    };

    Part whole(const std::vector<Tap>& taps, int axis);
    Part make_sum(std::vector<Part> parts);
    std::vector<Part> plan_row(const std::vector<Tap>& taps);
    void plan_alone(const std::vector<Tap>& taps, int axis, int place, Planes& planes);
    std::vector<Class> classes(const std::vector<std::pair<ir::Offset, Column>>& columns);
    void add_classes(const std::vector<Class>& classes, int axis, Planes& planes);

    std::deque<SumPlan> plans_;
};

// The plans' sums of one level as expressions. Equal plans at equal places are one expression.
class SumWriter {
public:
    SumWriter(ir::ExprBuilder& builder, ir::FieldId field, int time, ir::Scalar type)
        : builder_(builder), field_(field), time_(time), type_(type) {}

    struct Term {
        ir::ExprId value;
        bool is_negative = false;
    };
    Term term(const SumPlan::Part& part, const ir::Offset& at);

private:
    ir::ExprId value(const SumPlan& plan, const ir::Offset& at);

    ir::ExprBuilder& builder_;
    ir::FieldId field_;
    int time_;
    ir::Scalar type_;
    std::map<std::pair<const SumPlan*, ir::Offset>, ir::ExprId> known_;
};

// The terms from left to right, but for the first, which is one that needs no minus.
ir::ExprId added_up(ir::ExprBuilder& builder, std::vector<SumWriter::Term> terms);

}  // namespace halo::passes
