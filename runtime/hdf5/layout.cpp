#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/hdf5/file_writer.h"
#include "runtime/hdf5/form.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"
#include "runtime/ranks/together.h"

namespace halo::rt {

namespace {

using hdf5::FileWriter;
using hdf5::Handle;
using hdf5::Library;

// The byte at which the elements begin.
std::int64_t add(FileWriter& writer, hdf5::Form& form, const Hdf5Field& field) {
    const Handle dataset = form.add(field);
    for (const std::int64_t extent : field.shape.elements())
        if (extent == 0) return 0;  // which has no place
    const auto begin = static_cast<std::int64_t>(writer.library().begin_of(dataset.id()));
    if (begin <= 0) hdf5::fail_layout(writer.library().trouble());
    return begin;
}

FieldLayout lay_out(const Library& library, Hdf5Form kind, const std::vector<Hdf5Field>& fields,
                    const std::string& provenance) {
    FileWriter writer(library, kind == Hdf5Form::netcdf);
    FieldLayout layout;
    if (!provenance.empty()) writer.write_long_text(kProvenance, provenance);
    {
        const std::unique_ptr<hdf5::Form> form = make_form(kind, writer, fields, false);
        for (const Hdf5Field& field : fields)
            layout.arrays.push_back({add(writer, *form, field), field.shape.components, field.type,
                                     type_in_hdf5(field.type), field.shape.extent});
        form->finish_fields();
    }
    writer.close();
    // All but the elements.
    std::vector<std::pair<std::int64_t, std::int64_t>> elements;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        std::int64_t bytes = size_of(layout.arrays[i].type_in_file);
        for (const std::int64_t extent : fields[i].shape.elements())
            bytes *= extent;
        elements.emplace_back(layout.arrays[i].begin, layout.arrays[i].begin + bytes);
    }
    std::sort(elements.begin(), elements.end());
    const std::int64_t end = writer.memory().bytes();
    elements.emplace_back(end, end);
    std::int64_t at = 0;
    for (const auto& [begin, past] : elements) {
        if (at < begin) layout.rest.emplace_back(at, writer.memory().read(at, begin));
        at = past;
    }
    return layout;
}

}  // namespace

Hdf5Library find_hdf5() {
    std::string why;
    const Library* const library = Library::find(why);
    if (library == nullptr) return {false, why};
    return {true, fmt::format("{}, {}", library->release, library->file)};
}

ElementType type_in_hdf5(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16 ? ElementType::f32 : type;
}

FieldLayout hdf5_layout(Ranks& ranks, const std::vector<Hdf5Field>& fields, const std::string& provenance,
                        Hdf5Form form) {
    FieldLayout layout;
    together(ranks, [&] {
        if (!ranks.is_first()) return;
        std::string why;
        const Library* const library = Library::find(why);
        if (library == nullptr) throw Error(ErrorCode::io, why);
        layout = lay_out(*library, form, fields, provenance);
    });
    // The others need to know where their parts lie.
    const std::string arrays = ranks.broadcast({reinterpret_cast<const char*>(layout.arrays.data()),
                                                layout.arrays.size() * sizeof(FieldLayout::Array)});
    layout.arrays.resize(fields.size());
    std::memcpy(layout.arrays.data(), arrays.data(), arrays.size());
    return layout;
}

}  // namespace halo::rt
