#include "runtime/hdf5/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/hdf5/file_writer.h"
#include "runtime/hdf5/form.h"
#include "runtime/hdf5/library.h"
#include "runtime/ranks/together.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kMostOfChunk = (std::int64_t{1} << 32) - 1;  // bytes, by the format
constexpr std::int64_t kComparedBlock = 4096;

std::int64_t bytes_of_frame(const Hdf5Field& field) {
    std::int64_t bytes = size_of(type_in_hdf5(field.type));
    for (const std::int64_t extent : field.shape.elements())
        bytes *= extent;
    return bytes;
}

FieldLayout arrays_of(const std::vector<Hdf5Field>& fields) {
    FieldLayout layout;
    for (const Hdf5Field& field : fields)
        layout.arrays.push_back(
            {0, field.shape.components, field.type, type_in_hdf5(field.type), field.shape.extent});
    return layout;
}

}  // namespace

// The library's file in memory, open as long as frames are added.
class Hdf5Frames::Layout {
public:
    Layout(const hdf5::Library& library, Hdf5Form form, const std::vector<Hdf5Field>& fields,
           const std::string& provenance)
        : writer_(library, form == Hdf5Form::netcdf) {
        if (!provenance.empty()) writer_.write_long_text(kProvenance, provenance);
        form_ = make_form(form, writer_, fields, true);
        for (const Hdf5Field& field : fields) {
            series_.push_back({form_->add(field), form_->extents_of(field), bytes_of_frame(field)});
            series_.back().extents.insert(series_.back().extents.begin(), 0);
        }
        form_->finish_fields();
    }

    // Where the elements of each field begin.
    std::vector<std::int64_t> add_frame(std::int64_t step, double time) {
        std::vector<std::int64_t> begins;
        for (Series& series : series_) {
            const hdf5::Size frame = series.extents.front()++;
            std::vector<hdf5::Size> begin(series.extents.size(), 0);
            begin.front() = frame;
            unsigned filters = 0;
            hdf5::Address place = 0;
            hdf5::Size bytes = 0;
            const hdf5::Library& lib = writer_.library();
            if (lib.resize(series.dataset.id(), series.extents.data()) < 0 ||
                lib.find_chunk(series.dataset.id(), begin.data(), &filters, &place, &bytes) < 0)
                hdf5::fail_layout(lib.trouble());
            begins.push_back(static_cast<std::int64_t>(place));
            taken_[begins.back()] = begins.back() + series.bytes;
        }
        form_->add_frame(step, time);
        return begins;
    }

    // What beside the elements is other than when it was asked for last. In an order in which a process may
    // end anywhere: what is new; the first block, with the place where the file ends; then from the end, as
    // the headers, which say how many frames there are, lie before what they lead to.
    std::vector<std::pair<std::int64_t, std::string>> changes() {
        writer_.flush();
        std::vector<std::pair<std::int64_t, std::string>> added, changed;
        std::int64_t at = 0;
        const std::int64_t end = writer_.memory().bytes();
        const auto look = [&](std::int64_t until) {
            for (; at < until; at = std::min(until, (at / kComparedBlock + 1) * kComparedBlock)) {
                const std::int64_t past = std::min(until, (at / kComparedBlock + 1) * kComparedBlock);
                std::string bytes = writer_.memory().read(at, past);
                std::string& before = seen_[at];
                if (bytes == before) continue;
                (before.size() == bytes.size() ? changed : added).emplace_back(at, bytes);
                before = std::move(bytes);
            }
        };
        for (const auto& [begin, past] : taken_) {
            look(std::min(begin, end));
            at = past;
        }
        look(end);
        std::ranges::reverse(changed);
        if (!changed.empty() && changed.back().first == 0)
            std::ranges::rotate(changed, std::prev(changed.end()));
        added.insert(added.end(), std::make_move_iterator(changed.begin()),
                     std::make_move_iterator(changed.end()));
        return added;
    }

private:
    struct Series {
        hdf5::Handle dataset;
        std::vector<hdf5::Size> extents;
        std::int64_t bytes = 0;  // of a frame
    };

    hdf5::FileWriter writer_;
    std::unique_ptr<hdf5::Form> form_;
    std::vector<Series> series_;
    std::map<std::int64_t, std::int64_t> taken_;  // by elements: from which byte to which
    std::map<std::int64_t, std::string> seen_;    // by the first byte
};

std::unique_ptr<Hdf5Frames::Layout> Hdf5Frames::lay_out(Ranks& ranks, const std::string& path, Hdf5Form form,
                                                        const std::vector<Hdf5Field>& fields,
                                                        const std::string& provenance) {
    std::unique_ptr<Layout> layout;
    together(ranks, [&] {
        if (!ranks.is_first()) return;
        const auto refuse = [&](const std::string& why) {
            throw Error(ErrorCode::io, fmt::format("cannot write \"{}\": {}", path, why));
        };
        std::string why;
        const hdf5::Library* const library = hdf5::Library::find(why);
        if (library == nullptr) refuse(why);
        if (library->find_chunk == nullptr)
            refuse(fmt::format("frames in one file need HDF5 1.10.5, and {} is {}", library->file,
                               library->release));
        for (const Hdf5Field& field : fields)
            if (bytes_of_frame(field) > kMostOfChunk)
                refuse(fmt::format(
                    "a frame of {} takes 4 GB or more, which one file does not hold; write a file for "
                    "each frame, or a part of it",
                    field.name));
        layout = std::make_unique<Layout>(*library, form, fields, provenance);
    });
    return layout;
}

Hdf5Frames::Hdf5Frames(Ranks& ranks, const std::string& path, const std::vector<Hdf5Field>& fields,
                       const std::string& provenance, Hdf5Form form)
    : ranks_(ranks),
      layout_(lay_out(ranks, path, form, fields, provenance)),
      file_(ranks, path, arrays_of(fields)) {
    together(ranks_, [&] {
        if (!file_.is_plain())
            throw Error(ErrorCode::io,
                        "cannot write \"" + path + "\": it is no plain file, and frames are added to it");
    });
}

Hdf5Frames::~Hdf5Frames() = default;

void Hdf5Frames::begin_frame(std::int64_t step, double time) {
    std::vector<std::int64_t> begins;
    together(ranks_, [&] {
        if (layout_) begins = layout_->add_frame(step, time);
    });
    const std::string all = ranks_.broadcast(
        {reinterpret_cast<const char*>(begins.data()), begins.size() * sizeof(std::int64_t)});
    for (std::size_t i = 0; i * sizeof(std::int64_t) < all.size(); ++i) {
        std::int64_t begin = 0;
        std::memcpy(&begin, all.data() + i * sizeof begin, sizeof begin);
        file_.move_array(i, begin);
    }
}

void Hdf5Frames::finish_frame() {
    file_.flush();
    together(ranks_, [&] {
        if (!layout_) return;
        for (const auto& [begin, bytes] : layout_->changes())
            file_.write_rest(begin, bytes);
    });
    file_.flush();
}

void Hdf5Frames::commit() {
    file_.commit();
}

}  // namespace halo::rt
