#include "compiler/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "compiler/bench/random_data.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/schedule/footprint.h"
#include "compiler/support/error.h"
#include "runtime/core/session.h"

namespace halo::bench {

namespace {

// More steps than any kernel does at once, and an odd number, so that single steps are checked, too.
constexpr int kCheckedSteps = 13;
constexpr int kCheckedStepsOnCpu = 2;
constexpr std::int64_t kCheckedRows = 300;
// The bound for sums of kCheckedRows terms with approximate functions, relative to 1 and to the value.
constexpr double kFastBound = static_cast<double>(kCheckedRows) * 0x1p-17;

Extent odd_grid(int rank) {
    if (rank == 1) return {301, 1, 1};
    return rank == 2 ? Extent{301, 77, 1} : Extent{67, 35, 21};
}

bool is_given(const rt::FieldPlan& field) {
    return field.role == rt::Role::input || field.role == rt::Role::state;
}

bool is_computed(const rt::FieldPlan& field) {
    return field.role == rt::Role::output || field.role == rt::Role::state;
}

std::vector<double> random_rows(const rt::TablePlan& table, std::int64_t rows) {
    std::vector<double> values(static_cast<std::size_t>(rows * table.given));
    for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = random_number(91, n);
    return values;
}

// The seed of a level's numbers: all sessions of a case get the same.
std::uint64_t seed_of(std::size_t field, int time) {
    return 7 + 16 * field + static_cast<std::uint64_t>(-time);
}

const char* type_of(const rt::FieldPlan& field) {
    if (field.type == rt::ElementType::f32) return "f32";
    if (field.type == rt::ElementType::f64) return "f64";
    throw UnsupportedError("haloc bench fills fields of f32 and f64 alone, and " + field.name +
                           " is of another type");
}

void give_data(rt::Session& session, std::int64_t rows) {
    static HostBuffer buffer;  // kept, as faulting in gigabytes for each session takes long
    const rt::LaunchPlan& plan = session.plan();
    for (const rt::TablePlan& table : plan.tables)
        session.set_table(table.name, random_rows(table, rows));
    for (std::size_t n = 0; n < plan.fields.size(); ++n) {
        const rt::FieldPlan& field = plan.fields[n];
        if (!is_given(field)) continue;
        const auto own = field.grid.extent(session.geometry().extent);
        const std::int64_t cells = own.cells(), bytes = cells * rt::size_of(field.type);
        std::byte* values = buffer.resize(static_cast<std::size_t>(bytes));
        for (int time = 0; time >= -field.history; --time) {
            fill_random(values, cells, type_of(field), seed_of(n, time));
            session.upload_elements(field.name, time, values, bytes);
        }
    }
}

// Keeps the interpreter's results for the same data.
class Reference {
public:
    Reference(const ir::Program& program, const rt::LaunchPlan& plan, const Extent& extent, int steps)
        : extent_(extent), steps_(steps), interpreter_(program, extent, ir::Arithmetic::declared) {
        for (const rt::TablePlan& table : plan.tables)
            interpreter_.set_table(table.name, random_rows(table, kCheckedRows));
        for (std::size_t n = 0; n < plan.fields.size(); ++n) {
            const rt::FieldPlan& field = plan.fields[n];
            if (!is_given(field)) continue;
            for (int time = 0; time >= -field.history; --time) {
                std::vector<double>& values = interpreter_.field(field.name, time);
                for (std::size_t i = 0; i < values.size(); ++i)
                    values[i] = random_number(seed_of(n, time), i);
            }
        }
        for (int step = 0; step < steps; ++step)
            interpreter_.step();
    }

