// Checkpoints: what ranks write together, what is refused, and what a killed run leaves.
#include "compiler/driver/running/checkpoint.h"

#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/field_files.h"
#include "process.h"
#include "thread_ranks.h"
#include "weather.h"

using namespace halo;
using namespace halo::driver;
using namespace halo::test;
namespace fs = std::filesystem;

namespace {

// An engine of which a process has one piece of the grid: the rest is as if it were not there.
class PieceOf final : public Engine {
public:
    PieceOf(Engine& whole, const rt::Box& own) : whole_(whole), own_(own) {}
    void set_param(const std::string&, double) override {}
    void set_coef(const std::string&, const std::vector<double>&) override {}
    void set_table(const std::string&, const std::vector<double>&) override {}
    void set_points(const std::string&, const std::vector<double>&) override {}
    void set_point_values(const std::string&, const std::string&, const std::vector<double>&) override {}
    std::vector<double> trace(const std::string& points, const std::string& name) override {
        return whole_.trace(points, name);
    }
    Extent extent() const override { return whole_.extent(); }
    rt::ElementType type_of(const std::string& field) const override { return whole_.type_of(field); }
    rt::FieldGrid grid_of(const std::string& field) const override { return whole_.grid_of(field); }
    std::vector<rt::Box> own_boxes() const override { return {own_}; }
    void continue_from(const rt::StepsBefore& before) override { whole_.continue_from(before); }
    bool holds(const rt::HostScalar&) override { return false; }
    rt::RunResult run(std::int64_t steps, const std::optional<rt::HostScalar>& until) override {
        return whole_.run(steps, until);
    }
    double reduction(const std::string& name) override { return whole_.reduction(name); }

private:
    void check(const rt::Box& box) const {
        if (rt::intersection(box, own_) != box) throw std::logic_error("cells of another process");
    }
    void upload_cells(const std::string& field, int time, const rt::Box& box, const void* elements) override {
        check(box);
        FieldValues values = FieldValues::zeros(type_of(field), box.cells());
        std::copy_n(static_cast<const std::byte*>(elements), values.elements.size(), values.elements.begin());
        whole_.upload_box(field, time, box, values);
    }
    void download_cells(const std::string& field, int time, const rt::Box& box, void* elements) override {
        check(box);
        const FieldValues values = whole_.download_box(field, time, box);
        std::copy_n(values.elements.begin(), values.elements.size(), static_cast<std::byte*>(elements));
    }

    Engine& whole_;
    rt::Box own_;
};

struct Weather {
    CheckedSpec spec = check_text("weather.halo", kWeather);
    const ir::Program& program = spec.analysis.stencils.front().program;
    const sema::RunSpec* run = spec.analysis.find_run("weather");
    Extent extent{12, 10, 1};
    RunRequest request;

    Weather() {
        request.name = "weather";
        request.axes = {"x", "y"};
        request.extent = extent;
        request.steps = 8;
    }
    std::unique_ptr<Engine> engine() const {
        std::unique_ptr<Engine> engine = make_interpreter_engine(program, extent);
        engine->set_points("phones", run->places.front().positions);
        return engine;
    }
    void start(Engine& engine) const {
        engine.set_points("phones", {3.2, 4.5, 7.5, 2.25});
        for (const char* field : {"u", "drift"}) {
            std::vector<double> values;
            for (int i = 0; i < 120; ++i)
                values.push_back(i * 0.01);
            engine.upload(field, 0, FieldValues::rounded(rt::ElementType::f32, values));
        }
    }
};

const Console kConsole;

rt::Box part_of(const Extent& extent, int rank, int count) {
    rt::Box box = rt::whole_box(extent);
    box.begin[1] = extent[1] * rank / count;
    box.end[1] = extent[1] * (rank + 1) / count;
    return box;
}

}  // namespace

