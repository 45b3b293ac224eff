// KernelProgram: kernels as structured code, between the schedule's decisions and their text.
//
// A program is a list of functions over buffers and scalars: loops, guards, local and shared arrays,
// barriers. Every decision is taken by now: an expression printed inline stays inline, a value with a name
// was given it by a Declare. Expressions are immutable values that share their nodes; statements are plain
// variants in blocks, and layout (comments, blank lines) is part of the program. print.h shows one, verify.h
// says what a well-formed one is, and compiler/emit prints it as CUDA or C++.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace halo::kernel {

// boolean to f64 are what arithmetic is done in; u8, f16 and bf16 only lie in arrays (as boolean does there,
// a byte): an Element of such an array is converted at once. u32 is a word whose lanes hold several cells:
// its arithmetic is that of all 32 bits, and is not folded as that of integers is.
enum class Type : std::uint8_t { boolean, i32, i64, f32, f64, u8, f16, bf16, u32 };
constexpr bool is_integer(Type type) {
    return type == Type::i32 || type == Type::i64;
}
constexpr bool is_real(Type type) {
    return type == Type::f32 || type == Type::f64;
}
constexpr bool is_storage_only(Type type) {
    return type == Type::u8 || type == Type::f16 || type == Type::bf16;
}
constexpr int size_of(Type type) {
    switch (type) {
        case Type::f64:
        case Type::i64:
            return 8;
        case Type::f32:
        case Type::i32:
        case Type::u32:
            return 4;
        case Type::f16:
        case Type::bf16:
            return 2;
        case Type::boolean:
        case Type::u8:
            break;
    }
    return 1;
}

// ---- expressions
// -----------------------------------------------------------------------------------------------

struct Node;

