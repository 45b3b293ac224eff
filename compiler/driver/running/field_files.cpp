#include "compiler/driver/running/field_files.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "compiler/support/file_kinds.h"
#include "runtime/core/element.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/npy_parts.h"
#include "runtime/segy/segy.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kPartBytes = std::int64_t{64} << 20;

FieldValues rounded_to(rt::ElementType type, const FieldValues& numbers) {
    std::vector<double> values(static_cast<std::size_t>(numbers.size()));
    std::memcpy(values.data(), numbers.data(), numbers.elements.size());
    return FieldValues::rounded(type, values);
}

// Reverses the order of the axes: lists of a file have the slowest one first.
template <class List>
auto slowest_first(const List& by_axis, int rank) {
    return std::vector<typename List::value_type>(std::make_reverse_iterator(by_axis.begin() + rank),
                                                  std::make_reverse_iterator(by_axis.begin()));
}

// A list by axis without the axes that an array does not have; those that are left move up, and `one`
// follows.
template <class List>
List kept_axes(const List& by_axis, const Output& output, const typename List::value_type& one) {
    List kept = by_axis;
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < kept.size(); ++axis)
        if (axis >= output.dropped.size() || !output.dropped[axis]) kept[next++] = by_axis[axis];
    std::fill(kept.begin() + static_cast<std::ptrdiff_t>(next), kept.end(), one);
    return kept;
}

// A box of a field as one of its file, which has the field's own axes alone.
rt::Box box_in_file(const rt::FieldGrid& grid, const rt::Box& box) {
    return {grid.own_axes(box.begin, std::int64_t{0}), grid.own_axes(box.end, std::int64_t{1})};
}

int rank_of(const Output& output, const RunRequest& request) {
    return request.rank() - static_cast<int>(std::ranges::count(output.dropped, true));
}

rt::FieldShape shape_of_file(const Engine& engine, const Output& output, const RunRequest& request) {
    rt::FieldShape shape = shape_of(engine, output.field, request.rank());
    if (!output.part) return shape;
    shape.rank = rank_of(output, request);
    shape.extent = kept_axes(output.part->count, output, 1);
    return shape;
}

rt::Hdf5Field hdf5_field(const Engine& engine, const Output& output, const RunRequest& request,
                         std::int64_t done) {
    rt::Hdf5Field field;
    field.name = output.field.name;
    const int rank = rank_of(output, request);
    std::array<double, rt::kMaxRank> spacing = request.spacing;
    for (std::size_t axis = 0; axis < request.axes.size(); ++axis)
        spacing[axis] *=
            static_cast<double>((output.part ? output.part->stride[axis] : 1) * output.grid.factor);
    field.shape = shape_of_file(engine, output, request);
    field.type = type_of(engine, output.field);
    field.stencil = request.name;
    field.step = done;
    field.time = request.time_after(done);
    const rt::FieldGrid grid = engine.grid_of(output.field.fields.front());
    field.place.origin = request.first_point(output);
    field.place.spacing = spacing;
    for (int axis = 0; axis < request.rank(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        field.place.extent[a] = output.part ? output.part->count[a] : grid.extent(request.extent)[a];
    }
    std::vector<std::string> dimensions = request.axes;
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis)
        if (output.staggered[axis]) dimensions[axis] += "_half";
    field.dimensions = slowest_first(kept_axes(dimensions, output, std::string()), rank);
    field.axes = slowest_first(kept_axes(request.axes, output, std::string()), rank);
    field.unit = output.unit;
    field.time_unit = request.time_unit;
    field.axis_units = slowest_first(kept_axes(request.axis_units, output, std::string()), rank);
    field.spacing = slowest_first(kept_axes(spacing, output, 1), rank);
    if (!output.lies_apart)
        field.origin = slowest_first(kept_axes(request.first_point(output), output, 0), rank);
    return field;
}

rt::Hdf5Form form_of(const std::string& path) {
    return is_of(path, FileFormat::vtkhdf)   ? rt::Hdf5Form::vtk
           : is_of(path, FileFormat::netcdf) ? rt::Hdf5Form::netcdf
                                             : rt::Hdf5Form::plain;
}

std::vector<rt::Hdf5Field> hdf5_fields(const FileOfFields& file, const Engine& engine,
                                       const RunRequest& request, std::int64_t done) {
    std::vector<rt::Hdf5Field> fields;
    for (const Output* output : file.outputs)
        fields.push_back(hdf5_field(engine, *output, request, done));
    return fields;
}

// Cells of a field, to memory of their size.
using GetCells = std::function<FieldValues(const std::string& field, const rt::Lattice& cells,
                                           std::vector<std::byte> memory)>;

