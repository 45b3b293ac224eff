// The ```halo blocks of a document.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

struct HaloBlock {
    std::string text;
    std::size_t line;  // of its first line in the document
};

// A last block without an end has `is_closed` false.
inline std::vector<HaloBlock> halo_blocks(const std::filesystem::path& path, bool& is_closed) {
    std::ifstream in(path);
    std::vector<HaloBlock> blocks;
    bool inside = false;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (!inside && line == "```halo") {
            inside = true;
            blocks.push_back({"", number + 1});
        } else if (inside && line == "```") {
            inside = false;
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    is_closed = !inside;
    return blocks;
}

// README.md and what lies in docs/.
inline std::vector<std::filesystem::path> halo_documents() {
    const std::filesystem::path root = HALO_SOURCE_DIR;
    std::vector<std::filesystem::path> all;
    if (std::filesystem::exists(root / "README.md")) all.push_back(root / "README.md");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
        if (entry.path().extension() == ".md") all.push_back(entry.path());
    }
    return all;
}
