#include "compiler/lift/stand_ins.h"

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
#include "compiler/lift/run_block.h"
#include "compiler/lift/stand_in_headers.h"
#include "compiler/sema/sema.h"
#include "compiler/support/error.h"
#include "compiler/syntax/parser.h"

namespace halo::lift {

namespace {

RunRecord* record = nullptr;

// ---- traced reads and writes

// Called for each read and write of a run: what a call would take shows.
inline bool holds(const Region& region, const char* place) {
    return place >= region.begin && place < region.end;
}
inline Region* region_of(const char* place) {
    // Most of what a function that is not optimised reads and writes are its variables, on the stack.
    if (record == nullptr || place < record->first || place >= record->last) return nullptr;
    static int last = 0;  // as the next place is often near to this one
    if (last < record->region_count && holds(record->regions[last], place)) return &record->regions[last];
    for (int i = 0; i < record->region_count; ++i) {
        if (!holds(record->regions[i], place)) continue;
        last = i;
        return &record->regions[i];
    }
    return nullptr;
}
inline void touch(const void* at, std::ptrdiff_t bytes) {
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

// ---- what a source calls in which haloc lift has put stencils; as call_support() has it

struct Simulation {
    ir::Program program;
    std::unique_ptr<ir::Interpreter> interpreter;
    std::size_t cells = 1;
};
struct Called {
    const char* name;
    Simulation* simulation;
    std::int64_t grid[3];
    int failed;
};
struct CalledArray {
    void* first;
    std::int64_t bytes;
    std::int64_t from[3], to[3], stride[3];
    int level[3];
    int is_overwritten;
};

// What the call of a stencil copies of each array.
struct Box {
    std::string name;
    const char *low, *high;
    const CalledArray* array;  // of which two fields may be
};
std::vector<Box> boxes;

int set(Called* stencil, const char* param, double value) {
    stencil->simulation->interpreter->set_param(param, value);
    return 0;
}
void failed(Called*) {}
void keep(int) {}
int take_back(const void*) {
    return 0;
}
int loops(const CalledArray* const*, int) {
    return 0;
}
int ready(Called* stencil, const char* name, const char* text, int axes, const std::int64_t* grid) {
    SourceFile source("lifted.halo", text);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors() || analysis.stencils.empty()) return 0;
    auto made = std::make_unique<Simulation>();
    made->program = std::move(analysis.stencils.front().program);
    rt::Extent extent{};
    std::copy(grid, grid + axes, extent.begin());
    try {
        made->interpreter =
            std::make_unique<ir::Interpreter>(made->program, extent, ir::Arithmetic::declared);
    } catch (const std::invalid_argument&) {
        return 0;
    }
    for (const std::int64_t each : extent)
        made->cells *= static_cast<std::size_t>(each);
    std::copy(grid, grid + 3, stencil->grid);
    boxes.clear();
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
    const auto cells = [&](int axis) { return array.stride[axis] != 0 ? stencil.grid[axis] : 1; };
    for (std::int64_t z = array.from[2]; z < array.to[2]; ++z) {
        for (std::int64_t y = array.from[1]; y < array.to[1]; ++y) {
            const std::int64_t at[3] = {0, y, z};
            char* row = static_cast<char*>(array.first);
            for (int level = 0; level <= array.level[0]; ++level) {
                std::int64_t index = 0;
                for (int axis = 1; axis < 3; ++axis)
                    if (array.level[axis] == level) index += at[axis] * array.stride[axis];
                row =
                    level < array.level[0] ? reinterpret_cast<char**>(row)[index] : row + index * array.bytes;
            }
            for (std::int64_t x = array.from[0]; x < array.to[0]; ++x)
                copy(row + x * array.stride[0] * array.bytes,
                     static_cast<std::size_t>((z * cells(1) + y) * cells(0) + x));
        }
    }
}

c::Number field_number(const Simulation& simulation, const std::string& name) {
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
    const c::Number type = field_number(*stencil->simulation, name);
    std::vector<double>& field = stencil->simulation->interpreter->field(name);
    std::fill(field.begin(), field.end(), 0);
    Box copied{name, nullptr, nullptr, array};
    for_cells(*stencil, *array, [&](const char* at, std::size_t cell) {
        copied.low = copied.low == nullptr ? at : std::min(copied.low, at);
        copied.high = std::max(copied.high, at + array->bytes);
        constexpr double kNobodys = 77;  // what is overwritten is not looked at
        std::int64_t bits = 0;
        if (array->is_overwritten != 0) return static_cast<void>(field.at(cell) = kNobodys);
        if (type == c::Number::i64) std::memcpy(&bits, at, sizeof bits);
        field.at(cell) = type == c::Number::i64 ? std::bit_cast<double>(bits) : read_number(at, type);
    });
    boxes.push_back(copied);
    return 0;
}
void read(Called* stencil, const char* name, const CalledArray* array) {
    const c::Number type = field_number(*stencil->simulation, name);
    const std::vector<double>& field = stencil->simulation->interpreter->field(name);
    const auto own = std::ranges::find(boxes, name, &Box::name);
    for (const Box& each : boxes) {
        if (record != nullptr && each.array != own->array && each.low < own->high && own->low < each.high)
            record->overlaps = true;
    }
    for_cells(*stencil, *array, [&](char* at, std::size_t cell) {
        if (type == c::Number::i64)
            std::memcpy(at, &field.at(cell), sizeof(double));
        else
            write_number(at, type, field.at(cell));
    });
}
int step(Called* stencil, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        stencil->simulation->interpreter->step();
    return 0;
}
int reduce(Called* stencil, const char* name, double* into) {
    *into = stencil->simulation->interpreter->reduction(name);
    return 0;
}

// Of the thread of a kernel: what it is called, as unsigned x, y, z.
unsigned thread_index[3], block_index[3], block_size[3], grid_size[3];

}  // namespace

const char kCallDeclarations[] = R"(
#ifndef HALOCLINE_LIFTED_H
#define HALOCLINE_LIFTED_H
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
    halo_simulation* simulation;
    int64_t grid[3];
    int failed;
} halo_lifted;
typedef struct halo_lift_array {
    void* first;
    int64_t bytes;
    int64_t from[3], to[3], stride[3];
    int level[3];
    int is_overwritten;
} halo_lift_array;
void halo_lift_failed(halo_lifted*);
int halo_lift_loops(const halo_lift_array* const*, int);
int halo_lift_ready(halo_lifted*, const char*, const char*, int, const int64_t*);
int halo_lift_set(halo_lifted*, const char*, double);
int halo_lift_write(halo_lifted*, const char*, const halo_lift_array*);
void halo_lift_read(halo_lifted*, const char*, const halo_lift_array*);
int halo_lift_step(halo_lifted*, int64_t);
int halo_lift_reduce(halo_lifted*, const char*, double*);
void halo_lift_keep_arrays(int);
int halo_lift_take_back(const void*);
#ifdef __cplusplus
}
#endif
#endif
)";

