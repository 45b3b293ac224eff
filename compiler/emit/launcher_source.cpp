#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_model.h"
#include "compiler/emit/launcher_writer.h"
#include "compiler/kernel/part.h"
#include "compiler/support/error.h"
#include "runtime/core/element.h"
#include "runtime/core/geometry.h"
#include "runtime/core/plan_check.h"

namespace halo::emit {

namespace {

constexpr const char* kHostOnly = "#ifndef __CUDACC_RTC__  // not for NVRTC, which takes the kernels alone";

class SourceWriter : LauncherWriter {
public:
    SourceWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write(const std::string& kernel_text, const std::string& introduction) {
        write_includes(introduction);
        out_.blank_line();
        out_.text(kernel_text);
        out_.blank_line();
        out_.line("// ---- the launcher: see {}.h ----", model_.stem);
        out_.blank_line();
        out_.line("{}", kHostOnly);
        write_solver();
        out_.blank_line();
        out_.line("namespace launcher {{");
        out_.line("namespace {{  // another stencil's launcher has such functions, too");
        write_parts();
        write_points_rows(model_, out_);
        write_launches();
        write_fill_halos(model_, out_);
        write_combinations(model_, out_);
        write_full_steps(model_, out_);
        write_allocation(model_, out_);
        write_points_functions(model_, out_);
        write_axes_functions(model_, out_);
        write_resident_functions(model_, out_);
        out_.blank_line();
        out_.line("}}  // namespace");
        out_.line("}}  // namespace launcher");
    }

private:
    void write_includes(const std::string& introduction) {
        out_.line("// {}.cu: the kernels of the stencil {} and a launcher in plain C.", model_.stem,
                  plan_.name);
        out_.line("// Made by Halocline. To build it: nvcc -std=c++17 -arch=sm_90 -fmad=false -c {}.cu",
                  model_.stem);
        out_.text(introduction);
        if (!introduction.empty()) out_.blank_line();
        out_.line("{}", kHostOnly);
        out_.line("#include \"{}.h\"", model_.stem);
        out_.blank_line();
        out_.line("#include <cuda_runtime.h>");
        out_.blank_line();
        const auto is_of_some = [](const rt::KernelPlan& kernel) {
            return !rt::is_whole_grid(kernel.domain) || !kernel.within.is_all();
        };
        if (std::ranges::any_of(plan_.kernels, is_of_some) || is_resident() || !plan_.points.empty())
            out_.line("#include <algorithm>");
        if (!plan_.points.empty()) out_.line("#include <array>");
        for (const char* header : {"cmath", "cstdarg", "cstdio"})
            out_.line("#include <{}>", header);
        if (model_.has_fixed_face(rt::ElementType::f16) || model_.has_fixed_face(rt::ElementType::bf16))
            out_.line("#include <cstring>");
        if (model_.rounds_faces()) out_.line("#include <limits>");
        if (!plan_.points.empty()) out_.line("#include <map>");
        out_.line("#include <new>");
        if (is_resident()) out_.line("#include <type_traits>");
        out_.line("#include <utility>");
        if (!plan_.reductions.empty() || !plan_.points.empty() || !plan_.stretched.empty() ||
            model_.has_series())
            out_.line("#include <vector>");
        out_.line("#endif");
    }

    void write_solver() {
        out_.blank_line();
        out_.line("struct {} {{", model_.solver);
        {
            const auto body = out_.indent();
            write_points_types(model_, out_);
            write_solver_sizes(model_, out_);
            out_.line("cudaStream_t stream = nullptr;");
            out_.blank_line();
            write_scalars();
            write_levels();
            for (int index = 0; index < count(plan_.tables); ++index) {
                if (plan_.tables[index].is_series) {
                    out_.line("std::vector<double> {};  // of a series, on the host",
                              model_.values_member(index));
                    continue;
                }
                out_.line("{}* {} = nullptr;", model_.rows_type(index), model_.rows_member(index));
                out_.line("int {} = -1;  // rows; -1: none were set", model_.count_member(index));
            }
            for (int index = 0; index < count(plan_.reductions); ++index) {
                out_.line("double* {} = nullptr;  // one value of each block", model_.partials_member(index));
                if (model_.is_given_by_steps(index)) {
                    out_.line("double* {} = nullptr;  // the same of each step of a launch that does several",
                              model_.of_steps_member(index));
                    out_.line("bool {} = false;  // the last step was one of these",
                              model_.in_steps_member(index));
                }
                if (!model_.is_read(index)) continue;
                out_.line("double {} = {};  // that statements read", model_.latest_member(index),
                          number(plan_.reductions[index].initial));
                out_.line("bool {} = false;  // the blocks' values are newer", model_.due_member(index));
            }
            if (plan_.device_scalars > 0)
                out_.line("double* {} = nullptr;  // of the present step, computed on the device",
                          model_.device_scalars_member());
            write_iterations_members(model_, out_);
            write_points_members(model_, out_);
            write_resident_members(model_, out_);
            if (any_halo() || counts_steps() || model_.computes_columns()) out_.blank_line();
            write_axes_member(model_, out_);
            if (model_.computes_columns())
                out_.line("bool columns_due = true;  // rows or values were set since columns were computed");
            if (any_halo())
                out_.line("bool halos_due = true;  // values were set since the halos were filled");
            if (counts_steps()) out_.line("long long steps = 0;    // done so far");
        }
        out_.line("}};");
    }

