// The compiler in a host program: mistakes in specs, waiting for code, and what is kept for later.
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "common.h"
#include "halocline/halocline.h"
#include "halocline/halocline.hpp"
#include "runtime/cpu/jit.h"

using namespace halocline;

namespace {

constexpr const char* kHeat = R"(stencil heat(x, y) {
    param dt = 0.2
    field u: f32 { boundary periodic }
    u[t+1] = u + dt * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4 * u)
})";

class Folder {
public:
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("compiler_test_" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("mistakes in a spec come as diagnostics with their places") {
    try {
        compile("stencil heat(x) {\n    field heat: f32\n    heat[t+1] = haet\n}", {.name = "mine.halo"});
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::spec);
        CHECK(says(error.what(), "mine.halo:3:17: error:"));
        REQUIRE(error.diagnostics().size() == 1);
        const Diagnostic& mistake = error.diagnostics().front();
        CHECK(mistake.is_error);
        CHECK(mistake.kind == "unknown-name");
        CHECK(mistake.file == "mine.halo");
        CHECK(mistake.line == 3);
        CHECK(mistake.column == 17);
        CHECK(mistake.mend == "heat");
    }
    CHECK(check(kHeat).empty());
    CHECK_FALSE(check("stencil heat(x) {").empty());
    CHECK(check_json(kHeat).find("kind") == std::string::npos);
    const std::string mistakes = check_json("stencil heat(x) { field u: f33 }", {"warm.halo"});
    CHECK(mistakes.find("\"unknown-type\"") != std::string::npos);
    CHECK(mistakes.find("\"warm.halo\"") != std::string::npos);
    CHECK(mistakes.find("\"offset\": 27") != std::string::npos);
    CHECK(says(refusal([] { compile("", {}); }, ErrorCode::spec), "has no stencil"));
    CHECK(says(refusal([] { compile(kHeat, {.stencil = "wave"}); }), "no stencil `wave`"));
    CHECK(says(refusal([] { compile(kHeat, {.schedules = {"sideways"}}); }), "sideways"));
    CHECK(says(refusal([] { compile_file("/no/such.halo"); }, ErrorCode::io), "/no/such.halo"));
}

TEST_CASE("a file finds its modules") {
    const Folder folder;
    folder.write("rules.halo", "def twice(a) = 2 * a\n");
    const std::string path = folder.write(
        "spec.halo", "use \"rules.halo\"\nstencil s(x) {\n    field u: f32\n    u[t+1] = twice(u)\n}\n");
    CHECK(compile_file(path).info().name == "s");
}

TEST_CASE("a program that is compiled when it is needed") {
    const Program program = compile(kHeat);
    CHECK(program.info().name == "heat");
    CHECK(program.info().params.front().default_value == 0.2);
    CHECK(says(program.targets().front(), "compiled when it is needed"));
    const Device device = Device::cpu(1);
    if (!halo::rt::cpu_available()) {
        CHECK(says(refusal([&] { Simulation(program, device, {8, 8}); }, ErrorCode::no_device),
                   "no CPU compiler"));
        CHECK_THROWS_AS(precompile(program, device, {{8, 8}}).get(), Error);
        return;
    }
    const std::shared_future<void> ready = precompile(program, device, {{8, 8}, {16, 16}});
    std::vector<std::vector<float>> results(3);
    std::vector<std::thread> threads;
    for (std::vector<float>& result : results)
        threads.emplace_back([&] {
            Simulation heat(program, device, {8, 8});
            heat.write("u", some_values(64));
            heat.step(4);
            result = read_f32(heat, "u");
        });
    for (std::thread& thread : threads)
        thread.join();
    ready.get();
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
    CHECK(results[0] != some_values(64));
    CHECK(says(refusal([&] { precompile(program, device, {{8}}); }), "2 numbers"));
}

TEST_CASE("what a bundle is made of") {
    const Folder folder;
    const Program program = compile(kHeat);
    const std::string path = (folder.path / "heat.halobundle").string();
    CHECK(says(refusal([&] { write_bundle(program, path, {}); }), "one architecture or more"));
    CHECK(
        says(refusal([&] { write_bundle(program, path, {.archs = {"sm_12"}}); }), "no architecture `sm_12`"));
    CHECK(says(refusal([&] { write_bundle(program, path, {.archs = {"sm_90"}, .grids = {{8}}}); }),
               "2 numbers"));
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("the same for C") {
    halo_program* program = nullptr;
    CHECK(halo_compile("stencil heat(x) {\n    field heat: f32\n    heat[t+1] = haet\n}", "mine.halo",
                       nullptr, &program) == HALO_SPEC);
    CHECK(program == nullptr);
    CHECK(says(halo_message(), "mine.halo:3:17: error:"));
    halo_diagnostic_info mistake{};
    REQUIRE(halo_diagnostic(0, &mistake) == HALO_OK);
    CHECK(std::string(mistake.kind) == "unknown-name");
    CHECK(mistake.line == 3);
    CHECK(std::string(mistake.mend) == "heat");
    CHECK(halo_diagnostic(1, &mistake) == HALO_BAD_ARGUMENT);
    const char* const schedules[] = {"sideways", nullptr};
    halo_compile_options options{};
    options.schedules = schedules;
    CHECK(halo_compile(kHeat, "heat.halo", &options, &program) == HALO_BAD_ARGUMENT);
    REQUIRE(halo_compile(kHeat, "heat.halo", nullptr, &program) == HALO_OK);
    halo_device* device = nullptr;
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    const int64_t grids[] = {8, 8, 16, 16};
    halo_task* task = nullptr;
    REQUIRE(halo_precompile(program, device, grids, 2, 2, &task) == HALO_OK);
    CHECK(halo_task_wait(task) == (halo::rt::cpu_available() ? HALO_OK : HALO_NO_DEVICE));
    CHECK(halo_task_is_done(task) == 1);
    CHECK(halo_write_bundle(program, "x", nullptr, 1, nullptr, 2, 0, 1) == HALO_BAD_ARGUMENT);
    halo_task_release(task);
    halo_program_release(program);
    halo_device_release(device);
}

TEST_CASE("iterations that a condition ends are counted") {
    if (!halo::rt::cpu_available()) return;
    const Program program = compile(R"(stencil s(x) {
    param tol = 0
    field u: f64 { boundary fixed 1 }
    repeat k until change < tol, at most 3 {
        u[k+1] = u[k, x-1] / 2
        reduce change = max(abs(u[k+1] - u[k]))
    }
})");
    Simulation simulation(program, Device::cpu(1), {8});
    simulation.step(2);
    REQUIRE(simulation.iterations().size() == 1);
    CHECK(simulation.iterations()[0].condition == "change < tol");
    CHECK(simulation.iterations()[0].at_most == 3);
    CHECK(simulation.iterations()[0].steps_without_it == 2);
    simulation.set("tol", 100);
    simulation.step(1);
    CHECK(simulation.iterations()[0].total == 7);
    CHECK(simulation.iterations()[0].most_in_step == 3);
    CHECK(simulation.iterations()[0].steps_without_it == 2);
}
