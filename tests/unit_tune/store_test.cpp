#include "compiler/tune/store.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.h"
#include "runtime/core/error.h"

using namespace halo;
using namespace halo::tune;

namespace {

class Folder {
public:
    Folder() {
        char name[] = "/tmp/halo-tuned-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

StoredStage stage() {
    StoredStage stage;
    stage.stencil = "heat";
    stage.device = "NVIDIA H200, sm_90, 132 SMs";
    stage.compiler = "NVRTC 13.0";
    stage.stages = 2;
    stage.grid = {512, 512, 256};
    stage.schedule = "direct threads=32x4x1 cells=4x2x4";
    stage.finished = true;
    stage.seconds = 2.5e-4;
    stage.predicted = 2e-4;
    stage.trials = {
        {"direct threads=32x4x1 cells=4x2x4", {Outcome::Kind::measured, 2.5e-4, ""}, 2e-4},
        {"direct threads=8x8x1 cells=1x1x1", {Outcome::Kind::slower, 9e-4, ""}, std::nullopt},
        {"tile threads=32x8x1 cells=1x1x1", {Outcome::Kind::wrong, 0, "cell 3 is 1 instead of 2"}, 3e-4},
        {"tile threads=32x4x1 cells=1x1x1", {Outcome::Kind::unverified, 0, "no numbers"}, 3e-4}};
    stage.trials[0].outcome.registers = 96;
    stage.trials[0].outcome.shared_bytes = 4096;
    return stage;
}

}  // namespace

TEST_CASE("what was kept is found as it was, and other entries stay") {
    const Folder folder;
    const Store store(folder.path / "tuned.json");
    CHECK(store.read().empty());
    StoredStage other = stage();
    other.stencil = "wave";
    other.model_seconds = 3e-4;
    store.put("aa", stage());
    store.put("bb", other);
    StoredStage newer = stage();
    newer.seconds = 2e-4;
    store.put("aa", newer);
    const auto found = store.find("aa");
    REQUIRE(found);
    CHECK(found->seconds == 2e-4);
    CHECK(found->grid == std::vector<std::int64_t>{512, 512, 256});
    CHECK(found->stages == 2);
    CHECK(found->finished);
    CHECK(found->predicted == 2e-4);
    CHECK_FALSE(found->model_seconds);
    REQUIRE(found->trials.size() == 4);
    CHECK(found->trials[0].outcome.seconds == 2.5e-4);
    CHECK(found->trials[0].outcome.registers == 96);
    CHECK(found->trials[0].outcome.shared_bytes == 4096);
    CHECK(found->trials[1].outcome.kind == Outcome::Kind::slower);
    CHECK(found->trials[3].outcome.kind == Outcome::Kind::unverified);
    CHECK(found->trials[3].outcome.why == "no numbers");
    CHECK_FALSE(found->trials[1].predicted);
    CHECK(found->trials[2].outcome.why == "cell 3 is 1 instead of 2");
    CHECK(store.find("bb")->model_seconds == 3e-4);
    CHECK_FALSE(store.find("cc"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("what is no store is said, and not written over") {
    const Folder folder;
    const std::filesystem::path path = folder.path / "notes.json";
    for (const char* text : {"", "shopping", R"({"format": "other"})",
                             R"({"format": "halocline tuned 1", "stages": {"aa": {}}})"}) {
        std::ofstream(path) << text;
        CHECK_THROWS_AS(Store(path).read(), rt::Error);
        CHECK_THROWS_AS(Store(path).put("aa", stage()), rt::Error);
        std::ifstream file(path);
        CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
    }
    CHECK_THROWS_AS(Store("/nonexistent/folder/tuned.json").put("aa", stage()), rt::Error);
}
