#include "compiler/lower/shared/names.h"

#include <cctype>
#include <string_view>

#include "compiler/kernel/helpers.h"

namespace halo::lower {
namespace {

// Words that are reserved in C++, CUDA or the prelude.
// clang-format off: it would put one word on a line
constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "atomic_cancel", "auto", "bitand", "bitor", "bool",
    "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
    "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    "main", "NULL", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "float2", "float4",
    "double2", "double4", "int2", "int4", "dim3", "make_float2", "make_float4", "make_double2", "load2",
    "load4", "load8", "copy2", "copy4", "store2", "store4", "store8", "store_line", "block_sum", "philox", "log_of_fraction", "random_f32", "random_f64", "random_normal_f32", "random_normal_f64", "keep_min", "keep_max", "block_min",
    "block_max", "first_image", "fast_rsqrt", "divide", "rough_inverse", "face_source", "INFINITY", "NAN",
    "size_t", "cudaError_t", "unix", "linux", "stdin", "stdout", "stderr", "errno", "assert", "acos", "asin", "atan", "atan2", "cbrt",
    "ceil", "cos", "cosh", "exp", "fabs", "floor", "fma", "fmax", "fmin", "log", "pow", "rsqrt", "sin",
    "sinh", "sqrt", "tan", "tanh", "acosf", "asinf", "atanf", "atan2f", "cbrtf", "ceilf", "cosf", "coshf",
    "expf", "fabsf", "floorf", "fmaf", "fmaxf", "fminf", "logf", "powf", "rsqrtf", "sinf", "sinhf",
    "sqrtf", "tanf", "tanhf", "min", "max", "abs", "args", "shared_memory", "FaceKind", "kFixed", "kFree",
    "kClamp", "kMirror", "kCellsX", "kCellsY", "kCellsZ", "kThreadsX", "kThreadsY", "kThreadsZ", "kTileX",
    "kTileY", "kTileZ", "kPlanes", "kChunk", "f16", "bf16", "f16_to_float", "bf16_to_float", "float_to_f16",
    "float_to_bf16", "int_to_u8", "long_to_int", "float_to_int", "float_to_long", "double_to_int",
    "double_to_long", "wrap_add", "wrap_sub", "wrap_mul", "floor_div", "floor_mod", "wrap_add_long",
    "wrap_sub_long", "wrap_mul_long", "floor_div_long", "floor_mod_long", "uchar2", "uchar4", "ushort2",
    "ushort4", "longlong2", "make_uchar2", "make_uchar4", "make_ushort2", "make_ushort4", "make_int2",
    "commit_copies", "await_copies", "copy_cells", "negate_cells", "fill_cells", "copy_async", "copy2_async", "copy4_async", "copy8_async", "copy16_async", "load16", "store16",
    "share2", "share4", "make_int4", "make_longlong2", "rint", "rintf", "trunc", "truncf", "erf", "erff"};
// clang-format on

bool is_reserved(std::string_view name) {
    for (std::string_view word : kReserved) {
        if (word == name) return true;
    }
    if (kernel::is_prelude_name(std::string(name))) return true;
    // Names that start with an underscore or contain two in a row are reserved to the implementation.
    return name.starts_with("_") || name.find("__") != std::string_view::npos;
}

std::string make_valid(const std::string& wanted) {
    std::string name;
    for (char c : wanted) {
        const bool valid = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        const char next = valid ? c : '_';
        if (next == '_' && (name.empty() || name.back() == '_')) continue;
        name += next;
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name = "value_" + name;
    return name;
}

}  // namespace

bool Names::take_exactly(const std::string& name) {
    for (const Names* scope = outer_; scope != nullptr; scope = scope->outer_)
        if (scope->taken_.contains(name)) return false;
    return taken_.insert(name).second;
}

std::string Names::take(const std::string& wanted) {
    const std::string base = make_valid(wanted);
    std::string name = base;
    if (is_reserved(name)) name = base + (base.back() == '_' ? "of" : "_of_spec");
    for (int number = 2; !take_exactly(name); ++number)
        name = base + "_" + std::to_string(number);
    return name;
}

std::string word_for(const ir::Expr& expr) {
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
        switch (binary->op) {
            case ir::BinaryOp::add:
                return "sum";
            case ir::BinaryOp::sub:
                return "difference";
            case ir::BinaryOp::mul:
                return "product";
            case ir::BinaryOp::div:
                return "ratio";
            default:
                return expr.type == ir::Scalar::boolean ? "holds" : "bound";
        }
    }
    if (std::holds_alternative<ir::Fma>(expr.node)) return "sum";
    if (std::holds_alternative<ir::Select>(expr.node)) return "choice";
    return "value";
}

}  // namespace halo::lower