// Gets a part of all fields of a set and interleaves them.
// writer: where the memory for them is from; null: new memory.
FieldValues fetch(const Engine& engine, const FieldSet& set, const rt::Lattice& cells, const GetCells& get,
                  BackgroundWriter* writer) {
    std::vector<FieldValues> values;
    for (const std::string& field : set.fields) {
        const std::int64_t bytes = cells.cells() * rt::size_of(engine.type_of(field));
        values.push_back(get(field, cells,
                             writer != nullptr ? writer->take_memory(bytes)
                                               : std::vector<std::byte>(static_cast<std::size_t>(bytes))));
    }
    return set.is_single() ? std::move(values.front()) : interleave(values);
}

FieldValues download(Engine& engine, const FieldSet& set, const rt::Lattice& cells, const PartSeen& seen,
                     BackgroundWriter* writer) {
    const auto get = [&](const std::string& field, const rt::Lattice& of, std::vector<std::byte> memory) {
        FieldValues values = engine.download_lattice(field, 0, of, std::move(memory));
        if (seen) seen(set, field, of, values);
        return values;
    };
    return fetch(engine, set, cells, get, writer);
}

// Cells of a field, and which of a file's they are.
struct SavedCells {
    rt::Lattice cells;
    rt::Box in_file;
};

// What an output has of the cells of this process, a part at a time.
std::vector<SavedCells> saved_cells(const Engine& engine, const RunRequest& request, const Output& output) {
    const FieldSet& set = output.field;
    const std::int64_t cell =
        static_cast<std::int64_t>(set.fields.size()) * rt::size_of(type_of(engine, set));
    std::vector<rt::Box> boxes;
    for (const rt::Box& own : engine.own_boxes_of(set.fields.front()))
        boxes.push_back(rt::intersection(own, request.saved_box(output)));
    std::vector<SavedCells> saved;
    for (const rt::Box& part : in_parts(boxes, cell)) {
        if (!output.part) {
            saved.push_back({rt::lattice_of(part), part});
            continue;
        }
        const rt::Box numbers = rt::numbers_in(*output.part, part);
        if (numbers.is_empty()) continue;
        saved.push_back({rt::part_of(*output.part, numbers),
                         {kept_axes(numbers.begin, output, 0), kept_axes(numbers.end, output, 1)}});
    }
    return saved;
}

// The files of a step: what is to be known of the engine for them, before they are made.
class FilesOfStep {
public:
    FilesOfStep(const std::vector<FileOfFields>& files, const Engine& engine, const RunRequest& request,
                std::int64_t done)
        : files_(files), step_(done), time_(request.time_after(done)) {
        for (const FileOfFields& file : files_) {
            const Output& first = *file.outputs.front();
            const bool is_npy = !needs_hdf5(file.path);
            arrays_.push_back(
                is_npy ? rt::npy_layout(shape_of_file(engine, first, request), type_of(engine, first.field))
                       : rt::FieldLayout());
            fields_.push_back(is_npy || file.frames != nullptr ? std::vector<rt::Hdf5Field>()
                                                               : hdf5_fields(file, engine, request, done));
        }
    }

    // What they hold, each once.
    std::vector<const Output*> outputs() const {
        std::vector<const Output*> all;
        for (const FileOfFields& file : files_)
            for (const Output* output : file.outputs)
                if (std::ranges::count(all, output) == 0) all.push_back(output);
        return all;
    }

    // Collective, as finish() is.
    void open(rt::Ranks& ranks) {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const FileOfFields& file = files_[i];
            if (file.frames != nullptr) {
                file.frames->begin_frame(step_, time_);
                open_.push_back(&file.frames->file());
                continue;
            }
            rt::FieldLayout layout =
                fields_[i].empty() ? arrays_[i]
                                   : rt::hdf5_layout(ranks, fields_[i], file.provenance, form_of(file.path));
            made_.push_back(std::make_unique<rt::FieldFile>(ranks, file.path, std::move(layout)));
            open_.push_back(made_.back().get());
        }
    }
    void write(const Output& output, const rt::Box& in_file, const FieldValues& values) {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const auto found = std::ranges::find(files_[i].outputs, &output);
            if (found == files_[i].outputs.end()) continue;
            open_[i]->write(static_cast<std::size_t>(found - files_[i].outputs.begin()), in_file,
                            values.data());
        }
    }
    void finish() {
        for (std::size_t i = 0; i < files_.size(); ++i) {
            if (files_[i].frames != nullptr)
                files_[i].frames->finish_frame();
            else
                open_[i]->commit();
        }
    }

