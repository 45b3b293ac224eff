#include "compiler/driver/tuning/tune_grid.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/driver/tuning/tune_compare.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/space.h"
#include "runtime/core/element.h"

namespace halo::driver {

namespace {

Code plain_code(const ir::Program& program, const schedule::Target& target) {
    schedule::Plan plain;
    for (const ir::Stage& stage : ir::form_stages(program))
        plain.stages.push_back(schedule::plain_schedule(schedule::footprint(program, stage), target));
    return cuda_code(program, plain);
}

}  // namespace

// Null where they are not kept there.
const Engine* TuneGrid::source() {
    if (source_ != nullptr || !stays_on_device_) return source_.get();
    const Code code = plain_code(program_, machine_.target());
    try {
        source_ = machine_.start(code, extent_, machine_.compile(code));
        inputs_->upload_to(*source_);
    } catch (const rt::Error& trouble) {
        if (trouble.code() != rt::ErrorCode::out_of_memory) throw;
        leave_device();
    }
    return source_.get();
}

// Gives up the copies on the device, for good, to make room.
void TuneGrid::leave_device() {
    if (plain_ != nullptr) plain_results_ = results_of(*plain_, program_);
    plain_.reset();
    source_.reset();
    stays_on_device_ = false;
}

std::unique_ptr<Engine> TuneGrid::start(const Code& code, const CompiledCode& compiled) {
    const Engine* const from = source();
    std::unique_ptr<Engine> engine;
    try {
        engine = machine_.start(code, extent_, compiled);
    } catch (const rt::Error& trouble) {
        if (trouble.code() != rt::ErrorCode::out_of_memory || !stays_on_device_) throw;
        leave_device();
        return start(code, compiled);
    }
    inputs_->upload_to(*engine, from);
    return engine;
}

void TuneGrid::run_plain(int steps) {
    plain_.reset();
    plain_results_ = {};
    const Code code = plain_code(program_, machine_.target());
    std::unique_ptr<Engine> engine = start(code, machine_.compile(code));
    engine->run(steps, std::nullopt);
    if (stays_on_device_) {
        plain_ = std::move(engine);
    } else {
        plain_results_ = results_of(*engine, program_);
    }
}

bool TuneGrid::plain_has_numbers() {
    if (plain_ == nullptr) return has_numbers(plain_results_);
    const auto levels = kept_levels(program_);
    return levels.empty() || std::ranges::any_of(levels, [&](const auto& level) {
               const auto& [name, time] = level;
               const std::optional<rt::CellComparison> cells = plain_->compare_level(name, time, *plain_);
               if (cells && rt::is_real(plain_->type_of(name))) return cells->numbers > 0;
               TuneResults one;
               one.fields.push_back({name, time, plain_->download(name, time)});
               return has_numbers(one);
           });
}

void TuneGrid::calm_down() {
    if (is_calm()) return;
    calm_ = *inputs_;
    calm_->start.calm = true;
    plain_.reset();
    source_.reset();
    calm_->fields = start_fields(program_, calm_->start, extent_, &machine_);
    inputs_ = &*calm_;
}

void TuneGrid::do_plain_steps(int steps) {
    if (plain_wanted_ == steps) return;
    plain_wanted_ = 0;
    plain_steps_ = steps;
    run_plain(steps);
    if (!plain_has_numbers()) {
        calm_down();
        plain_steps_ = fewer_steps(steps);
        run_plain(plain_steps_);
        if (!plain_has_numbers()) plain_steps_ = 0;
    }
    plain_wanted_ = steps;
}

CheckResult TuneGrid::difference(const Code& code, const CompiledCode& compiled, int steps) {
    do_plain_steps(steps);
    if (plain_steps_ == 0) return nothing_to_compare(fewer_steps(steps));
    const std::unique_ptr<Engine> engine = start(code, compiled);
    engine->run(plain_steps_, std::nullopt);
    // The same functions on the same device: only sums that are read can differ.
    const double tolerance = reads_reductions(program_) ? kLibraryTolerance : 0;
    std::string text = plain_ != nullptr ? difference_of(*plain_, *engine, program_, extent_, tolerance)
                                         : first_difference(plain_results_, results_of(*engine, program_),
                                                            extent_, tolerance);
    if (text.empty()) return {};
    return {CheckResult::Kind::differs, std::move(text)};
}

}  // namespace halo::driver
