// Runs compiled stencils in your own program: from files that `haloc bundle` wrote, from code that
// halo_add_stencil() linked in, or from what the compiler (halocline.hpp) makes while the program runs. This
// library has no compiler in it.
//
//   using namespace halocline;
//   Device device = Device::cuda();
//   Program heat = Program::load("heat.halobundle");
//   Simulation simulation(heat, device, {512, 512});
//   simulation.set("dt", 0.1);
//   simulation.write("u", start);          // 512 * 512 values, x fastest: element x + 512 * y
//   simulation.step(1000);                 // returns at once on a GPU
//   std::vector<double> result = simulation.read("u");  // waits
//
// All mistakes and troubles throw Error (error.hpp). Device, Program, Field and Simulation are handles:
// copies mean the same thing, which lives as long as one of them, or something made with it.
//
// Threads: every call may come from any thread. Calls that work on one device take turns, and those of a
// Simulation on several take the turns of all; whoever steps one Simulation from several threads decides the
// order. Programs and different devices are independent.
//
// Order: what is asked of one device is done in the order of the calls, in the device's stream. step() does
// not wait on a GPU; whatever gives values back does, and so does wait(). On the CPU every call is done when
// it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/error.hpp"
#include "halocline/runtime.h"

namespace halocline {

namespace detail {
struct ConditionState;
struct DeviceState;
struct FieldState;
class ProgramSource;
struct SimulationState;
}  // namespace detail

const char* version() noexcept;  // "0.1.0"

// Cells along each axis, x first: as many numbers as the program has axes.
using Grid = std::vector<std::int64_t>;

enum class Type : std::uint8_t { f32, f64, f16, bf16, u8, i32, i64, boolean };  // boolean: a byte, 0 or 1
std::int64_t size_of(Type type) noexcept;                                       // bytes

enum class Role : std::uint8_t {
    input,  // read by steps
    state,  // advanced by steps: u[t+1] = …
    output  // computed by each step
};

// What is the caller's of a GPU. Handles are those of the driver or of the CUDA runtime (cudaStream_t).
struct CudaHandles {
    static constexpr int kOfStream = std::numeric_limits<int>::min();
    // Not looked at where a context is given. kOfStream: the GPU and the context that `stream`, which is not
    // the default one, belongs to.
    int ordinal = 0;
    void* context = nullptr;  // a CUcontext; null: the GPU's primary one, which the CUDA runtime uses, too
    // Everything is done in this stream of the context; null is the default stream. Without it there is one
    // of its own, which other streams do not wait for. It is the caller's to destroy, after the Device.
    std::optional<void*> stream{};
    // Of the stream or the context, if it has one: held until the Device and all that was made on it are gone.
    std::shared_ptr<void> owner{};
};

class Device {
public:
    // Throws no_device, driver_too_old. The thread's current context is left as it was, here and in all
    // calls.
    static Device cuda(int ordinal = 0);
    static Device cuda(const CudaHandles& handles);
    // threads: 1 to 4096, or 0 for as many as the machine has cores, or HALO_NUM_THREADS. Where the system
    // starts fewer, those do the work; description() says how many there are.
    static Device cpu(int threads = 0);
    static Device best();  // the first GPU, else the CPU

    const std::string& kind() const noexcept;  // "cuda:0" or "cpu"
    std::string description() const;           // one line for people
    std::string arch() const;                  // "sm_90"; "cpu"
    void* stream() const noexcept;             // CUstream; null on the CPU
    void wait() const;                         // until everything is done; throws what went wrong meanwhile
    // Order with another stream of the caller's, in the GPU's context; null is the default one. Neither
    // waits, and on the CPU, where every call is done when it returns, neither does anything.
    void wait_for_stream(void* stream) const;   // work from now on begins after what `stream` has to do now
    void make_stream_wait(void* stream) const;  // the other way round