void record_run(RunRecord* wanted) {
    record = wanted;
}
RunRecord* recorded_run() {
    return record;
}

const char kRunBlock[] =
    "extern \"C\" void halo_lift_run_block(void (*thread)(void*), void* given, const unsigned* size);\n";

namespace {
void run_one_block(void (*thread)(void*), void* given, const unsigned* size) {
    run_block(thread, given, size, thread_index);
}
}  // namespace

namespace {
unsigned next_turn = 0;
unsigned turn() {
    return record != nullptr ? record->turn : next_turn;
}
}  // namespace

void begin_order() {
    ++next_turn;
}

std::map<std::string, void*> thread_symbols() {
    return {{"threadIdx", thread_index},
            {kTurn, address(&turn)},
            {"blockIdx", block_index},
            {"blockDim", block_size},
            {"gridDim", grid_size},
            {"halo_lift_syncthreads", address(&wait_in_block)},
            {"halo_lift_run_block", address(&run_one_block)}};
}

std::map<std::string, void*> stand_in_symbols() {
    std::map<std::string, void*> all = thread_symbols();
    all.insert({{"__sanitizer_cov_trace_pc", address(&traced_block)},
                {"halo_lift_failed", address(&failed)},
                {"halo_lift_ready", address(&ready)},
                {"halo_lift_write", address(&write)},
                {"halo_lift_read", address(&read)},
                {"halo_lift_loops", address(&loops)},
                {"halo_lift_keep_arrays", address(&keep)},
                {"halo_lift_take_back", address(&take_back)},
                {"halo_lift_set", address(&set)},
                {"halo_lift_step", address(&step)},
                {"halo_lift_reduce", address(&reduce)}});
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