private:
    std::vector<FileOfFields> files_;
    std::int64_t step_;
    double time_;
    std::vector<rt::FieldLayout> arrays_;             // of .npy files
    std::vector<std::vector<rt::Hdf5Field>> fields_;  // of new HDF5 files
    std::vector<std::unique_ptr<rt::FieldFile>> made_;
    std::vector<rt::FieldFile*> open_;
};

// What a thread of its own is to write, from copies.
class CopiesOfStep {
public:
    CopiesOfStep(FilesOfStep files, const Engine& engine, const RunRequest& request)
        : files_(std::move(files)), engine_(engine) {
        for (const Output* output : files_.outputs()) {
            for (const SavedCells& part : saved_cells(engine, request, *output)) {
                parts_.push_back({output, part, {}});
                for (const std::string& field : output->field.fields)
                    bytes_ += part.cells.cells() * rt::size_of(engine.type_of(field));
            }
        }
    }
    std::vector<const Output*> outputs() const { return files_.outputs(); }
    std::int64_t bytes() const { return bytes_; }

    void download(Engine& engine, const PartSeen& seen, BackgroundWriter& writer) {
        for (Part& part : parts_)
            part.values = driver::download(engine, part.output->field, part.saved.cells, seen, &writer);
    }

    // False where there is no room for it there.
    bool set_aside(rt::FieldsAside& aside) const {
        std::vector<rt::FieldsAside::Part> cells;
        for (const Part& part : parts_)
            for (const std::string& field : part.output->field.fields)
                cells.push_back({field, 0, part.saved.cells});
        return aside.set_aside(cells);
    }
    void fetch(rt::FieldsAside& aside, BackgroundWriter& writer) {
        std::size_t next = 0;
        const auto get = [&](const std::string& field, const rt::Lattice&, std::vector<std::byte> memory) {
            FieldValues values{engine_.type_of(field), std::move(memory)};
            aside.fetch(next++, values.elements.data());
            return values;
        };
        for (Part& part : parts_)
            part.values = driver::fetch(engine_, part.output->field, part.saved.cells, get, &writer);
    }

    void write(BackgroundWriter& writer) {
        files_.open(writer.ranks());
        for (Part& part : parts_) {
            files_.write(*part.output, part.saved.in_file, part.values);
            writer.give_memory(std::move(part.values.elements));
        }
        files_.finish();
    }

private:
    struct Part {
        const Output* output;
        SavedCells saved;
        FieldValues values;
    };
    FilesOfStep files_;
    const Engine& engine_;
    std::vector<Part> parts_;
    std::int64_t bytes_ = 0;
};

// What is left to be fetched, or null.
std::function<void()> write_later(const std::shared_ptr<CopiesOfStep>& copies, Engine& engine,
                                  const PartSeen& seen, const WriteLater& later) {
    BackgroundWriter& writer = later.writer;
    const auto put = [copies, &writer] {
        writer.put(copies->bytes(), [copies, &writer] { copies->write(writer); });
    };
    writer.make_room(copies->bytes());
    // What is not finite is looked at now: the run ends at this step.
    if (later.aside != nullptr && copies->set_aside(*later.aside) && (!seen || later.aside->are_finite()))
        return [copies, put, &writer, &aside = *later.aside] {
            writer.make_room(copies->bytes());  // other files of the step may have taken it
            copies->fetch(aside, writer);
            put();
        };
    copies->download(engine, seen, writer);
    put();
    return nullptr;
}

}  // namespace

rt::FieldShape shape_of(const Engine& engine, const FieldSet& set, int rank) {
    const rt::FieldGrid grid = engine.grid_of(set.fields.front());
    return {grid.own_axes(grid.extent(engine.extent()), std::int64_t{1}), grid.rank(rank),
            static_cast<std::int64_t>(set.fields.size()), set.is_complex};
}

rt::ElementType type_of(const Engine& engine, const FieldSet& set) {
    std::vector<rt::ElementType> types;
    for (const std::string& field : set.fields)
        types.push_back(engine.type_of(field));
    return common_type(types);
}

std::vector<rt::Box> in_parts(const std::vector<rt::Box>& boxes, std::int64_t bytes_per_cell) {
    std::vector<rt::Box> parts;
    for (const rt::Box& box : boxes) {
        const std::vector<rt::Box> of_box = rt::slabs(box, kPartBytes / bytes_per_cell);
        parts.insert(parts.end(), of_box.begin(), of_box.end());
    }
    return parts;
}

