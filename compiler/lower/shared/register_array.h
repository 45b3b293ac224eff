// A thread's array of several dimensions. The GPU compiler keeps it in registers where all indices are
// constant.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::lower {

// A local array without its dimensions of length 1.
class RegisterArray {
public:
    RegisterArray() = default;
    RegisterArray(std::string name, kernel::Type type, std::vector<int> dims)
        : name_(std::move(name)), type_(type), dims_(std::move(dims)) {}
    kernel::Statement declaration(bool zero) const;
    // An index for each dimension.
    kernel::Expr at(const std::vector<kernel::Expr>& indices) const;
    const std::string& name() const { return name_; }
    kernel::Type type() const { return type_; }
    int dim(std::size_t index) const { return dims_[index]; }

private:
    std::string name_;
    kernel::Type type_ = kernel::Type::f32;
    std::vector<int> dims_;
};

}  // namespace halo::lower
