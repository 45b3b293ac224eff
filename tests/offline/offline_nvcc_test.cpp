// Sources compile with nvcc without remarks, and headers as strict C99 and as C++. Reading the headers of
// CUDA and C++ takes most of the time, so several sources are compiled as one, each in a namespace of its
// own; that each of them includes what it needs, the tests that build it by itself show.
#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "catch.h"
#include "offline_files.h"
#include "skip.h"
#include "temporary_folder.h"

using namespace halo::test;

namespace {

const SkipUnless kToolkit(*HALO_NVCC != 0, "nvcc was not found; install the CUDA toolkit");

// Sources that can be compiled as one: functions of C have the program's name in theirs.
struct Batch {
    std::set<std::string> programs;
    std::set<std::string> includes;  // lines
    std::string text;
    std::string described;

    void add(const std::string& program, const std::string& source) {
        programs.insert(program);
        text += "namespace of_" + program + " {\n#line 1 \"" + program + ".cu\"\n";
        std::istringstream lines(source);
        for (std::string line; std::getline(lines, line);) {
            const bool is_include = line.starts_with("#include <");
            if (is_include) includes.insert(line);
            text += (is_include ? "" : line) + "\n";
        }
        text += "}\n";
    }
    std::string source() const {
        std::string all;
        for (const std::string& each : includes)
            all += each + "\n";
        return all + text;
    }
};

constexpr std::size_t kMostOfBatch = 16;

// Where nvcc has it: remarks are asked for here, and not fast code.
std::string quick_option() {
    const CommandResult help = run_command(HALO_NVCC " --help");
    return help.output.find("--Ofast-compile") == std::string::npos ? "" : " --Ofast-compile=mid";
}

}  // namespace

TEST_CASE("offline files compile without warnings", "[offline]") {
    std::vector<Batch> batches;
    const TemporaryFolder folder;
    const std::string enter = "cd '" + folder.path().string() + "' && ";
    for (const OfflineCase& offline_case : all_offline_cases()) {
        const Offline offline = make_offline(offline_case);
        const std::string& name = offline.program.name;
        auto batch = std::ranges::find_if(batches, [&](const Batch& each) {
            return each.programs.size() < kMostOfBatch && !each.programs.contains(name);
        });
        if (batch == batches.end()) batch = batches.insert(batches.end(), Batch{});
        batch->add(name, offline.files.source);
        batch->described += name + " " + offline_case.schedule + "\n";

        const std::string header = "batch_" + std::to_string(batch - batches.begin()) + "/" + name + ".h";
        std::filesystem::create_directories((folder.path() / header).parent_path());
        write_file(folder / header, offline.files.header);
        INFO(name << " " << offline_case.schedule);
        const CommandResult c99 = run_command(
            enter + HALO_CC " -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c " + header);
        INFO(c99.output);
        CHECK(c99.code == 0);
    }
    const std::string quick = quick_option();
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const std::string place = "batch_" + std::to_string(i);
        write_file(folder / (place + "/all.cu"), batches[i].source());
        INFO(batches[i].described);
        // To PTX: what takes it from there to a device gives no remarks, and takes as long as all else.
        const CommandResult cuda = run_command(enter + "cd " + place + " && " + HALO_NVCC +
                                               " -std=c++17 -arch=compute_90 -fmad=false -Werror all-warnings"
                                               " -Xcompiler -Wall,-Wextra,-Werror -c all.cu" +
                                               quick);
        INFO(cuda.output);
        CHECK(cuda.code == 0);
    }
}
