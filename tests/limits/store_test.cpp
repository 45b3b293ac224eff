#include "runtime/limits/store.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.h"
#include "runtime/core/error.h"

using namespace halo::rt;

namespace {

class Folder {
public:
    Folder() {
        char name[] = "/tmp/halo-limits-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

const DeviceIdentity kOne{"NVIDIA H200", 13000, "NVRTC 13.0"};
const DeviceIdentity kOther{"NVIDIA H200", 13010, "NVRTC 13.0"};

}  // namespace

TEST_CASE("limits are found again for the same device, driver and compiler, and for no other") {
    const Folder folder;
    CHECK_FALSE(find_limits(folder.path, kOne));
    keep_limits(folder.path, kOne, {4e12, 7e12, 3e-6, 7e-7, 0});
    keep_limits(folder.path, kOther, {1e12, 2e12, 1e-6, 2e-6, 3e-6});
    keep_limits(folder.path, kOne, {5e12, 7e12, 3e-6, 7e-7, 0});
    const auto found = find_limits(folder.path, kOne);
    REQUIRE(found);
    CHECK(found->copy_bandwidth == 5e12);
    CHECK(found->barrier_seconds == 0);
    CHECK(find_limits(folder.path, kOther)->barrier_seconds == 3e-6);
    CHECK_FALSE(find_limits(folder.path, {"NVIDIA H200", 13000, "NVRTC 12.9"}));
    CHECK_FALSE(find_limits({}, kOne));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a damaged file is as none, and figures that cannot be are left out") {
    const Folder folder;
    const auto write = [&](const std::string& text) { std::ofstream(folder.path / "limits.json") << text; };
    for (const char* text : {"", "{", "[]", R"({"format": "other", "devices": []})",
                             R"({"format": "halocline limits 1", "devices": [{"device": 3}]})"}) {
        write(text);
        CHECK_FALSE(find_limits(folder.path, kOne));
    }
    write(
        R"({"format": "halocline limits 1", "devices": [{"device": "NVIDIA H200", "driver": 13000, "compiler": "NVRTC 13.0",
            "copy_bytes_per_s": -4e12, "l2_bytes_per_s": 7e12, "launch_s": 1e-6,
            "graph_launch_s": 1e-6, "barrier_s": 1e-6}]})");
    const auto found = find_limits(folder.path, kOne);
    REQUIRE(found);
    CHECK(found->copy_bandwidth == 0);
    CHECK(found->l2_bandwidth == 7e12);
    keep_limits(folder.path, kOther, {1, 1, 1, 1, 1});
    CHECK(find_limits(folder.path, kOne));
}

TEST_CASE("a folder that cannot be written is said") {
    CHECK_THROWS_AS(keep_limits("/nonexistent/folder", kOne, {}), Error);
}
