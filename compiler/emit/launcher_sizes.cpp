// How large a solver's arrays are: of any grid, or of the one that the kernels are for; and having them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "compiler/emit/launcher_writer.h"
#include "compiler/support/error.h"
#include "runtime/core/geometry.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

namespace {

class SizeWriter : LauncherWriter {
public:
    SizeWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write_sizes() {
        if (model_.is_fixed()) return write_fixed_sizes();
        out_.line("int {};", model_.extent_list("", ", "));
        if (plan_.rank > 1) out_.line("int pitch;           // elements from one row to the next");
        if (plan_.rank > 2) out_.line("long long slice;     // elements from one plane to the next");
        if (plan_.rank > 3) out_.line("long long volume;    // elements from one volume to the next");
        out_.line("long long origin;    // elements of an array before its first cell");
        out_.line("long long elements;  // of an array");
    }

    void write_fixed_sizes() {
        for (int axis = 0; axis < plan_.rank; ++axis)
            if (plan_.fixed_grid->extent[axis] < reach_along(axis))
                throw UnsupportedError(fmt::format("{} cells along {}: its faces need {} at least",
                                                   plan_.fixed_grid->extent[axis], plan_.axes[axis],
                                                   reach_along(axis)));
        std::vector<std::array<std::string, 2>> lines;
        const auto constant = [&](const std::string& type, const std::string& name, std::int64_t value,
                                  const std::string& words) {
            lines.push_back({fmt::format("static constexpr {} {} = {};", type, name, value), words});
        };
        const rt::Geometry geometry = rt::make_geometry(plan_.rank, plan_.fixed_grid->extent, plan_.halo);
        for (std::size_t axis = 0; axis < model_.extents.size(); ++axis)
            constant("int", model_.extents[axis], geometry.extent[axis], "");
        if (plan_.rank > 1) constant("int", "pitch", geometry.pitch, "elements from one row to the next");
        if (plan_.rank > 2)
            constant("long long", "slice", geometry.slice, "elements from one plane to the next");
        if (plan_.rank > 3)
            constant("long long", "volume", geometry.volume, "elements from one volume to the next");
        constant("long long", "origin", geometry.origin, "elements of an array before its first cell");
        constant("long long", "elements", geometry.elements, "of an array");
        std::size_t longest = 0;
        for (const auto& [text, words] : lines)
            longest = std::max(longest, words.empty() ? 0 : text.size());
        for (const auto& [text, words] : lines)
            out_.line("{}", words.empty() ? text : fmt::format("{:<{}}  // {}", text, longest, words));
    }