    const std::shared_ptr<detail::DeviceState>& state() const noexcept { return state_; }

private:
    explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::DeviceState> state_;
};

// A device that there is.
struct DeviceInfo {
    std::string kind;  // "cuda:0", "cpu"
    std::string description;
    std::string arch;
    std::int64_t memory = 0;  // bytes of a GPU; 0 for the CPU
};
struct Devices {
    std::vector<DeviceInfo> all;  // the GPUs, and the CPU at the end
    std::string why_no_gpu;       // what is missing, and the mend; empty where there is a GPU
};
Devices find_devices();  // makes no context

struct FieldInfo {
    std::string name;
    Type type = Type::f32;
    Role role = Role::input;
    int past = 0;  // levels kept besides t: t-1 … t-past
    // Its cells lie side by side with those of other components (`layout aos`), so it has no array of its
    // own.
    bool interleaved = false;
    // The axes that it lies over: by axis of the program; fields over fewer axes have arrays of those alone.
    std::vector<bool> over;
    // A cell of it is as wide as so many of the grid: its arrays have the cells that fit, n / coarse of n.
    int coarse = 1;
};
struct ParamInfo {
    std::string name;
    std::optional<double> default_value;
};
struct WeightsInfo {  // of a `param coef`
    std::string name;
    std::vector<std::int64_t> sizes;  // of its ranges
};
struct TableInfo {  // or a series, whose values are the one column
    std::string name;
    std::vector<std::string> columns;  // that are given
    bool is_series = false;
};
struct PointsInfo {
    std::string name;
    std::vector<std::string> columns;   // a number for each point
    std::vector<std::string> injected;  // a number for each step and point
    std::vector<std::string> sampled;   // the same, as results
};
struct ProgramInfo {
    std::string name;
    std::vector<std::string> axes;
    std::vector<FieldInfo> fields;
    std::vector<ParamInfo> params;
    std::vector<std::string> reductions;
    std::vector<WeightsInfo> weights;
    std::vector<TableInfo> tables;
    std::vector<PointsInfo> points;
};

// A kernel that is linked into the program. What halo_add_stencil() generates has lists of these, which end
// with a null name.
using LinkedKernel = ::halo_linked_kernel;

// A stencil program with its code for one or more devices and grids.
class Program {
public:
    // From a bundle (`haloc bundle`, or write_bundle() of halocline.hpp), a plain file of 1 GiB at most.
    // Throws io; bad_argument where it is none, or is damaged.
    static Program load(const std::string& path);
    // The same from memory, which is copied. kernels: the code for the CPU, null where there is none; it must
    // stay. name: for messages.
    static Program from_memory(std::string_view bundle, const LinkedKernel* kernels = nullptr,
                               const std::string& name = "linked-in bundle");

    const ProgramInfo& info() const noexcept;
    // What there is code for, such as "sm_90, grid 512 x 512" or "cpu, any grid"; a program that is compiled
    // when it is needed says so.
    std::vector<std::string> targets() const;