    void write_levels() {
        for (int index = 0; index < count(plan_.fields); ++index) {
            if (!model_.has_array(index)) continue;
            const FieldNames& field = model_.fields[index];
            const std::string note =
                model_.is_interleaved(index)
                    ? fmt::format("  // {} components of a cell side by side", plan_.fields[index].interleave)
                    : "";
            for (const LevelName& level : field.levels)
                out_.line("{}* {} = nullptr;{}", field.type, level.member, note);
        }
        if (model_.has_interleaved())
            out_.line("unsigned char* component = nullptr;  // one of all cells, on its way to or from them");
    }

    void write_scalars() {
        for (int index = 0; index < count(plan_.params); ++index) {
            const auto& value = plan_.params[index].default_value;
            if (value) {
                out_.line("double {} = {};", model_.param_member(index), number(*value));
            } else {
                out_.line("double {};", model_.param_member(index));
                out_.line("bool {} = false;", model_.given_member(index));
            }
        }
        for (int index = 0; index < count(plan_.coefs); ++index) {
            const rt::CoefPlan& coef = plan_.coefs[index];
            std::vector<std::string> weights;
            for (const double weight : coef.defaults)
                weights.push_back(number(weight));
            out_.line("{} {}[{}] =", coef.type == rt::ElementType::f32 ? "float" : "double",
                      model_.coef_member(index), model_.coef_elements(index));
            const auto more = out_.indent();
            fill("{", weights, "};");
        }
    }

    void write_parts() {
        std::vector<std::string> parts{"messages"};
        if (!model_.is_fixed()) parts.emplace_back("counting");
        if (!model_.is_fixed() || model_.computes_columns() || !plan_.points.empty())
            parts.emplace_back("blocks");
        if (model_.has_rows()) parts.emplace_back("rows");
        if (model_.has_series()) parts.emplace_back("series");
        parts.push_back(fmt::format("copies {}", std::min(plan_.rank, 3)));
        if (plan_.rank > 3) parts.emplace_back("copies 4");
        if (model_.has_fewer_axes()) parts.emplace_back("copies over fewer axes");
        if (model_.has_interleaved()) parts.emplace_back("components");
        if (counts_blocks()) parts.emplace_back("block count");
        if (has_conditions()) parts.emplace_back("iterations");
        if (is_resident()) parts.emplace_back("together");
        if (outputs_have_past()) parts.emplace_back("levels");
        if (model_.has_fixed_face(rt::ElementType::f16)) parts.emplace_back("f16 bits");
        if (model_.has_fixed_face(rt::ElementType::bf16)) parts.emplace_back("bf16 bits");
        if (model_.rounds_faces()) parts.emplace_back("nearest");
        if (model_.fills_halos_by_copies())
            parts.insert(parts.end(), {"halo", plan_.rank > 3 ? "halo 4" : "halo 3"});
        for (const std::string& part : parts) {
            out_.blank_line();
            out_.text(model_.part(part));
        }
    }

    static constexpr int kNoLimit = std::numeric_limits<int>::max();

