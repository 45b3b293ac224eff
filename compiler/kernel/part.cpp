#include "compiler/kernel/part.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/kernel/walk.h"
#include "compiler/support/error.h"

namespace halo::kernel {

namespace {

void add_calls(const Block& body, std::set<std::string>& called) {
    for_each_statement(body, [&](const Statement& statement) {
        if (const auto* call = std::get_if<CallFunction>(&statement.kind)) called.insert(call->function);
    });
}

}  // namespace

Program part_of(const Program& program, const std::function<bool(const KernelFunction& kernel)>& wanted) {
    Program part;
    part.header = program.header;
    part.constant_arrays = program.constant_arrays;
    std::set<std::string> called;
    // From the last to the first: whoever calls a helper comes after it.
    for (auto function = program.functions.rbegin(); function != program.functions.rend(); ++function) {
        const bool is_kernel = function->kind == KernelFunction::Kind::kernel;
        if (is_kernel ? !wanted(*function) : called.count(function->name) == 0) continue;
        add_calls(function->body, called);
        part.functions.push_back(*function);
    }
    std::reverse(part.functions.begin(), part.functions.end());
    std::set<std::string> used;
    for (const KernelFunction& function : part.functions)
        used.merge(variables_in(function.body));
    for (const NamedConstant& constant : program.constants)
        if (used.count(constant.name) != 0) part.constants.push_back(constant);
    return part;
}

const KernelFunction& kernel_named(const Program& program, const std::string& name) {
    const auto found = std::ranges::find(program.functions, name, &KernelFunction::name);
    if (found == program.functions.end()) throw InternalError("the plan's kernel " + name + " has no text");
    return *found;
}

}  // namespace halo::kernel
