// Which files a file needs to be compiled.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "compiler/lift/fortran/source_text.h"

namespace halo::lift::fortran {

namespace {

namespace fs = std::filesystem;

struct Modules {
    std::set<std::string> defined, used;
};

std::string next_word(const std::string& line, std::size_t& at) {
    std::string word;
    while (at < line.size() && (std::isspace(static_cast<unsigned char>(line[at])) || line[at] == ':'))
        ++at;
    for (; at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_'); ++at)
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(line[at])));
    return word;
}

// By the first words of its lines, which may be wrong: a file that is not needed is compiled for nothing, and
// of one that is needed the compiler says so.
Modules modules_of(const fs::path& file) {
    Modules made;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::size_t at = 0;
        const std::string first = next_word(line, at);
        if (first != "module" && first != "use") continue;
        const std::size_t comma = line.find_first_not_of(" \t", at);
        if (comma != std::string::npos && line[comma] == ',') {  // use, intrinsic ::
            at = line.find("::");
            if (at == std::string::npos) continue;
        }
        const std::string name = next_word(line, at);
        if (!name.empty()) (first == "use" ? made.used : made.defined).insert(name);
    }
    return made;
}

class Search {
public:
    explicit Search(const fs::path& file) {
        const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
        std::error_code none;
        for (const fs::directory_entry& each : fs::directory_iterator(folder, none)) {
            if (!is_fortran(each.path().string())) continue;
            const Modules modules = modules_of(each.path());
            for (const std::string& name : modules.defined)
                files_[name].push_back(each.path());
        }
    }
    // A module that several files have is the user's to give.
    void add(const fs::path& file) {
        const Modules modules = modules_of(file);
        for (const std::string& name : modules.used) {
            const auto found = files_.find(name);
            const bool is_one = found != files_.end() && found->second.size() == 1;
            if (modules.defined.count(name) || !is_one || !seen_.insert(found->second[0]).second) continue;
            add(found->second[0]);
            ordered_.push_back(found->second[0].string());
        }
    }
    std::vector<std::string> files() && { return std::move(ordered_); }

private:
    std::map<std::string, std::vector<fs::path>> files_;
    std::set<fs::path> seen_;
    std::vector<std::string> ordered_;
};

}  // namespace

std::vector<std::string> module_files(const std::string& file) {
    Search search(file);
    search.add(file);
    return std::move(search).files();
}

}  // namespace halo::lift::fortran
