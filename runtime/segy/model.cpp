// A model as a field. Of three axes the numbers of inlines and crosslines in the headers say where a trace
// belongs; they are read once, when the file is opened.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "runtime/core/element.h"
#include "runtime/segy/library.h"
#include "runtime/segy/segy.h"

namespace halo::rt {

namespace {

using segy::Library;

class SegyReader final : public FieldReader {
public:
    SegyReader(const std::string& path, const FieldShape& shape, const std::string& what)
        : path_(path), library_(Library::require(path)), file_(path, std::ios::binary), rank_(shape.rank) {
        if (!file_) refuse_file(path, std::strerror(errno));
        read_headers();
        if (shape.components != 1)
            refuse_file(path,
                        fmt::format("it has a number in each place, and {} has {}", what, shape.components));
        if (rank_ == 1)
            refuse_file(path, fmt::format("it has traces beside each other, and {} has one axis", what));
        std::vector<std::int64_t> found{samples_};
        if (rank_ == 3) {
            sort_lines();
            found.insert(found.end(), {inlines_, crosslines_});
        } else {
            found.push_back(traces_);
            for (std::int64_t trace = 0; trace < traces_; ++trace)
                place_of_.push_back(trace);
        }
        if (found != shape.cells()) refuse_shape(path, {found, false}, shape, what);
    }

    void read(const Box& box, ElementType type, void* elements) override {
        const auto up = static_cast<std::size_t>(rank_ - 1);  // the axis of the samples
        const std::int64_t across = box.length(0), deep = rank_ == 3 ? box.length(1) : 1;
        const std::int64_t depth = box.length(static_cast<int>(up));
        std::vector<double> values(static_cast<std::size_t>(across * deep * depth));
        std::vector<float> samples(static_cast<std::size_t>(depth));
        const std::int64_t begin_deep = rank_ == 3 ? box.begin[1] : 0;
        for (std::int64_t j = 0; j < deep; ++j) {
            for (std::int64_t i = 0; i < across; ++i) {
                const std::int64_t row = (begin_deep + j) * (rank_ == 3 ? crosslines_ : 0) + box.begin[0] + i;
                const std::int64_t trace = place_of_[static_cast<std::size_t>(row)];
                read_bytes(first_ + trace * trace_bytes() + segy::kTraceHeaderBytes + 4 * box.begin[up],
                           samples.data(), samples.size() * sizeof(float));
                library_.to_native(format_, depth, samples.data());
                for (std::int64_t k = 0; k < depth; ++k)
                    values[static_cast<std::size_t>((k * deep + j) * across + i)] =
                        double{samples[static_cast<std::size_t>(k)]};
            }
        }
        encode(values.data(), std::ssize(values), type, elements);
    }

private:
    std::int64_t trace_bytes() const { return segy::kTraceHeaderBytes + 4 * samples_; }

    void read_bytes(std::int64_t at, void* bytes, std::size_t count) {
        file_.seekg(at);
        file_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
        if (file_) return;
        refuse_file(path_, "it ends too early");
    }

    void read_headers() {
        file_.seekg(0, std::ios::end);
        const std::int64_t size = file_.tellg();
        if (size < segy::kTextBytes + segy::kBinaryBytes)
            refuse_file(path_, "it is no SEG-Y file: it is shorter than the headers of one");
        std::string header(static_cast<std::size_t>(segy::kBinaryBytes), '\0');
        read_bytes(segy::kTextBytes, header.data(), header.size());
        samples_ = library_.samples(header.data());
        format_ = library_.format(header.data());
        first_ = library_.trace0(header.data());
        if (format_ != segy::kIbmFloat && format_ != segy::kIeeeFloat)
            refuse_file(path_,
                        fmt::format("its samples have format {}; floats of IBM (1) and IEEE (5) are read, "
                                    "big-endian ones",
                                    format_));
        const std::int64_t bytes = size - first_;
        if (samples_ <= 0 || first_ < segy::kTextBytes + segy::kBinaryBytes || bytes <= 0 ||
            bytes % trace_bytes() != 0)
            refuse_file(path_, fmt::format("it is no SEG-Y file of traces of one length: its header says "
                                           "{} samples a trace, and behind the headers are {} bytes",
                                           samples_, std::max<std::int64_t>(bytes, 0)));
        traces_ = bytes / trace_bytes();
    }

    // Each inline has a trace on each crossline, in any order.
    void sort_lines() {
        std::vector<std::pair<std::int32_t, std::int32_t>> lines;
        std::set<std::int32_t> inlines, crosslines;
        std::string header(static_cast<std::size_t>(segy::kTraceHeaderBytes), '\0');
        for (std::int64_t trace = 0; trace < traces_; ++trace) {
            read_bytes(first_ + trace * trace_bytes(), header.data(), header.size());
            std::int32_t in = 0, cross = 0;
            library_.get_field(header.data(), segy::inline_number, &in);
            library_.get_field(header.data(), segy::crossline_number, &cross);
            lines.emplace_back(in, cross);
            inlines.insert(in);
            crosslines.insert(cross);
        }
        inlines_ = std::ssize(inlines);
        crosslines_ = std::ssize(crosslines);
        const std::set<std::pair<std::int32_t, std::int32_t>> different(lines.begin(), lines.end());
        if (std::ssize(different) != traces_ || inlines_ * crosslines_ != traces_)
            refuse_file(path_,
                        fmt::format("its {} traces are no regular grid: their headers have {} numbers of "
                                    "inlines (byte 189) and {} of crosslines (byte 193)",
                                    traces_, inlines_, crosslines_));
        std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> sorted;
        for (std::size_t trace = 0; trace < lines.size(); ++trace)
            sorted[lines[trace]] = static_cast<std::int64_t>(trace);
        for (const auto& [line, trace] : sorted)
            place_of_.push_back(trace);
    }

    std::string path_;
    const Library& library_;
    std::ifstream file_;
    int rank_, format_ = 0;
    std::int64_t samples_ = 0, first_ = 0, traces_ = 0, inlines_ = 1, crosslines_ = 1;
    std::vector<std::int64_t> place_of_;  // the trace at a place: inline after inline
};

}  // namespace

std::unique_ptr<FieldReader> open_segy_field(const std::string& path, const FieldShape& shape,
                                             const std::string& what) {
    return std::make_unique<SegyReader>(path, shape, what);
}

}  // namespace halo::rt
