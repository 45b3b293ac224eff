// The source compiles with nvcc alone, and the header as strict C99 and as C++.
#include <cstdio>

#include "catch.h"
#include "offline_files.h"
#include "skip.h"
#include "temporary_folder.h"

using namespace halo::test;

namespace {

const SkipUnless kToolkit(*HALO_NVCC != 0, "nvcc was not found; install the CUDA toolkit");

}  // namespace

TEST_CASE("offline files compile without warnings", "[offline]") {
    for (const OfflineCase& offline_case : all_offline_cases()) {
        const Offline offline = make_offline(offline_case);
        const std::string& name = offline.program.name;
        INFO(name << " " << offline_case.schedule);
        const TemporaryFolder folder;
        write_file(folder / (name + ".cu"), offline.files.source);
        write_file(folder / (name + ".h"), offline.files.header);
        const std::string enter = "cd '" + folder.path().string() + "' && ";
        const CommandResult c99 = run_command(
            enter + HALO_CC " -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c " + name + ".h");
        INFO(c99.output);
        CHECK(c99.code == 0);
        const CommandResult cuda = run_command(enter + HALO_NVCC +
                                               " -std=c++17 -arch=sm_90 -fmad=false -Werror all-warnings"
                                               " -Xcompiler -Wall,-Wextra,-Werror -c " +
                                               name + ".cu");
        INFO(cuda.output);
        CHECK(cuda.code == 0);
    }
}
