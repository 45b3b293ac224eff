// LaunchPlan: all that the runtime must know to run compiled kernels. Plain data, made by the compiler,
// written to JSON for offline use, understood by every back end. Nothing here knows of the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halo::rt {

inline constexpr int kMaxRank = 3;

enum class ElementType : std::uint8_t { f32, f64 };
constexpr std::int64_t size_of(ElementType type) {
    return type == ElementType::f32 ? 4 : 8;
}

// A scalar computed on the host in double from params and grid: a postfix program.
struct HostScalar {
    enum class Op : std::uint8_t {
        constant,
        param,
        extent,  // push: value; params[index]; cells along axis `index`
        negate,
        logical_not,
        sqrt,
        rsqrt,
        cbrt,
        exp,
        log,
        sin,
        cos,
        tan,
        asin,
        acos,
        atan,
        sinh,
        cosh,
        tanh,
        abs,
        floor,
        ceil,  // replace the top
        add,
        sub,
        mul,
        div,
        min,
        max,
        pow,
        atan2,
        less,
        less_equal,
        greater,
        greater_equal,
        equal,
        not_equal,
        logical_and,
        logical_or,  // replace the top two (the deeper is the left operand); truth is 0 or 1
        fma,
        select,    // replace the top three: a*b+c; condition, then, otherwise
        round_f32  // round the top to float
    };
    struct Step {
        Op op = Op::constant;
        double value = 0;
        int index = 0;
    };
    std::vector<Step> steps;
};

enum class BoundaryKind : std::uint8_t { periodic, fixed, clamp, mirror, free };
struct FacePlan {
    BoundaryKind kind = BoundaryKind::free;
    HostScalar value;  // of fixed
};

enum class Role : std::uint8_t { input, state, output, intermediate };

struct FieldPlan {
    std::string name;
    ElementType type = ElementType::f32;
    Role role = Role::input;
    int history = 0;  // past levels kept besides t (and besides t+1 for a state)
    std::array<std::array<FacePlan, 2>, kMaxRank> boundary;
    std::array<std::array<int, 2>, kMaxRank> halo{};  // cells past the domain that kernels read, [axis][side]
};

struct ParamPlan {
    std::string name;
    std::optional<double> default_value;
};

struct CoefPlan {  // launch-time weights; in constant memory on a GPU
    std::string name;
    std::string symbol;  // of the __constant__ array in the kernel text
    ElementType type = ElementType::f32;
    std::vector<int> low, high;
    std::vector<double> defaults;
};

// What one kernel argument is, in the order of the kernel's parameters.
struct Argument {
    enum class Kind : std::uint8_t {
        field,     // pointer to cell (0,0,0) of `field` at level `time`
        scalar,    // `scalar` rounded to `type`
        extent,    // int32: cells along axis `index`
        pitch,     // int32: elements from one row (y) to the next
        slice,     // int64: elements from one plane (z) to the next
        partials,  // double*: one partial result per block of reduction `index`
        coefs      // const pointer to coefficient `index` (CPU only; on a GPU it is a __constant__ symbol)
    };
    Kind kind = Kind::field;
    int field = 0;  // index into LaunchPlan::fields
    int time = 0;   // +1 the level being written, 0 now, -1 the past
    int index = 0;
    HostScalar scalar;
    ElementType type = ElementType::f32;
};

struct KernelPlan {
    std::string name;                     // the symbol in the text
    std::array<int, 3> threads{1, 1, 1};  // a block's threads (1s on the CPU)
    std::array<int, 3> tile{1, 1, 1};     // a block's cells; blocks along an axis = ceil(extent / tile)
    std::int64_t dynamic_shared_bytes = 0;
    std::vector<Argument> arguments;
    // Levels whose halo images this kernel does NOT write itself and the runtime must fill after it (CPU).
    struct Written {
        int field = 0;
        int time = 0;
    };
    std::vector<Written> refresh_halos;
};

struct ReductionPlan {  // the blocks' partials of `kernel`, combined in block order
    enum class Op : std::uint8_t { sum, min, max };
    std::string name;
    Op op = Op::sum;
    bool square_root = false;
    int kernel = 0;
};

struct LaunchPlan {
    std::string name;
    int rank = 1;
    std::vector<std::string> axes;
    std::vector<HostScalar> spacing, origin;  // by axis, for coordinates in output
    std::vector<ParamPlan> params;
    std::vector<CoefPlan> coefs;
    std::vector<FieldPlan> fields;    // those with an array
    std::vector<KernelPlan> kernels;  // one time step, in order
    std::vector<ReductionPlan> reductions;
    std::array<std::array<int, 2>, kMaxRank> halo{};  // the widest of all fields: the layout all arrays share
};

// Evaluates with the params' values and the grid's extents.
double evaluate(const HostScalar& scalar, const std::vector<double>& params,
                const std::array<std::int64_t, kMaxRank>& extent);

}  // namespace halo::rt
