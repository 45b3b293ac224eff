// The C interface of the compiler.
#include "halocline/halocline.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "halocline/halocline.hpp"
#include "runtime/api/c_handles.h"
#include "runtime/core/element.h"

using namespace halocline;
using namespace halocline::detail;

struct halo_task {
    std::shared_future<void> done;
};
struct halo_checkpoint {
    Checkpoint checkpoint;
};
struct halo_gradient {
    Gradient gradient;
};

namespace {

std::vector<std::string> words_of(const char* const* list) {
    std::vector<std::string> words;
    for (; list != nullptr && *list != nullptr; ++list)
        words.emplace_back(*list);
    return words;
}

CompileOptions options_of(const halo_compile_options* c) {
    CompileOptions options;
    if (c == nullptr) return options;
    if (c->stencil != nullptr) options.stencil = c->stencil;
    options.include = words_of(c->include);
    options.schedules = words_of(c->schedules);
    options.strict_fp = c->strict_fp != 0;
    options.wait_for_all_kernels = c->wait_for_all_kernels != 0;
    return options;
}

std::vector<Grid> grids_of(const int64_t* grids, int axes, int count) {
    std::vector<Grid> all;
    for (std::size_t i = 0; i < checked_count(count, "the list of grids"); ++i)
        all.push_back(
            grid_of(grids == nullptr ? nullptr : grids + static_cast<std::ptrdiff_t>(i) * axes, axes));
    return all;
}

void report_to(halo_gradient_report* report, const GradientReport& found) {
    if (report != nullptr)
        *report = {found.objective,         found.steps,          found.steps_done_again, found.snapshots,
                   found.snapshots_on_host, found.snapshot_bytes, found.seconds};
}

// The weights of one level: `elements` are in memory that lives as long as they do.
FieldWeights weights_in_c(const halo_field_weights& given, const std::vector<Gradient::Level>& known,
                          std::vector<std::byte>& elements) {
    FieldWeights weights{text_of(given.field, "a field"), given.level};
    if (given.values == nullptr) {
        need(given.cells.memory, "an array of weights");
        const halo_view& cells = given.cells;
        weights.cells = {cells.memory, cells.bytes, cells.first_cell, cells.pitch, cells.slice, cells.volume};
        return weights;
    }
    // The type does not matter where the weights do not.
    const auto level = std::ranges::find_if(known, [&](const Gradient::Level& each) {
        return each.field == weights.field && each.level == weights.level;
    });
    const auto type = static_cast<halo::rt::ElementType>(level == known.end() ? Type::f64 : level->type);
    elements.resize(given.count * static_cast<size_t>(halo::rt::size_of(type)));
    halo::rt::encode(given.values, static_cast<std::int64_t>(given.count), type, elements.data());
    weights.elements = elements;
    return weights;
}

}  // namespace

halo_code halo_compile(const char* text, const char* name, const halo_compile_options* options,
                       halo_program** program) {
    return guarded([&] {
        need(program, "the place for the handle");
        *program = nullptr;
        CompileOptions with = options_of(options);
        with.name = text_of(name, "the name");
        *program = new halo_program{compile(text_of(text, "the text"), with)};
    });
}

halo_code halo_compile_file(const char* path, const halo_compile_options* options, halo_program** program) {
    return guarded([&] {
        need(program, "the place for the handle");
        *program = nullptr;
        *program = new halo_program{compile_file(text_of(path, "the path"), options_of(options))};
    });
}

halo_code halo_diagnostic(int index, halo_diagnostic_info* info) {
    const auto& all = last_diagnostics();
    if (info == nullptr || index < 0 || index >= static_cast<int>(all.size())) return HALO_BAD_ARGUMENT;
    const Diagnostic& each = all[static_cast<std::size_t>(index)];
    info->is_error = each.is_error ? 1 : 0;
    info->kind = each.kind.c_str();
    info->message = each.message.c_str();
    info->file = each.file.c_str();
    info->mend = each.mend.c_str();
    info->line = each.line;
    info->column = each.column;
    return HALO_OK;
}

