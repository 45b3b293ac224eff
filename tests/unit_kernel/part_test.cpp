#include "compiler/kernel/part.h"

#include <string>
#include <vector>

#include "catch.h"
#include "printed.h"

using namespace halo::kernel;

namespace {

KernelFunction function(KernelFunction::Kind kind, const std::string& name, Block body) {
    KernelFunction made;
    made.kind = kind;
    made.name = name;
    made.body = std::move(body);
    return made;
}

std::vector<std::string> names(const Program& program) {
    std::vector<std::string> all;
    for (const KernelFunction& each : program.functions)
        all.push_back(each.name);
    return all;
}

}  // namespace

TEST_CASE("a part has the wanted kernels, the helpers that they call, and what all share") {
    using Kind = KernelFunction::Kind;
    const auto calls = [](const std::string& function) { return Block{CallFunction{function, {f32("a")}}}; };
    Program program;
    program.header = {"a line"};
    program.constant_arrays = {{Type::f32, "weights", 3, ""}};
    program.functions = {
        function(Kind::helper, "inner", {Return{}}),
        function(Kind::helper, "outer", calls("inner")),
        function(Kind::helper, "other", {Return{}}),
        function(Kind::kernel, "first", calls("outer")),
        function(Kind::kernel, "second", {If{i32("n") < 2, {CallFunction{"other", {}}}, {}}}),
    };
    const auto part = [&](const std::string& kernel) {
        return part_of(program, [&](const KernelFunction& each) { return each.name == kernel; });
    };
    CHECK(names(part("first")) == std::vector<std::string>{"inner", "outer", "first"});
    CHECK(names(part("second")) == std::vector<std::string>{"other", "second"});
    CHECK(part("none").functions.empty());
    CHECK(part("first").header == program.header);
    CHECK(part("first").constant_arrays.size() == 1);
}
