// What the interpreter reduces values to, one after the other.
#pragma once

#include <cmath>
#include <limits>

#include "compiler/ir/program.h"

namespace halo::ir {

class Accumulator {
public:
    explicit Accumulator(ReduceOp op) : op_(op) {
        if (op == ReduceOp::min) value_ = std::numeric_limits<double>::infinity();
        if (op == ReduceOp::max) value_ = -std::numeric_limits<double>::infinity();
    }
    void add(double value) {
        if (op_ == ReduceOp::sum) {
            value_ += value;
        } else if (std::isnan(value) || (op_ == ReduceOp::min ? value < value_ : value > value_)) {
            value_ = value;
        }
    }
    double value() const { return value_; }

private:
    ReduceOp op_;
    double value_ = 0;
};

}  // namespace halo::ir
