// The launcher's kernel that does several steps in one launch: in tiles, or with the grid on the chip.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "compiler/emit/launcher_writer.h"
#include "compiler/support/error.h"
#include "runtime/core/geometry.h"

namespace halo::emit {

namespace {

// As runtime/core/session_blocks.cpp has them: kernels count elements, words and steps in 32 bits.
constexpr std::int64_t kMostElements = std::int64_t{1} << 30;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 29;

class BlockWriter : LauncherWriter {
public:
    BlockWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write_members() {
        out_.line("bool is_resident = false;  // the grid can stay on the chip from step to step");
        out_.line("int steps_sent = 0;        // done so since the arrays below were cleared");
        for (int index = 0; index < count(resident().exchanges); ++index)
            out_.line("long long* {} = nullptr;  // what blocks hand to each other",
                      model_.exchange_member(index));
    }

    void write_header() {
        std::string fits;
        if (!model_.is_fixed())
            for (const std::string& condition : conditions(""))
                fits += condition + ", ";
        out_.line("// They are one launch where the grid can stay on the chip meanwhile: {}all blocks of the",
                  fits);
        out_.line(
            "// kernel on the device at once. Otherwise they are done one by one, which gives the same.");
    }

    void write_functions() {
        write_make_resident();
        write_clear();
    }

    void write_iterations(const std::string& iteration) {
        if (model_.is_fixed()) check_fixed_grid();
        const rt::RepeatPlan& repeat = plan_.repeats[static_cast<std::size_t>(block().of_repeat()->repeat)];
        const std::string room = "has_room" + iteration.substr(std::string_view("iteration").size());
        const std::string if_room = model_.is_fixed() ? "" : room + " && ";
        out_.line("// {} iterations at a time{}{}.", block().steps,
                  model_.is_fixed() ? "" : ", where the grid has room for the tiles",
                  block().is_whole ? "" : "; the last one by itself");
        if (!model_.is_fixed()) out_.line("const bool {} = {};", room, all_conditions());
        out_.line("int {} = 0;", iteration);
        out_.line("for (; {}{} + {} <= {}; {} += {}) {{", if_room, iteration, block().steps,
                  block().is_whole ? repeat.count : repeat.count - 1, iteration, block().steps);
        {
            const auto loop = out_.indent();
            return_unless_ok(fmt::format("launcher::{}(*solver)", launch_function(block().kernel)));
            write_exchanges(repeat);
        }
        out_.line("}}");
        for (const rt::RepeatPlan::Exchange& each : repeat.exchanges) {
            if (!needs_fill(plan_.fields[each.field])) continue;
            const FieldNames& field = model_.fields[each.field];
            return_unless_ok(fmt::format("launcher::{}(*solver, solver->{})", fill_function(field),
                                         field.level(each.time).member));
        }
    }

    void write_steps() {
        if (model_.is_fixed()) check_fixed_grid();
        if (is_resident()) {
            write_resident_steps();
        } else {
            write_tile_steps();
        }
        if (block().kernel.within.is_all())
            out_.line("if (steps == 0) return {};", model_.code("OK"));
        else  // other kernels do those that are left
            out_.line("if (steps == 0) continue;");
    }

private:
    const rt::TimeBlock& block() const { return *plan_.time_block; }
    std::string in_first_steps() const {
        return block().kernel.within.is_all() ? "" : condition_of(block().kernel.within) + " && ";
    }
    const rt::TimeBlock::Resident& resident() const { return *block().resident(); }

    // Why the kernels' one grid cannot stay on the chip; empty where it can.
    std::string reason_against_resident(const rt::Extent& extent) const {
        for (std::size_t axis = 0; axis < model_.extents.size(); ++axis) {
            if (extent[axis] > resident().most_extent[axis])
                return fmt::format("its blocks reach over {} cells along {}, and the grid has {}",
                                   resident().most_extent[axis], plan_.axes[axis], extent[axis]);
            if (extent[axis] % resident().divisors[axis] != resident().remainders[axis] ||
                extent[axis] < block().least_extent[axis])
                return fmt::format("{} cells along {} do not end as its boxes do", extent[axis],
                                   plan_.axes[axis]);
        }
        const bool is_large = rt::make_geometry(plan_.rank, extent, plan_.halo).elements > kMostElements;
        return is_large ? "it has too many cells" : "";
    }

