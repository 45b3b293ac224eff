#include "compiler/driver/running/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/pictures.h"
#include "compiler/driver/running/saved_traces.h"
#include "compiler/support/file_kinds.h"
#include "runtime/io/npy.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace {

std::string place(const RunRequest& request, std::int64_t cell) {
    std::vector<std::string> words;
    for (int axis = 0; axis < request.rank(); ++axis) {
        words.push_back(fmt::format("{} = {}", request.axes[axis], cell % request.extent[axis]));
        cell /= request.extent[axis];
    }
    return join(words, ", ");
}

std::string names_of(const std::vector<const Output*>& outputs) {
    std::vector<std::string> names;
    for (const Output* output : outputs)
        names.push_back(output->field.name);
    return join(names, ", ");
}

}  // namespace

std::array<double, rt::kMaxRank> RunRequest::first_point(const Output& output) const {
    std::array<double, rt::kMaxRank> point = origin;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        point[axis] += spacing[axis] * place_of_first_cell(output.staggered[axis], output.grid);
    for (std::size_t axis = 0; output.part && axis < point.size(); ++axis)
        point[axis] += spacing[axis] * static_cast<double>(output.part->begin[axis] * output.grid.factor);
    return point;
}

std::pair<double, double> RunRequest::ends(const Output& output, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    const double first = first_point(output)[a];
    const std::int64_t cells = output.grid.extent(extent)[a];
    return {first, first + static_cast<double>(cells - 1) * spacing[a] * output.grid.factor};
}

// A cell of a coarser grid is a block of cells of the grid, and lies where its middle does.
double place_of_first_cell(bool is_staggered, const rt::FieldGrid& grid) {
    return (is_staggered ? 0.5 : 0) + (grid.factor - 1) / 2.0;
}

rt::Box RunRequest::saved_box(const Output& output) const {
    return output.part ? rt::bounds(*output.part) : rt::box_of_field(output.grid, rt::whole_box(extent));
}

std::string describe_grid(const RunRequest& request, bool utf8) {
    return fmt::format("{}", fmt::join(request.extent.begin(), request.extent.begin() + request.rank(),
                                       utf8 ? " × " : " x "));
}

bool shares_file(const Output& one, const Output& other) {
    const auto normal = [](const Output& output) {
        return std::filesystem::path(output.path).lexically_normal();
    };
    const bool are_alike = (one.is_array() && other.is_array()) || (one.is_column() && other.is_column());
    return are_alike && normal(one) == normal(other);
}

std::string frame_path(const std::string& path, std::int64_t step, std::int64_t steps) {
    std::filesystem::path whole(path);
    std::size_t digits = std::max<std::size_t>(6, std::to_string(steps).size());
    std::string name =
        fmt::format("{}-{:0{}}{}", whole.stem().string(), step, digits, whole.extension().string());
    return (whole.parent_path() / name).string();
}

std::optional<std::int64_t> Outputs::steps_to_next(std::int64_t done) const {
    std::optional<std::int64_t> next;
    for (const Output& output : request_.outputs) {
        const auto curve = curves_.find(&output);
        const std::optional<std::int64_t> steps =
            curve != curves_.end() ? curve->second.steps_to_next(done) : output.frames.steps_to_next(done);
        if (steps) next = next ? std::min(*next, *steps) : *steps;
    }
    return next;
}

Outputs::~Outputs() {
    try {
        fetch();
    } catch (const std::exception&) {  // of a device that failed before, or a disk
    }
}

void Outputs::fetch() {
    for (const std::function<void()>& each : std::exchange(to_fetch_, {}))
        each();
}

