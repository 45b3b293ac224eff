// The programs that Fortran needs besides this one: flang reads it, gfortran and gcov run it. They are
// processes of their own.
#pragma once

#include <string>
#include <vector>

namespace halo::lift::fortran {

// A folder in TMPDIR or /tmp that goes with it. Throws SourceError.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// Where the program is: what the environment variable names, else the first of the names that is on the PATH.
// Empty: nowhere.
std::string find_program(const char* variable, const std::vector<std::string>& names);

std::string find_flang();     // HALO_FLANG
std::string find_gfortran();  // HALO_GFORTRAN
std::string find_gcov();      // HALO_GCOV

struct ProgramRun {
    int status = -1;   // 0: all is well
    std::string said;  // on both of its streams
};

// Runs it in a folder to its end, with its input empty. Throws SourceError where no process can be made.
ProgramRun run_program(const std::vector<std::string>& words, const ScratchFolder& scratch,
                       const std::string& folder);

}  // namespace halo::lift::fortran