    // The cells of a range along an axis, as it lies in the grid; as the runtime's domain_extent().
    struct Cells {
        std::string text;
        int most = kNoLimit;
    };
    // With cells past the faces.
    static Cells shell_along(const rt::Range& range, const std::string& extent) {
        const int more = range.end.offset - range.begin.offset;
        if (range.begin.from_high == range.end.from_high) return {std::to_string(more), more};
        return {more == 0 ? extent : fmt::format("{} + {}", extent, more)};
    }
    // Of several axes at once: as large as the largest face, and of all axes one behind the other.
    Cells faces_along(const rt::Domain& domain, int axis) const {
        if (axis == plan_.rank - 1) return {std::to_string(domain.index), domain.index};
        const auto along = [&](int each) {
            return shell_along(domain.ranges[static_cast<std::size_t>(each)], names_.extent(each)).text;
        };
        return {fmt::format("std::max({}, {})", along(axis), along(axis + 1))};
    }
    Cells cells_along(const rt::KernelPlan& kernel, int axis) const {
        const std::string extent = names_.extent(axis);
        const rt::Range& range = kernel.domain.ranges[static_cast<std::size_t>(axis)];
        if (kernel.domain.kind == rt::Domain::Kind::faces) return faces_along(kernel.domain, axis);
        if (kernel.domain.kind == rt::Domain::Kind::shell) return shell_along(range, extent);
        if (range.begin.from_high == range.end.from_high) {  // so many at the face, but for the nearest
            const int far = range.begin.from_high ? -range.begin.offset : range.end.offset;
            const int near = std::max(range.begin.from_high ? -range.end.offset : range.begin.offset, 0);
            if (far <= near) return {"0", 0};
            const std::string there = far == 1 ? "1" : fmt::format("std::min({}, {})", extent, far);
            return {near == 0 ? there : fmt::format("std::max({} - {}, 0)", there, near), far - near};
        }
        if (range.begin.from_high) {  // fewer the larger the grid is
            const std::string first = fmt::format("std::max({} - {}, 0)", extent, -range.begin.offset);
            return {fmt::format("std::max(std::min({}, {}) - {}, 0)", extent, range.end.offset, first),
                    static_cast<int>(rt::most_cells(range))};
        }
        const int missing = std::max(range.begin.offset, 0) + std::max(-range.end.offset, 0);
        return {missing == 0 ? extent : fmt::format("std::max({} - {}, 0)", extent, missing)};
    }

    // As the runtime's blocks_of().
    std::string blocks_along(const rt::KernelPlan& kernel, int axis) const {
        if (axis == 2 && plan_.rank > 3) {
            const std::string planes = blocks_along_axis(kernel, 2), volumes = blocks_along_axis(kernel, 3);
            return planes == "1"    ? volumes
                   : volumes == "1" ? planes
                                    : fmt::format("{} * {}", planes, volumes);
        }
        return blocks_along_axis(kernel, axis);
    }

    std::string blocks_along_axis(const rt::KernelPlan& kernel, int axis) const {
        if (kernel.domain.kind == rt::Domain::Kind::rows)
            return axis > 0 ? "1"
                            : fmt::format("ceil_div(solver.{}, {})", model_.count_member(kernel.domain.index),
                                          kernel.tile[0]);
        if (kernel.domain.kind == rt::Domain::Kind::cells ||
            kernel.domain.kind == rt::Domain::Kind::samples) {
            if (axis > 0) return "1";
            const bool of_cells = kernel.domain.kind == rt::Domain::Kind::cells;
            const std::string items = fmt::format("solver.{}.{}", model_.points[kernel.domain.index].member,
                                                  of_cells ? "touched" : "count");
            return kernel.tile[0] == 1 ? fmt::format("static_cast<unsigned>({})", items)
                                       : fmt::format("ceil_div({}, {})", items, kernel.tile[0]);
        }
        if (axis >= plan_.rank) return "1";
        const auto at = static_cast<std::size_t>(axis);
        const auto [cells, most] = cells_along(kernel, axis);
        const int tile = kernel.tile[at];
        const bool has_cells = rt::is_halo(kernel.domain) || !rt::may_be_empty(kernel.domain.ranges[at]);
        if (most <= tile && has_cells) return "1";
        if (tile == 1) return cells;
        return tile == kNoLimit ? fmt::format("std::min({}, 1)", cells)
                                : fmt::format("ceil_div({}, {})", cells, tile);
    }

    // What the launch of a kernel that fills a halo is given besides the solver.
    static constexpr const char* kLevel = "level";
    static constexpr const char* kStep = "step_of_level";
    // And one that does as many steps as it is told.
    static constexpr const char* kTogether = "steps";

    // A name that hides nothing the launch needs.
    static std::string local_name(const std::string& name) {
        const bool hides = name == "solver" || name == "blocks" || name == "threads" || name == "check" ||
                           name == kLevel || name == kStep || name == kTogether;
        return hides ? name + "_" : name;
    }

    // Of a level's array, as kernels take it.
    std::string first_cell(int field, const std::string& array) const {
        const std::string cell =
            array + " + " + model_.array_of(field, "solver.").origin + model_.times_components(field);
        if (!model_.is_narrow(field)) return cell;
        return fmt::format("reinterpret_cast<{}*>({})", rt::name_of(plan_.fields[field].type), cell);
    }