void Outputs::write(Engine& engine, std::int64_t done, bool last) {
    fetch();
    if (last && background_) background_->wait();
    const std::vector<Output>& all = request_.outputs;
    for (auto output = all.begin(); output != all.end(); ++output) {
        if (output->is_array() || output->is_column()) {
            const auto shares = [&](const Output& other) { return shares_file(other, *output); };
            if (std::any_of(all.begin(), output, shares)) continue;  // written with that one
            if (output->is_array())
                write_arrays(engine, *output, done, last);
            else
                write_row(engine, *output, done, last);
            continue;
        }
        if (output->is_curve()) {
            write_curve(engine, *output, done, last);
            continue;
        }
        if (output->kind == Output::Kind::movie) {
            if (output->frames.is_due(done)) write_frame(engine, *output, done);
            if (last) finish_movie(*output);
            continue;
        }
        std::vector<std::string> paths;
        if (output->frames.is_due(done)) paths.push_back(frame_path(output->path, done, request_.steps));
        if (last) paths.push_back(output->path);
        for (const std::string& path : paths) {
            if (!done_.insert(path).second) continue;
            if (output->trace) {
                write_trace(*output, path, engine.trace(output->trace->points, output->trace->trace), done);
            } else {
                write_picture(engine, *output, path, done);
            }
        }
    }
}

void Outputs::write_arrays(Engine& engine, const Output& first, std::int64_t done, bool last) {
    if (first.frames.together) return write_together(engine, first, done, last);
    FileOfFields frame{frame_path(first.path, done, request_.steps), {}}, end{first.path, {}};
    for (const Output& output : request_.outputs) {
        if (!shares_file(output, first)) continue;
        if (output.frames.is_due(done)) frame.outputs.push_back(&output);
        if (last) end.outputs.push_back(&output);
    }
    std::vector<FileOfFields> files;
    for (FileOfFields& file : {std::ref(frame), std::ref(end)})
        if (!file.outputs.empty() && done_.insert(file.path).second) files.push_back(std::move(file));
    if (files.empty()) return;
    for (FileOfFields& file : files)
        if (provenance_ != nullptr && needs_hdf5(file.path))
            file.provenance = provenance_->of_file(request_, file.outputs, done);
    write_files(engine, files, done, last);
    for (const FileOfFields& file : files)
        written_.push_back({names_of(file.outputs), file.path, done});
    if (is_of(first.path, FileFormat::hdf5) || is_of(first.path, FileFormat::vtkhdf))
        write_page(engine, first, done, last);
}

// After the files that it is about.
void Outputs::write_page(Engine& engine, const Output& first, std::int64_t done, bool last) {
    FieldSeries& series = series_[first.path];
    if (background_ && !last) {
        const auto write = [this, &series, &engine, &first, done] {
            series.write(background_->ranks(), engine, request_, first, done, false);
        };
        if (to_fetch_.empty()) return background_->put(0, write);
        to_fetch_.emplace_back([this, write] { background_->put(0, write); });
    } else if (const std::optional<std::string> page =
                   series.write(ranks_, engine, request_, first, done, last)) {
        written_.push_back({written_.back().field, *page, done});
    }
}

rt::FieldsAside* Outputs::aside_of(Engine& engine, const std::vector<FileOfFields>& files) {
    const auto [found, is_new] = aside_.try_emplace(files.front().outputs.front());
    if (is_new) found->second = engine.make_fields_aside();
    return found->second.get();
}

void Outputs::write_files(Engine& engine, const std::vector<FileOfFields>& files, std::int64_t done,
                          bool last) {
    std::map<std::pair<const FieldSet*, std::string>, NotFiniteCells> found;
    const auto check = [&](const FieldSet& set, const std::string& field, const rt::Lattice& cells,
                           const FieldValues& values) {
        found[{&set, field}].check(request_, cells, values);
    };
    const std::optional<WriteLater> later =
        background_ && !last ? std::optional(WriteLater{*background_, aside_of(engine, files)})
                             : std::nullopt;
    SavedOutputs saved = save_outputs(ranks_, files, engine, request_, done,
                                      request_.watch ? PartSeen(check) : PartSeen(), later);
    if (saved.fetch) to_fetch_.push_back(std::move(saved.fetch));
    for (const Output* output : saved.outputs)
        for (const std::string& field : output->field.fields)
            note_trouble(found[{&output->field, field}], field,
                         output->part ? output->part->cells() : request_.saved_box(*output).cells(), done);
}

