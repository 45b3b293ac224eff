// A device whose kernels are plain functions of this process, and launch plans with such kernels.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/core/launch_plan.h"

// Called once a block, with the block's place and the argument values.
using BlockFunction = std::function<void(const std::array<std::int64_t, 3>& block, std::int64_t number,
                                         void* const* arguments)>;

class FakeModule : public halo::rt::Module {
public:
    std::map<std::string, BlockFunction> functions;
    std::map<std::string, std::vector<char>> constants;  // sized by the test

    halo::rt::Kernel* find_kernel(const halo::rt::KernelPlan& plan) override;
    bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) override;

private:
    std::map<std::string, std::unique_ptr<halo::rt::Kernel>> kernels_;
};

class FakeDevice : public halo::rt::Device {
public:
    halo::rt::MemoryInfo reported_memory;
    bool recordable = false;
    int live_allocations = 0;
    int launches = 0;  // those that ran, replays included
    int replays = 0;
    int recordings = 0;
    bool finishes_reductions = false;
    int finished_reductions = 0;
    bool has_host_memory = false;  // that kernels reach
    int calls_until_failure = -1;  // of launch(); -1 for never
    std::function<std::unique_ptr<halo::rt::Module>(std::string_view code)> loader;  // none: nothing loads

    std::string description() const override { return "a fake device"; }
    halo::rt::MemoryInfo memory() const override { return reported_memory; }
    void* allocate(std::int64_t bytes) override;
    void release(void* address) noexcept override;
    void* allocate_on_host(std::int64_t bytes) override {
        return has_host_memory ? allocate(bytes) : nullptr;
    }
    void release_on_host(void* memory) noexcept override { release(memory); }
    bool can_kernels_reach_host() const override { return has_host_memory; }
    void set_bytes(void* address, int byte, std::int64_t bytes) override;
    void copy_to_device(void* address, const void* host, std::int64_t bytes) override;
    void copy_to_host(void* host, const void* address, std::int64_t bytes) override;
    void copy_on_device(void* destination, const void* source, std::int64_t bytes) override;
    void upload_cells(void* array, const halo::rt::Geometry& geometry, halo::rt::ElementType type,
                      const void* dense) override;
    void download_cells(void* dense, const void* array, const halo::rt::Geometry& geometry,
                        halo::rt::ElementType type) override;
    void run_halo_passes(const std::vector<halo::rt::HaloPass>& passes, halo::rt::ElementType type,
                         void* array) override;
    std::unique_ptr<halo::rt::Module> load(std::string_view code, const std::string& name) override;
    void launch(halo::rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks,
                void** arguments) override;
    void synchronize() override;
    bool can_finish_reductions() const override { return finishes_reductions; }
    void finish_reductions(halo::rt::ReductionPlan::Op op, const void* partials, std::int64_t count,
                           std::int64_t rows, void* results) override;
    bool can_record() const override { return recordable; }
    void begin_recording() override;
    std::unique_ptr<halo::rt::Recording> end_recording() override;
    void replay(halo::rt::Recording& recording) override;

private:
    void run(std::function<void()> work);
    void not_while_recording() const;
    std::map<void*, std::vector<char>> memory_;
    // Stays until the device goes, filled with bytes that stand out: whoever still reads it computes
    // something else.
    std::vector<std::vector<char>> released_;
    bool recording_ = false;
    std::vector<std::function<void()>> recorded_;
};

halo::rt::HostScalar constant_scalar(double value);
halo::rt::HostScalar param_scalar(int index);

halo::rt::Argument field_argument(int field, int time);
halo::rt::Argument scalar_argument(int param, halo::rt::ElementType type);
halo::rt::Argument index_argument(halo::rt::Argument::Kind kind, int index);
halo::rt::LaunchPlan named_plan(const std::string& name, int rank);  // with axes and no more
halo::rt::FieldPlan state_of_f64(const std::string& name);           // without boundaries and past levels

template <class Value>
Value value_of(void* const* arguments, int index) {
    return *static_cast<const Value*>(arguments[index]);
}

// A program of a test: the plan, and the module with its kernels.
struct Sample {
    halo::rt::LaunchPlan plan;
    std::unique_ptr<FakeModule> module;
};

// u[t+1] = u + rate * (sum of neighbours - 2 * rank * u): x periodic, y fixed to the param `wall` below and
// clamped above, z mirrored. Reductions: change = max |u[t+1] - u|, total = sum of u[t+1]. Params: rate (no
// default), wall (default 2).
Sample heat_sample(int rank, halo::rt::ElementType type);

// p[t+1] = 2 p - p[t-1] + rate * (p[x-1] - 2 p + p[x+1]), periodic; f64, history 1. Param: rate.
Sample wave_sample();
// A kernel that does three steps of that at once, on grids of 4 cells and more: the time block for its plan,
// and the module with it, which also has the constant "w_constant".
Sample wave_with_block();
std::unique_ptr<FakeModule> wave_block_module();

// p[t+1] = 1.5 p - 0.5 p[t-1] + rate * (p[x-1] - 2 p + p[x+1]), periodic; f64, history 1. Reductions: change
// = max |p[t+1] - p|, total = sum of p[t+1]. Param: rate. A time block does `steps` of them, with both
// reductions.
Sample damped_sample(int steps, bool is_whole);
// On a free line: out[t] = out[t-1] + w[0] * u[x-1] + w[1] * u[x+1], where both neighbours are; other cells
// of out keep what they held. u is an input. `by_pointer`: w comes as an argument, else through the constant
// "w".
Sample weights_sample(bool by_pointer);
