// The compiler in your own program: text of specs to Programs (runtime.hpp), which compile themselves for a
// device and grid when a Simulation first needs it, or before that in the background.
//
//   Program heat = compile_file("heat.halo");
//   std::shared_future<void> ready = precompile(heat, device, {{512, 512}, {1024, 1024}});
//   Simulation simulation(heat, device, {512, 512});  // waits for what is left of it
//
// All of it may be called from any thread. What was compiled once is taken from the disk cache the next time
// (HALOCLINE_CACHE). A GPU needs NVRTC at run time; the CPU a Halocline that was built with LLVM.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/runtime.hpp"

namespace halocline {

namespace detail {
struct CheckpointState;
struct GradientState;
}

struct CompileOptions {
    std::string name = "program.halo";     // of the text, in messages
    std::string stencil{};                 // which one, where the text has several
    std::vector<std::string> include{};    // folders of modules that the text uses
    std::vector<std::string> schedules{};  // as of `haloc run --schedule`, for GPUs
    bool strict_fp = false;                // keep the order of arithmetic as written
    // Kernels that do several steps at once take seconds to compile. Without this a Simulation does single
    // steps until they are there, in the background.
    bool wait_for_all_kernels = false;
};

// All messages about the text, warnings too. Throws nothing about the text.
std::vector<Diagnostic> check(const std::string& text, const CompileOptions& options = {});

// The same with all that `haloc check --json` prints: ranges, labels, notes.
std::string check_json(const std::string& text, const CompileOptions& options = {});

// Throws Error: spec, with diagnostics(), where the text has mistakes; bad_argument for a stencil that is not
// there or a schedule that cannot be read; io for a file that cannot be read.
Program compile(const std::string& text, const CompileOptions& options = {});
Program compile_file(const std::string& path, const CompileOptions& options = {});

// What steps of the program may go on until (Simulation::step_until()): "change < 1e-5 and time > 2", as after
// `until` in a run block. Throws spec, with diagnostics(); bad_argument for a program from a bundle.
Condition condition(const Program& program, const std::string& text);

// Begins to compile for the device and each of the grids in a background thread. The future is ready when all
// is done, and throws what went wrong. It may be dropped; a Simulation made meanwhile waits for its own grid
// alone. A program from a bundle is ready at once.
std::shared_future<void> precompile(const Program& program, const Device& device,
                                    const std::vector<Grid>& grids);

// The same for pieces of each grid on several devices.
std::shared_future<void> precompile(const Program& program, const std::vector<Device>& devices,
                                    const std::vector<Grid>& grids, const SimulationOptions& options = {});

// What a program becomes. In the order of `haloc emit --target`.
enum class EmitTarget : std::uint8_t {
    cuda,     // kernels; in a .cu file with a launcher in plain C, beside a header
    cpu,      // C++ as the CPU runs it
    plan,     // the launch plan, in JSON
    stencil,  // the checked program
    kernel    // what one thread does
};
struct EmitOptions {
    EmitTarget target = EmitTarget::cuda;
    std::vector<std::string> schedules{};  // those of compile() where there are none
    std::vector<std::string> archs{};      // "sm_90" …, that schedules are chosen for
    Grid grid{};                           // likewise; empty: a large one
    bool fixed_grid = false;               // for that grid alone
};

// Of programs from compile(). Throw bad_argument for others, an arch that is not known, a schedule that
// cannot be read; unsupported for one that cannot be built; io.
std::string emit(const Program& program, const EmitOptions& options = {});  // the text
std::vector<std::string> emit_file(const Program& program, const std::string& path,
                                   const EmitOptions& options = {});  // all files that were written

struct ExplainOptions {
    Grid grid{};                           // empty: a large one
    std::vector<std::string> schedules{};  // those of compile() where there are none
    std::string arch{};  // "sm_90" …; empty: this machine's GPU, or an H200 where there is none
    bool json = false;   // as of `haloc explain --json`
    int width = 100;     // of lines of text
};
// How each stage would run on a GPU, and why, as `haloc explain` tells it. Throws as emit() does.
std::string explain(const Program& program, const ExplainOptions& options = {});

struct BundleOptions {
    std::vector<std::string> archs{};  // "sm_90" …; needs NVRTC, and no GPU
    std::vector<Grid> grids{};         // code with schedules for each of these
    bool any_grid = true;              // and for all other grids
};

// What is found on this machine, as `haloc doctor` tells it.
struct Finding {
    std::string name, title;  // "nvrtc", "NVRTC"
    bool found = false;
    std::string detail;  // what was found, or why it is missing and how to get it
};
struct MachineReport {
    std::vector<Finding> findings;
    std::string best_device;  // "cuda", "cpu"; "interpreter", which host programs do not have: neither
    std::string figures;      // which schedules are chosen by, and where they are from
};
MachineReport examine_machine();

struct TuneOptions {
    double budget_seconds = 60;
    int jobs = 0;        // threads that compile; 0: as many as there are processors, 16 at most
    bool again = false;  // forget what was measured before
    std::vector<std::pair<std::string, double>> params{};  // where they are not the defaults
    bool says_progress = false;                            // lines on standard error
    // While it measures, Ctrl-C and SIGTERM are caught by the process, and end it with what was found so far.
    bool stops_on_signals = false;
};
struct TunedStage {
    std::string name;  // "stage 1", "several steps at once"
    std::string result;  // "tuned", "known" from before, "no choice", "failed"
    std::string schedule, model_schedule;  // the fastest, and that which the model chooses
    double seconds = 0;                    // a step of the program
    std::optional<double> model_seconds{};
    int trials = 0;  // schedules that were tried, now and before
    std::vector<std::string> left_out{};  // sentences
};
struct TuneResult {
    std::vector<TunedStage> stages;
    std::string text;         // for people
    std::string store;        // the file that keeps it
    bool interrupted = false;  // what was measured is kept, and the same call goes on
};
// Measures schedules of the program on a grid on a GPU, as `haloc tune`, and keeps the fastest for this
// machine. Simulations that are made later run by them. Throws bad_argument for a device that is no GPU, and
// what compile() throws; no_device; unsupported where no schedule could be built and found right.
TuneResult tune(const Program& program, const Device& gpu, const Grid& grid, const TuneOptions& options = {});

// Where the cells of a field lie, with the simulation's present params: cell (i, j, k) at first + spacing *
// (i, j, k). A field that lies between cells has its first value half a spacing after the origin. Lists are
// by axis, x first.
struct Coordinates {
    std::vector<double> spacing, origin, first;
    std::optional<double> time_step;  // the param `dt`; none where the program has none
};
Coordinates coordinates(const Simulation& simulation, const std::string& field);

// Writes fields as they are now, in the formats of `haloc run --save`: to a .npy file one, to an HDF5 file
// (.h5, .hdf5; .nc of NetCDF, .vtkhdf of VTK) any number, without a list all states and outputs. Components
// (v.x) are written together under the name of their field (v), as a last axis. The file appears whole or not at all. Throws
// bad_argument for names and endings that cannot be; io, also where HDF5's library is not there.
void save_fields(const Simulation& simulation, const std::string& path,
                 const std::vector<std::string>& fields = {});

struct GradientOptions {
    std::string of;  // a reduction, or a trace that is sampled: "phones.seen"
    // Inputs, states (what they are at the start), params, traces that are injected ("shots.wavelet"). The name of a
    // vector stands for all its components.
    std::vector<std::string> with;
    bool every_step = false;  // of a reduction: its sum over all steps; else what the last one gives
    std::optional<std::int64_t> snapshots{};  // states that are kept; without it as many as fit
    // In place of `of`: states and outputs. The objective is then the sum of their cells after the last step, each times
    // a weight (FieldWeights): the vector-Jacobian product of steps as a function of arrays. Each level of a state is an
    // argument of its own, and what nothing depends on is left out of the gradients.
    std::vector<std::string> of_fields{};
};
// Of a trace, which is [step][point]: what its numbers are multiplied with before they are added. Or what was measured
// in its place, and the objective is half the sum of the squares of what they differ by.
struct OfTrace {
    std::span<const double> weights{}, measured{};  // one of the two
};
// Of `of_fields`: what the cells of a level are multiplied with, -1 for that before the last one, of the type that
// Gradient::weights() says: in memory of the simulation's device, or in the host's. Of a
// simulation in pieces as elements alone.
struct FieldWeights {
    std::string field;
    int level = 0;
    View cells{};
    std::span<const std::byte> elements{};  // in place of cells: in the host's memory, dense and x fastest
};
struct GradientReport {
    double objective = 0;  // of `of_fields` it is not computed
    std::int64_t steps = 0, steps_done_again = 0;
    std::int64_t snapshots = 0, snapshots_on_host = 0;  // of these, in the host's memory while the simulation is on a GPU
    std::int64_t snapshot_bytes = 0;                    // of each
    double seconds = 0;
};

// How the number that steps end with changes with all that they begin with (docs/gradients.md): the adjoint of a
// simulation's program, on its device. For programs from compile(). Of a simulation in pieces, by other pieces on the same
// devices, which are given what these have.
class Gradient {
public:
    // Throws bad_argument for names that cannot be, and for a bundle's program; unsupported, with
    // diagnostics(), where what is asked for cannot be differentiated: the place, and what to write instead.
    Gradient(const Simulation& simulation, const GradientOptions& options);

