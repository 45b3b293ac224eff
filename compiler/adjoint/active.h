// What depends on the quantities that a program is differentiated with respect to.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// A number or a trace of points, as PointColumn counts them.
using PointNumber = std::pair<ir::PointsId, int>;

// A value that a step gives to a field, with what it is made from.
struct Dependence {
    ir::FieldId target;
    std::vector<ir::ExprId> values;
};

// The fields that depend, in some step, on one of those given: `sources`, the params or the numbers of
// points.
std::set<ir::FieldId> dependent_fields(const ir::Program& program, const std::vector<Dependence>& step,
                                       std::set<ir::FieldId> sources, const std::set<ir::ParamId>& params,
                                       const std::set<PointNumber>& numbers);
// The fields that one of `results` depends on, in this or a later step.
std::set<ir::FieldId> needed_fields(const ir::Program& program, const std::vector<Dependence>& step,
                                    std::set<ir::FieldId> results);

// Whether an expression reads one of the fields, params or numbers. The program may grow.
class Varied {
public:
    Varied(const ir::Program& program, std::set<ir::FieldId> fields, std::set<ir::ParamId> params,
           std::set<PointNumber> numbers)
        : program_(program),
          fields_(std::move(fields)),
          params_(std::move(params)),
          numbers_(std::move(numbers)) {}
    bool operator()(ir::ExprId id);
    bool has(ir::FieldId field) const { return fields_.contains(field); }
    const std::set<ir::ParamId>& params() const { return params_; }

private:
    const ir::Program& program_;
    std::set<ir::FieldId> fields_;
    std::set<ir::ParamId> params_;
    std::set<PointNumber> numbers_;
    std::vector<bool> varied_;  // by expression
};

}  // namespace halo::adjoint
