#include "compiler/lift/stand_ins.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "compiler/ir/interpreter.h"
#include "compiler/lift/memory.h"
#include "compiler/sema/sema.h"
#include "compiler/support/error.h"
#include "compiler/syntax/parser.h"

namespace halo::lift {

namespace {

RunRecord* record = nullptr;

// ---- traced reads and writes

Region* region_of(const char* place) {
    for (int i = 0; record != nullptr && i < record->region_count; ++i) {
        Region& each = record->regions[i];
        if (place >= each.begin && place < each.end) return &each;
    }
    return nullptr;
}
void touch(const void* at, std::ptrdiff_t bytes) {
    char* place = static_cast<char*>(const_cast<void*>(at));
    Region* touched = region_of(place);
    if (touched == nullptr) return;
    touched->low = std::min(touched->low, place);
    touched->high = std::max(touched->high, place + bytes);
}
template <int Bytes>
void traced(const void* at) {
    touch(at, Bytes);
}
void traced_block() {}

// ---- memory

constexpr int kUnwritten = 0x3f;  // reals of ordinary size

// A mapping of its own, which ends where the memory does.
void* guarded(std::size_t bytes, bool is_zero) {
    if (record != nullptr && record->allocations++ == record->failing_allocation) return nullptr;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t kept = (bytes + 15) / 16 * 16;
    const std::size_t room = (kept + page - 1) / page * page;
    if (bytes > std::size_t{1} << 32) return nullptr;
    void* found = ::mmap(nullptr, room + 2 * page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(found);
    ::mprotect(begin, page, PROT_NONE);
    ::mprotect(begin + page + room, page, PROT_NONE);
    char* memory = begin + page + room - kept;
    if (!is_zero) std::memset(memory, kUnwritten, kept);
    return memory;
}
void* stand_in_malloc(std::size_t bytes) {
    return guarded(bytes, false);
}
void* stand_in_calloc(std::size_t count, std::size_t bytes) {
    return guarded(count * bytes, true);
}
void* stand_in_aligned_alloc(std::size_t, std::size_t bytes) {
    return guarded(bytes, false);
}
int stand_in_posix_memalign(void** into, std::size_t, std::size_t bytes) {
    *into = guarded(bytes, false);
    return *into == nullptr ? 12 : 0;
}
void* stand_in_new(std::size_t bytes) {
    void* found = guarded(bytes, false);
    if (found == nullptr) std::abort();
    return found;
}
void stand_in_free(void*) {}
void stand_in_delete(void*, std::size_t) {}

// ---- time stands still

long stand_in_time(long* into) {
    if (into != nullptr) *into = 0;
    return 0;
}
long stand_in_clock() {
    return 0;
}
int stand_in_clock_gettime(int, long* into) {
    into[0] = into[1] = 0;
    return 0;
}
int stand_in_gettimeofday(long* into, void*) {
    into[0] = into[1] = 0;
    return 0;
}
double stand_in_seconds() {
    return 0;
}
int one_thread() {
    return 1;
}
int first_thread() {
    return 0;
}
void no_effect(int) {}

[[noreturn]] void stand_in_exit(int code) {
    if (record != nullptr) {
        record->has_exited = true;
        record->exit_code = code;
    }
    std::fflush(nullptr);
    ::_exit(0);
}

// ---- what a source calls in which haloc lift has put stencils; as call_support() has it

struct Simulation {
    ir::Program program;
    std::unique_ptr<ir::Interpreter> interpreter;
    std::size_t cells = 1;
};
struct Called {
    const char* name;
    void *device, *program;
    Simulation* simulation;
    std::int64_t grid[3];
    char* cells;
    std::size_t room;
    int failed;
};
struct CalledArray {
    void* first;
    std::int64_t bytes;
    std::int64_t from[3], to[3], stride[3];
    int level[3];
};

int set(Simulation* simulation, const char* param, double value) {
    simulation->interpreter->set_param(param, value);
    return 0;
}
int failed(Called*) {
    return 0;
}
int ready(Called* stencil, const char* name, const char* text, int axes, const std::int64_t* grid, std::size_t) {
    SourceFile source("lifted.halo", text);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors() || analysis.stencils.empty()) return 0;
    auto made = std::make_unique<Simulation>();
    made->program = std::move(analysis.stencils.front().program);
    std::array<std::int64_t, ir::kMaxRank> extent{1, 1, 1};
    std::copy(grid, grid + axes, extent.begin());
    try {
        made->interpreter = std::make_unique<ir::Interpreter>(made->program, extent, ir::Arithmetic::declared);
    } catch (const std::invalid_argument&) {
        return 0;
    }
    for (const std::int64_t each : extent)
        made->cells *= static_cast<std::size_t>(each);
    std::copy(grid, grid + 3, stencil->grid);
    delete stencil->simulation;
    stencil->simulation = made.release();
    const std::string mark = std::string(name) + " ";
    if (record != nullptr && std::strstr(record->ran, mark.c_str()) == nullptr &&
        std::strlen(record->ran) + mark.size() < sizeof record->ran)
        std::strcat(record->ran, mark.c_str());
    return 1;
}

// Of each cell that the loops touch: where it lies in the program, and its place in the grid.
template <class Visit>
void for_cells(const Called& stencil, const CalledArray& array, const Visit& visit) {
    std::ptrdiff_t pitch = 0;
    for (int axis = 0; axis < 3; ++axis) {
        if (array.to[axis] - array.from[axis] > 1 && array.level[axis] == array.level[0])
            pitch = std::max<std::ptrdiff_t>(pitch, std::abs(array.stride[axis]) * array.bytes);
    }
    const auto copy = [&](char* at, std::size_t cell) {
        if (Region* copied = region_of(at)) {
            copied->copied_low = std::min(copied->copied_low, at);
            copied->copied_high = std::max(copied->copied_high, at + array.bytes);
            copied->pitch = std::max(copied->pitch, pitch);
        }
        visit(at, cell);
    };
    for (std::int64_t z = array.from[2]; z < array.to[2]; ++z) {
        for (std::int64_t y = array.from[1]; y < array.to[1]; ++y) {
            const std::int64_t at[3] = {0, y, z};
            char* row = static_cast<char*>(array.first);
            for (int level = 0; level <= array.level[0]; ++level) {
                std::int64_t index = 0;
                for (int axis = 1; axis < 3; ++axis)
                    if (array.level[axis] == level) index += at[axis] * array.stride[axis];
                row = level < array.level[0] ? reinterpret_cast<char**>(row)[index] : row + index * array.bytes;
            }
            for (std::int64_t x = array.from[0]; x < array.to[0]; ++x)
                copy(row + x * array.stride[0] * array.bytes,
                      static_cast<std::size_t>((z * stencil.grid[1] + y) * stencil.grid[0] + x));
        }
    }
}

c::Number number_of(const Simulation& simulation, const std::string& name) {
    for (const ir::Field& each : simulation.program.fields) {
        if (each.name != name) continue;
        switch (each.storage) {
            case ir::Storage::boolean:
                return c::Number::boolean;
            case ir::Storage::u8:
                return c::Number::u8;
            case ir::Storage::i32:
                return c::Number::i32;
            case ir::Storage::i64:
                return c::Number::i64;
            case ir::Storage::f32:
                return c::Number::f32;
            default:
                return c::Number::f64;
        }
    }
    throw InternalError("a lifted spec has lost a field");
}
int write(Called* stencil, const char* name, const CalledArray* array) {
    const c::Number type = number_of(*stencil->simulation, name);
    std::vector<double>& field = stencil->simulation->interpreter->field(name);
    std::fill(field.begin(), field.end(), 0);
    for_cells(*stencil, *array, [&](const char* at, std::size_t cell) {
        std::int64_t bits = 0;
        if (type == c::Number::i64) std::memcpy(&bits, at, sizeof bits);
        field.at(cell) = type == c::Number::i64 ? std::bit_cast<double>(bits) : read_number(at, type);
    });
    return 0;
}
void read(Called* stencil, const char* name, const CalledArray* array) {
    const c::Number type = number_of(*stencil->simulation, name);
    const std::vector<double>& field = stencil->simulation->interpreter->field(name);
    for_cells(*stencil, *array, [&](char* at, std::size_t cell) {
        if (type == c::Number::i64)
            std::memcpy(at, &field.at(cell), sizeof(double));
        else
            write_number(at, type, field.at(cell));
    });
}
int step(Simulation* simulation, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        simulation->interpreter->step();
    return 0;
}
int reduce(Simulation* simulation, const char* name, double* into) {
    *into = simulation->interpreter->reduction(name);
    return 0;
}
int wait(Simulation*) {
    return 0;
}

// Of the thread of a kernel: what it is called, as unsigned x, y, z.
unsigned thread_index[3], block_index[3], block_size[3], grid_size[3];

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

// A call of what is in no list. The code that it is called by knows no more than the address.
constexpr int kStops = 64;
std::array<std::string, kStops> stop_names;
template <int Index>
[[noreturn]] void stop() {
    if (record != nullptr) {
        const std::string& name = stop_names[Index];
        std::memcpy(record->called, name.c_str(), std::min(name.size() + 1, sizeof record->called - 1));
    }
    ::_exit(97);
}
template <int... Index>
std::array<void*, sizeof...(Index)> stops(std::integer_sequence<int, Index...>) {
    return {address(&stop<Index>)...};
}

}  // namespace

const char kCallDeclarations[] = R"(
#ifdef __cplusplus
extern "C" {
#endif
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __SIZE_TYPE__ size_t;
#define HALO_LIFT_THREAD
typedef struct halo_simulation halo_simulation;
typedef struct halo_lifted {
    const char* name;
    void *device, *program;
    halo_simulation* simulation;
    int64_t grid[3];
    char* cells;
    size_t room;
    int failed;
} halo_lifted;
typedef struct halo_lift_array {
    void* first;
    int64_t bytes;
    int64_t from[3], to[3], stride[3];
    int level[3];
} halo_lift_array;
int halo_lift_failed(halo_lifted*);
int halo_lift_ready(halo_lifted*, const char*, const char*, int, const int64_t*, size_t);
int halo_lift_write(halo_lifted*, const char*, const halo_lift_array*);
void halo_lift_read(halo_lifted*, const char*, const halo_lift_array*);
int halo_set(halo_simulation*, const char*, double);
int halo_step(halo_simulation*, int64_t);
int halo_wait(halo_simulation*);
int halo_reduce(halo_simulation*, const char*, double*);
#ifdef __cplusplus
}
#endif
)";