std::vector<const Output*> Outputs::sharing_with(const Output& first) const {
    std::vector<const Output*> all;
    for (const Output& output : request_.outputs)
        if (shares_file(output, first)) all.push_back(&output);
    return all;
}

void Outputs::write_together(Engine& engine, const Output& first, std::int64_t done, bool last) {
    OpenFrames& open = together_[first.path];
    FileOfFields file{first.path, sharing_with(first)};
    // The state at the end may have been written before the run was known to end there.
    const bool is_there = !open.steps.empty() && open.steps.back() == done;
    if (!is_there && (last || first.frames.is_due(done))) {
        if (!open.file) {
            if (provenance_ != nullptr) file.provenance = provenance_->of_frames(request_, file.outputs);
            open.file = begin_frames(background_ ? background_->ranks() : ranks_, file, engine, request_);
        }
        file.frames = open.file.get();
        write_files(engine, {file}, done, last);
        open.steps.push_back(done);
    }
    if (!last) return;
    open.file->commit();
    written_.push_back({names_of(file.outputs), first.path, done});
    if (!is_of(first.path, FileFormat::hdf5)) return;
    if (const std::optional<std::string> page =
            write_frames_page(ranks_, engine, request_, first, open.steps))
        written_.push_back({names_of(file.outputs), *page, done});
}

void Outputs::write_row(Engine& engine, const Output& first, std::int64_t done, bool last) {
    const std::vector<const Output*> columns = sharing_with(first);
    auto open = tables_.find(&first);
    if (open == tables_.end()) {
        const bool says = provenance_ != nullptr && needs_hdf5(first.path);
        open =
            tables_
                .try_emplace(&first, columns, says ? provenance_->of_rows(request_, columns) : std::string())
                .first;
    }
    SavedTable& table = open->second;
    if (last || first.frames.is_due(done)) table.add_row(ranks_, engine, request_, done);
    if (!last) return;
    table.finish(ranks_);
    written_.push_back({names_of(columns), first.path, done});
}

FieldValues Outputs::shown_cells(Engine& engine, const Output& output, std::int64_t done) {
    const rt::Box plane = plane_of(request_, output);
    FieldValues values = gather_cells(ranks_, engine, output.field.fields.front(), plane);
    NotFiniteCells cells;
    if (ranks_.is_first()) cells.check(request_, rt::lattice_of(plane), values);
    note_trouble(cells, output.field.fields.front(), plane.cells(), done);
    return values;
}

ShownValues Outputs::shown_values(Engine& engine, const Output& output, std::int64_t done) {
    ShownValues shown{shown_cells(engine, output, done), {}};
    for (const Output& layer : output.layers)
        shown.layers.push_back(shown_cells(engine, layer, done));
    return shown;
}

// The first rank draws.
void Outputs::write_picture(Engine& engine, const Output& output, const std::string& path,
                            std::int64_t done) {
    const ShownValues values = shown_values(engine, output, done);
    rt::together(ranks_, [&] {
        if (ranks_.is_first()) write_field_picture(path, request_, output, values, done);
    });
    written_.push_back({output.field.name, path, done});
}

void Outputs::write_curve(Engine& engine, const Output& output, std::int64_t done, bool last) {
    ReductionCurve& curve = curves_.at(&output);
    curve.take(engine, done, last);
    if (!last || curve.is_empty()) return;
    rt::together(ranks_, [&] {
        if (ranks_.is_first()) rt::write_picture(output.path, curve.picture(request_));
    });
    written_.push_back({curve.names(), output.path, done});
}

void Outputs::write_frame(Engine& engine, const Output& output, std::int64_t done) {
    const auto [open, is_new] = movies_.try_emplace(&output, FieldMovie(request_, output), done);
    // The state at the end may have been written before the run was known to end there.
    if (!is_new && std::exchange(open->second.last_frame, done) == done) return;
    const ShownValues values = shown_values(engine, output, done);
    rt::together(ranks_, [&] {
        if (ranks_.is_first()) open->second.movie.add(values, done);
    });
}

