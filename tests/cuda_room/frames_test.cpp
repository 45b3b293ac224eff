// Runs with frames on the fake driver: frames are fetched while the next steps go on, and the files are those
// of a run that waits for each.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/running/time_loop.h"
#include "contains.h"
#include "fake_driver.h"
#include "heat_line.h"
#include "runtime/hdf5/hdf5.h"
#include "temporary_folder.h"

using namespace halo;
using namespace halo::driver;

namespace {

namespace fs = std::filesystem;
constexpr int kGone = 700;  // CUDA_ERROR_ILLEGAL_ADDRESS

Output saved(const std::string& path, std::int64_t every, bool together = false) {
    Output output;
    output.field = {"u", {"u"}};
    output.path = path;
    output.frames.every = output.frames.from = every;
    output.frames.together = together;
    return output;
}

RunRequest request_in(const TemporaryFolder& folder) {
    RunRequest request;
    request.name = "heat";
    request.axes = {"x"};
    request.extent = {50, 1, 1};
    request.steps = 95;
    request.states = {"u"};
    request.outputs = {saved(folder / "u.npy", 10), saved(folder / "some.npy", 10),
                       saved(folder / "rare.npy", 25)};
    request.outputs[1].part = rt::Lattice{{3, 0, 0}, {6, 1, 1}, {7, 1, 1}};
    if (rt::find_hdf5().found) {
        request.outputs.push_back(saved(folder / "each.h5", 10));
        request.outputs.push_back(saved(folder / "all.h5", 10, true));
    }
    return request;
}

// Sees the run between its steps, and is called before them.
class Looks final : public Onlooker {
public:
    explicit Looks(std::function<std::int64_t(std::int64_t steps)> look) : look_(std::move(look)) {}
    std::int64_t look(Engine&, std::int64_t steps, double) override { return look_(steps); }

private:
    std::function<std::int64_t(std::int64_t steps)> look_;
};

struct Ended {
    LoopResult loop;
    std::optional<std::string> trouble;
    bool had_stream_of_fetches = false;
    std::map<std::string, std::string> files;
    std::string error;
};

enum class Memory : std::uint8_t { enough, short_of };

Ended run(Memory memory, const std::function<void(RunRequest&, rt::Session&)>& change = {},
          Onlooker* onlooker = nullptr) {
    FakeLibcuda& f = fake();
    const TemporaryFolder folder;
    RunRequest request = request_in(folder);
    Ended ended;
    {
        const auto device = rt::open_cuda_device();
        rt::Session session = open_heat(*device);
        std::vector<double> u(50);
        for (std::size_t i = 0; i < u.size(); ++i)
            u[i] = static_cast<double>((i * 7) % 16);
        session.upload("u", 0, std::span<const double>(u));
        if (change) change(request, session);
        const std::unique_ptr<Engine> engine = make_engine_on(session);
        const std::int64_t total = f.total_bytes;
        if (memory == Memory::short_of) f.total_bytes = f.used_bytes + 1024;
        const int streams = f.live_streams;
        const std::unique_ptr<rt::Ranks> ranks = rt::single_rank();
        const InterruptGuard guard;
        Console console;
        console.set_silent(true);
        try {
            Watch watch(request, *engine, *ranks, 0);
            Outputs outputs(request, *ranks, {});
            ended.loop = run_steps(*engine, request, 0, outputs, watch, nullptr, onlooker, *ranks, console);
            ended.trouble = outputs.trouble();
        } catch (const std::exception& error) {
            ended.error = error.what();
        }
        ended.had_stream_of_fetches = f.live_streams > streams;
        f.total_bytes = total;
    }
    for (const auto& entry : fs::directory_iterator(folder.path())) {
        std::ifstream file(entry.path(), std::ios::binary);
        ended.files[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return ended;
}

void check_same(const Ended& one, const Ended& other) {
    CHECK(one.had_stream_of_fetches);
    CHECK_FALSE(other.had_stream_of_fetches);
    CHECK(one.loop.steps == other.loop.steps);
    CHECK(one.loop.stop == other.loop.stop);
    CHECK(one.trouble == other.trouble);
    CHECK(one.error == other.error);
    REQUIRE(one.files.size() == other.files.size());
    for (const auto& [name, bytes] : one.files) {
        INFO(name);
        REQUIRE(other.files.contains(name));
        CHECK(bytes == other.files.at(name));
    }
}

void check_same_with(const std::function<void(RunRequest&, rt::Session&)>& change, LoopResult::Stop stop,
                     std::int64_t steps) {
    const Ended overlapped = run(Memory::enough, change);
    CHECK(overlapped.loop.stop == stop);
    CHECK(overlapped.loop.steps == steps);
    CHECK(overlapped.files.contains("u-000010.npy"));
    check_same(overlapped, run(Memory::short_of, change));
}

}  // namespace

TEST_CASE("frames that are fetched while steps go on are those of a run that waits for them") {
    const Ended overlapped = run(Memory::enough), waiting = run(Memory::short_of);
    CHECK(overlapped.error.empty());
    CHECK(overlapped.files.contains("u-000090.npy"));
    CHECK(overlapped.files.contains("rare-000075.npy"));
    CHECK(overlapped.files.at("u.npy") != overlapped.files.at("u-000090.npy"));
    check_same(overlapped, waiting);
    check_same_with([](RunRequest& request, rt::Session&) { request.steps = 90; }, LoopResult::Stop::steps,
                    90);  // the last frame is that of the end
}

TEST_CASE("the next steps are submitted before a frame is fetched") {
    std::map<std::int64_t, int> launches;  // by steps done
    Looks looks([&](std::int64_t steps) {
        FakeLibcuda& f = fake();
        for (const auto& [before, count] : launches)
            if (before == steps - 10 && before % 10 == 0 && before > 0)
                CHECK(f.launches_before_fetch >= count + 10);
        launches[steps] = f.launches;
        return std::int64_t{1000};
    });
    const auto one_file = [](RunRequest& request, rt::Session&) {
        request.watch = false;  // which looks at the fields, too
        request.outputs.resize(1);
    };
    CHECK(run(Memory::enough, one_file, &looks).error.empty());
    CHECK(std::ranges::count_if(launches, [](const auto& each) { return each.first % 10 == 0; }) > 8);
}

TEST_CASE("a run with frames ends where it would without a device that goes on") {
    // until step >= 33
    check_same_with(
        [](RunRequest& request, rt::Session&) {
            using Op = rt::HostScalar::Op;
            rt::HostScalar until;
            until.steps = {{Op::step, 0, 0}, {Op::constant, 33, 0}, {Op::div, 0, 0}, {Op::floor, 0, 0}};
            request.until = until;
        },
        LoopResult::Stop::until, 33);
    // What the watch does not see, frames do, and the first that holds it ends the run.
    const auto diverge = [](RunRequest& request, rt::Session& session) {
        request.states.clear();
        session.set_param("rate", 1e12);
    };
    check_same_with(diverge, LoopResult::Stop::not_finite, 25);
    const Ended diverged = run(Memory::enough, diverge);
    REQUIRE(diverged.trouble.has_value());
    CHECK(contains(*diverged.trouble, "after step 25, u is "));
    // Somebody ends it.
    for (const bool fails : {false, true}) {
        INFO(fails);
        Looks looks([&](std::int64_t steps) -> std::int64_t {
            if (steps >= 20 && fails) throw std::runtime_error("the page is gone");
            return steps < 20 ? 1000 : 0;
        });
        const Ended ended = run(Memory::enough, {}, &looks);
        CHECK(ended.files.contains("u-000020.npy"));
        CHECK(ended.error == (fails ? "the page is gone" : ""));
        check_same(ended, run(Memory::short_of, {}, &looks));
    }
}

TEST_CASE("a device that fails while a frame is due ends the run with its words") {
    Looks looks([](std::int64_t steps) {
        if (steps == 20) fake().fail_next["cuStreamSynchronize"] = kGone;
        return std::int64_t{1000};
    });
    const Ended ended = run(Memory::enough, {}, &looks);
    CHECK(contains(ended.error, "illegal memory access"));
    CHECK(ended.files.contains("u-000010.npy"));
    fake().fail_next.clear();
}