TEST_CASE("ranks write one checkpoint together, and others go on from it", "[ranks]") {
    const Weather weather;
    Folder folder;
    const std::string path = folder.path() + "/weather";
    const std::unique_ptr<rt::Ranks> single = rt::single_rank();
    const RunIdentity identity = identity_of(*single, weather.program, weather.run, weather.request);

    const std::unique_ptr<Engine> never = weather.engine();
    weather.start(*never);
    never->run(8, std::nullopt);
    const std::unique_ptr<Engine> half = weather.engine();
    weather.start(*half);
    half->run(5, std::nullopt);

    for (const int writers : {1, 3}) {
        fs::remove_all(path);
        const auto wrote = as_ranks(writers, [&](rt::Ranks& ranks) {
            const std::unique_ptr<Engine> engine = weather.engine();
            weather.start(*engine);
            PieceOf own(*engine, part_of(weather.extent, ranks.rank(), writers));
            Checkpoints checkpoints(ranks, path, {}, identity, weather.program, std::nullopt);
            own.run(2, std::nullopt);
            checkpoints.write(own, 2, kConsole);
            own.run(3, std::nullopt);
            checkpoints.write(own, 5, kConsole);
            CHECK(checkpoints.trouble().empty());
        });
        for (const std::string& trouble : wrote)
            CHECK(trouble == "");
        REQUIRE(fs::exists(path + "/step-5/manifest.json"));
        CHECK_FALSE(fs::exists(path + "/step-2"));

        for (const int readers : {1, 2}) {
            const auto read = as_ranks(readers, [&](rt::Ranks& ranks) {
                const std::unique_ptr<Engine> engine = weather.engine();
                weather.start(*engine);
                const Checkpoint found = find_checkpoint(ranks, path);
                check_checkpoint(found, identity, weather.request);
                PieceOf own(*engine, part_of(weather.extent, ranks.rank(), readers));
                restore(ranks, found, own, weather.program);
                const rt::Box box = own.own_boxes().front();
                for (const auto& [field, time] : {std::pair{"u", 0}, {"p", 0}, {"p", -1}, {"hot", 0}})
                    CHECK((own.download_box(field, time, box).elements ==
                           half->download_box(field, time, box).elements));
                if (readers > 1) return;
                engine->run(3, std::nullopt);
                for (const char* field : {"u", "p", "hot"})
                    CHECK((engine->download(field).elements == never->download(field).elements));
                CHECK(engine->reduction("total") == never->reduction("total"));
                CHECK(engine->trace("phones", "trace") == never->trace("phones", "trace"));
            });
            for (const std::string& trouble : read)
                CHECK(trouble == "");
        }
    }
}