    std::string argument(const rt::KernelPlan& kernel, const rt::Argument& argument,
                         const std::string& name) const {
        switch (argument.kind) {
            case rt::Argument::Kind::field:
                return first_cell(
                    argument.field,
                    kernel.fills_halo
                        ? kLevel
                        : "solver." + model_.fields[argument.field].level(argument.time).member);
            case rt::Argument::Kind::scalar:
                return is_plain(argument.scalar) ? print_host_argument(argument.scalar, argument.type, names_)
                                                 : local_name(name);
            case rt::Argument::Kind::extent:
                return names_.extent(argument.index);
            case rt::Argument::Kind::pitch:
                return plan_.rank > 1 ? "solver.pitch" : "0";
            case rt::Argument::Kind::slice:
                return plan_.rank > 2 ? "solver.slice" : "0";
            case rt::Argument::Kind::volume:
                return "solver.volume";
            case rt::Argument::Kind::partials:
                return "solver." + model_.partials_member(argument.index);
            case rt::Argument::Kind::partial_count: {
                const rt::ReductionPlan& reduction = plan_.reductions[argument.index];
                return fmt::format("static_cast<int>(block_count({}(solver)))",
                                   blocks_function(plan_.kernels[reduction.kernel]));
            }
            case rt::Argument::Kind::device_scalars:
                return "solver." + model_.device_scalars_member();
            case rt::Argument::Kind::iterations:
                return fmt::format("solver.{}{}", words_member(argument.index),
                                   argument.part == 0 ? "" : fmt::format(" + {}", argument.part));
            case rt::Argument::Kind::coefs:
                return plan_.coefs[argument.index].symbol;
            case rt::Argument::Kind::table:
                return "solver." + model_.rows_member(argument.index);
            case rt::Argument::Kind::rows:
                return "solver." + model_.count_member(argument.index);
            case rt::Argument::Kind::points:
            case rt::Argument::Kind::count:
                return points_argument(model_, argument);
            case rt::Argument::Kind::exchange:
                return exchange_argument(argument);
            case rt::Argument::Kind::steps:
                return kTogether;
            case rt::Argument::Kind::sent:
                return "solver.steps_sent";
            case rt::Argument::Kind::step_partials:
                return "solver." + model_.of_steps_member(argument.index);
            case rt::Argument::Kind::planes:
            case rt::Argument::Kind::neighbour:
                throw UnsupportedError("kernels of pieces of a grid are not part of emitted launchers");
        }
        return "";
    }

    std::string exchange_argument(const rt::Argument& argument) const {
        if (argument.part == 0) return "solver." + model_.exchange_member(argument.index);
        return fmt::format("{}LL * block_count(blocks)",
                           plan_.time_block->resident()->exchanges[static_cast<std::size_t>(argument.index)]);
    }

    void write_fixed_blocks(const rt::KernelPlan& kernel) {
        const rt::Geometry geometry = rt::make_geometry(plan_.rank, plan_.fixed_grid->extent, plan_.halo);
        const std::array<std::int64_t, 3> blocks = rt::blocks_of(kernel, geometry);
        for (std::size_t axis = 0; axis < blocks.size(); ++axis) {
            if (axis > 0 && blocks[axis] > kMostBlocks)
                throw UnsupportedError(
                    fmt::format("{} cells along {} are too many for the blocks of kernel {}",
                                geometry.extent[axis], plan_.axes[axis], kernel.name));
        }
        out_.line("return dim3({}, {}, {});", blocks[0], blocks[1], blocks[2]);
    }

    void write_launches() {
        std::set<std::string> known;  // functions that count blocks
        for (const rt::KernelPlan* kernel : launched_kernels()) {
            for (const rt::Argument& argument : kernel->arguments) {
                if (argument.kind != rt::Argument::Kind::partial_count) continue;
                const std::string counts =
                    blocks_function(plan_.kernels[plan_.reductions[argument.index].kernel]);
                if (!known.insert(counts).second) continue;
                out_.blank_line();
                out_.line("dim3 {}(const {}&);", counts, model_.solver);
            }
            known.insert(blocks_function(*kernel));
            write_launch(*kernel);
        }
    }

