#include "compiler/driver/field_files.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/element.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kPartBytes = std::int64_t{64} << 20;

std::vector<std::int64_t> npy_shape(const Engine& engine, int rank) {
    const Extent extent = engine.extent();
    std::vector<std::int64_t> shape(extent.begin(), extent.begin() + rank);
    std::reverse(shape.begin(), shape.end());
    return shape;
}

FieldValues rounded_to(rt::ElementType type, const FieldValues& numbers) {
    std::vector<double> values(static_cast<std::size_t>(numbers.size()));
    std::memcpy(values.data(), numbers.data(), numbers.elements.size());
    return FieldValues::rounded(type, values);
}

}  // namespace

std::vector<rt::Box> in_parts(const std::vector<rt::Box>& boxes, std::int64_t bytes_per_cell) {
    std::vector<rt::Box> parts;
    for (const rt::Box& box : boxes) {
        const std::vector<rt::Box> of_box = rt::slabs(box, kPartBytes / bytes_per_cell);
        parts.insert(parts.end(), of_box.begin(), of_box.end());
    }
    return parts;
}

void save_fields(rt::Ranks& ranks, const std::string& path, Engine& engine, const FieldSet& set, int rank,
                 int time, const PartSeen& seen) {
    const auto count = static_cast<std::int64_t>(set.fields.size());
    std::vector<rt::ElementType> types;
    for (const std::string& field : set.fields)
        types.push_back(engine.type_of(field));
    const rt::ElementType type = common_type(types);
    const std::vector<std::int64_t> shape = npy_shape(engine, rank);
    rt::NpyWriter writer(ranks, path, set.is_complex ? shape : set.npy_shape(shape), type, set.is_complex);
    const rt::Box whole = rt::whole_box(engine.extent());
    for (const rt::Box& part : in_parts(engine.own_boxes(), count * rt::size_of(type))) {
        std::vector<FieldValues> values;
        for (const std::string& field : set.fields) {
            values.push_back(engine.download_box(field, time, part));
            if (seen) seen(field, part, values.back());
        }
        const FieldValues all = count == 1 ? std::move(values.front()) : interleave(values);
        const std::int64_t cell = count * rt::size_of(type);
        rt::for_runs(part, part, whole, [&](std::int64_t here, std::int64_t in_file, std::int64_t cells) {
            writer.write(in_file * count, all.elements.data() + here * cell, cells * count);
        });
    }
    writer.commit();
}

void load_fields(const std::string& path, const std::string& what, Engine& engine, const FieldSet& set,
                 int rank, const std::vector<std::vector<int>>& times) {
    const auto count = static_cast<std::int64_t>(set.fields.size());
    rt::NpyReader reader(path, set.npy_shape(npy_shape(engine, rank)), what);
    const rt::Box whole = rt::whole_box(engine.extent());
    // Of several fields each is rounded from f64 by itself: their types may differ.
    const rt::ElementType type = count == 1 ? engine.type_of(set.fields.front()) : rt::ElementType::f64;
    for (const rt::Box& part : in_parts(engine.computed_boxes(), count * rt::size_of(type))) {
        FieldValues all = FieldValues::zeros(type, part.cells() * count);
        const std::int64_t cell = count * rt::size_of(type);
        rt::for_runs(part, part, whole, [&](std::int64_t here, std::int64_t in_file, std::int64_t cells) {
            reader.read(in_file * count, cells * count, type, all.elements.data() + here * cell);
        });
        const std::vector<FieldValues> fields =
            count == 1 ? std::vector<FieldValues>{} : separate(all, set.fields.size());
        for (std::size_t i = 0; i < set.fields.size(); ++i) {
            const FieldValues values =
                count == 1 ? std::move(all) : rounded_to(engine.type_of(set.fields[i]), fields[i]);
            for (const int time : times[i])
                engine.upload_box(set.fields[i], time, part, values);
        }
    }
}

FieldValues gather_cells(rt::Ranks& ranks, Engine& engine, const std::string& field, const rt::Box& box) {
    const rt::ElementType type = engine.type_of(field);
    std::string mine;  // boxes, each with its cells
    for (const rt::Box& own : engine.own_boxes()) {
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
