#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/emit/emit.h"
#include "compiler/emit/prelude.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/print.h"
#include "compiler/kernel/walk.h"

namespace halo::emit {
namespace {

using namespace kernel;

class CppPrinter : public Printer {
protected:
    std::string function_name(Function function, Type type) const override {
        return "__builtin_" + Printer::function_name(function, type);
    }
    std::string unroll_pragma(const For& loop) const override {
        switch (loop.unroll) {
            case Unroll::leave:
                return "";
            case Unroll::full:
                return "clang loop unroll(full)";
            case Unroll::none:
                return "clang loop unroll(disable)";
            case Unroll::vectorize:
                return "clang loop vectorize(assume_safety)";
            case Unroll::scalar:
                return "clang loop vectorize(disable) unroll(disable)";
            case Unroll::some:
                return fmt::format("clang loop unroll_count({})", loop.turns);
        }
        return "";
    }
    std::string signature(const KernelFunction& function) const override {
        return fmt::format(
            "extern \"C\" void {}(void* const* args, long begin, long end, long planes, bool streams)",
            function.name);
    }
    // A kernel's arguments come as pointers to their values, as the CUDA driver takes them.
    std::string prologue(const KernelFunction& function) const override {
        std::string text;
        for (std::size_t p = 0; p < function.parameters.size(); ++p) {
            const Parameter& parameter = function.parameters[p];
            const std::string type = type_name(parameter.type);
            switch (parameter.kind) {
                case Parameter::Kind::scalar:
                    text += fmt::format("    const {0} {1} = *static_cast<const {0}*>(args[{2}]);\n", type,
                                        parameter.name, p);
                    break;
                case Parameter::Kind::input:
                    text += fmt::format(
                        "    const {0}* const __restrict {1} = *static_cast<const {0}* const*>(args[{2}]);\n",
                        type, parameter.name, p);
                    break;
                case Parameter::Kind::output:
                    text +=
                        fmt::format("    {0}* const __restrict {1} = *static_cast<{0}* const*>(args[{2}]);\n",
                                    type, parameter.name, p);
                    break;
            }
        }
        return text + "\n";
    }
    // The helpers are few and the same words as in prelude.cuh.
    std::string prelude(const Program& program) const override {
        std::set<std::string> used;  // what others need comes before them in this order, too
        std::string text;
        for (const Type type : {Type::f16, Type::bf16}) {
            const bool is_used =
                std::any_of(program.functions.begin(), program.functions.end(), [&](const auto& function) {
                    return std::any_of(function.parameters.begin(), function.parameters.end(),
                                       [&](const Parameter& each) { return each.type == type; });
                });
            if (is_used) text += prelude_section(type_name(type));
        }
        const auto use = [&](const std::string& name) {
            const std::string of_cpus = name + " cpu";
            used.insert(has_prelude_section(of_cpus) ? of_cpus : name);
        };
        for (const KernelFunction& function : program.functions) {
            for_each_expr(function.body, [&](const Expr& expr) {
                const auto* call = std::get_if<CallHelper>(&expr->kind);
                if (call == nullptr) return;
                const HelperShape& shape = shape_of(call->helper);
                use(shape.name);
                for (const std::string& needed : shape.needs)
                    use(needed);
            });
            for_each_statement(function.body, [&](const Statement& statement) {
                if (std::holds_alternative<StoreLine>(statement.kind)) use("store_line");
            });
        }
        for (const std::string& name : used) {
            std::string section = prelude_section(name);
            for (const std::string device : {"__device__ __forceinline__", "__device__ inline"}) {
                const std::size_t at = section.find(device);
                if (at != std::string::npos) section.replace(at, device.size(), "static inline");
            }
            text += section;
        }
        return text;
    }
    std::string special_literal(double value, Type type) const override {
        const char* suffix = type == Type::f32 ? "f" : "";
        if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", suffix);
        return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", suffix);
    }
};

}  // namespace

std::string print_cpp(const Program& program) {
    return CppPrinter().print(program);
}

}  // namespace halo::emit
