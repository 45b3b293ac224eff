// haloc compile, without a GPU: for the CPU, and what it refuses.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {

Outcome with_cache(const Folder& folder, const std::vector<std::string>& arguments,
                   const std::string& cache) {
    Invocation invocation;
    invocation.arguments = arguments;
    invocation.folder = folder.path();
    invocation.set = {"HALOCLINE_CACHE=" + cache, "HALOCLINE_LIBCUDA=/nonexistent/libcuda.so.1"};
    return run_haloc(invocation);
}

}  // namespace

#ifdef HALO_HAS_LLVM
TEST_CASE("what is compiled ahead a run takes from the cache") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const std::string cache = folder.path() + "/cache";
    const Outcome first = with_cache(folder, {"compile", "heat.halo"}, cache);
    INFO(first.err);
    REQUIRE(first.code == 0);
    CHECK(first.out.find("heat_step") != std::string::npos);
    CHECK(first.out.find("was there") == std::string::npos);
    const Outcome again = with_cache(folder, {"compile", "heat.halo", "--device", "cpu"}, cache);
    CHECK(again.code == 0);
    CHECK(again.out.find("was there") != std::string::npos);
    CHECK(again.out.find(" ms") == std::string::npos);
    CHECK(with_cache(folder, {"compile", "heat.halo", "-q"}, cache).out.empty());
    const Outcome run =
        with_cache(folder, {"run", "heat.halo", "--device", "cpu", "--json", "--no-files"}, cache);
    REQUIRE(run.code == 0);
    const auto json = nlohmann::ordered_json::parse(run.out);
    CHECK(json["compiled_from_cache"].get<bool>());
    CHECK(json["several_steps_kernel"] == "none");
}
#endif

TEST_CASE("compile says what it cannot do") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const std::string cache = folder.path() + "/cache";
    CHECK(with_cache(folder, {"compile", "heat.halo"}, "off").code == 4);
    CHECK(with_cache(folder, {"compile", "heat.halo", "--device", "interpreter"}, cache).code == 2);
    CHECK(with_cache(folder, {"compile", "heat.halo", "--device", "cuda", "--arch", "sm_90"}, cache).code ==
          2);
    CHECK(with_cache(folder, {"compile", "heat.halo", "--grid", "9"}, cache).code == 2);
    CHECK(with_cache(folder, {"compile", "missing.halo"}, cache).code == 4);
    CHECK(with_cache(folder, {"compile", "heat.halo", "--device", "cuda"}, cache).code == 3);
}
