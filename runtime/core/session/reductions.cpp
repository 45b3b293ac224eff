#include "runtime/core/session/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::rt {

double PartialResults::combined() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double result = 0;
    switch (op) {
        case ReductionPlan::Op::sum:
            for (double value : values)
                result += value;
            break;
        case ReductionPlan::Op::min:
            result = kInfinity;
            for (double value : values)
                result = value < result || std::isnan(value) ? value : result;
            break;
        case ReductionPlan::Op::max:
            result = -kInfinity;
            for (double value : values)
                result = value > result || std::isnan(value) ? value : result;
            break;
    }
    return square_root ? std::sqrt(result) : result;
}

}  // namespace halo::rt

namespace halo::rt::session {

namespace {

// The number of rows to which the device combines partial results, and the fewest partial results for which
// it does.
constexpr std::int64_t kFinishedRows = 64, kWorthFinishing = 1024;
constexpr std::int64_t kFinishedBytes = 8 * (kFinishedRows + 1);
// Of partial results that are noted; a single note may need more.
constexpr std::int64_t kNotesBytes = std::int64_t{8} << 20;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double neutral_of(ReductionPlan::Op op) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return op == ReductionPlan::Op::sum ? 0 : op == ReductionPlan::Op::min ? kInfinity : -kInfinity;
}

}  // namespace

Reductions::Reductions(const Setup& setup, const Clock& clock, const Kernels& kernels)
    : setup_(setup), clock_(clock), kernels_(kernels) {
    const std::size_t count = setup.plan.reductions.size();
    for (std::size_t i = 0; i < count; ++i) {
        const int index = static_cast<int>(i);
        const std::int64_t partials = partial_count(index), filled = filled_count(index);
        own_.emplace_back(*setup.device, 8 * (filled + (is_combined_by_repeat(setup.plan, index) ? 1 : 0)));
        if (filled == partials) continue;
        const std::vector<double> neutral(static_cast<std::size_t>(filled - partials),
                                          neutral_of(plan_of(index).op));
        setup.device->copy_to_device(static_cast<double*>(own_.back().address()) + partials, neutral.data(),
                                     static_cast<std::int64_t>(8 * neutral.size()));
    }
    if (setup.plan.device_scalars > 0)
        device_scalars_ = DeviceMemory(*setup.device, std::int64_t{8} * setup.plan.device_scalars);
    for (std::size_t i = 0; i < count; ++i)
        if (is_read_on_device(setup.plan, static_cast<int>(i)))
            fill(static_cast<int>(i), setup.plan.reductions[i].initial);
    in_block_.resize(count);
    reduced_.resize(count);
    latest_.resize(count);
    notes_.resize(count);
}

void Reductions::fill(int index, double value) {
    const std::vector<double> all(static_cast<std::size_t>(partial_count(index)), value);
    setup_.device->copy_to_device(partials(index), all.data(), static_cast<std::int64_t>(8 * all.size()));
}

std::vector<DeviceMemory*> Reductions::read_by_scalars() {
    std::vector<DeviceMemory*> read;
    for (std::size_t i = 0; i < own_.size(); ++i)
        if (is_read_on_device(setup_.plan, static_cast<int>(i))) read.push_back(&own_[i]);
    return read;
}

void Reductions::found_by_steps() {
    std::fill(in_block_.begin(), in_block_.end(), InBlock{});
}

void Reductions::found_by_block(int index, const void* partials, std::int64_t count) {
    in_block_[static_cast<std::size_t>(index)] = {partials, count};
}

void Reductions::found_within_step(int index) {
    reduced_[static_cast<std::size_t>(index)] = true;
    latest_[static_cast<std::size_t>(index)].reset();
}

bool Reductions::is_read_by(const HostScalar& scalar, std::size_t index) const {
    return std::any_of(scalar.steps.begin(), scalar.steps.end(), [&](const HostScalar::Step& step) {
        return step.op == HostScalar::Op::param && step.index >= 0 &&
               static_cast<std::size_t>(step.index) == setup_.plan.params.size() + index;
    });
}