    explicit Program(std::shared_ptr<detail::ProgramSource> source) : source_(std::move(source)) {}
    const std::shared_ptr<detail::ProgramSource>& source() const noexcept { return source_; }

private:
    std::shared_ptr<detail::ProgramSource> source_;
};

// Of a repeat that a condition ends: `repeat until change < 1e-6, at most 500 { … }`.
struct Iterations {
    std::string condition;             // as it is written
    std::int64_t at_most = 0;          // of a step
    std::int64_t total = 0;            // of all steps
    std::int64_t most_in_step = 0;
    std::int64_t steps_without_it = 0;  // that ended after `at_most` iterations, without the condition
};

// What steps may go on until: a comparison of reductions and params, as in a `run` block. Made by condition()
// of halocline.hpp, for simulations of that program.
class Condition {
public:
    explicit Condition(std::shared_ptr<const detail::ConditionState> state) : state_(std::move(state)) {}
    const std::shared_ptr<const detail::ConditionState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<const detail::ConditionState> state_;
};

// How the arrays of a simulation lie, in elements: cell (x, y, z) is element first_cell + x + pitch * y +
// slice * z of an array of `elements`. All arrays of a simulation share pitch and slice. Around the cells
// there is room for halos, whose contents are Halocline's.
struct Layout {
    Grid grid;
    std::int64_t pitch = 0, slice = 0;
    std::int64_t first_cell = 0;
    std::int64_t elements = 0;
    std::int64_t alignment = 1;  // the address of cell (0,0,0) is a multiple of so many elements
    std::int64_t volume = 0;     // of four axes: elements from a volume to the next
};

// One that suits all of the programs on this device and grid, so that they can share fields.
Layout common_layout(const std::vector<Program>& programs, const Device& device, const Grid& grid);

// An array of the caller's: device memory on a GPU, host memory on the CPU.
struct View {
    void* memory = nullptr;
    std::int64_t bytes = 0;       // that may be used, from `memory` on
    std::int64_t first_cell = 0;  // element of cell (0,0,0)
    std::int64_t pitch = 0;       // elements from a row to the next
    std::int64_t slice = 0;       // from a plane to the next; of three axes
    std::int64_t volume = 0;      // from a volume to the next; of four axes. 0: planes lie one after the other
};

// A field with its levels, each in an array. Simulations that are bound to one Field share it: what one has
// stepped or written, the next one starts from. They must be on the Field's device.
class Field {
public:
    // Of its own memory, all 0. past: levels kept besides t. scratch: arrays that steps write next; a state
    // needs one, and kernels that do several steps at once use one more where there is one; an input or
    // output needs none.
    Field(const Device& device, Type type, const Layout& layout, int past = 0, int scratch = 1);
    // On the caller's arrays, which stay the caller's and must outlive it: t, then t-1 … t-past, then those
    // that steps write next. All lie alike: same pitch and slice.
    static Field of_views(const Device& device, Type type, const Grid& grid, const std::vector<View>& arrays,
                          int past = 0);

    Type type() const noexcept;
    const Grid& grid() const noexcept;
    // Where a level is now: 0 is t, -1 is t-1. Steps move levels from array to array, so ask again after each
    // step(). On a GPU the cells may still be being computed: read them in the device's stream, or after
    // wait().
    View view(int level = 0) const;
    // To be called after the caller has changed cells of these arrays.
    void changed();
    // The cells of a level, dense and x fastest, in the field's own type. Waits.
    void read_elements(void* elements, std::int64_t bytes, int level = 0) const;
    void write_elements(const void* elements, std::int64_t bytes, int level = 0);  // likewise
    // Another Field with arrays of its own, as many, that lie alike and hold the same. Does not wait.
    Field copy() const;

    explicit Field(std::shared_ptr<detail::FieldState> state) : state_(std::move(state)) {}
    const std::shared_ptr<detail::FieldState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::FieldState> state_;
};

struct SimulationOptions {
    std::optional<Layout> layout{};  // common_layout() of all programs that share its fields; on one device
    // Of several devices: steps from one exchange of cells to the next, 1 or more. Without it a model
    // chooses.
    std::optional<std::int64_t> exchange_every{};
};

// The cells that one of several devices has: those from begin[axis] to end[axis] - 1 of the whole grid.
struct Piece {
    Grid begin, end;
};

// One program on one grid, on one device or in pieces on several.
//
// Arrays on the host are dense, x fastest: element x + nx * (y + ny * z); level 0 is t, -1 is t-1. Values
// convert to and from the field's type.
class Simulation {
public:
    // Throws no_device where the program has no code for this device and grid, and says what it has code for.
    // Memory is taken when it is first needed: with the first write(), step() … All fields start at 0.
    Simulation(const Program& program, const Device& device, const Grid& grid,
               const SimulationOptions& options = {});
    // Piece i of the grid on devices[i]: GPUs, or CPUs; one may be named several times. The grid, all values
    // and results are those of the whole, with the same bits. For programs from compile() and compile_file().
    // Throws also unsupported where no grid of this program can be cut, and bad_argument where this one
    // cannot be cut into so many pieces, or a device is a GPU and another one a CPU. A list of one device is
    // that device.
    Simulation(const Program& program, const std::vector<Device>& devices, const Grid& grid,
               const SimulationOptions& options = {});

