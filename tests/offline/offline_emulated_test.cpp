// The offline launcher without a GPU: the source, its launches rewritten as calls, is compiled with the
// host's compiler on a stand-in for the CUDA runtime (host_cuda/cuda_runtime.h) and computes what the
// interpreter does.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "catch.h"
#include "offline_run.h"
#include "stand_ins.h"
#include "temporary_folder.h"

using namespace halo;
using namespace halo::test;

namespace {

const std::string kFlags = " -std=c++20 -O0 -ffp-contract=off -w ";

// The closing bracket of the one at `open`.
std::size_t matching(const std::string& text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at;
    }
    return std::string::npos;
}

// kernel<<<blocks, threads>>>(arguments) becomes host_launch(blocks, threads, [&] { kernel(arguments); }),
// and functions with inline PTX become plain C++.
std::string rewrite_launches(std::string text) {
    text = emulator::with_stand_ins(text);
    for (std::size_t at; (at = text.find("<<<")) != std::string::npos;) {
        const std::size_t begin = text.find_last_of(" \n", at) + 1;
        const std::size_t close = text.find(">>>", at);
        const std::size_t end = matching(text, close + 3);
        REQUIRE(end != std::string::npos);
        const std::string kernel = text.substr(begin, at - begin);
        const std::string launch = text.substr(at + 3, close - at - 3);
        const std::string arguments = text.substr(close + 3, end - close - 2);
        text.replace(begin, end - begin + 1,
                     "host_launch(" + launch + ", [&] { " + kernel + arguments + "; })");
    }
    const std::string dynamic = "extern __shared__ double shared_memory[];";
    for (std::size_t at; (at = text.find(dynamic)) != std::string::npos;) {
        text.replace(at, dynamic.size(), "double* const shared_memory = host_shared_memory;");
    }
    return text;
}

// A folder with the stand-in for the CUDA runtime, and what GCC has precompiled of it: reading it takes
// longer than compiling a launcher does.
std::string folder_of_runtime() {
    static const TemporaryFolder folder;
    static const bool precompiled = [] {
        std::filesystem::copy_file(HALO_SOURCE_DIR "/tests/offline/host_cuda/cuda_runtime.h",
                                   folder / "cuda_runtime.h");
        std::filesystem::copy_file(HALO_SOURCE_DIR "/tests/emulator/cuda_lanes.h", folder / "cuda_lanes.h");
        const std::string compile = HALO_CXX + kFlags + "-x c++-header " + (folder / "cuda_runtime.h") +
                                    " -o " + (folder / "cuda_runtime.h.gch");
        return std::system(compile.c_str()) == 0;
    }();
    REQUIRE(precompiled);
    return folder.path();
}

std::string build_on_host(const std::string& name) {
    return "mv " + name + ".cu offline.cpp && " + HALO_CXX + kFlags + "-I " + folder_of_runtime() +
           " -include cuda_runtime.h" + " -c offline.cpp && " + HALO_CXX +
           " -O0 -w -x c main.c -x none offline.o -o program -lstdc++ -lm";
}

}  // namespace

TEST_CASE("the launcher runs steps, halos, levels and reductions", "[offline]") {
    for (const OfflineCase& offline_case : offline_cases()) {
        INFO(offline_case.text << offline_case.schedule);
        CHECK(offline_difference(offline_case, build_on_host, rewrite_launches) == "");
    }
}

TEST_CASE("a launcher whose stream is recorded launches all iterations, and the same comes out",
          "[offline]") {
    CHECK(offline_difference(first_of(offline_cases(), "until"), build_on_host, [](std::string text) {
              const std::string looks = "looks = !launcher::is_recorded(*solver)";
              REQUIRE(text.find(looks) != std::string::npos);
              while (text.find(looks) != std::string::npos)
                  text.replace(text.find(looks), looks.size(), "looks = false");
              return rewrite_launches(std::move(text));
          }) == "");
}

