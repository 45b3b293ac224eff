#include "compiler/driver/running/field_series.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "compiler/driver/running/field_files.h"
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
    for (const Output& output : request.outputs)
        if (shares_file(output, first) && !output.lies_apart && !output.part && output.grid.factor == 1 &&
            rt::has_xdmf(shape_of(engine, output.field, request.rank())))
            outputs.push_back(&output);
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

void write_page(const std::string& path, const std::string& page) {
    rt::AtomicFile file(path);
    file.write(page.data(), page.size());
    file.commit();
}

}  // namespace

std::string xdmf_path(const std::string& path) {
    return fs::path(path).replace_extension(".xdmf").string();
}

std::optional<std::string> write_frames_page(rt::Ranks& ranks, const Engine& engine,
                                             const RunRequest& request, const Output& first,
                                             const std::vector<std::int64_t>& steps) {
    const std::vector<const Output*> outputs = outputs_of_file(engine, request, first);
    if (outputs.empty()) return std::nullopt;
    const std::string path = xdmf_path(first.path);
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
    if (outputs.empty()) return std::nullopt;
    const std::string path = xdmf_path(first.path);
    if (++frames_ >= next_page_ || last) {
        next_page_ = frames_ + 1 + frames_ / 16;
        rt::together(ranks, [&] {
            if (!ranks.is_first()) return;
            const bool is_series =
                std::ranges::any_of(outputs, [](const Output* output) { return output->frames.every > 0; });
            const std::string page = rt::xdmf_page(
                request.name, request.spacing, frames_there(engine, request, outputs, done, last), is_series);
            write_page(path, page);
        });
    }
    return last ? std::optional<std::string>(path) : std::nullopt;
}

}  // namespace halo::driver