double Reductions::value(int index) const {
    if (clock_.steps_done == 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' has no value before the first step", plan_of(index).name));
    const std::optional<double>& latest = latest_[static_cast<std::size_t>(index)];
    if (clock_.steps_done == clock_.continued_from && latest) return *latest;
    return is_of_last_step(index) ? combined(index) : kNoNumber;
}

bool Reductions::is_of_last_step(int index) const {
    return setup_.plan.kernels[static_cast<std::size_t>(plan_of(index).kernel)].within.contains(
        clock_.steps_done - 1);
}

Reductions::InBlock Reductions::of_last_step(int index) const {
    const InBlock& in_block = in_block_[static_cast<std::size_t>(index)];
    if (in_block.partials != nullptr) return in_block;
    return {partials(index), kernels_.block_count(plan_of(index).kernel)};
}

double Reductions::combined(int index) const {
    if (is_combined_by_repeat(setup_.plan, index)) {
        double value = 0;
        setup_.device->copy_to_host(&value, static_cast<double*>(partials(index)) + partial_count(index),
                                    sizeof value);
        return value;
    }
    const auto [from, found] = of_last_step(index);
    const std::int64_t count = from == partials(index) ? filled_count(index) : found;
    const bool any_order = plan_of(index).op != ReductionPlan::Op::sum || setup_.options.sums_in_rows;
    const bool finishes = any_order && count >= kWorthFinishing && setup_.device->can_finish_reductions();
    return (finishes ? fetch_finished(index, from, count) : fetch(index, from, found)).combined();
}

std::int64_t Reductions::combine_to_rows(ReductionPlan::Op op, const void* partials, std::int64_t count,
                                         double* to) const {
    const std::int64_t each = count / kFinishedRows, rest = count % kFinishedRows;
    const auto* const first = static_cast<const double*>(partials);
    setup_.device->finish_reductions(op, first, each, kFinishedRows, to);
    if (rest > 0) setup_.device->finish_reductions(op, first + count - rest, rest, 1, to + kFinishedRows);
    return kFinishedRows + (rest > 0 ? 1 : 0);
}

std::int64_t Reductions::filled_count(int index) const {
    const std::int64_t count = partial_count(index);
    const bool finishes = count >= kWorthFinishing && setup_.device->can_finish_reductions();
    if (!finishes || is_combined_by_repeat(setup_.plan, index)) return count;
    return (count + kFinishedRows - 1) / kFinishedRows * kFinishedRows;
}

double* Reductions::finished() const {
    if (finished_.address() == nullptr) finished_ = DeviceMemory(*setup_.device, kFinishedBytes);
    return static_cast<double*>(finished_.address());
}

PartialResults Reductions::fetch_finished(int index, const void* partials, std::int64_t count) const {
    Device& device = *setup_.device;
    const ReductionPlan::Op op = plan_of(index).op;
    if (on_host_.address() == nullptr && device.can_kernels_reach_host())
        on_host_ = HostMemory(device, kFinishedBytes);
    auto* const rows = static_cast<double*>(on_host_.address());
    if (rows == nullptr) return fetch(index, finished(), combine_to_rows(op, partials, count, finished()));
    const std::int64_t found = combine_to_rows(op, partials, count, rows);
    device.synchronize();
    return {op, plan_of(index).square_root, {rows, rows + found}};
}

PartialResults Reductions::fetch(int index, const void* partials, std::int64_t count) const {
    PartialResults results;
    results.op = plan_of(index).op;
    results.square_root = plan_of(index).square_root;
    results.values.resize(static_cast<std::size_t>(count));
    setup_.device->copy_to_host(results.values.data(), partials, 8 * count);
    return results;
}

PartialResults Reductions::parts(int index) const {
    const std::string& name = plan_of(index).name;
    if (clock_.steps_done == 0 && !reduced_[static_cast<std::size_t>(index)])
        throw Error(ErrorCode::bad_argument, fmt::format("'{}' has no value before the first step", name));
    if (in_block_[static_cast<std::size_t>(index)].partials != nullptr)
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("'{}' was found by a kernel that does several steps, and not in parts", name));
    if (!is_in_step_ && !is_of_last_step(index))
        return {plan_of(index).op, plan_of(index).square_root, {kNoNumber}};
    return fetch(index, partials(index), kernels_.block_count(plan_of(index).kernel));
}

std::vector<double> Reductions::latest(const HostScalar& scalar) {
    std::vector<double> values(size());
    for (const HostScalar::Step& step : scalar.steps) {
        if (step.op != HostScalar::Op::reduction) continue;
        const auto place = static_cast<std::size_t>(step.index);
        std::optional<double>& value = latest_[place];
        if (!reduced_[place]) value = plan_of(step.index).initial;
        is_in_step_ = true;
        if (!value) value = combine_ ? combine_(plan_of(step.index).name) : combined(step.index);
        is_in_step_ = false;
        values[place] = *value;
    }
    return values;
}

std::vector<double> Reductions::values_for(const HostScalar& scalar) const {
    std::vector<double> values(size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (is_read_by(scalar, i)) values[i] = value(static_cast<int>(i));
    return values;
}

void Reductions::continue_from(int index, double value) {
    latest_[static_cast<std::size_t>(index)] = value;
    reduced_[static_cast<std::size_t>(index)] = true;
    if (is_read_on_device(setup_.plan, index)) fill(index, value);
}

void Reductions::note(int index) {
    Notes& notes = notes_[static_cast<std::size_t>(index)];
    if (!is_of_last_step(index)) {
        take_notes(index);
        return notes.values.push_back(kNoNumber);
    }
    const auto [from, count] = of_last_step(index);
    const std::int64_t bytes = 8 * count;
    if (notes.used + bytes > notes.partials.bytes()) {
        take_notes(index);
        if (bytes > notes.partials.bytes())
            notes.partials = DeviceMemory(*setup_.device, std::max(bytes, kNotesBytes));
    }
    setup_.device->copy_on_device(static_cast<char*>(notes.partials.address()) + notes.used, from, bytes);
    notes.counts.push_back(count);
    notes.used += bytes;
}

void Reductions::take_notes(int index) {
    Notes& notes = notes_[static_cast<std::size_t>(index)];
    if (notes.counts.empty()) return;
    const std::vector<double> all = fetch(index, notes.partials.address(), notes.used / 8).values;
    auto first = all.begin();
    for (const std::int64_t count : notes.counts) {
        PartialResults each{plan_of(index).op, plan_of(index).square_root, {first, first + count}};
        notes.values.push_back(each.combined());
        first += count;
    }
    notes.counts.clear();
    notes.used = 0;
}

std::vector<double> Reductions::noted(int index) {
    take_notes(index);
    return std::exchange(notes_[static_cast<std::size_t>(index)].values, {});
}

void Reductions::finish(const std::vector<bool>& wanted, double* results) const {
    for (std::size_t i = 0; i < own_.size(); ++i) {
        if (!wanted[i]) continue;
        const ReductionPlan::Op op = setup_.plan.reductions[i].op;
        const void* from = own_[i].address();
        std::int64_t count = filled_count(static_cast<int>(i));
        if (count >= kWorthFinishing) {
            count = combine_to_rows(op, from, count, finished());
            from = finished();
        }
        setup_.device->finish_reductions(op, from, count, 1, results + i);
    }
}

}  // namespace halo::rt::session