    // Steps the session, which has the data, as often. Empty where it agrees; else the first difference.
    std::string difference(rt::Session& session, double bound) {
        session.step(steps_);
        for (const rt::FieldPlan& field : session.plan().fields) {
            if (!is_computed(field)) continue;
            const std::vector<double>& expected = interpreter_.field(field.name);
            const std::vector<double> got = session.download(field.name);
            for (std::size_t n = 0; n < got.size(); ++n) {
                const double allowed = bound * (1 + std::abs(expected[n]));
                if (got[n] == expected[n] || std::abs(got[n] - expected[n]) <= allowed) continue;
                return fmt::format("{} at cell {} of {} × {} × {} is {} instead of {}", field.name, n,
                                   extent_[0], extent_[1], extent_[2], got[n], expected[n]);
            }
        }
        return "";
    }

private:
    Extent extent_;
    int steps_;
    ir::Interpreter interpreter_;
};

// Keeps the naive schedule's results on the case's own grid, by field.
class OwnGrid {
public:
    // Steps the session. The first call keeps the results, later ones compare with them. Empty where all bits
    // are equal.
    std::string difference(rt::Session& session) {
        session.step(kCheckedSteps);
        const bool is_first = kept_.empty();
        std::size_t number = 0;
        for (const rt::FieldPlan& field : session.plan().fields) {
            if (!is_computed(field)) continue;
            const std::int64_t element = rt::size_of(field.type), bytes = session.cells() * element;
            if (is_first) kept_.emplace_back();
            HostBuffer& to = is_first ? kept_.back() : scratch_;
            to.resize(static_cast<std::size_t>(bytes));
            session.download_elements(field.name, 0, to.data(), bytes);
            if (!is_first) {
                const std::int64_t at = first_difference(kept_[number].data(), to.data(), bytes);
                if (at >= 0)
                    return fmt::format("{} differs from the naive schedule's at cell {}", field.name,
                                       at / element);
            }
            ++number;
        }
        return "";
    }

private:
    std::vector<HostBuffer> kept_;
    HostBuffer scratch_;
};

// Seconds of one run and of all runs: long enough to measure, and too short for heat to lower the clock.
constexpr double kRunSeconds = 0.012, kAllSeconds = 0.1, kLongestRun = 0.25;
constexpr int kMostRepeats = 7, kFewestRepeats = 3;
constexpr std::int64_t kWholeRecording = 64;  // steps of a graph
constexpr std::int64_t kLevelRotation = 12;   // after so many steps 1 to 4 levels are in their first arrays
constexpr std::int64_t kFewSteps = 24;  // a multiple of most numbers of steps that a kernel does at once

std::int64_t steps_of_run(double seconds_a_step) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(kRunSeconds / std::max(seconds_a_step, 1e-9)));
    if (wanted > kFewSteps) return (wanted + kWholeRecording - 1) / kWholeRecording * kWholeRecording;
    return kFewSteps * seconds_a_step <= kLongestRun ? kFewSteps : std::max<std::int64_t>(wanted, 1);
}

// at_once: steps of one kernel launch.
void time_steps(Lab& lab, rt::Session& session, std::int64_t steps, std::int64_t at_once,
                Measurement& result) {
    if (steps == 0) {
        session.step(2 * at_once);
        const std::int64_t tried = 4 * at_once;
        steps = steps_of_run(lab.seconds([&] { session.step(tried); }) / static_cast<double>(tried));
        steps = (steps + at_once - 1) / at_once * at_once;
    }
    // Graphs start at a multiple of the number of levels, where each level is in its first array.
    if (const std::int64_t past = session.steps_done() % kLevelRotation; past > 0 && steps > 1)
        session.step(kLevelRotation - past);
    session.step(steps);  // warms up: records graphs and allocates
    std::vector<double> times;
    double all = 0;
    for (int repeat = 0; repeat < kMostRepeats; ++repeat) {
        if (repeat >= kFewestRepeats && all > kAllSeconds) break;
        times.push_back(lab.seconds([&] { session.step(steps); }));
        all += times.back();
    }
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    result.steps = steps;
    result.repeats = static_cast<int>(times.size());
    result.seconds = median(times) / static_cast<double>(steps);
    result.spread = (*most - *least) / median(times);
}

std::int64_t steps_at_once(const Variant& variant) {
    return schedule::steps_at_once(variant.plan.grouping);
}

void read_usage(const rt::Session& session, Measurement& result) {
    if (const std::optional<rt::KernelInfo> block = session.time_block_info()) {
        result.registers = block->registers;
        result.spill_bytes = block->spill_bytes;
        return;
    }
    for (std::size_t n = 0; n < session.plan().kernels.size(); ++n) {
        const rt::KernelInfo info = session.kernel_info(static_cast<int>(n));
        if (info.registers <= result.registers) continue;
        result.registers = info.registers;
        result.spill_bytes = info.spill_bytes;
    }
}

class Measuring {
public:
    Measuring(Lab& lab, const Case& which, const ir::Program& program, bool is_gpu)
        : lab_(lab), which_(which), program_(program), is_gpu_(is_gpu) {}

