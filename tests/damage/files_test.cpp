// Files and texts that were damaged: each is read, or refused by an Error; no damage crashes, and none is
// taken for what was written where there is a checksum.
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/running/checkpoint_files.h"
#include "compiler/driver/running/provenance.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/tune/store.h"
#include "damage.h"
#include "runtime/api/bundle.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/csv.h"
#include "runtime/io/npy.h"
#include "runtime/io/npy_parts.h"
#include "runtime/limits/store.h"
#include "runtime/ranks/ranks.h"
#include "temporary_folder.h"

using namespace halo::rt;
using halo::test::Damage;
using halo::test::damage_rounds;

namespace {

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Whether `read` accepts what it is given. It may refuse by the errors of files and arguments alone.
bool accepts(const std::function<void()>& read) {
    try {
        read();
        return true;
    } catch (const Error& error) {
        INFO(error.what());
        CHECK((error.code() == ErrorCode::io || error.code() == ErrorCode::bad_argument));
    } catch (const halo::driver::CommandError& error) {
        INFO(error.what());
        CHECK(
            (error.code() == halo::driver::ExitCode::file || error.code() == halo::driver::ExitCode::usage));
    } catch (const std::exception& error) {
        FAIL_CHECK("another exception: " << error.what());
    }
    return false;
}

// Reads `rounds` damaged copies of the file; gives how many were accepted.
int accepted(std::uint64_t seed, const std::string& path, const std::function<void()>& read) {
    const std::string whole = read_file(path);
    REQUIRE_FALSE(whole.empty());
    REQUIRE(accepts(read));
    Damage damage(seed);
    int count = 0;
    for (int round = 0; round < damage_rounds(); ++round) {
        const std::string bytes = damage.damaged(whole);
        write_file(path, bytes);
        INFO("round " << round);
        if (accepts(read)) ++count;
    }
    write_file(path, whole);
    return count;
}

LaunchPlan heat_plan() {
    const auto spec = halo::driver::check_spec(HALO_SOURCE_DIR "/tests/embedding/specs/heat.halo");
    REQUIRE(spec.ok);
    return halo::driver::cpu_code(halo::driver::optimize(spec.analysis.stencils.front().program, {}))
        .lowered.plan;
}

std::string heat_bundle(bool with_code) {
    halocline::detail::Variant variant;
    variant.target = "sm_90";
    variant.plan = heat_plan();
    variant.grid = with_code ? std::vector<std::int64_t>{64, 64} : std::vector<std::int64_t>{};
    variant.code = {std::string(100, 'c')};
    return halocline::detail::bundle_text("heat", {variant});
}

// That of a bundle whose bytes behind it are these: as who writes one would have it.
std::string with_right_checksum(const std::string& bundle) {
    const std::size_t first = bundle.find('\n'), second = bundle.find('\n', first + 1);
    if (first == std::string::npos || second == std::string::npos) return bundle;
    const std::string rest = bundle.substr(second + 1);
    return bundle.substr(0, first + 1) + hash_key({rest}) + "\n" + rest;
}

}  // namespace

TEST_CASE("damaged bundles are refused") {
    const std::string whole = heat_bundle(true);
    Damage damage(1);
    for (int round = 0; round < damage_rounds(); ++round) {
        const std::string bytes = damage.damaged(whole);
        INFO("round " << round);
        const bool is_taken = accepts([&] { halocline::detail::parse_bundle(bytes, "test"); });
        CHECK((!is_taken || bytes == whole));
    }
}

// Whoever makes a checksum right may write what he likes; it must not crash who reads it.
TEST_CASE("bundles that are wrong under a right checksum are refused, or mean something") {
    const std::string whole = heat_bundle(false);
    Damage damage(2);
    int taken = 0;
    for (int round = 0; round < damage_rounds(); ++round) {
        const std::string bytes = with_right_checksum(damage.damaged(whole));
        INFO("round " << round);
        taken += accepts([&] {
            for (const auto& variant : halocline::detail::parse_bundle(bytes, "test"))
                check_plan(variant.plan);
        });
    }
    CHECK(taken > 0);  // else nothing but the first checks was tried
    CHECK(taken < damage_rounds());
}

TEST_CASE("damaged launch plans are refused, or are plans") {
    const std::string whole = plan_to_json(heat_plan());
    Damage damage(3);
    for (int round = 0; round < damage_rounds(); ++round) {
        const std::string text = damage.damaged(whole);
        INFO("round " << round);
        accepts([&] {
            const LaunchPlan plan = plan_from_json(text);
            check_plan(plan);
            CHECK_FALSE(plan_to_json(plan).empty());
        });
    }
}

TEST_CASE("damaged cache entries are missing") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    const std::string key = hash_key({"damage"}), bytes(300, 'x');
    REQUIRE(cache.put(key, bytes));
    const std::string path = folder / ("cache/" + key + ".bin"), whole = read_file(path);
    Damage damage(4);
    for (int round = 0; round < damage_rounds(); ++round) {
        const std::string entry = damage.damaged(whole);
        write_file(path, entry);
        INFO("round " << round);
        const std::optional<std::string> found = cache.get(key);
        CHECK((!found || entry == whole));
    }
}

