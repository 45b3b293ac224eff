// The small languages of the command line: grids, NAME=VALUE, FIELD@AXIS=INDEX=FILE. Mistakes are
// CommandErrors with ExitCode::usage, in the words of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halo::driver {

// "128,128,64" or "128x128x64": one extent for each axis, each 1 … 2^31 - 1.
std::vector<std::int64_t> parse_grid(const std::string& text, const std::vector<std::string>& axes);

struct Assignment {
    std::string name, value;
};
Assignment parse_assignment(const std::string& text, const std::string& option);  // NAME=VALUE

struct PartArgument {  // @z=64, @x=10..-1, @x=0..-1:2
    std::string axis;
    std::int64_t low = 0, high = 0, stride = 1;  // a plane has no `high`
    bool is_plane = false;
};
struct FileArgument {
    std::string field;
    std::optional<std::string> axis;  // of FIELD@AXIS=INDEX
    std::int64_t index = 0;
    std::string path;
    std::vector<PartArgument> parts{};  // of --save
};
// FIELD[=FILE]; FILE is FIELD + extension where it is not given.
FileArgument parse_file_argument(const std::string& text, const std::string& option,
                                 const std::string& extension);
// FIELD{@AXIS=INDEX|@AXIS=LOW..HIGH[:STRIDE]}[=FILE]
FileArgument parse_save_argument(const std::string& text);
// FIELD[@AXIS=INDEX][=FILE]
FileArgument parse_picture_argument(const std::string& text, const std::string& option,
                                    const std::string& extension);

// The exception for a name that is not there: "heat3d has no parameter `lamda`; it has lambda, dt", with the
// nearest one as a hint. what: "parameter".
[[noreturn]] void throw_unknown(const std::string& owner, const std::string& what, const std::string& word,
                                const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& words, std::string_view separator);

}  // namespace halo::driver