    Measurement one(const Variant& variant) {
        Measurement result;
        result.variant = variant.name;
        result.schedule = variant.words;
        result.wrong = check_small(variant);
        if (!result.wrong.empty()) return result;
        const lower::Lowered lowered = lab_.lower(program_, variant, which_.extent);
        rt::Session session(lowered.plan, which_.extent, lab_.device(), lab_.load(lowered));
        give_data(session, which_.rows);
        result.wrong = check_own(session, lowered.plan);
        if (!result.wrong.empty()) return result;
        time_steps(lab_, session, which_.steps, steps_at_once(variant), result);
        read_usage(session, result);
        return result;
    }

private:
    double bound() const { return which_.section == Section::sums ? kFastBound : 0; }

    std::string check_small(const Variant& variant) {
        Extent extent = odd_grid(program_.rank());
        lower::Lowered lowered = lab_.lower(program_, variant, extent);
        if (const auto& block = lowered.plan.time_block) {  // its tiles must fit on it
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (extent[axis] < block->least_extent[axis]) extent[axis] = block->least_extent[axis] | 1;
            lowered = lab_.lower(program_, variant, extent);
        }
        std::unique_ptr<Reference>& reference = small_[extent];
        if (!reference)
            reference = std::make_unique<Reference>(program_, lowered.plan, extent, checked_steps());
        rt::SessionOptions options;
        options.poison = true;
        rt::Session session(lowered.plan, extent, lab_.device(), lab_.load(lowered), options);
        give_data(session, kCheckedRows);
        return reference->difference(session, bound());
    }

    std::string check_own(rt::Session& session, const rt::LaunchPlan& plan) {
        if (is_gpu_) return own_.difference(session);
        if (which_.section == Section::sums) return "";  // it has other rows than the small grid
        return Reference(program_, plan, which_.extent, kCheckedStepsOnCpu).difference(session, 0);
    }

    int checked_steps() const { return which_.section == Section::sums ? 1 : kCheckedSteps; }

    Lab& lab_;
    const Case& which_;
    const ir::Program& program_;
    bool is_gpu_;
    std::map<Extent, std::unique_ptr<Reference>> small_;
    OwnGrid own_;
};

void add_trouble(CaseResult& result, const std::string& words) {
    result.trouble += (result.trouble.empty() ? "" : "; ") + words;
}

// A variant that is refused or does not fit in memory is no mistake; the others are measured all the same.
void measure_variant(Measuring& measuring, const Variant& variant, CaseResult& result) {
    try {
        result.measurements.push_back(measuring.one(variant));
    } catch (const UnsupportedError& refused) {
        add_trouble(result, variant.name + ": " + refused.what());
    } catch (const rt::Error& error) {
        if (error.code() == rt::ErrorCode::out_of_memory)
            return add_trouble(result, variant.name + ": " + error.what());
        Measurement failed;
        failed.variant = variant.name;
        failed.schedule = variant.words;
        failed.wrong = error.what();
        result.measurements.push_back(failed);
    }
}

}  // namespace

ir::Program load_program(const std::string& name, const std::string& text) {
    const driver::CheckedSpec spec = driver::check_text(name, text);
    if (!spec.ok) throw InternalError("the spec " + name + " of haloc bench has mistakes");
    return driver::optimize(spec.analysis.stencils.at(0).program, driver::CodeOptions());
}

CaseResult measure(Lab& lab, const Case& which, const std::vector<std::string>& asked, bool choices_alone) {
    CaseResult result;
    result.which = which;
    const ir::Program program = load_program(which.spec, spec_text(which));
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const schedule::Footprint footprint = schedule::footprint(program, stage);
        result.bytes_per_cell += static_cast<double>(footprint.bytes());
        result.flops_per_cell += footprint.operations.flops();
    }
    Variants variants = lab.variants(program, which.extent, asked);
    if (choices_alone) keep_choices(variants, asked);
    result.chosen = variants.chosen;
    for (const std::string& refused : variants.refused)
        add_trouble(result, refused);
    Measuring measuring(lab, which, program, lab.is_gpu());
    for (const Variant& variant : variants.all)
        measure_variant(measuring, variant, result);
    return result;
}

Measurement time_program(Lab& lab, const ir::Program& program, const Variant& variant, const Extent& extent) {
    Measurement result;
    result.variant = variant.name;
    result.schedule = variant.words;
    const lower::Lowered lowered = lab.lower(program, variant, extent);
    rt::Session session(lowered.plan, extent, lab.device(), lab.load(lowered));
    give_data(session, 0);
    time_steps(lab, session, 0, steps_at_once(variant), result);
    read_usage(session, result);
    return result;
}

}  // namespace halo::bench
