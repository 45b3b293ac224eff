#include "compiler/driver/running/field_series.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "compiler/driver/running/field_files.h"
#include "compiler/support/file_kinds.h"
#include "runtime/core/json_value.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/xdmf.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace fs = std::filesystem;

namespace {

std::vector<const Output*> outputs_of_file(const Engine& engine, const RunRequest& request,
                                           const Output& first) {
    std::vector<const Output*> outputs;
    for (const Output& output : request.outputs) {
        if (!shares_file(output, first)) continue;
        const bool is_in_xdmf = !output.lies_apart && !output.part && output.grid.factor == 1 &&
                                rt::has_xdmf(shape_of(engine, output.field, request.rank()));
        if (is_in_xdmf || is_of(output.path, FileFormat::vtkhdf)) outputs.push_back(&output);
    }
    return outputs;
}

rt::XdmfFrame frame_of(const Engine& engine, const RunRequest& request, const std::string& path,
                       std::int64_t step, const std::vector<const Output*>& outputs) {
    rt::XdmfFrame frame;
    frame.file = fs::path(path).filename().string();
    frame.time = request.time_after(step);
    for (const Output* output : outputs) {
        rt::XdmfField field;
        field.name = output->field.name;
        field.shape = shape_of(engine, output->field, request.rank());
        field.type = rt::type_in_hdf5(type_of(engine, output->field));
        field.origin = request.first_point(*output);
        frame.fields.push_back(std::move(field));
    }
    return frame;
}

// Lists the frames that exist; the file of the end replaces the frame of its step.
std::vector<rt::XdmfFrame> frames_there(const Engine& engine, const RunRequest& request,
                                        const std::vector<const Output*>& outputs, std::int64_t done,
                                        bool last) {
    std::set<std::int64_t> steps;
    for (const Output* output : outputs)
        for (std::int64_t step = output->frames.from;
             output->frames.every > 0 && step <= std::min(done, output->frames.to);
             step += output->frames.every)
            if (step < done || !last) steps.insert(step);
    const std::string& path = outputs.front()->path;
    std::vector<rt::XdmfFrame> frames;
    for (const std::int64_t step : steps) {
        const std::string frame = frame_path(path, step, request.steps);
        std::error_code ignored;
        if (!fs::exists(frame, ignored)) continue;
        std::vector<const Output*> due;
        for (const Output* output : outputs)
            if (output->frames.is_due(step)) due.push_back(output);
        frames.push_back(frame_of(engine, request, frame, step, due));
    }
    if (last) frames.push_back(frame_of(engine, request, path, done, outputs));
    return frames;
}

// The files of a series and their times, as ParaView reads it: version 1.0 of VTKHDF has no times.
std::string list_of_files(const std::vector<rt::XdmfFrame>& frames) {
    using rt::json::Value;
    Value files = Value::list({});
    for (const rt::XdmfFrame& frame : frames)
        files.push_back(Value::object({{"name", frame.file}, {"time", frame.time}}));
    return Value::object({{"file-series-version", "1.0"}, {"files", files}}).dump(1) + "\n";
}

void write_page(const std::string& path, const std::string& page) {
    rt::AtomicFile file(path);
    file.write(page.data(), page.size());
    file.commit();
}

}  // namespace

std::optional<std::string> page_path(const Output& output) {
    if (is_of(output.path, FileFormat::hdf5))
        return fs::path(output.path).replace_extension(".xdmf").string();
    if (is_of(output.path, FileFormat::vtkhdf) && output.frames.every > 0 && !output.frames.together)
        return output.path + ".series";
    return std::nullopt;
}

std::optional<std::string> write_frames_page(rt::Ranks& ranks, const Engine& engine,
                                             const RunRequest& request, const Output& first,
                                             const std::vector<std::int64_t>& steps) {
    const std::vector<const Output*> outputs = outputs_of_file(engine, request, first);
    if (outputs.empty()) return std::nullopt;
    const std::string path = *page_path(first);
    rt::together(ranks, [&] {
        if (!ranks.is_first()) return;
        std::vector<rt::XdmfFrame> frames;
        for (const std::int64_t step : steps) {
            frames.push_back(frame_of(engine, request, first.path, step, outputs));
            frames.back().number = std::ssize(frames) - 1;
            frames.back().of = std::ssize(steps);
        }
        write_page(path, rt::xdmf_page(request.name, request.spacing, frames, true));
    });
    return path;
}

std::optional<std::string> FieldSeries::write(rt::Ranks& ranks, const Engine& engine,
                                              const RunRequest& request, const Output& first,
                                              std::int64_t done, bool last) {
    const std::vector<const Output*> outputs = outputs_of_file(engine, request, first);
    std::optional<std::string> path;
    for (const Output* output : outputs)
        if (!path) path = page_path(*output);
    if (!path) return std::nullopt;
    if (++frames_ >= next_page_ || last) {
        next_page_ = frames_ + 1 + frames_ / 16;
        rt::together(ranks, [&] {
            if (!ranks.is_first()) return;
            const std::vector<rt::XdmfFrame> frames = frames_there(engine, request, outputs, done, last);
            const bool is_series =
                std::ranges::any_of(outputs, [](const Output* output) { return output->frames.every > 0; });
            write_page(*path, is_of(first.path, FileFormat::vtkhdf)
                                  ? list_of_files(frames)
                                  : rt::xdmf_page(request.name, request.spacing, frames, is_series));
        });
    }
    return last ? path : std::nullopt;
}

}  // namespace halo::driver
