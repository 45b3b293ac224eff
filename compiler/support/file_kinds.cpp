#include "compiler/support/file_kinds.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

namespace halo {

namespace {

constexpr std::uint16_t all_of(std::initializer_list<FileUse> uses) {
    std::uint16_t bits = 0;
    for (const FileUse use : uses)
        bits = static_cast<std::uint16_t>(bits | static_cast<std::uint16_t>(use));
    return bits;
}

using enum FileUse;
constexpr std::uint16_t kHdf5Uses = all_of({save_field, share, frames, load_field});
constexpr std::uint16_t kPlainHdf5Uses = kHdf5Uses | all_of({save_column, save_trace});
constexpr std::array kFileKinds{
    FileKind{".npy", FileFormat::npy, all_of({save_field, save_trace, load_field, load_rows, load_points})},
    FileKind{".csv", FileFormat::csv, all_of({save_column, load_rows})},
    FileKind{".h5", FileFormat::hdf5, kPlainHdf5Uses},
    FileKind{".hdf5", FileFormat::hdf5, kPlainHdf5Uses, true},
    FileKind{".nc", FileFormat::netcdf, kHdf5Uses},
    FileKind{".vtkhdf", FileFormat::vtkhdf, all_of({save_field, share, frames})},
    FileKind{".segy", FileFormat::segy, all_of({save_trace, load_field})},
    FileKind{".sgy", FileFormat::segy, all_of({save_trace, load_field}), true},
    FileKind{".png", FileFormat::png, all_of({plot, load_picture})},
    FileKind{".mp4", FileFormat::movie, all_of({movie})},
    FileKind{".webm", FileFormat::movie, all_of({movie})},
    FileKind{".gif", FileFormat::movie, all_of({movie})},
};

std::vector<std::string_view> all_endings(FileUse use) {
    std::vector<std::string_view> endings;
    for (const FileKind& kind : kFileKinds)
        if (kind.serves(use) && !kind.is_other_name) endings.push_back(kind.ending);
    return endings;
}

}  // namespace

const FileKind* kind_of_file(std::string_view file) {
    const auto* const found = std::ranges::find_if(kFileKinds, [&](const FileKind& kind) {
        return file.size() > kind.ending.size() && file.ends_with(kind.ending);
    });
    return found == kFileKinds.end() ? nullptr : found;
}

bool serves(std::string_view file, FileUse use) {
    const FileKind* const kind = kind_of_file(file);
    return kind != nullptr && kind->serves(use);
}

bool is_of(std::string_view file, FileFormat format) {
    const FileKind* const kind = kind_of_file(file);
    return kind != nullptr && kind->format == format;
}

bool needs_hdf5(std::string_view file) {
    const FileKind* const kind = kind_of_file(file);
    return kind != nullptr && kind->needs_hdf5();
}

std::string endings_for(FileUse use, std::string_view last) {
    const std::vector<std::string_view> endings = all_endings(use);
    std::string words;
    for (std::size_t i = 0; i < endings.size(); ++i) {
        if (i > 0) words += i + 1 == endings.size() ? last : ", ";
        words += endings[i];
    }
    return words;
}

std::string_view usual_ending(FileUse use) {
    return all_endings(use).front();
}

ArrayName parse_array_name(const std::string& text) {
    const std::size_t colon = text.rfind(":/");
    if (colon == std::string::npos || colon + 2 == text.size() ||
        !needs_hdf5(std::string_view(text).substr(0, colon)))
        return {text, ""};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace halo