halo_code halo_precompile(const halo_program* program, const halo_device* device, const int64_t* grids,
                          int axes, int count, halo_task** task) {
    return guarded([&] {
        need(task, "the place for the handle");
        *task = nullptr;
        *task =
            new halo_task{precompile(need_handle(program, "the program").program,
                                     need_handle(device, "the device").device, grids_of(grids, axes, count))};
    });
}
halo_code halo_precompile_on(const halo_program* program, const halo_device* const* devices, int device_count,
                             const int64_t* grids, int axes, int count, int64_t exchange_every,
                             halo_task** task) {
    return guarded([&] {
        need(task, "the place for the handle");
        *task = nullptr;
        SimulationOptions options;
        if (exchange_every != 0) options.exchange_every = exchange_every;
        *task = new halo_task{precompile(need_handle(program, "the program").program,
                                         devices_of(devices, device_count), grids_of(grids, axes, count),
                                         options)};
    });
}
int halo_task_is_done(const halo_task* task) {
    return task == nullptr || task->done.wait_for(std::chrono::seconds(0)) == std::future_status::ready ? 1
                                                                                                        : 0;
}
halo_code halo_task_wait(halo_task* task) {
    return guarded([&] { need_handle(task, "the task").done.get(); });
}
void halo_task_release(halo_task* task) {
    delete task;
}

halo_code halo_write_bundle(const halo_program* program, const char* path, const char* const* archs,
                            int arch_count, const int64_t* grids, int axes, int grid_count, int any_grid) {
    return guarded([&] {
        BundleOptions options;
        for (const char* arch : list_of(archs, arch_count, "the list of architectures"))
            options.archs.push_back(text_of(arch, "an architecture"));
        options.grids = grids_of(grids, axes, grid_count);
        options.any_grid = any_grid != 0;
        write_bundle(need_handle(program, "the program").program, text_of(path, "the path"), options);
    });
}

halo_code halo_save_fields(const halo_simulation* simulation, const char* path, const char* const* fields) {
    return guarded([&] {
        save_fields(need_handle(simulation, "the simulation").simulation, text_of(path, "the path"),
                    words_of(fields));
    });
}
halo_code halo_save_checkpoint(halo_simulation* simulation, const char* folder) {
    return guarded([&] {
        save_checkpoint(need_handle(simulation, "the simulation").simulation, text_of(folder, "the folder"));
    });
}
halo_code halo_checkpoint_find(const char* path, halo_checkpoint** checkpoint) {
    return guarded([&] {
        need(checkpoint, "the place for the handle");
        *checkpoint = nullptr;
        *checkpoint = new halo_checkpoint{Checkpoint::find(text_of(path, "the path"))};
    });
}
halo_code halo_checkpoint_describe(const halo_checkpoint* checkpoint, halo_checkpoint_info* info) {
    return guarded([&] {
        need(info, "the place for the description");
        const Checkpoint& found = need_handle(checkpoint, "the checkpoint").checkpoint;
        *info = {};
        info->path = found.path().c_str();
        info->program = found.program().c_str();
        info->axes = static_cast<int>(found.grid().size());
        std::copy_n(found.grid().begin(), std::min<std::size_t>(found.grid().size(), HALO_MAX_AXES),
                    info->grid);
        info->steps = found.steps();
        info->holds_data = found.holds_data() ? 1 : 0;
    });
}
halo_code halo_checkpoint_restore(const halo_checkpoint* checkpoint, halo_simulation* simulation) {
    return guarded([&] {
        need_handle(checkpoint, "the checkpoint")
            .checkpoint.restore(need_handle(simulation, "the simulation").simulation);
    });
}
void halo_checkpoint_release(halo_checkpoint* checkpoint) {
    delete checkpoint;
}

