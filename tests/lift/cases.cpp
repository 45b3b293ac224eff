#include "cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace halo::test {

namespace {

LiftCase read_case(const std::string& file, std::string line) {
    LiftCase made;
    made.file = file;
    const std::size_t shows = line.rfind(": ");
    made.shows = line.substr(shows + 2);
    line = line.substr(0, shows);
    if (const std::size_t at = line.find(" refused: "); at != std::string::npos) {
        made.refused = line.substr(at + 10);
        line = line.substr(0, at);
    }
    std::istringstream words(line);
    words >> made.function;
    for (std::string word; words >> word;) {
        if (word == "nests")
            words >> made.nests;
        else if (std::string value; word == "--assume" && words >> value)
            made.flags.push_back(word + " " + value);
        else
            made.flags.push_back(word);
    }
    return made;
}

// folder: of tests/lift, which comes before the name of each file.
std::vector<LiftCase> cases_in(const std::string& folder, const std::vector<std::string>& marks) {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(HALO_SOURCE_DIR "/tests/lift/" + folder))
        files.push_back(entry.path().filename().string());
    std::sort(files.begin(), files.end());
    std::vector<LiftCase> all;
    for (const std::string& file : files) {
        std::ifstream in(HALO_SOURCE_DIR "/tests/lift/" + folder + "/" + file);
        for (std::string line; std::getline(in, line);) {
            line.erase(0, line.find_first_not_of(' '));
            for (const std::string& mark : marks) {
                if (line.rfind(mark, 0) == 0) all.push_back(read_case(file, line.substr(mark.size())));
            }
        }
    }
    return all;
}

}  // namespace

std::vector<LiftCase> lift_cases() {
    return cases_in("cases", {"// case "});
}
std::vector<LiftCase> fortran_cases() {
    return cases_in("fortran", {"! case ", "C     case "});
}

lift::Options options_of(const LiftCase& each) {
    lift::Options options;
    const bool is_fortran = each.file.find(".f") != std::string::npos;
    options.source.file =
        HALO_SOURCE_DIR "/tests/lift/" + std::string(is_fortran ? "fortran/" : "cases/") + each.file;
    options.source.function = each.function;
    const auto has = [&](const char* flag) {
        return std::find(each.flags.begin(), each.flags.end(), flag) != each.flags.end();
    };
    options.form.no_alias = has("--no-alias");
    options.form.equal_rims = has("--equal-rims");
    options.form.strict_fp = has("--strict-fp");
    for (const std::string& flag : each.flags) {
        const std::size_t name = flag.find(' '), value = flag.find('=');
        if (flag.rfind("--assume ", 0) == 0)
            options.assume[flag.substr(name + 1, value - name - 1)] = std::stoll(flag.substr(value + 1));
    }
    return options;
}

const lift::ParsedFile& file_of(const LiftCase& each) {
    static std::string name;
    static std::optional<lift::ParsedFile> file;
    if (name != each.file) file.emplace(options_of(each).source);
    name = each.file;
    return *file;
}

const lift::Nests& nests_of(const LiftCase& each) {
    static std::map<std::pair<std::string, std::string>, lift::Nests> all;
    const auto key = std::pair(each.file, each.function);
    const auto found = all.find(key);
    return found != all.end()
               ? found->second
               : all.emplace(key, lift::lift_nests(options_of(each), file_of(each))).first->second;
}

}  // namespace halo::test