SavedOutputs save_outputs(rt::Ranks& ranks, const std::vector<FileOfFields>& files, Engine& engine,
                          const RunRequest& request, std::int64_t done, const PartSeen& seen,
                          const std::optional<WriteLater>& later) {
    if (later) {
        const auto copies =
            std::make_shared<CopiesOfStep>(FilesOfStep(files, engine, request, done), engine, request);
        if (later->writer.has_room_for(copies->bytes()))
            return {copies->outputs(), write_later(copies, engine, seen, *later)};
        later->writer.wait();
    }
    FilesOfStep step(files, engine, request, done);
    const std::vector<const Output*> outputs = step.outputs();
    step.open(ranks);
    for (const Output* output : outputs)
        for (const SavedCells& part : saved_cells(engine, request, *output))
            step.write(*output, part.in_file, download(engine, output->field, part.cells, seen, nullptr));
    step.finish();
    return {outputs, nullptr};
}

std::unique_ptr<rt::Hdf5Frames> begin_frames(rt::Ranks& ranks, const FileOfFields& file, const Engine& engine,
                                             const RunRequest& request) {
    return std::make_unique<rt::Hdf5Frames>(ranks, file.path, hdf5_fields(file, engine, request, 0),
                                            file.provenance, form_of(file.path));
}

void save_level(rt::Ranks& ranks, const std::string& path, Engine& engine, const std::string& field, int rank,
                int time) {
    const FieldSet set{field, {field}};
    rt::FieldFile file(ranks, path, rt::npy_layout(shape_of(engine, set, rank), engine.type_of(field)));
    const rt::FieldGrid grid = engine.grid_of(field);
    for (const rt::Box& part : in_parts(engine.own_boxes_of(field), rt::size_of(engine.type_of(field))))
        file.write(0, box_in_file(grid, part), engine.download_box(field, time, part).data());
    file.commit();
}

void load_fields(const std::string& path, const std::string& what, Engine& engine, const FieldSet& set,
                 int rank, const std::vector<std::vector<int>>& times) {
    const rt::FieldShape shape = shape_of(engine, set, rank);
    const ArrayName name = parse_array_name(path);
    const std::unique_ptr<rt::FieldReader> reader =
        is_of(name.file, FileFormat::segy) ? rt::open_segy_field(path, shape, what)
        : needs_hdf5(name.file)
            ? rt::open_hdf5_field(name.file, name.dataset.empty() ? "/" + set.name : name.dataset, shape,
                                  what)
            : rt::open_npy_field(path, shape, what);
    // Of several fields each is rounded from f64 by itself: their types may differ.
    const rt::ElementType type = set.is_single() ? engine.type_of(set.fields.front()) : rt::ElementType::f64;
    const rt::FieldGrid grid = engine.grid_of(set.fields.front());
    for (const rt::Box& part :
         in_parts(engine.computed_boxes_of(set.fields.front()), shape.components * rt::size_of(type))) {
        FieldValues all = FieldValues::zeros(type, part.cells() * shape.components);
        reader->read(box_in_file(grid, part), type, all.elements.data());
        const std::vector<FieldValues> fields =
            set.is_single() ? std::vector<FieldValues>{} : separate(all, set.fields.size());
        for (std::size_t i = 0; i < set.fields.size(); ++i) {
            const FieldValues values =
                set.is_single() ? std::move(all) : rounded_to(engine.type_of(set.fields[i]), fields[i]);
            for (const int time : times[i])
                engine.upload_box(set.fields[i], time, part, values);
        }
    }
}

FieldValues gather_cells(rt::Ranks& ranks, Engine& engine, const std::string& field, const rt::Box& box) {
    const rt::ElementType type = engine.type_of(field);
    std::string mine;  // boxes, each with its cells
    for (const rt::Box& own : engine.own_boxes_of(field)) {
        const rt::Box part = rt::intersection(own, box);
        if (part.is_empty()) continue;
        const FieldValues values = engine.download_box(field, 0, part);
        mine.append(reinterpret_cast<const char*>(&part), sizeof part);
        mine.append(reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.bytes()));
    }
    FieldValues all = FieldValues::zeros(type, ranks.is_first() ? box.cells() : 0);
    for (const std::string& from : ranks.gather(mine)) {
        for (std::size_t at = 0; at < from.size();) {
            rt::Box part;
            std::memcpy(&part, from.data() + at, sizeof part);
            at += sizeof part;
            const char* const cells = from.data() + at;
            const std::int64_t size = rt::size_of(type);
            rt::for_runs(part, part, box, [&](std::int64_t here, std::int64_t in_box, std::int64_t count) {
                std::memcpy(all.elements.data() + in_box * size, cells + here * size,
                            static_cast<std::size_t>(count * size));
            });
            at += static_cast<std::size_t>(part.cells() * size);
        }
    }
    return all;
}

}  // namespace halo::driver
