// The reductions of a session: partial results on the device, and what they come to. Not for other rooms.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/session/kernels.h"
#include "runtime/core/session/parts.h"

namespace halo::rt::session {

class Reductions {
public:
    Reductions(const Setup& setup, const Clock& clock, const Kernels& kernels);

    std::size_t size() const { return own_.size(); }
    // Of single steps: a number for each block of the reduction's kernel.
    void* partials(int index) const { return own_[static_cast<std::size_t>(index)].address(); }
    std::int64_t partial_count(int index) const { return kernels_.block_count(plan_of(index).kernel); }
    void* device_scalars() const { return device_scalars_.address(); }
    std::vector<DeviceMemory*> read_by_scalars();  // partial results that scalars of the device follow from
    // After a step: where its partial results are. A time block has arrays of its own for those it gives.
    void found_by_steps();
    void found_by_block(int index, const void* partials, std::int64_t count);
    void found_within_step(int index);  // its kernel has run, whatever follows in the step

    bool is_read_by(const HostScalar& scalar, std::size_t index) const;
    double value(int index) const;  // of the last step; throws before the first
    PartialResults parts(int index) const;
    PartialResults fetch(int index, const void* partials, std::int64_t count) const;
    // For scalars that a kernel takes: the latest values, the initial ones where there are none yet. 0 for
    // those that it does not read.
    std::vector<double> latest(const HostScalar& scalar);
    std::vector<double> values_for(const HostScalar& scalar) const;  // of the last step, those that it reads
    void continue_from(int index, double value);
    // Partial results of steps are copied on the device, and combined once they are asked for.
    void note(int index);
    std::vector<double> noted(int index);
    void combine_with(std::function<double(const std::string&)> combine) { combine_ = std::move(combine); }
    // By the device, of single steps, those that are wanted: each to its place of `results`. No sums.
    void finish(const std::vector<bool>& wanted, double* results) const;

private:
    struct InBlock {
        const void* partials = nullptr;
        std::int64_t count = 0;
    };
    struct Notes {
        DeviceMemory partials;
        std::vector<std::int64_t> counts;  // of those in it, note after note
        std::int64_t used = 0;             // bytes
        std::vector<double> values;        // of the notes before
    };
    // The partial results, with those behind them that change nothing: rows of the device are as long then.
    std::int64_t filled_count(int index) const;
    void fill(int index, double value);     // as if all blocks had found it
    void take_notes(int index);             // from the device
    bool is_of_last_step(int index) const;  // its kernel ran in it, as far as KernelPlan::within says
    InBlock of_last_step(int index) const;
    double combined(int index) const;
    // Least and greatest values are the same in any order: the device combines most of them, so that a step
    // that reads one copies a few hundred bytes and not a number for each block.
    PartialResults fetch_finished(int index, const void* partials, std::int64_t count) const;
    // The rows to which the device has combined them in `to`, and how many these are.
    std::int64_t combine_to_rows(ReductionPlan::Op op, const void* partials, std::int64_t count,
                                 double* to) const;
    double* finished() const;  // rows on the device
    const ReductionPlan& plan_of(int index) const {
        return setup_.plan.reductions[static_cast<std::size_t>(index)];
    }

    const Setup& setup_;
    const Clock& clock_;
    const Kernels& kernels_;
    std::vector<DeviceMemory> own_;  // by ReductionPlan, as all that follow
    DeviceMemory device_scalars_;
    mutable DeviceMemory finished_;  // rows of fetch_finished()
    mutable HostMemory on_host_;     // the same, where kernels reach it
    std::vector<Notes> notes_;
    std::vector<InBlock> in_block_;                      // where a block did the last step
    std::vector<bool> reduced_;                          // its kernel has run, if only once
    bool is_in_step_ = false;                            // a launch asks for a value
    std::vector<std::optional<double>> latest_;          // what its partials come to, once asked for
    std::function<double(const std::string&)> combine_;  // where it is not this session alone
};

}  // namespace halo::rt::session