namespace {

Outcome run_weather(const Folder& folder, std::vector<std::string> with) {
    std::vector<std::string> arguments{"run", "weather.halo", "--device", "interpreter", "--grid", "16,12"};
    arguments.insert(arguments.end(), with.begin(), with.end());
    return folder.haloc(arguments);
}

void check_refused(const Outcome& outcome, int code, const std::string& words) {
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK(outcome.err.find(words) != std::string::npos);
}

void spoil(const std::string& path, const std::function<void(std::string&)>& change) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    change(bytes);
    std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("checkpoints of other runs, and damaged ones, are refused", "[mistakes]") {
    Folder folder;
    folder.write("weather.halo", kWeather);
    REQUIRE(run_weather(folder, {"--steps", "4", "--checkpoint", "ck"}).code == 0);
    const auto restart = [&](std::vector<std::string> with) {
        with.insert(with.end(), {"--restart", "ck"});
        return run_weather(folder, with);
    };
    check_refused(restart({"--steps", "3"}), 2,
                  "ck/step-4 is after step 4, and this run is to end after step 3");
    check_refused(restart({"--set", "k=0.1"}), 2, "k = 0.2, and this run has 0.1");
    check_refused(restart({"--strict-fp"}), 2, "of another weather");
    check_refused(run_weather(folder, {"--steps", "9", "--checkpoint", "ck"}), 2,
                  "ck holds a checkpoint of another run, after step 4");
    check_refused(folder.haloc({"run", "weather.halo", "--device", "interpreter", "--restart", "ck"}), 2,
                  "of another grid: 16 x 12 cells, and this run has 40 x 50");
    check_refused(run_weather(folder, {"--restart", "none"}), 4, "there is no checkpoint none");
    check_refused(run_weather(folder, {"--checkpoint", "c", "--checkpoint-every", "5x"}), 2, "`5x`");
    check_refused(run_weather(folder, {"--checkpoint-every", "5"}), 2, "--checkpoint");
    check_refused(run_weather(folder, {"--checkpoint", "none/ck"}), 4, "none/ck");
    std::string other = kWeather;
    other.replace(other.find("0.01 * sin"), 4, "0.02");
    folder.write("weather.halo", other);
    check_refused(restart({}), 2, "of another weather");
    other = kWeather;
    other.replace(other.find("0.9 * i"), 3, "0.8");
    folder.write("weather.halo", other);
    check_refused(restart({}), 2, "of other data");
    folder.write("weather.halo", kWeather);

    const std::string step = folder.path() + "/ck/step-4/", manifest = step + "manifest.json";
    const std::string good = folder.read("ck/step-4/u.npy"),
                      good_manifest = folder.read("ck/step-4/manifest.json");
    const auto put_back = [&] {
        std::ofstream(step + "u.npy", std::ios::binary) << good;
        std::ofstream(manifest, std::ios::binary) << good_manifest;
    };
    spoil(step + "u.npy", [](std::string& bytes) { bytes[200] = static_cast<char>(bytes[200] ^ 1); });
    check_refused(restart({}), 4, "ck/step-4/u.npy is not what was written");
    spoil(step + "u.npy", [](std::string& bytes) { bytes.pop_back(); });
    check_refused(restart({}), 4, "was written with");
    fs::remove(step + "u.npy");
    check_refused(restart({}), 4, "ck/step-4/u.npy is missing");
    put_back();
    spoil(manifest, [](std::string& text) { text.replace(text.find("\"steps\": 4"), 10, "\"steps\": 5"); });
    check_refused(restart({}), 4, "damaged");
    put_back();
    spoil(manifest, [](std::string& text) { text.resize(text.size() / 2); });
    check_refused(restart({}), 4, "damaged");
    put_back();
    spoil(manifest, [](std::string& text) { text.replace(text.find("\"format\": 1"), 11, "\"format\": 2"); });
    check_refused(restart({}), 4, "another format (2)");
    fs::remove(manifest);
    check_refused(restart({}), 4, "there is no complete checkpoint in ck");
    put_back();
    CHECK(restart({"--steps", "4"}).code == 0);
    CHECK(run_weather(folder, {"--restart", "ck/step-4", "--checkpoint", "ck", "--steps", "6"}).code == 0);
    CHECK_FALSE(fs::exists(step));
    CHECK(fs::exists(folder.path() + "/ck/step-6/manifest.json"));
}

TEST_CASE("a run that `until` has ended, or Ctrl-C, goes on where it was", "[mistakes]") {
    Folder folder;
    std::string text = kWeather;
    text.replace(text.find("steps 20"), 8, "steps 90 until total > 150");
    folder.write("weather.halo", text);
    const auto run = [&](std::vector<std::string> with) {
        with.insert(with.end(), {"--json", "--save", "p=p.npy", "--save", "phones.trace=t.npy"});
        const Outcome outcome = run_weather(folder, with);
        INFO(outcome.err);
        REQUIRE((outcome.code == 0 || outcome.code == 130));
        auto json = nlohmann::ordered_json::parse(outcome.out);
        return std::tuple(json["steps"], json["stopped"], json["reductions"], folder.read("p.npy"),
                          folder.read("t.npy"));
    };
    const auto whole = run({});
    CHECK(std::get<1>(whole) == "until");
    CHECK(run({"--steps", "4", "--checkpoint", "ck"}) != whole);
    CHECK((run({"--restart", "ck", "--checkpoint", "ck"}) == whole));
    CHECK((run({"--restart", "ck"}) == whole));  // it holds: no step is done

    folder.write("weather.halo", kWeather);
    Invocation endless;
    endless.arguments = {
        "run",     "weather.halo", "--device", "interpreter",        "--grid", "16,12", "--steps",
        "1000000", "--checkpoint", "ck2",      "--checkpoint-every", "5"};
    endless.folder = folder.path();
    bool told = false;
    endless.watch = [&](int pid, const std::string&) {
        if (told) return;
        while (!fs::exists(folder.path() + "/ck2/step-5"))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ::kill(pid, SIGTERM);
        told = true;
    };
    const Outcome stopped = run_haloc(endless);
    INFO(stopped.err);
    CHECK(stopped.code == 130);
    const std::size_t at = stopped.err.find("interrupted after step ");
    REQUIRE(at != std::string::npos);
    const std::string step = std::to_string(std::stoll(stopped.err.substr(at + 23)));
    CHECK(fs::exists(folder.path() + "/ck2/step-" + step + "/manifest.json"));
}

TEST_CASE("a checkpoint that cannot be written leaves the one before", "[mistakes]") {
    Folder folder;
    folder.write("weather.halo", kWeather);
    REQUIRE(run_weather(folder, {"--steps", "4", "--checkpoint", "ck"}).code == 0);
    fs::create_directory(folder.path() + "/ck/.step-6.part");  // left by a killed run
    // A disk that is full, as far as this process goes.
    struct rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = before;
    small.rlim_cur = 900;
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    const Outcome full = run_weather(
        folder, {"--steps", "8", "--restart", "ck", "--checkpoint", "ck", "--checkpoint-every", "2"});
    ::setrlimit(RLIMIT_FSIZE, &before);
    check_refused(full, 4, "no checkpoint after step 6: ");
    CHECK(full.err.find("the one after step 4 remains") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"ck", "weather.halo"});
    CHECK(std::distance(fs::directory_iterator(folder.path() + "/ck"), {}) == 1);
    CHECK(run_weather(folder, {"--steps", "8", "--restart", "ck"}).code == 0);
}

