// Names of generated code: those of the spec, changed where they are not valid or not unique.
#pragma once

#include <array>
#include <set>
#include <string>

#include "compiler/ir/program.h"

namespace halo::lower {

// What else a kernel of the CPU is called with than its arguments.
inline constexpr std::array<const char*, 4> kCpuCallNames{"begin", "end", "planes", "streams"};

class Names {
public:
    Names() = default;
    // A scope within another, whose names are in use here, too. The outer one must outlive this one.
    explicit Names(const Names* outer) : outer_(outer) {}
    // A name that is unique in this scope, as close to `wanted` as C++ and CUDA allow.
    std::string take(const std::string& wanted);

private:
    bool take_exactly(const std::string& name);

    const Names* outer_ = nullptr;
    std::set<std::string> taken_;
};

// The word for a value to which the spec gives no name: what the node computes.
std::string word_for(const ir::Expr& expr);

}  // namespace halo::lower