    // Steps forward from the simulation's fields, which has done no step, and back; its fields are then what they
    // were. May be called again, with other fields, params and points. Waits. Throws bad_argument for numbers of
    // another shape than the trace; out_of_memory where the snapshots do not fit.
    GradientReport compute(std::int64_t steps, const OfTrace& of_trace = {});
    // Of `of_fields`: levels that are not given have the weight 0.
    GradientReport compute(std::int64_t steps, std::span<const FieldWeights> weights);

    // Of the last compute(). Names are those of `with`, components one by one: "v.x".
    double number(const std::string& param) const;
    std::vector<double> trace(const std::string& injected) const;  // [step][point]
    std::vector<double> seen() const;                              // where `of` is a trace: what was sampled
    std::vector<double> read(const std::string& field) const;      // dense, x fastest
    // Where it lies: a field of the adjoint's own simulation; of `of_fields` that of a state's level 0.
    std::string field_name(const std::string& field) const;
    Simulation adjoint() const;  // of `of_fields` where something depends on what is named in `with`

    // Of `of_fields`: the levels whose weights matter, and those that something depends on. name: of the field of the
    // adjoint's simulation, which has another type where the given one is stored rounded.
    struct Level {
        std::string field;
        int level = 0;
        std::string name;
        Type type = Type::f32;
    };
    std::vector<Level> weights() const, levels() const;