TEST_CASE("a run that is killed at any time goes on from its last checkpoint", "[kill]") {
    Folder folder;
    folder.write("weather.halo", kWeather);
    std::vector<std::string> arguments{
        "run",     "weather.halo", "--device", "interpreter",        "--grid", "64,50",     "--steps",
        "1000000", "--checkpoint", "ck",       "--checkpoint-every", "1",      "--no-watch"};
    std::mt19937 random(7);
    const auto killed = [&](const std::vector<std::string>& with) {
        Invocation invocation;
        invocation.arguments = arguments;
        invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
        invocation.folder = folder.path();
        bool done = false;
        invocation.watch = [&](int pid, const std::string&) {
            if (done) return;
            done = true;
            while (!fs::exists(folder.path() + "/ck"))
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::this_thread::sleep_for(std::chrono::microseconds(20000 + random() % 250000));
            ::kill(pid, SIGKILL);
        };
        return run_haloc(invocation);
    };
    const auto has_one = [&] {
        for (const auto& entry : fs::directory_iterator(folder.path() + "/ck"))
            if (entry.path().filename().string().starts_with("step-")) return true;
        return false;
    };
    for (int i = 0; i < 12; ++i) {
        const Outcome outcome =
            fs::exists(folder.path() + "/ck") && has_one() ? killed({"--restart", "ck"}) : killed({});
        INFO(outcome.err);
        CHECK(outcome.code == 128 + SIGKILL);
        CHECK(outcome.err.find("error") == std::string::npos);
    }
    std::int64_t steps = 0;
    for (const auto& entry : fs::directory_iterator(folder.path() + "/ck")) {
        const std::string name = entry.path().filename();
        if (name.starts_with("step-")) steps = std::max<std::int64_t>(steps, std::stoll(name.substr(5)));
    }
    CHECK(steps > 5);
    const auto finish = [&](const std::vector<std::string>& with) {
        std::vector<std::string> all{"run",       "weather.halo", "--device", "interpreter",
                                     "--grid",    "64,50",        "--steps",  std::to_string(steps + 3),
                                     "--save",    "u=u.npy",      "--save",   "p=p.npy",
                                     "--save",    "hot=hot.npy",  "--save",   "phones.trace=t.npy",
                                     "--no-watch"};
        all.insert(all.end(), with.begin(), with.end());
        const Outcome outcome = folder.haloc(all);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return folder.read("u.npy") + folder.read("p.npy") + folder.read("hot.npy") + folder.read("t.npy");
    };
    CHECK((finish({"--restart", "ck"}) == finish({})));
}
