#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/io/atomic_file.h"
#include "runtime/segy/library.h"
#include "runtime/segy/segy.h"

namespace halo::rt {

namespace {

using segy::Library;

// Coordinates are whole numbers that are divided by a power of ten: the least one that loses nothing, else
// the largest whose numbers have room.
std::int32_t divisor_of(const SegyTraces& traces) {
    std::vector<double> all;
    for (const SegyPlace& place : traces.receivers)
        all.insert(all.end(), place.begin(), place.end());
    if (traces.source) all.insert(all.end(), traces.source->begin(), traces.source->end());
    std::int32_t divisor = 1;
    for (std::int32_t next = 1; next <= 10000; next *= 10) {
        const bool has_room = std::ranges::all_of(all, [&](double value) {
            return std::fabs(value) * next < std::numeric_limits<std::int32_t>::max();
        });
        if (!has_room) break;
        divisor = next;
        if (std::ranges::all_of(all, [&](double value) {
                return std::fabs(std::round(value * next) - value * next) <= 1e-9 * std::fabs(value * next);
            }))
            break;
    }
    return divisor;
}

// 40 lines of 80 letters.
std::string text_header(const Library& library, const std::vector<std::string>& words) {
    std::string text(static_cast<std::size_t>(segy::kTextBytes) + 1, ' ');
    for (std::size_t line = 0; line < 40; ++line) {
        std::string begin = "C" + std::string(line < 9 ? " " : "") + std::to_string(line + 1) + " ";
        if (line < words.size()) begin += words[line];
        begin.resize(std::min<std::size_t>(begin.size(), 80));
        for (std::size_t i = 0; i < begin.size(); ++i)
            text[80 * line + i] = begin[i] >= ' ' && begin[i] <= '~' ? begin[i] : '?';
    }
    text.back() = '\0';
    std::string header(text.size(), '\0');
    library.to_ebcdic(text.c_str(), header.data());
    header.resize(static_cast<std::size_t>(segy::kTextBytes));
    return header;
}

std::string binary_header(const Library& library, const SegyTraces& traces) {
    std::string header(static_cast<std::size_t>(segy::kBinaryBytes), '\0');
    const auto set = [&](int field, std::int64_t value) {
        library.set_binary_field(header.data(), field, static_cast<std::int32_t>(value));
    };
    set(segy::traces_in_record, std::min<std::int64_t>(std::ssize(traces.receivers), 32767));
    set(segy::interval, traces.microseconds);
    set(segy::samples, traces.samples);
    set(segy::format, segy::kIeeeFloat);
    set(segy::revision, 0x0100);
    set(segy::fixed_length, 1);
    return header;
}

}  // namespace

void write_segy(const std::string& path, const SegyTraces& traces) {
    AtomicFile file(path);
    const Library& library = Library::require(path);
    const std::string text = text_header(library, traces.words), binary = binary_header(library, traces);
    file.write(text.data(), text.size());
    file.write(binary.data(), binary.size());
    const std::int32_t divisor = divisor_of(traces);
    const auto coordinate = [&](double value) {
        return static_cast<std::int32_t>(std::lround(value * divisor));
    };
    const std::size_t count = traces.receivers.size();
    std::vector<float> samples(static_cast<std::size_t>(traces.samples));
    for (std::size_t i = 0; i < count; ++i) {
        std::string header(static_cast<std::size_t>(segy::kTraceHeaderBytes), '\0');
        const auto set = [&](int field, std::int64_t value) {
            library.set_field(header.data(), field, static_cast<std::int32_t>(value));
        };
        const auto number = static_cast<std::int64_t>(i) + 1;
        for (const int field : {segy::trace_in_line, segy::trace_in_file, segy::number_in_record})
            set(field, number);
        set(segy::field_record, 1);
        set(segy::trace_kind, 1);  // of seismic data
        set(segy::elevation_scalar, -divisor);
        set(segy::coordinate_scalar, -divisor);
        set(segy::coordinate_units, 1);  // lengths
        const SegyPlace& receiver = traces.receivers[i];
        set(segy::receiver_x, coordinate(receiver[0]));
        set(segy::receiver_y, coordinate(receiver[1]));
        set(segy::receiver_elevation, -coordinate(receiver[2]));
        if (traces.source) {
            set(segy::source_x, coordinate((*traces.source)[0]));
            set(segy::source_y, coordinate((*traces.source)[1]));
            set(segy::source_depth, coordinate((*traces.source)[2]));
        }
        set(segy::trace_samples, traces.samples);
        set(segy::trace_interval, traces.microseconds);
        for (std::size_t sample = 0; sample < samples.size(); ++sample)
            samples[sample] = static_cast<float>(traces.values[sample * count + i]);
        library.from_native(segy::kIeeeFloat, traces.samples, samples.data());
        file.write(header.data(), header.size());
        file.write(samples.data(), samples.size() * sizeof(float));
    }
    file.commit();
}

}  // namespace halo::rt
