#include "mpirun.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "skip.h"

namespace halo::test {

namespace {

const SkipUnless with_mpi(*HALO_MPIRUN != '\0', "this build has no MPI, or there is no mpirun of Open MPI");
#if defined HALO_HAS_LLVM || defined HALO_RANKS_ON_GPUS
const SkipUnless with_llvm(true, "");
#else
const SkipUnless with_llvm(false, "ranks of this machine run on the CPU, and this build has no LLVM");
#endif

}  // namespace

std::vector<std::string> mpirun(int count) {
    // Launchers share the folder of their sessions: one that ends removes what another is about to use, so
    // each process of the tests has its own. Other networks than the memory are not looked for, which takes
    // half of the time.
    static const Folder sessions;
    return {HALO_MPIRUN,
            "--mca",
            "orte_tmpdir_base",
            sessions.path(),
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "--quiet",
            "--mca",
            "btl",
            "self,vader",
            "--mca",
            "pml",
            "ob1",
            "-n",
            std::to_string(count)};
}

Outcome run_ranks(const Folder& folder, int count, std::vector<std::string> arguments) {
    Invocation invocation;
    invocation.launcher = mpirun(count);
    invocation.arguments = std::move(arguments);
    invocation.folder = folder.path();
    return run_haloc(invocation);
}

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

std::vector<int> processes_with(const std::string& words) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string id = entry.path().filename();
        if (id.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        std::string line{std::istreambuf_iterator<char>(file), {}};
        std::ranges::replace(line, '\0', ' ');
        if (line.find(words) != std::string::npos && line.find("mpirun") == std::string::npos)
            found.push_back(std::stoi(id));
    }
    return found;
}

}  // namespace halo::test
