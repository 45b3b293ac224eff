// Headers compile as strict C99, and sixteen sources with nvcc without remarks. These are compiled as one,
// each in a namespace of its own, as reading the headers of CUDA and C++ takes most of the time. The other
// sources take a minute: offline_gpu_test.cpp compiles each of them by itself, and asks for no remarks, too.
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
    Batch batch;
    const TemporaryFolder folder;
    const std::string enter = "cd '" + folder.path().string() + "' && ";
    const auto write_header = [&](const Offline& offline, const std::string& place) {
        const std::string header = place + "/" + offline.program.name + ".h";
        std::filesystem::create_directories((folder.path() / header).parent_path());
        write_file(folder / header, offline.files.header);
        return header;
    };
    for (const OfflineCase& offline_case : all_offline_cases()) {
        const Offline offline = make_offline(offline_case);
        const std::string& name = offline.program.name;
        const bool is_in_batch = batch.programs.size() < kMostOfBatch && !batch.programs.contains(name);
        if (is_in_batch) {
            batch.add(name, offline.files.source);
            batch.described += name + " " + offline_case.schedule + "\n";
        }
        INFO(name << " " << offline_case.schedule);
        const CommandResult c99 =
            run_command(enter + HALO_CC " -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c " +
                        write_header(offline, is_in_batch ? "batch" : "other"));
        INFO(c99.output);
        CHECK(c99.code == 0);
    }
    CHECK(batch.programs.size() == kMostOfBatch);
    write_file(folder / "batch/all.cu", batch.source());
    INFO(batch.described);
    // To PTX: what takes it from there to a device gives no remarks, and takes as long as all else.
    const CommandResult cuda =
        run_command(enter + "cd batch && " + HALO_NVCC + " -std=c++17 -arch=compute_90 -fmad=false" +
                    kNoRemarks + " -c all.cu" + quick_option());
    INFO(cuda.output);
    CHECK(cuda.code == 0);
}