    std::vector<std::string> fields() const;  // those of `with` by what they are
    std::vector<std::string> numbers() const;
    std::vector<std::string> traces() const;

private:
    std::shared_ptr<detail::GradientState> state_;
};

// Whether there is such a gradient, before there is a simulation: throws what Gradient() would about the program.
void check_gradient(const Program& program, const GradientOptions& options);

// Checkpoints: all that a simulation needs to go on as if it had never stopped, on any devices. The format is
// that of `haloc run --checkpoint`: a folder with one folder step-N, which is there whole at any time.
class Checkpoint {
public:
    // The newest one in a folder, or the one that the folder is. All of it is read, and checked against what
    // was written. Throws io where there is none, or it is damaged.
    static Checkpoint find(const std::string& path);

    const std::string& path() const noexcept;     // its own folder, …/step-N
    const std::string& program() const noexcept;  // the name
    const Grid& grid() const noexcept;
    std::int64_t steps() const noexcept;
    // Whether inputs, weights, tables and points are in it. A checkpoint of `haloc run` leaves them to the
    // spec, and whoever goes on from it gives them to the simulation.
    bool holds_data() const noexcept;

    // Into a simulation of the same program and grid that has done no step: its params, fields, steps,
    // reductions and traces become those of the checkpoint. Throws bad_argument where it is of another one.
    void restore(Simulation& simulation) const;

private:
    explicit Checkpoint(std::shared_ptr<const detail::CheckpointState> state) : state_(std::move(state)) {}
    std::shared_ptr<const detail::CheckpointState> state_;
};

// Writes a checkpoint into the folder, which is made where it is not there, and then removes the one before.
// Returns its own folder. Throws bad_argument where the folder holds checkpoints of another run than this
// simulation, or the one that it was restored from; io, with the one before still there.
std::string save_checkpoint(Simulation& simulation, const std::string& folder);

// Writes code that Program::load() reads, and that runs without a compiler. Throws bad_argument for an arch
// that is not known, or a program that comes from a bundle itself; no_device without NVRTC; io.
void write_bundle(const Program& program, const std::string& path, const BundleOptions& options);

}  // namespace halocline
