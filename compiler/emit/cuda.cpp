#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "compiler/emit/emit.h"
#include "compiler/emit/prelude.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/part.h"
#include "compiler/kernel/print.h"
#include "compiler/kernel/walk.h"
#include "compiler/support/error.h"

namespace halo::emit {
namespace {

using namespace kernel;

class CudaPrinter : public Printer {
protected:
    std::string builtin_name(Builtin builtin) const override {
        static constexpr const char* kNames[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x",
                                                 "blockIdx.y",  "blockIdx.z",  "gridDim.x",   "gridDim.y"};
        return kNames[static_cast<int>(builtin)];
    }
    std::string fast_function_name(Function function) const override {
        const std::string name = function_name(function, Type::f32);
        return function == Function::rsqrt ? "fast_rsqrt" : "__" + name;
    }
    std::string division_function(Type type) const override { return type == Type::f32 ? "divide" : ""; }
    std::string barrier(Barrier::Of of) const override {
        return of == Barrier::Of::warp ? "__syncwarp();" : "__syncthreads();";
    }
    std::string shuffle(Shuffle::From from, const std::string& operand,
                        const std::string& index) const override {
        const char* direction = from == Shuffle::From::before  ? "_up"
                                : from == Shuffle::From::after ? "_down"
                                                               : "";
        return fmt::format("__shfl{}_sync(0xffffffff, {}, {})", direction, operand, index);
    }
    std::string shared_qualifier() const override { return "__shared__ "; }
    std::string unroll_pragma(const For& loop) const override {
        switch (loop.unroll) {
            case Unroll::full:
                return "unroll";
            case Unroll::none:
                return "unroll 1";
            case Unroll::some:
                return fmt::format("unroll {}", loop.turns);
            case Unroll::leave:
            case Unroll::vectorize:
            case Unroll::scalar:
                break;
        }
        return "";
    }
    std::string constant_array(const ConstantArray& array) const override {
        return fmt::format("__constant__ {} {}[{}];", type_name(array.type), array.name, array.size);
    }
    std::string parameter(const Parameter& parameter) const override {
        const char* restrict_word = parameter.restricted ? "* __restrict__ " : "* ";
        const std::string type = type_name(parameter.type);
        switch (parameter.kind) {
            case Parameter::Kind::scalar:
                return type + " " + parameter.name;
            case Parameter::Kind::input:
                return "const " + type + restrict_word + parameter.name;
            case Parameter::Kind::output:
                return type + restrict_word + parameter.name;
        }
        return "";
    }
    std::string signature(const KernelFunction& function) const override {
        std::string text = "__device__ inline void ";
        if (function.kind == KernelFunction::Kind::kernel) {
            const std::string blocks = function.min_blocks ? fmt::format(", {}", function.min_blocks) : "";
            text = fmt::format("extern \"C\" __global__ void __launch_bounds__({}{}) ", function.threads,
                               blocks);
        }
        text += function.name + "(";
        for (std::size_t p = 0; p < function.parameters.size(); ++p) {
            text += (p ? ", " : "") + parameter(function.parameters[p]);
        }
        return text + ")";
    }
    std::string prologue(const KernelFunction& function) const override {
        bool dynamic = false;
        for_each_statement(function.body, [&](const Statement& statement) {
            const auto* array = std::get_if<DeclareArray>(&statement.kind);
            dynamic = dynamic || (array && array->memory == Memory::dynamic_shared);
        });
        return dynamic ? "    extern __shared__ double shared_memory[];\n" : "";
    }
    std::string dynamic_shared(const DeclareArray& array) const override {
        std::string dims;
        for (const Expr& dim : array.dims)
            dims += "[" + expression(dim) + "]";
        const std::string start =
            array.offset ? fmt::format("shared_memory + {}", array.offset / 8) : std::string("shared_memory");
        return fmt::format("auto& {} = *reinterpret_cast<{}(*){}>({});", array.name, type_name(array.type),
                           dims, start);
    }
    std::string special_literal(double value, Type type) const override {
        const bool single = type == Type::f32;
        if (std::isnan(value)) {
            return single ? "__int_as_float(0x7fffffff)" : "__longlong_as_double(0x7fffffffffffffffLL)";
        }
        return std::string(value < 0 ? "-" : "") +
               (single ? "__int_as_float(0x7f800000)" : "__longlong_as_double(0x7ff0000000000000LL)");
    }
    std::string prelude(const Program& program) const override;
};

// Helpers in the order of the prelude's file.
constexpr const char* kSections[] = {"f16",
                                     "bf16",
                                     "f16_to_float",
                                     "bf16_to_float",
                                     "float_to_f16",
                                     "float_to_bf16",
                                     "int_to_u8",
                                     "float_to_u8",
                                     "byte_to_float",
                                     "whole_root",
                                     "bytes_of",
                                     "entry_f32",
                                     "entry_f64",
                                     "long_to_int",
                                     "float_to_int",
                                     "float_to_long",
                                     "double_to_int",
                                     "double_to_long",
                                     "wrap_add",
                                     "wrap_sub",
                                     "wrap_mul",
                                     "floor_div",
                                     "floor_mod",
                                     "wrap_add_long",
                                     "wrap_sub_long",
                                     "wrap_mul_long",
                                     "floor_div_long",
                                     "floor_mod_long",
                                     "load2 float",
                                     "load4 float",
                                     "load2 double",
                                     "load4 double",
                                     "store2 float",
                                     "store4 float",
                                     "store2 double",
                                     "store4 double",
                                     "share2 float",
                                     "share4 float",
                                     "share2 double",
                                     "share4 double",
                                     "copy2 float",
                                     "copy4 float",
                                     "copy2 double",
                                     "load2 int",
                                     "load4 int",
                                     "load2 long long",
                                     "load4 long long",
                                     "load2 bool",
                                     "load4 bool",
                                     "load2 unsigned char",
                                     "load4 unsigned char",
                                     "load4 packed",
                                     "load8 packed",
                                     "load16 packed",
                                     "load2 f16",
                                     "load4 f16",
                                     "load2 bf16",
                                     "load4 bf16",
                                     "load2 float double",
                                     "load4 float double",
                                     "store2 int",
                                     "store4 int",
                                     "store2 long long",
                                     "store4 long long",
                                     "store2 bool",
                                     "store4 bool",
                                     "store2 unsigned char",
                                     "store4 unsigned char",
                                     "store4 packed",
                                     "store8 packed",
                                     "store16 packed",
                                     "store2 f16",
                                     "store4 f16",
                                     "store2 bf16",
                                     "store4 bf16",
                                     "select_lanes",
                                     "equal_lanes",
                                     "highest_bits",
                                     "byte_of",
                                     "first_bytes",
                                     "copy2 int",
                                     "copy4 int",
                                     "copy2 long long",
                                     "copy_cells",
                                     "negate_cells",
                                     "fill_cells",
                                     "copy_async float",
                                     "copy2_async float",
                                     "copy4_async float",
                                     "copy_async double",
                                     "copy2_async double",
                                     "copy4_async double",
                                     "copy_async int",
                                     "copy2_async int",
                                     "copy4_async int",
                                     "copy_async long long",
                                     "copy2_async long long",
                                     "copy4_async bytes",
                                     "copy8_async bytes",
                                     "copy16_async bytes",
                                     "commit_copies",
                                     "await_copies",
                                     "packets",
                                     "send_f32",
                                     "send2_f32",
                                     "send4_f32",
                                     "send_f64",
                                     "receive_f32",
                                     "receive2_f32",
                                     "receive4_f32",
                                     "receive_f64",
                                     "poll",
                                     "poll_all",
                                     "fast_rsqrt",
                                     "rough_inverse",
                                     "divide",
                                     "first_image",
                                     "face_source",
                                     "keep_min",
                                     "keep_max",
                                     "keep_min_f32",
                                     "keep_max_f32",
                                     "block_sum",
                                     "block_min",
                                     "block_max",
                                     "philox",
                                     "random_f32",
                                     "random_f64",
                                     "random_normal_f32",
                                     "random_normal_f64"};

std::string CudaPrinter::prelude(const Program& program) const {
    std::set<std::string> used;
    const auto use = [&](Helper helper) {
        const HelperShape& shape = shape_of(helper);
        used.insert(shape.name);
        used.insert(shape.needs.begin(), shape.needs.end());
    };
    for (const KernelFunction& function : program.functions) {
        for (const Parameter& parameter : function.parameters) {
            if (parameter.type == Type::f16 || parameter.type == Type::bf16)
                used.insert(type_name(parameter.type));
        }
        for_each_statement(function.body, [&](const Statement& statement) {
            if (const auto* load = std::get_if<LoadVector>(&statement.kind)) {
                const Type from = load->from.type();
                const bool widens = from == Type::f32 && load->to.type() == Type::f64;
                const std::string to = widens ? " double" : "";
                const bool packs = load->to.type() == Type::u32;
                used.insert(packs ? fmt::format("load{} packed", load->width)
                                  : fmt::format("load{} {}{}", load->width, type_name(from), to));
                if (from == Type::f16) use(Helper::f16_to_float);
                if (from == Type::bf16) use(Helper::bf16_to_float);
                // Four long ones are two pairs.
                if (from == Type::i64) used.insert("load2 long long");
            }
            if (const auto* copy = std::get_if<CopyVector>(&statement.kind)) {
                used.insert(fmt::format("copy{} {}", copy->width, type_name(copy->from.type())));
            }
            if (const auto* copy = std::get_if<CopyAsync>(&statement.kind)) {
                const std::string width = copy->width == 1 ? "" : std::to_string(copy->width);
                const bool is_byte = size_of(copy->from.type()) == 1;
                used.insert(
                    fmt::format("copy{}_async {}", width, is_byte ? "bytes" : type_name(copy->from.type())));
            }
            if (const auto* copy = std::get_if<CopyCells>(&statement.kind))
                used.insert(copy->negates ? "negate_cells" : "copy_cells");
            if (std::holds_alternative<FillCells>(statement.kind)) used.insert("fill_cells");
            if (const auto* call = std::get_if<RunHelper>(&statement.kind)) use(call->helper);
            if (std::holds_alternative<CommitCopies>(statement.kind)) used.insert("commit_copies");
            if (std::holds_alternative<AwaitCopies>(statement.kind)) used.insert("await_copies");
            if (const auto* store = std::get_if<StoreVector>(&statement.kind)) {
                const bool packs = store->from.type() == Type::u32;
                used.insert(packs ? fmt::format("store{} packed", store->width)
                                  : fmt::format("{}{} {}", store->shared ? "share" : "store", store->width,
                                                type_name(store->to.type())));
                if (store->to.type() == Type::i64) used.insert("store2 long long");
            }
        });
        for_each_expr(function.body, [&](const Expr& expr) {
            if (const auto* call = std::get_if<CallHelper>(&expr->kind)) use(call->helper);
            const auto* function_call = std::get_if<Call>(&expr->kind);
            if (function_call && function_call->fast && function_call->function == Function::rsqrt)
                used.insert("fast_rsqrt");
            const auto* binary = std::get_if<Binary>(&expr->kind);
            if (binary != nullptr && binary->op == Operator::div && !division_function(expr.type()).empty())
                used.insert({"rough_inverse", "divide"});
        });
    }
    std::string text;
    for (const char* section : kSections) {
        if (!used.count(section)) continue;
        text += (text.empty() ? "" : "\n") + prelude_section(section);
    }
    return text;
}

std::string heading_of(const std::string& name) {
    return "// [" + name + "]\n";
}

}  // namespace

bool has_prelude_section(const std::string& name) {
    return std::string_view(kPrelude).find(heading_of(name)) != std::string_view::npos;
}

std::string prelude_section(const std::string& name) {
    const std::string text = kPrelude;
    const std::string heading = heading_of(name);
    const std::size_t begin = text.find(heading);
    if (begin == std::string::npos) throw InternalError("the prelude has no section " + name);
    const std::size_t end = text.find("// [", begin + heading.size());
    std::string section =
        text.substr(begin + heading.size(), end == std::string::npos ? end : end - begin - heading.size());
    while (section.ends_with("\n\n"))  // behind one that is a comment alone
        section.pop_back();
    return section;
}

std::string print_cuda(const Program& program) {
    return CudaPrinter().print(program);
}

CudaParts print_cuda_parts(const Program& program, const std::vector<std::string>& kernels) {
    const auto is_it = [&](const KernelFunction& function) {
        return std::ranges::find(kernels, function.name) != kernels.end();
    };
    return {print_cuda(part_of(program, std::not_fn(is_it))), print_cuda(part_of(program, is_it))};
}

}  // namespace halo::emit
