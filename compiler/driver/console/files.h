// Text files in and out; troubles name the file and end the command with ExitCode::file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace halo::driver {

// The whole file; "-" is standard input. Refuses what is larger than `max_bytes` before reading all of it.
std::string read_text(const std::string& path, std::size_t max_bytes);

// How messages name the file: "-" becomes "<stdin>".
std::string display_name(const std::string& path);

// The file appears whole or not at all (runtime/io/atomic_file.h). Throws rt::Error.
void write_text(const std::string& path, std::string_view text);

// The same of files that belong together: none appears before all are on the disk.
struct TextFile {
    std::string path, text;
};
void write_texts(const std::vector<TextFile>& files);

}  // namespace halo::driver