    void write_launch(const rt::KernelPlan& kernel) {
        const bool is_known =
            model_.is_fixed() && (kernel.domain.kind == rt::Domain::Kind::grid || rt::is_halo(kernel.domain));
        std::vector<std::string> counts;
        for (int axis = 0; kernel.blocks == 0 && !is_known && axis < 3; ++axis)
            counts.push_back(blocks_along(kernel, axis));
        const bool asks = std::ranges::any_of(
            counts, [](const std::string& text) { return text.find("solver") != std::string::npos; });
        out_.blank_line();
        out_.line("dim3 {}(const {}&{}) {{", blocks_function(kernel), model_.solver, asks ? " solver" : "");
        {
            const auto body = out_.indent();
            if (kernel.blocks > 0) {
                out_.line("return dim3({});  // whatever the grid", kernel.blocks);
            } else if (is_known) {
                write_fixed_blocks(kernel);
            } else {
                fill("return dim3(", counts, ");");
            }
        }
        out_.line("}}");
        const auto& parameters = kernel::kernel_named(model_.kernels, kernel.name).parameters;
        out_.blank_line();
        HostNames names = names_;
        std::string more;
        if (kernel.fills_halo) {
            more = fmt::format(", {}* {}, double {}", model_.fields[kernel.fills_halo->field].type, kLevel,
                               fills_by_step(kernel) ? kStep : "");
            names.step = [] { return std::string(kStep); };
        }
        if (is_together(kernel)) more = fmt::format(", int {}", kTogether);
        out_.line("{} {}(const {}& solver{}) {{", model_.status, launch_function(kernel), model_.solver,
                  more);
        {
            const auto body = out_.indent();
            std::vector<std::string> arguments;
            for (std::size_t index = 0; index < kernel.arguments.size(); ++index) {
                const rt::Argument& value = kernel.arguments[index];
                arguments.push_back(argument(kernel, value, parameters[index].name));
                if (value.kind != rt::Argument::Kind::scalar || is_plain(value.scalar)) continue;
                out_.line("const {} {} = {};",
                          value.type == rt::ElementType::f32   ? "float"
                          : value.type == rt::ElementType::i32 ? "int"
                          : value.type == rt::ElementType::i64 ? "long long"
                                                               : "double",
                          local_name(parameters[index].name),
                          print_host_argument(value.scalar, value.type, names));
            }
            out_.line("const dim3 blocks = {}(solver);", blocks_function(kernel));
            if (may_be_empty(kernel))
                out_.line("if (block_count(blocks) == 0) return {};  // {}", model_.code("OK"),
                          reason_of_none(kernel.domain.kind));
            out_.line("const dim3 threads({}, {}, {});", kernel.threads[0], kernel.threads[1],
                      kernel.threads[2]);
            if (is_together(kernel)) {
                arguments.insert(arguments.begin(),
                                 {"solver", "blocks", "threads", std::to_string(kernel.dynamic_shared_bytes),
                                  global_name(kernel.name)});
                fill("const cudaError_t error = launch_together(", arguments, ");");
                out_.line("return check(error, \"launching {}\");", kernel.name);
            } else {
                fill(fmt::format("{}<<<blocks, threads, {}, solver.stream>>>(", global_name(kernel.name),
                                 kernel.dynamic_shared_bytes),
                     arguments, ");");
                out_.line("return check(cudaGetLastError(), \"launching {}\");", kernel.name);
            }
        }
        out_.line("}}");
    }

    // All of its blocks have to be on the device at once.
    bool is_together(const rt::KernelPlan& kernel) const {
        return is_resident() && &kernel == &plan_.time_block->kernel;
    }

    static const char* reason_of_none(rt::Domain::Kind kind) {
        return kind == rt::Domain::Kind::rows      ? "there are no rows"
               : kind == rt::Domain::Kind::cells   ? "no cell is touched"
               : kind == rt::Domain::Kind::samples ? "there are no points"
                                                   : "the grid has none of its cells";
    }

    static bool fills_by_step(const rt::KernelPlan& kernel) {
        return std::ranges::any_of(kernel.arguments, [](const rt::Argument& argument) {
            return argument.kind == rt::Argument::Kind::scalar &&
                   std::ranges::any_of(argument.scalar.steps, [](const rt::HostScalar::Step& step) {
                       return step.op == rt::HostScalar::Op::step;
                   });
        });
    }

    bool outputs_have_past() const {
        return std::ranges::any_of(plan_.fields, [](const rt::FieldPlan& field) {
            return field.role != rt::Role::state && field.history > 0;
        });
    }
};

}  // namespace

std::string print_launcher_source(const LauncherModel& model, const std::string& kernel_text,
                                  const std::string& introduction) {
    Writer out;
    SourceWriter(model, out).write(kernel_text, introduction);
    write_launcher_calls(model, out);
    out.blank_line();
    out.line("#endif  // __CUDACC_RTC__");
    return out.take();
}

}  // namespace halo::emit
