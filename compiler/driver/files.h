// Text files in and out. Every trouble is a CommandError with ExitCode::file that names the file.
#pragma once

#include <string>
#include <string_view>

namespace halo::driver {

// The whole file; "-" is standard input. Refuses what is larger than `max_bytes` before reading all of it.
std::string read_text(const std::string& path, std::size_t max_bytes);

// How messages name the file: "-" becomes "<stdin>".
std::string display_name(const std::string& path);

// The file appears whole or not at all: written under another name in the same folder, flushed to the disk,
// renamed. A file that was there keeps its permissions; a link keeps pointing where it did.
void write_text(const std::string& path, std::string_view text);

}  // namespace halo::driver
