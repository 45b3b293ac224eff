// The text of a spec with its modules in the places where it uses them: what is shared may stand anywhere
// outside of blocks, so that this is one file that means the same.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace halo::test {

inline std::string read_spec(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    for (std::string line; std::getline(file, line);) {
        const std::string use = "use \"";
        if (line.compare(0, use.size(), use) == 0) {
            const std::string module = line.substr(use.size(), line.rfind('"') - use.size());
            const std::filesystem::path beside = path.parent_path() / module;
            text += read_spec(std::filesystem::exists(beside)
                                  ? beside
                                  : std::filesystem::path(HALO_SOURCE_DIR "/lib") / module);
        } else {
            text += line + '\n';
        }
    }
    return text;
}

}  // namespace halo::test