    void check_fixed_grid() const {
        const auto& extent = plan_.fixed_grid->extent;
        if (is_resident()) {
            const std::string reason = reason_against_resident(extent);
            if (reason.empty()) return;
            throw UnsupportedError(
                fmt::format("the `resident` schedule is not for this grid: {}; leave it "
                            "out for single steps",
                            reason));
        }
        if (!std::ranges::equal(extent, block().least_extent, std::ranges::greater_equal()))
            throw UnsupportedError(
                "the grid has no room for the tiles of the `temporal` schedule; leave it out for single "
                "steps");
    }

    // What a grid has to be.
    std::vector<std::string> conditions(const std::string& scope) const {
        std::vector<std::string> all;
        for (std::size_t axis = 0; axis < model_.extents.size(); ++axis) {
            const std::string extent = scope + model_.extents[axis];
            if (block().least_extent[axis] > 1)
                all.push_back(fmt::format("{} >= {}", extent, block().least_extent[axis]));
            if (!is_resident()) continue;
            if (resident().most_extent[axis] != rt::TimeBlock::kAnyExtent)
                all.push_back(fmt::format("{} <= {}", extent, resident().most_extent[axis]));
            if (resident().divisors[axis] > 1)
                all.push_back(fmt::format("{} % {} == {}", extent, resident().divisors[axis],
                                          resident().remainders[axis]));
        }
        return all;
    }

    std::string all_conditions() const {
        std::string fits;
        for (const std::string& condition : conditions("solver->"))
            fits += (fits.empty() ? "" : " && ") + condition;
        return fits.empty() ? "true" : fits;
    }