void Outputs::finish_movie(const Output& output) {
    const auto open = movies_.find(&output);
    if (open == movies_.end()) return;  // no frame was due
    rt::together(ranks_, [&] {
        if (ranks_.is_first()) open->second.movie.finish();
    });
    written_.push_back({output.field.name, output.path, open->second.last_frame});
    movies_.erase(open);
}

// The first rank has the values.
void Outputs::write_trace(const Output& output, const std::string& path, const std::vector<double>& values,
                          std::int64_t done) {
    bool is_written = false;
    rt::together(ranks_, [&] {
        if (!ranks_.is_first()) return;
        const std::int64_t points = done > 0 ? static_cast<std::int64_t>(values.size()) / done : 0;
        is_written = output.kind == Output::Kind::save || points > 0;  // else there is nothing to draw
        if (output.kind == Output::Kind::save && needs_hdf5(path)) {
            const std::string says =
                provenance_ == nullptr ? "" : provenance_->of_file(request_, {&output}, done);
            write_trace_file(path, request_, output, values, places_.at(output.trace->points), done, says);
        } else if (output.kind == Output::Kind::save && is_of(path, FileFormat::segy)) {
            const auto source = places_.find(request_.source);
            write_segy_file(path, request_, output, values, places_.at(output.trace->points),
                            source == places_.end() || std::ssize(source->second) != request_.rank()
                                ? std::vector<double>()
                                : source->second,
                            done);
        } else if (output.kind == Output::Kind::save) {
            rt::write_npy(path, {done, points}, values, rt::ElementType::f64);
        } else if (points > 0) {
            write_trace_picture(path, request_, output, values, done);
        }
    });
    if (is_written) written_.push_back({output.field.name, path, done});
}

void Outputs::note_trouble(const NotFiniteCells& cells, const std::string& field, std::int64_t of,
                           std::int64_t done) {
    if (trouble_ || !request_.watch) return;
    if (std::optional<std::string> found = cells.words(ranks_, request_, field, of))
        trouble_ = fmt::format("after step {}, {}", done, *found);
}

void NotFiniteCells::Found::add(const Found& other) {
    if (other.count == 0) return;
    if (count == 0 || other.first < first) {
        first = other.first;
        is_nan = other.is_nan;
    }
    count += other.count;
}

void NotFiniteCells::check(const RunRequest& request, const rt::Lattice& cells, const FieldValues& values) {
    const auto [count, first] = values.not_finite();
    if (count == 0) return;
    std::array<std::int64_t, rt::kMaxRank> number{};
    std::int64_t rest = first;
    for (std::size_t axis = 0; axis < number.size(); ++axis) {
        number[axis] = rest % cells.count[axis];
        rest /= cells.count[axis];
    }
    const auto cell = rt::cell_of(cells, number);
    found_.add({count, rt::whole_box(request.extent).index(cell), std::isnan(values.at(first))});
}

std::optional<std::string> NotFiniteCells::words(rt::Ranks& ranks, const RunRequest& request,
                                                 const std::string& field, std::int64_t of) const {
    Found all;
    for (const std::string& part : ranks.all_gather(
             fmt::format("{} {} {}", found_.count, found_.first, static_cast<int>(found_.is_nan)))) {
        Found found;
        int is_nan = 0;
        std::istringstream(part) >> found.count >> found.first >> is_nan;
        found.is_nan = is_nan != 0;
        all.add(found);
    }
    if (all.count == 0) return std::nullopt;
    std::string trouble = fmt::format("{} is {} at {}", field, all.is_nan ? "not a number" : "infinite",
                                      place(request, all.first));
    if (all.count > 1) trouble += fmt::format(", and in {} more of {} cells", all.count - 1, of);
    return trouble;
}

}  // namespace halo::driver