// A handle to an immutable node; empty where there is none. An int converts to an i32 literal.
class Expr {
public:
    Expr() = default;
    Expr(int literal);
    explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
    bool has_value() const { return node_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    const Node& operator*() const { return *node_; }
    const Node* operator->() const { return node_.get(); }
    Type type() const;

private:
    std::shared_ptr<const Node> node_;
};

enum class Operator : std::uint8_t {
    add,
    sub,
    mul,
    div,
    mod,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    bit_and,
    bit_or,
    shift_left,
    shift_right
};
enum class Function : std::uint8_t {
    sqrt,
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
    ceil,
    pow,
    atan2,
    round,  // to nearest even
    trunc,
    erf,
    rsqrt,  // fast alone: the accurate one is 1 / sqrt
    fma,
    min,
    max
};
// The functions of the prelude that kernels call; helpers.h says what each takes and gives.
enum class Helper : std::uint8_t {
    random_f32,
    random_f64,
    random_normal_f32,
    random_normal_f64,
    first_image,
    face_source,
    keep_min,
    keep_max,
    keep_min_f32,
    keep_max_f32,
    block_sum,
    block_min,
    block_max,
    send_f32,
    send2_f32,
    send4_f32,
    send_f64,
    poll_f32,
    poll_f64,
    poll_all_f32,
    poll_all_f64,
    f16_to_float,
    bf16_to_float,
    float_to_f16,
    float_to_bf16,
    int_to_u8,
    float_to_u8,
    byte_to_float,
    whole_root,
    bytes_of,
    entry_f32,
    entry_f64,
    byte_perm,
    funnel_shift,
    byte_sum,
    equal_bytes,
    equal_halves,
    unequal_bytes,
    unequal_halves,
    less_bytes,
    less_halves,
    less_equal_bytes,
    less_equal_halves,
    min_halves,
    max_halves,
    select_lanes,
    equal_lanes,
    highest_bits,
    byte_of,
    first_bytes,
    long_to_int,
    float_to_int,
    float_to_long,
    double_to_int,
    double_to_long,
    wrap_add,
    wrap_sub,
    wrap_mul,
    floor_div,
    floor_mod,
    wrap_add_long,
    wrap_sub_long,
    wrap_mul_long,
    floor_div_long,
    floor_mod_long
};
enum class Builtin : std::uint8_t {
    thread_x,
    thread_y,
    thread_z,
    block_x,
    block_y,
    block_z,
    blocks_x,
    blocks_y
};  // threadIdx, blockIdx, gridDim

struct IntLiteral {
    std::int64_t value = 0;
};
struct RealLiteral {
    double value = 0;  // exactly what the node's type holds
};
struct Variable {  // a parameter, local or named constant
    std::string name;
};
struct BuiltinIndex {
    Builtin builtin;
};
struct Element {  // array[index]…: a parameter pointer (one index), a local, shared or constant array
    std::string array;
    std::vector<Expr> indices;
};
struct AddressOf {  // array[row]… + index: a pointer into a parameter or array; the type is that of its
                    // elements
    std::string array;
    Expr index;
    std::vector<Expr> rows{};  // of an array of several dimensions, all but the last
};
struct Negate {
    Expr operand;
};
struct Not {
    Expr operand;
};
struct Convert {
    Expr operand;
};
struct Binary {
    Operator op;
    Expr left, right;
};
struct Select {
    Expr condition, then, otherwise;
};
struct Call {
    Function function;
    std::vector<Expr> arguments;
    bool fast = false;  // f32: the hardware's approximation where there is one
};
struct CallHelper {  // for its value
    Helper helper;
    std::vector<Expr> arguments;
};
struct CallLambda {  // one that this function declares
    std::string lambda;
    std::vector<Expr> arguments;
};

// What another lane of the warp has of the operand: the one `index` lanes before this one or after it (its
// own where there is none), or lane number `index`. All lanes of the warp must come.
struct Shuffle {
    enum class From : std::uint8_t { before, after, lane };
    From from;
    Expr operand;
    Expr index;
};

struct Node {
    Type type = Type::i32;
    std::variant<IntLiteral, RealLiteral, Variable, BuiltinIndex, Element, AddressOf, Negate, Not, Convert,
                 Binary, Select, Call, CallHelper, CallLambda, Shuffle>
        kind;
};

// ---- statements
// ------------------------------------------------------------------------------------------------

struct Statement;
using Block = std::vector<Statement>;

struct Declare {  // `const` unless it is assigned later
    Type type;
    std::string name;
    Expr value;
    bool mutable_value = false;
};
struct DeclarePointer {  // a row of a parameter: const T* name = value (an AddressOf)
    Type type;
    std::string name;
    Expr value;
    bool writable = false;
};
struct AdvancePointer {  // name += by; a writable DeclarePointer
    std::string name;
    Expr by;
};
enum class Memory : std::uint8_t {
    registers,      // a thread's own
    shared,         // a block's
    dynamic_shared  // a block's, at byte `offset` of the launch's dynamic shared memory
};
struct DeclareArray {
    Type type;
    std::string name;
    std::vector<Expr> dims;
    Memory memory = Memory::registers;
    std::int64_t offset = 0;
    int alignment = 0;  // bytes; 0 for that of the type
    bool zero = false;  // every element starts as 0
    Expr from = {};     // an AddressOf where this is a view of another array, which starts there
};
struct LambdaParameter {
    std::string name;
    Type type = Type::i32;
};
struct DeclareLambda {  // const auto name = [&](parameters) { return value; };
    std::string name;
    std::vector<LambdaParameter> parameters;
    Expr value;  // empty where the lambda is a body, for RunLambda
    Block body;  // without a return
    // The compiler is to copy the body to each place that runs it, and to know its arguments there; all
    // threads of a block may then meet in it. Otherwise it is run by some threads and not by others, for all
    // that is known.
    bool inlined = false;
};
struct Assign {  // target: Variable or Element
    Expr target;
    Expr value;
};
// to[0 … width) = from[0 … width); `from` is aligned to the vector. Bytes may be loaded to u32, four to each.
struct LoadVector {
    Expr to;    // Element
    Expr from;  // AddressOf
    int width = 4;
};
struct CopyVector {  // the same where `to` is in shared memory and aligned, too
    Expr to;         // Element
    Expr from;       // AddressOf
    int width = 4;
};
// The same, in the background: `to` holds what was copied once AwaitCopies says so, for the thread that
// copies, and for the others after a barrier. A width of 1 copies an element; of bytes there are 4, 8 and 16.
struct CopyAsync {
    Expr to;    // Element, of an array of one dimension
    Expr from;  // AddressOf
    int width = 4;
};
struct CommitCopies {};  // the copies since the last one become a group
struct AwaitCopies {     // until all but the last `pending` groups of this thread are there
    int pending = 0;
};
struct StoreVector {  // four bytes may be the u32 `from`, a Variable, too; eight and sixteen are two and four
    Expr to;          // AddressOf, aligned
    Expr from;        // Element
    int width = 4;
    bool shared = false;  // `to` is in shared memory
};
// On a CPU. A line of cells, whole: to[0 … width) = from[0 … width), past the caches where `passes_caches`
// and the line is aligned to its bytes.
struct StoreLine {
    Expr to;    // AddressOf
    Expr from;  // Element
    int width = 0;
    Expr passes_caches;  // boolean
};
struct Prefetch {  // what is read soon, as far as it is there
    Expr from;     // AddressOf
};
// Cells of arrays in registers. The rows of an array lie one behind the other, so that a count may cover
// whole rows, planes and queues. Cells are copied in ascending order.
struct CopyCells {         // to[0 … count) = from[0 … count)
    Expr to, from;         // Elements
    Expr count;            // constant
    bool negates = false;  // the negative of each
};
struct FillCells {  // the element `to` and every `stride`-th behind it, `count` in all
    Expr to;        // Element
    Expr value;
    Expr count;  // constant
    int stride = 1;
};
// some: For::turns at a time; scalar: neither unrolled nor vectorized, for what is short and seldom done.
enum class Unroll : std::uint8_t { leave, full, none, vectorize, scalar, some };
struct For {  // for (int var = begin; var < end; var += step)
    std::string var;
    Expr begin, end;
    Expr step = 1;
    Unroll unroll = Unroll::leave;
    Block body;
    Type type = Type::i32;
    int turns = 0;
    bool downwards = false;  // for (int var = end - 1; var >= begin; --var); of steps of 1 alone
};
struct If {
    Expr condition;
    Block then;
    Block otherwise;
};
struct Scope {  // a block of its own, for its names
    Block body;
};
// All of these threads come here before one goes on; what they wrote to shared memory is seen after it.
struct Barrier {
    enum class Of : std::uint8_t { block, warp };
    Of of = Of::block;
};
struct Return {};
struct RunHelper {  // a helper without a value
    Helper helper;
    std::vector<Expr> arguments;
};
struct RunLambda {  // one that this function declares, with a body
    std::string lambda;
    std::vector<Expr> arguments;
};
struct CallFunction {  // a function of this program
    std::string function;
    std::vector<Expr> arguments;
};
struct Comment {
    std::string text;
};
struct BlankLine {};

struct Statement {
    std::variant<Declare, DeclarePointer, AdvancePointer, DeclareArray, DeclareLambda, Assign, LoadVector,
                 CopyVector, CopyAsync, CommitCopies, AwaitCopies, StoreVector, StoreLine, Prefetch,
                 CopyCells, FillCells, For, If, Scope, Barrier, Return, RunHelper, RunLambda, CallFunction,
                 Comment, BlankLine>
        kind;
    template <class Kind>
    Statement(Kind statement) : kind(std::move(statement)) {}
};

// ---- functions
// -------------------------------------------------------------------------------------------------

struct Parameter {
    enum class Kind : std::uint8_t {
        scalar,
        input,
        output
    };  // input: const T* __restrict__; output: T* __restrict__
    Type type = Type::f32;
    std::string name;
    Kind kind = Kind::scalar;
    bool restricted = true;
};
struct NamedConstant {  // constexpr int (or long long), at the top of a function or of the program
    std::string name;
    std::int64_t value = 0;
    std::string comment;
    Type type = Type::i32;
};
struct KernelFunction {
    enum class Kind : std::uint8_t { kernel, helper };
    Kind kind = Kind::kernel;
    std::string name;
    std::vector<std::string> comment;  // lines above the function
    std::vector<Parameter> parameters;
    int threads = 0;     // of a block; 0 on the CPU
    int min_blocks = 0;  // 0: leave it to the compiler
    std::vector<NamedConstant> constants;
    Block body;
};
struct ConstantArray {  // __constant__ memory set at launch time
    Type type = Type::f32;
    std::string name;
    std::int64_t size = 0;
    std::string comment;
};
struct Program {
    std::vector<std::string> header;  // comment lines at the top of the text
    std::vector<NamedConstant> constants;
    std::vector<ConstantArray> constant_arrays;
    std::vector<KernelFunction> functions;  // helpers before the kernels that call them
};

}  // namespace halo::kernel
