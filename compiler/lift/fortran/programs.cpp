#include "compiler/lift/fortran/programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/lift/clang_front.h"

extern char** environ;

namespace halo::lift::fortran {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
    std::error_code error;
    const fs::path place = fs::temp_directory_path(error);
    path_ = (error ? fs::path("/tmp") : place) / "haloc-lift-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
        throw SourceError("cannot make a folder " + path_ +
                          " for what compilers write; TMPDIR names another place");
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string find_program(const char* variable, const std::vector<std::string>& names) {
    const auto can_run = [](const fs::path& program) {
        std::error_code ignored;
        return fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0;
    };
    const char* const given = std::getenv(variable);
    if (given != nullptr && std::string(given).find('/') != std::string::npos)
        return can_run(given) ? given : "";
    const std::vector<std::string> wanted =
        given != nullptr && *given != '\0' ? std::vector<std::string>{given} : names;
    const char* const path = std::getenv("PATH");
    for (const std::string& name : wanted) {
        std::istringstream folders(path != nullptr ? path : "");
        for (std::string folder; std::getline(folders, folder, ':');) {
            const fs::path program = fs::path(folder.empty() ? "." : folder) / name;
            if (can_run(program)) return program.string();
        }
    }
    return "";
}

// The operations of flang 19 are what the translation knows.
std::string find_flang() {
    return find_program("HALO_FLANG", {"flang-new-19"});
}
std::string find_gfortran() {
    return find_program("HALO_GFORTRAN", {"gfortran"});
}
std::string find_gcov() {
    return find_program("HALO_GCOV", {"gcov"});
}

ProgramRun run_program(const std::vector<std::string>& words, const ScratchFolder& scratch,
                       const std::string& folder) {
    const std::string said = scratch.file("said");
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    ::posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int error =
        ::posix_spawn(&child, words.front().c_str(), &files, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw SourceError("cannot start " + words.front());
    ProgramRun made;
    while (::waitpid(child, &made.status, 0) < 0 && errno == EINTR) {
    }
    std::ifstream in(said);
    std::ostringstream text;
    text << in.rdbuf();
    made.said = text.str();
    return made;
}

}  // namespace halo::lift::fortran