    void write_allocation() {
        if (!model_.is_fixed()) write_lay_out();
        write_allocate();
    }

private:
    void write_lay_out() {
        comment("Sizes and strides. Rows start on a multiple of 32 elements, with the halo before them.");
        out_.line("{} lay_out({}& solver, {}) {{", model_.status, model_.solver,
                  model_.extent_list("long long ", ", "));
        {
            const auto body = out_.indent();
            const std::string sizes = join("%lld", " x ");
            out_.line("constexpr long long most = 2147483647;");
            std::string wrong;
            for (const std::string& extent : model_.extents) {
                wrong += fmt::format("{0}{1} < 1 || {1} > most", wrong.empty() ? "" : " || ", extent);
            }
            refuse("", wrong, fmt::format("a grid of {} cells: 1 to %lld along each axis can be", sizes),
                   with_extents("most"));
            write_reaches();
            write_block_limits();
            write_strides();
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    FieldArray array_of(int field) const { return model_.array_of(field, "solver."); }

    std::vector<std::string> with_extents(const std::string& last) const {
        std::vector<std::string> values = model_.extents;
        values.push_back(last);
        return values;
    }

    static std::string times(int factor, const std::string& value) {
        return factor == 1 ? value : fmt::format("{} * {}", factor, value);
    }

    std::string join(const std::string& piece, const std::string& between) const {
        std::string text = piece;
        for (int axis = 1; axis < plan_.rank; ++axis)
            text += between + piece;
        return text;
    }

    // What lies past a face may be computed from cells that the grid must have.
    int reach_along(int axis) const {
        int reach = 0;
        for (const rt::FieldPlan& field : plan_.fields)
            for (const rt::FacePlan& face : field.boundary[axis])
                reach = std::max(reach, face.reach);
        return reach;
    }

    void write_reaches() {
        for (int axis = 0; axis < plan_.rank; ++axis) {
            const int reach = reach_along(axis);
            if (reach <= 1) continue;
            refuse("", fmt::format("{} < {}", model_.extents[axis], reach),
                   fmt::format("%lld cells along {}: its faces need {} at least", plan_.axes[axis], reach),
                   {model_.extents[axis]});
        }
    }

    void write_block_limits() {
        for (int axis = 1; axis < std::min(plan_.rank, 3); ++axis) {
            int smallest = std::numeric_limits<int>::max();
            for (const rt::KernelPlan& kernel : plan_.kernels) {
                if (kernel.domain.kind != rt::Domain::Kind::grid) continue;
                const rt::Range& range = kernel.domain.ranges[axis];
                if (rt::most_cells(range) / kernel.tile[axis] >= kMostBlocks)
                    smallest = std::min(smallest, kernel.tile[axis]);
            }
            const std::int64_t most = std::int64_t{kMostBlocks} * smallest;
            if (most >= std::numeric_limits<int>::max()) continue;
            if (axis == 2 && plan_.rank > 3) {
                refuse("",
                       fmt::format("1LL * ceil_div({}, {}) * {} > {}", model_.extents[2], smallest,
                                   model_.extents[3], kMostBlocks),
                       fmt::format("%lld cells along {} and %lld along {} are more blocks than can be",
                                   plan_.axes[2], plan_.axes[3]),
                       {model_.extents[2], model_.extents[3]});
                continue;
            }
            refuse(
                "", fmt::format("{} > {}", model_.extents[axis], most),
                fmt::format("%lld cells along {}: {} are the most for these kernels", plan_.axes[axis], most),
                {model_.extents[axis]});
        }
    }

    void write_strides() {
        const auto& halo = plan_.halo;
        const int pad = round_up_row(halo[0][0]);
        const auto padded = [&](int axis) {
            const int around = halo[axis][0] + halo[axis][1];
            return around > 0 ? fmt::format("({} + {})", model_.extents[axis], around) : model_.extents[axis];
        };
        const std::string row =
            halo[0][1] > 0 ? fmt::format("{} + {}", model_.extents[0], halo[0][1]) : model_.extents[0];
        const std::string before = pad > 0 ? fmt::format("{} + ", pad) : "";
        out_.line("const long long pitch = {}round_up({}, {});", before, row, kRowAlignment);
        std::string size = "1.0 * pitch";
        for (int axis = 1; axis < plan_.rank; ++axis)
            size += " * " + padded(axis);
        refuse("", fmt::format("pitch > most || {} > 1e16", size),
               fmt::format("a grid of {} cells is too large to index", join("%lld", " x ")), model_.extents);
        int components = 1;
        for (const rt::FieldPlan& field : plan_.fields)
            components = std::max(components, field.interleave);
        if (components > 1)  // kernels count the elements of a row in 32 bits
            refuse("", fmt::format("pitch * {} > most", components),
                   fmt::format("a row of %lld cells with {} components side by side is too long to index",
                               components),
                   {model_.extents[0]});
        for (const std::string& extent : model_.extents)
            out_.line("solver.{0} = static_cast<int>({0});", extent);
        std::string origin = std::to_string(pad);
        if (plan_.rank > 1) out_.line("solver.pitch = static_cast<int>(pitch);");
        if (plan_.rank > 1 && halo[1][0] > 0) origin += " + " + times(halo[1][0], "pitch");
        if (plan_.rank > 2) out_.line("solver.slice = pitch * {};", padded(1));
        if (plan_.rank > 2 && halo[2][0] > 0) origin += " + " + times(halo[2][0], "solver.slice");
        if (plan_.rank > 3) out_.line("solver.volume = solver.slice * {};", padded(2));
        if (plan_.rank > 3 && halo[3][0] > 0) origin += " + " + times(halo[3][0], "solver.volume");
        out_.line("solver.origin = {};", origin);
        // The last vector of the last row may read past its halo.
        const std::string tail = halo[0][1] > 0 ? fmt::format(" + {}", kRowAlignment) : "";
        out_.line("solver.elements = {}{};",
                  plan_.rank == 1   ? "pitch"
                  : plan_.rank == 2 ? "pitch * " + padded(1)
                  : plan_.rank == 3 ? "solver.slice * " + padded(2)
                                    : "solver.volume * " + padded(3),
                  tail);
    }

    void write_allocate() {
        out_.blank_line();
        out_.line("template <class T>");
        out_.line("{} allocate(T*& array, long long elements) {{", model_.status);
        out_.line("    const size_t bytes = elements * sizeof(T);");
        out_.line("    const cudaError_t error = cudaMalloc(&array, bytes);");
        out_.line("    if (error == cudaErrorMemoryAllocation) {{");
        out_.line("        cudaGetLastError();  // told here, so not again by a later launch");
        out_.line("        return fail({}, \"%zu bytes of device memory cannot be had\", bytes);",
                  model_.code("OUT_OF_MEMORY"));
        out_.line("    }}");
        return_unless_ok("check(error, \"allocating device memory\")", "    ");
        return_unless_ok("check(cudaMemset(array, 0, bytes), \"clearing device memory\")", "    ");
        out_.line("    // The caller's stream may be one that does not wait for the default one.");
        out_.line("    return check(cudaStreamSynchronize(nullptr), \"clearing device memory\");");
        out_.line("}}");

        out_.blank_line();
        out_.line("{} allocate({}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            std::int64_t bytes = 0;
            std::string others;
            for (int index = 0; index < count(plan_.fields); ++index) {
                const std::int64_t of_field = static_cast<std::int64_t>(model_.fields[index].levels.size()) *
                                              rt::size_of(plan_.fields[index].type);
                if (plan_.fields[index].grid.is_whole()) {
                    bytes += of_field;
                } else {
                    others += fmt::format(" + {} * ({})", of_field, array_of(index).elements);
                }
            }
            bytes += model_.most_bytes();
            out_.line("const size_t needed = {} * solver.elements{};", bytes, others);
            out_.line("size_t available = 0, all = 0;");
            return_unless_ok("check(cudaMemGetInfo(&available, &all), \"looking for a device\")");
            out_.line("if (needed > available) {{");
            out_.line("    return fail({}, \"%zu bytes of device memory are needed; %zu of %zu are free\",",
                      model_.code("OUT_OF_MEMORY"));
            out_.line("                needed, available, all);");
            out_.line("}}");
            for (int index = 0; index < count(plan_.fields); ++index) {
                if (!model_.has_array(index)) continue;
                for (const LevelName& level : model_.fields[index].levels)
                    return_unless_ok(fmt::format("allocate(solver.{}, {}{})", level.member,
                                                 array_of(index).elements, model_.times_components(index)));
            }
            if (model_.has_interleaved())
                return_unless_ok(
                    fmt::format("allocate(solver.component, solver.elements{})",
                                model_.most_bytes() == 1 ? "" : fmt::format(" * {}", model_.most_bytes())));
            for (int index = 0; index < count(plan_.reductions); ++index) {
                const rt::KernelPlan& kernel = plan_.kernels[plan_.reductions[index].kernel];
                return_unless_ok(fmt::format("allocate(solver.{}, block_count({}(solver)){})",
                                             model_.partials_member(index), blocks_function(kernel),
                                             rt::is_combined_by_repeat(plan_, index) ? " + 1" : ""));
                if (plan_.reductions[index].ahead_of < 0 && rt::is_read_on_device(plan_, index))
                    write_initial_value(index);
                if (model_.is_given_by_steps(index))
                    return_unless_ok(fmt::format("allocate(solver.{}, {} * {})",
                                                 model_.of_steps_member(index), plan_.time_block->steps,
                                                 plan_.time_block->kernel.blocks));
            }
            if (plan_.device_scalars > 0)
                return_unless_ok(fmt::format("allocate(solver.{}, {})", model_.device_scalars_member(),
                                             plan_.device_scalars));
            write_iterations_allocation(model_, out_);
            for (const rt::KernelPlan* kernel : launched_kernels()) {
                if (kernel->dynamic_shared_bytes == 0) continue;
                return_unless_ok(fmt::format(
                    "check(cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {}),\n"
                    "          \"asking for shared memory\")",
                    global_name(kernel->name), kernel->dynamic_shared_bytes));
            }
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    // As if all blocks had found it in the step before the first.
    void write_initial_value(int index) {
        const rt::ReductionPlan& reduction = plan_.reductions[index];
        out_.line("{{");
        {
            const auto body = out_.indent();
            out_.line("const std::vector<double> first(block_count({}(solver)), {});",
                      blocks_function(plan_.kernels[reduction.kernel]), number(reduction.initial));
            fill("const cudaError_t error = cudaMemcpyAsync(",
                 {"solver." + model_.partials_member(index), "first.data()", "first.size() * sizeof(double)",
                  "cudaMemcpyHostToDevice", "solver.stream"},
                 ");");
            const std::string doing = fmt::format("\"setting {}\"", reduction.name);
            return_unless_ok(fmt::format("check(error, {})", doing));
            return_unless_ok(fmt::format("check(cudaStreamSynchronize(solver.stream), {})", doing));
        }
        out_.line("}}");
    }
};

}  // namespace

void write_solver_sizes(const LauncherModel& model, Writer& out) {
    SizeWriter(model, out).write_sizes();
}

void write_allocation(const LauncherModel& model, Writer& out) {
    SizeWriter(model, out).write_allocation();
}

}  // namespace halo::emit
