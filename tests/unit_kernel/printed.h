// Single expressions and bodies as text.
#pragma once

#include <string>
#include <utility>

#include "compiler/kernel/build.h"
#include "compiler/kernel/print.h"

namespace halo::kernel {

// A kernel `k(float* u, int n)` with the body.
inline Program kernel_of(Block body) {
    KernelFunction function;
    function.name = "k";
    function.threads = 128;
    function.parameters = {{Type::f32, "u", Parameter::Kind::output}, {Type::i32, "n"}};
    function.body = std::move(body);
    Program program;
    program.functions.push_back(std::move(function));
    return program;
}

// What lies between the lines of the function's head and its end.
inline std::string printed(Block body) {
    const std::string text = print(kernel_of(std::move(body)));
    const std::size_t begin = text.find("{\n") + 2;
    return text.substr(begin, text.rfind("}\n") - begin);
}

inline std::string printed(const Expr& value) {
    const std::string text = printed(Block{Declare{value.type(), "v", value}});
    const std::size_t begin = text.find("= ") + 2;
    return text.substr(begin, text.rfind(";\n") - begin);
}

inline Expr i32(const std::string& name) {
    return variable(name, Type::i32);
}
inline Expr f32(const std::string& name) {
    return variable(name, Type::f32);
}

}  // namespace halo::kernel