TEST_CASE("damaged .npy files are refused, or are arrays") {
    const TemporaryFolder folder;
    const std::string path = folder / "a.npy";
    std::vector<double> values(24);
    for (const auto& [seed, type] : {std::pair{5, ElementType::f64}, std::pair{6, ElementType::f16},
                                     std::pair{7, ElementType::boolean}}) {
        write_npy(path, {2, 3, 4}, values, type);
        accepted(static_cast<std::uint64_t>(seed), path, [&] {
            const NpyArray array = read_npy(path);
            std::size_t count = 1;
            for (const std::int64_t extent : array.shape)
                count *= static_cast<std::size_t>(extent);
            CHECK(array.values.size() == count);
        });
        accepted(static_cast<std::uint64_t>(seed) + 10, path, [&] {
            std::vector<double> cells(24);
            open_npy_field(path, {{4, 3, 2}, 3}, "field u")
                ->read(whole_box({4, 3, 2}), ElementType::f64, cells.data());
        });
    }
}

TEST_CASE("damaged HDF5 files are refused, or are arrays") {
    if (!find_hdf5().found) return;
    const TemporaryFolder folder;
    const std::string path = folder / "a.h5";
    const auto ranks = single_rank();
    const FieldShape shape{{5, 7, 6}, 3};
    const Hdf5Field field{"u", shape,           ElementType::f32, "heat",     12,
                          1.5, {"z", "y", "x"}, {1, 2, 3},        {0, 0, 0.5}};
    const std::vector<float> cells(210, 1.5F);
    FieldFile file(*ranks, path, hdf5_layout(*ranks, {field}));
    file.write(0, whole_box(shape.extent), cells.data());
    file.commit();
    accepted(8, path, [&] {
        std::vector<double> values(210);
        open_hdf5_field(path, "/u", shape, "field u")
            ->read(whole_box(shape.extent), ElementType::f64, values.data());
    });
}

TEST_CASE("what a damaged HDF5 file says of its run is refused, or can be read") {
    if (!find_hdf5().found) return;
    const TemporaryFolder folder;
    const std::string path = folder / "a.h5";
    const auto ranks = single_rank();
    const Hdf5Field field{"u", {{5, 7, 6}, 3},  ElementType::f32, "heat", 12,
                          1.5, {"z", "y", "x"}, {1, 2, 3},        {}};
    const std::string said = R"({"haloc": {"version": "1", "commit": "abc"}, "engine": {"device": "cpu"},
        "arguments": {"set": ["dt=0.1"], "steps": 9}, "inputs": [{"name": "q", "path": "q.npy", "sha256": "00"}],
        "spec": {"name": "a.halo", "text": "stencil", "modules": [{"name": "m", "text": ""}], "folders": []},
        "file": {"step": 5, "saves": ["u"]}})";
    FieldFile file(*ranks, path, hdf5_layout(*ranks, {field}, said));
    file.write(0, whole_box(field.shape.extent), std::vector<float>(210, 1.5F).data());
    file.commit();
    accepted(14, path, [&] { static_cast<void>(halo::driver::read_provenance(path)); });
    CHECK(halo::driver::read_provenance(path).arguments.set == std::vector<std::string>{"dt=0.1"});
}

TEST_CASE("damaged lists of numbers are refused, or are rows") {
    const TemporaryFolder folder;
    const std::string path = folder / "a.csv";
    write_file(path, "x, y, z\n1, 2, 3\n# nothing\n4, -5e3, 6.5\n\n7, 8, 9\n");
    accepted(9, path, [&] {
        const std::size_t count = read_csv(path, 3, "table t").size();
        CHECK(count % 3 == 0);
    });
}

TEST_CASE("damaged stores of figures and schedules are refused, or left alone") {
    const TemporaryFolder folder;
    const DeviceIdentity identity{"a device", 13000, "NVRTC 13.0"};
    DeviceLimits limits;
    limits.copy_bandwidth = 1e12;
    keep_limits(folder.path(), identity, limits);
    accepted(10, folder / "limits.json", [&] { static_cast<void>(find_limits(folder.path(), identity)); });

    const halo::tune::Store store(folder / "tuned.json");
    halo::tune::StoredStage stage;
    stage.stencil = "heat";
    stage.grid = {64, 64};
    stage.schedule = "direct threads=32x8 cells=1x1";
    stage.trials.push_back({stage.schedule, {}, 1e-3});
    store.put(hash_key({"stage"}), stage);
    accepted(11, folder / "tuned.json", [&] { static_cast<void>(store.read()); });
}

TEST_CASE("damaged checkpoints are refused") {
    const TemporaryFolder folder;
    const auto ranks = single_rank();
    halo::driver::CheckpointFolder checkpoints(*ranks, folder / "ck", "");
    const std::string begun = checkpoints.begin(7);
    write_npy(begun + "/u.npy", {24}, std::vector<double>(24), ElementType::f64);
    halo::driver::Manifest manifest;
    manifest.identity.program = "heat";
    manifest.identity.grid = {24};
    manifest.identity.params = {{"dt", 0.5}};
    manifest.steps = 7;
    checkpoints.finish(manifest);
    const auto find = [&] { static_cast<void>(halo::driver::find_checkpoint(*ranks, folder / "ck")); };
    for (const auto& [seed, name] : {std::pair{12, "manifest.json"}, std::pair{13, "u.npy"}}) {
        const std::string path = folder / ("ck/step-7/" + std::string(name)), whole = read_file(path);
        Damage damage(static_cast<std::uint64_t>(seed));
        for (int round = 0; round < damage_rounds(); ++round) {
            const std::string bytes = damage.damaged(whole);
            write_file(path, bytes);
            INFO(name << ", round " << round);
            const bool is_taken = accepts(find);
            CHECK((!is_taken || bytes == whole || std::string(name) == "manifest.json"));
        }
        write_file(path, whole);
        CHECK(accepts(find));
    }
}