    const ProgramInfo& info() const noexcept;
    const Grid& grid() const noexcept;
    Layout layout() const;  // on one device
    std::int64_t steps_done() const;

    void set(const std::string& param, double value);  // a finite one; holds from the next step on
    double get(const std::string& param) const;
    void set_weights(const std::string& coefficient,
                     std::span<const double> weights);                       // the last range fastest
    void set_table(const std::string& table, std::span<const double> rows);  // given columns, row by row
    void set_series(const std::string& series, std::span<const double> values);  // at 0, 1, …; one at least
    void set_points(const std::string& points, std::span<const double> positions);  // point after point
    void set_point_values(const std::string& points, const std::string& name, std::span<const double> values);
    std::vector<double> trace(const std::string& points, const std::string& name);  // [step][point]

    // Binds the field to arrays that are the caller's or another simulation's. Throws bad_argument, saying
    // what the arrays must be, where type, grid, levels, pitch or the room around the cells do not fit, or
    // where others that it is bound to say something else of what lies past its faces. On one device.
    void bind(const std::string& field, const Field& arrays);
    // The arrays that the field is in, for another simulation's bind(), or for view(). On one device.
    Field field(const std::string& name);

    std::vector<Piece> pieces() const;  // by device; on one: the whole grid
    // Where a level of a piece is now, on the piece's device: its cell `begin` is element first_cell. To be
    // read: what is around its cells is Halocline's, and what is changed here no neighbour sees. Steps move
    // levels from array to array, and on a GPU the cells may still be being computed, as of Field::view().
    View view(const std::string& field, int piece = 0, int level = 0);

    // The caller's memory may be reused when write() returns, and holds the values when read() does. Of a field
    // over fewer axes (FieldInfo::over) there are its own cells alone; boxes and views have one cell along the
    // other axes, and it cannot be bound.
    void write(const std::string& field, std::span<const float> values, int level = 0);
    void write(const std::string& field, std::span<const double> values, int level = 0);
    void read(const std::string& field, std::span<float> values, int level = 0);
    void read(const std::string& field, std::span<double> values, int level = 0);
    std::vector<double> read(const std::string& field, int level = 0);
    // In the field's own type, as it lies in memory.
    void write_elements(const std::string& field, const void* elements, std::int64_t bytes, int level = 0);
    void read_elements(const std::string& field, void* elements, std::int64_t bytes, int level = 0);
    // The cells from begin[axis] to end[axis] - 1 alone.
    void read_box(const std::string& field, const Piece& box, void* elements, std::int64_t bytes,
                  int level = 0);

    // From memory of the simulation's device, such as an array of another library: cell (0,0,0) of `cells` is
    // its element first_cell, and elements are of the field's type. In the order of the device's work, so the
    // memory must stay until that is done, also where the simulation goes before. On one device.
    void write_view(const std::string& field, const View& cells, int level = 0);
    void read_view(const std::string& field, const View& cells, int level = 0);  // into such memory

    void step(std::int64_t count = 1);  // asynchronous on a GPU
    // At most so many steps, and none after one at which the condition holds; it is looked at after every
    // `every` steps and after the last one. Waits. Returns the steps done and whether it held.
    struct Stepped {
        std::int64_t steps = 0;
        bool holds = false;
    };
    Stepped step_until(const Condition& condition, std::int64_t at_most, std::int64_t every = 1);
    void wait();                                  // for this simulation's devices
    double reduce(const std::string& reduction);  // of the last step; waits
    // What this simulation has done of the repeats that a condition ends, in their order; waits.
    std::vector<Iterations> iterations();

    explicit Simulation(std::shared_ptr<detail::SimulationState> state) : state_(std::move(state)) {}
    const std::shared_ptr<detail::SimulationState>& state() const noexcept { return state_; }

private:
    std::shared_ptr<detail::SimulationState> state_;
};

}  // namespace halocline