TEST_CASE("the launcher keeps a grid on the chip where it can", "[offline]") {
    for (const OfflineCase& offline_case : cases_on_the_chip()) {
        INFO(offline_case.text << offline_case.schedule);
        CHECK(offline_difference(offline_case, build_on_host, rewrite_launches) == "");
    }
    // What it says where a text of the launcher is another.
    const auto said = [](const OfflineCase& offline_case, const std::string& from, const std::string& to) {
        return offline_difference(offline_case, build_on_host, [&](std::string text) {
            REQUIRE(text.find(from) != std::string::npos);
            text.replace(text.find(from), from.size(), to);
            return rewrite_launches(std::move(text));
        });
    };
    const std::string here = "solver.is_resident = true;";
    const std::string tell = "return fail(HEAT3D_CUDA_ERROR, \"on the chip\");";
    CHECK(said(cases_on_the_chip()[0], here, tell) == "on the chip\n");
    CHECK(said(cases_on_the_chip()[1], here, tell) == "");  // a grid that the kernel is not for
    CHECK(said(cases_on_the_chip()[0], "cudaDevAttrMultiProcessorCount", "cudaDevAttrNothing") == "");
    CHECK(said(cases_on_the_chip()[0], "cudaDevAttrCooperativeLaunch", "cudaDevAttrNothing")
              .starts_with("this device cannot start blocks that wait for each other"));
    // Cleared before steps are counted anew.
    CHECK(said(cases_on_the_chip()[3], "solver->steps_sent > 536870912", "solver->steps_sent > 1") == "");
}

TEST_CASE("reductions are those of the last step, by whichever kernel", "[offline]") {
    for (const OfflineCase& offline_case : cases_of_several_steps()) {
        if (offline_case.reductions.empty()) continue;
        INFO(offline_case.text << offline_case.schedule);
        CHECK(offline_difference(offline_case, build_on_host, rewrite_launches) == "");
    }
}

TEST_CASE("iterations of a repeat, several at once", "[offline]") {
    const OfflineCase& projected = first_of(cases_of_several_steps(), "projected");
    CHECK(offline_difference(projected, build_on_host, rewrite_launches) == "");
    // The last iteration reads halos that those before it leave alone.
    CHECK(offline_difference(projected, build_on_host, [](std::string text) {
              const std::string fill = "launcher::fill_halo_of_p(*solver, solver->p_next)";
              REQUIRE(text.find(fill) != std::string::npos);
              text.replace(text.find(fill), fill.size(), "PROJECTED_OK");
              return rewrite_launches(std::move(text));
          }).find("differs first in cell") != std::string::npos);
}

TEST_CASE("several steps at once read the halos of fields over fewer axes", "[offline]") {
    const OfflineCase& shore = first_of(cases_of_several_steps(), "shore");
    CHECK(offline_difference(shore, build_on_host, rewrite_launches) == "");
    // Filled for single steps alone.
    CHECK(offline_difference(shore, build_on_host, [](std::string text) {
              const std::string fill = "if (solver->halos_due) {";
              REQUIRE(text.find(fill) != text.rfind(fill));
              text.replace(text.find(fill), fill.size(), "if (false) {");
              return rewrite_launches(std::move(text));
          }).starts_with("u differs first in cell"));
}

TEST_CASE("launchers of examples with points", "[offline]") {
    int found = 0;
    for (const Example& example : examples()) {
        if (example.program.points.empty()) continue;
        ++found;
        INFO(example.name);
        const Offline offline = make_offline(example);
        const Extent small{23, 17, example.program.rank() == 3 ? 14 : 1};
        const Reference reference(example.program, small, kOfflineSteps, 7);
        CHECK(offline_difference(offline, reference, results_of(reference, offline.lowered.plan),
                                 build_on_host, rewrite_launches) == "");
    }
    CHECK(found == 2);
}

TEST_CASE("samples are taken to the host when there is no room for more", "[offline]") {
    for (const OfflineCase& offline_case : offline_cases()) {
        if (offline_case.text.find("sample ") == std::string::npos) continue;
        INFO(offline_case.text);
        CHECK(offline_difference(offline_case, build_on_host, [](std::string text) {
                  const std::string most = "4096LL";
                  REQUIRE(text.find(most) != std::string::npos);
                  text.replace(text.find(most), most.size(), "2LL");
                  return rewrite_launches(std::move(text));
              }) == "");
    }
}

TEST_CASE("a launcher that forgets the halos is noticed", "[offline]") {
    const auto forget = [](std::string text) {
        const std::string fill = "if (solver->halos_due) {";
        REQUIRE(text.find(fill) != std::string::npos);
        text.replace(text.find(fill), fill.size(), "if (false) {");
        return rewrite_launches(std::move(text));
    };
    CHECK(
        offline_difference(offline_cases()[0], build_on_host, forget).starts_with("u differs first in cell"));
}