halo_code halo_gradient_create(const halo_simulation* simulation, const char* of, const char* const* with,
                               int every_step, int64_t snapshots, halo_gradient** gradient) {
    return guarded([&] {
        need(gradient, "the place for the handle");
        *gradient = nullptr;
        GradientOptions options{text_of(of, "the objective"), words_of(with), every_step != 0};
        if (snapshots != 0) options.snapshots = snapshots;
        *gradient =
            new halo_gradient{Gradient(need_handle(simulation, "the simulation").simulation, options)};
    });
}
halo_code halo_gradient_compute(halo_gradient* gradient, int64_t steps, const double* weights,
                                const double* measured, size_t count, halo_gradient_report* report) {
    return guarded([&] {
        OfTrace of_trace;
        if (weights != nullptr) of_trace.weights = {weights, count};
        if (measured != nullptr) of_trace.measured = {measured, count};
        const GradientReport found = need_handle(gradient, "the gradient").gradient.compute(steps, of_trace);
        report_to(report, found);
    });
}
halo_code halo_gradient_number(const halo_gradient* gradient, const char* param, double* number) {
    return guarded([&] {
        need(number, "the place for the number");
        *number = need_handle(gradient, "the gradient").gradient.number(text_of(param, "the parameter"));
    });
}
halo_code halo_gradient_read(const halo_gradient* gradient, const char* field, double* values, size_t count) {
    return guarded([&] {
        need(values, "the values");
        const Gradient& found = need_handle(gradient, "the gradient").gradient;
        found.adjoint().read(found.field_name(text_of(field, "the field")), std::span<double>(values, count));
    });
}
halo_code halo_gradient_trace(const halo_gradient* gradient, const char* injected, double* values,
                              size_t* count) {
    return guarded([&] {
        need(count, "the place for the number of values");
        const std::vector<double> rows =
            need_handle(gradient, "the gradient").gradient.trace(text_of(injected, "the trace"));
        const size_t room = std::exchange(*count, rows.size());
        if (rows.size() > room)
            throw Error(ErrorCode::bad_argument, "the trace has " + std::to_string(rows.size()) +
                                                     " values, and there is room for " +
                                                     std::to_string(room));
        need(values, "the values");
        std::copy(rows.begin(), rows.end(), values);
    });
}
halo_code halo_gradient_create_of_fields(const halo_simulation* simulation, const char* const* of,
                                         const char* const* with, int64_t snapshots,
                                         halo_gradient** gradient) {
    return guarded([&] {
        need(gradient, "the place for the handle");
        *gradient = nullptr;
        GradientOptions options{"", words_of(with)};
        options.of_fields = words_of(of);
        if (options.of_fields.empty())
            throw Error(ErrorCode::bad_argument,
                        "a gradient of fields is of one or more: name states or outputs");
        if (snapshots != 0) options.snapshots = snapshots;
        *gradient =
            new halo_gradient{Gradient(need_handle(simulation, "the simulation").simulation, options)};
    });
}
halo_code halo_gradient_compute_of_fields(halo_gradient* gradient, int64_t steps,
                                          const halo_field_weights* weights, int count,
                                          halo_gradient_report* report) {
    return guarded([&] {
        Gradient& of_fields = need_handle(gradient, "the gradient").gradient;
        const std::span<const halo_field_weights> given = list_of(weights, count, "the list of weights");
        const std::vector<Gradient::Level> known = of_fields.weights();
        std::vector<std::vector<std::byte>> elements(given.size());
        std::vector<FieldWeights> all;
        for (size_t i = 0; i < given.size(); ++i)
            all.push_back(weights_in_c(given[i], known, elements[i]));
        report_to(report, of_fields.compute(steps, all));
    });
}
halo_code halo_gradient_read_level(const halo_gradient* gradient, const char* field, int level,
                                   double* values, size_t count) {
    return guarded([&] {
        need(values, "the values");
        const Gradient& found = need_handle(gradient, "the gradient").gradient;
        const std::string name = text_of(field, "the field");
        std::vector<std::string> known;
        for (const Gradient::Level& each : found.levels()) {
            if (each.field == name && each.level == level) {
                (void)found.field_name(name);  // throws before compute()
                return found.adjoint().read(each.name, std::span<double>(values, count));
            }
            known.push_back(fmt::format("{} of '{}'", each.level, each.field));
        }
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("the gradient is with respect to no level {} of '{}', or nothing depends on it{}",
                        level, name,
                        known.empty() ? "" : fmt::format("; there are {}", fmt::join(known, ", "))));
    });
}
void halo_gradient_release(halo_gradient* gradient) {
    delete gradient;
}