void record_run(RunRecord* wanted) {
    record = wanted;
}

void* stop_at_call(const std::string& name) {
    static const auto all = stops(std::make_integer_sequence<int, kStops>());
    static int count = 0;
    for (int i = 0; i < count; ++i) {
        if (stop_names[static_cast<std::size_t>(i)] == name) return all[static_cast<std::size_t>(i)];
    }
    if (count == kStops) stop_names[kStops - 1] = "a function";
    const int at = std::min(count, kStops - 1);
    if (count < kStops) stop_names[static_cast<std::size_t>(count++)] = name;
    return all[static_cast<std::size_t>(at)];
}

void* library_symbol(const std::string& name) {
    // Nothing here reaches a file, another process or the network.
    static const std::set<std::string> known{
        "abs",    "labs",   "llabs",   "div",     "memcpy",  "memmove", "memset",  "memcmp",  "strlen", "strcmp",
        "strncmp", "strcpy", "strncpy", "strcat", "strchr",  "strrchr", "strstr",  "atoi",    "atol",   "atof",
        "strtol", "strtod", "printf",  "puts",    "putchar", "fprintf", "fputs",   "fputc",   "putc",   "fflush",
        "sprintf", "snprintf", "vprintf", "vfprintf", "perror", "stdout", "stderr", "rand",   "srand",  "rand_r",
        "drand48", "srand48", "random", "srandom", "qsort",  "isdigit", "isspace", "toupper", "tolower", "abort",
         "__assert_fail", "__printf_chk", "__fprintf_chk", "__sprintf_chk", "__stack_chk_fail",
        "__dso_handle", "environ", "_ITM_deregisterTMCloneTable", "__errno_location", "optarg"};
    static const char* const functions[] = {
        "sqrt",  "cbrt",  "exp",   "exp2",  "expm1", "log",       "log2",  "log10", "log1p", "sin",  "cos",
        "tan",   "asin",  "acos",  "atan",  "sinh",  "cosh",      "tanh",  "asinh", "acosh", "atanh", "fabs",
        "floor", "ceil",  "trunc", "round", "rint",  "nearbyint", "pow",   "atan2", "fmod",  "hypot", "fmin",
        "fmax",  "fma",   "erf",   "erfc",  "tgamma", "lgamma",   "copysign", "fdim", "ldexp", "frexp", "modf",
        "lround", "llround", "lrint", "sincos", "remainder", "scalbn", "logb", "ilogb", "nan"};
    static const std::map<std::string, void*> own{
        {"malloc", address(&stand_in_malloc)},
        {"calloc", address(&stand_in_calloc)},
        {"aligned_alloc", address(&stand_in_aligned_alloc)},
        {"memalign", address(&stand_in_aligned_alloc)},
        {"posix_memalign", address(&stand_in_posix_memalign)},
        {"free", address(&stand_in_free)},
        {"_Znam", address(&stand_in_new)},
        {"_Znwm", address(&stand_in_new)},
        {"_ZdaPv", address(&stand_in_free)},
        {"_ZdlPv", address(&stand_in_free)},
        {"_ZdaPvm", address(&stand_in_delete)},
        {"_ZdlPvm", address(&stand_in_delete)},
        {"exit", address(&stand_in_exit)},
        {"time", address(&stand_in_time)},
        {"clock", address(&stand_in_clock)},
        {"clock_gettime", address(&stand_in_clock_gettime)},
        {"gettimeofday", address(&stand_in_gettimeofday)},
        {"omp_get_wtime", address(&stand_in_seconds)},
        {"omp_get_num_threads", address(&one_thread)},
        {"omp_get_max_threads", address(&one_thread)},
        {"omp_get_num_procs", address(&one_thread)},
        {"omp_get_thread_num", address(&first_thread)},
        {"omp_set_num_threads", address(&no_effect)}};
    if (const auto found = own.find(name); found != own.end()) return found->second;
    bool is_known = known.count(name) > 0;
    for (const char* each : functions)
        is_known = is_known || name == each || name == std::string(each) + "f";
    // The standard library of C++: containers, and streams to the terminal.
    for (const char* prefix : {"_ZS", "_ZNS", "_ZNKS", "_ZT", "__cxa_", "__gxx_", "_Unwind"})
        is_known = is_known || name.rfind(prefix, 0) == 0;
    if (name.find("fstream") != std::string::npos || name.find("filebuf") != std::string::npos) is_known = false;
    return is_known ? ::dlsym(RTLD_DEFAULT, name.c_str()) : nullptr;
}

std::map<std::string, void*> stand_in_symbols() {
    std::map<std::string, void*> all{{"__sanitizer_cov_trace_pc", address(&traced_block)},
                                     {"threadIdx", thread_index},
                                     {"blockIdx", block_index},
                                     {"blockDim", block_size},
                                     {"gridDim", grid_size},
                                     {"halo_lift_failed", address(&failed)},
                                     {"halo_lift_ready", address(&ready)},
                                     {"halo_lift_write", address(&write)},
                                     {"halo_lift_read", address(&read)},
                                     {"halo_set", address(&set)},
                                     {"halo_step", address(&step)},
                                     {"halo_wait", address(&wait)},
                                     {"halo_reduce", address(&reduce)}};
    const auto add = [&](const char* bytes, void* function) {
        for (const char* kind : {"load", "store"})
            all["__sanitizer_cov_" + std::string(kind) + bytes] = function;
    };
    add("1", address(&traced<1>));
    add("2", address(&traced<2>));
    add("4", address(&traced<4>));
    add("8", address(&traced<8>));
    add("16", address(&traced<16>));
    return all;
}

}  // namespace halo::lift