    void write_make_resident() {
        comment(
            "Whether the grid can stay on the chip: it ends as the kernel's boxes do, and all blocks are");
        out_.line("// on the device at once. Other grids are done step by step.");
        out_.line("{} make_resident({}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            if (!model_.is_fixed()) {
                for (const std::string& condition : conditions("solver."))
                    out_.line("if (!({})) return {};", condition, model_.code("OK"));
                out_.line("if (solver.elements > {}) return {};  // counted in 32 bits", kMostElements,
                          model_.code("OK"));
            }
            write_room();
            for (int index = 0; index < count(resident().exchanges); ++index)
                return_unless_ok(fmt::format("allocate(solver.{}, 2 * blocks * {})",
                                             model_.exchange_member(index),
                                             resident().exchanges[static_cast<std::size_t>(index)]));
            out_.line("solver.is_resident = true;");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_room() {
        const rt::KernelPlan& kernel = block().kernel;
        out_.line("int device = 0, together = 0, multiprocessors = 0, of_each = 0;");
        return_unless_ok("check(cudaGetDevice(&device), \"looking for a device\")");
        fill("cudaError_t error = cudaDeviceGetAttribute(",
             {"&together", "cudaDevAttrCooperativeLaunch", "device"}, ");");
        return_unless_ok("check(error, \"asking about the device\")");
        out_.line("if (together == 0) {{");
        out_.line("    return fail({},", model_.code("CUDA_ERROR"));
        out_.line("                \"this device cannot start blocks that wait for each other, as the \"");
        out_.line("                \"`resident` schedule does: emit the stencil with another one\");");
        out_.line("}}");
        fill("error = cudaDeviceGetAttribute(",
             {"&multiprocessors", "cudaDevAttrMultiProcessorCount", "device"}, ");");
        return_unless_ok("check(error, \"asking about the device\")");
        fill("error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(",
             {"&of_each", global_name(kernel.name),
              std::to_string(kernel.threads[0] * kernel.threads[1] * kernel.threads[2]),
              std::to_string(kernel.dynamic_shared_bytes)},
             ");");
        return_unless_ok("check(error, \"asking how many blocks run at once\")");
        out_.line("const long long blocks = block_count({}(solver));", blocks_function(kernel));
        out_.line("if (blocks > 1LL * multiprocessors * of_each) return {};", model_.code("OK"));
        const int words = std::ranges::max(resident().exchanges);
        out_.line("if (blocks * {} > {}) return {};", words, kMostElements, model_.code("OK"));
    }

    void write_clear() {
        comment("Before steps are counted from 0 again: what blocks sent has the number of its step.");
        out_.line("{} clear_exchanges({}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            out_.line("const long long blocks = block_count({}(solver));", blocks_function(block().kernel));
            for (int index = 0; index < count(resident().exchanges); ++index) {
                fill(index == 0 ? "cudaError_t error = cudaMemsetAsync(" : "error = cudaMemsetAsync(",
                     {"solver." + model_.exchange_member(index), "0",
                      fmt::format("2 * blocks * {} * sizeof(long long)",
                                  resident().exchanges[static_cast<std::size_t>(index)]),
                      "solver.stream"},
                     ");");
                return_unless_ok("check(error, \"clearing device memory\")");
            }
            out_.line("solver.steps_sent = 0;");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    // They read no halo and leave them as they were.
    void write_resident_steps() {
        const char* const last = block().is_whole ? "" : " - 1";
        out_.line("// All steps in one launch, where the grid can stay on the chip{}.",
                  block().is_whole ? "" : "; the last one by itself");
        out_.line("while ({}solver->is_resident && steps{} >= {}) {{", in_first_steps(), last, block().steps);
        {
            const auto loop = out_.indent();
            out_.line("const int together = static_cast<int>(std::min(steps{}, {}LL));", last, kMostSteps);
            out_.line("if (solver->steps_sent > {}) {{", kMostSteps);
            return_unless_ok("launcher::clear_exchanges(*solver)", "    ");
            out_.line("}}");
            return_unless_ok(fmt::format("launcher::{}(*solver, together)", launch_function(block().kernel)));
            out_.line("solver->steps_sent += together;");
            write_done("together");
        }
        out_.line("}}");
    }

    // While there are as many steps and the grid has room for the tiles.
    void write_tile_steps() {
        out_.line("// {} steps at a time{}{}.", block().steps,
                  model_.is_fixed() ? "" : ", where the grid has room for the tiles",
                  block().is_whole ? "" : "; the last one by itself");
        if (!model_.is_fixed()) out_.line("const bool has_room = {};", all_conditions());
        out_.line("while ({}{}steps {} {}) {{", in_first_steps(), model_.is_fixed() ? "" : "has_room && ",
                  block().is_whole ? ">=" : ">", block().steps);
        {
            const auto loop = out_.indent();
            for (const rt::KernelPlan* const kernel : block().kernels())
                return_unless_ok(fmt::format("launcher::{}(*solver)", launch_function(*kernel)));
            write_done(std::to_string(block().steps));
        }
        out_.line("}}");
    }

    void write_done(const std::string& steps) {
        for (int level = 0; level < block().levels; ++level)
            write_state_rotations();
        for (const int reduction : block().reductions)
            out_.line("solver->{} = true;", model_.in_steps_member(reduction));
        if (any_halo()) out_.line("solver->halos_due = true;");
        if (counts_steps()) out_.line("solver->steps += {};", steps);
        out_.line("steps -= {};", steps);
    }
};

}  // namespace

void write_resident_header(const LauncherModel& model, Writer& out) {
    if (model.plan.time_block && model.plan.time_block->resident() != nullptr)
        BlockWriter(model, out).write_header();
}

void write_resident_members(const LauncherModel& model, Writer& out) {
    if (model.plan.time_block && model.plan.time_block->resident() != nullptr)
        BlockWriter(model, out).write_members();
}

void write_resident_functions(const LauncherModel& model, Writer& out) {
    if (model.plan.time_block && model.plan.time_block->resident() != nullptr)
        BlockWriter(model, out).write_functions();
}

void write_several_steps(const LauncherModel& model, Writer& out) {
    if (model.plan.time_block->of_repeat() == nullptr) BlockWriter(model, out).write_steps();
}

void write_iterations_at_once(const LauncherModel& model, const std::string& iteration, Writer& out) {
    BlockWriter(model, out).write_iterations(iteration);
}

}  // namespace halo::emit
