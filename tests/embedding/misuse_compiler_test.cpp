// The C interface of the compiler, called wrongly (misuse_test.cpp has that of the runtime).
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>

#include "common.h"
#include "halocline/halocline.h"

namespace {

void refused(halo_code code, const char* part, halo_code expected = HALO_BAD_ARGUMENT) {
    INFO(halo_message());
    CHECK(code == expected);
    CHECK(says(halo_message(), part));
}

constexpr const char* kSpec = "stencil s(x) {\n    field u: f64 { boundary clamp }\n    u[t+1] = u + 1\n}\n";

}  // namespace

TEST_CASE("misuse of the compiler: every argument") {
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_program* none = nullptr;
    halo_task* task = nullptr;
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    REQUIRE(halo_compile(kSpec, "s", nullptr, &program) == HALO_OK);
    const std::int64_t grid[] = {8}, huge[] = {std::int64_t{1} << 62};
    const char* const archs[] = {"sm_90", nullptr};
    const auto null = [](halo_code code) { refused(code, " is NULL"); };

    null(halo_compile(nullptr, "s", nullptr, &none));
    null(halo_compile(kSpec, nullptr, nullptr, &none));
    null(halo_compile(kSpec, "s", nullptr, nullptr));
    null(halo_compile_file(nullptr, nullptr, &none));
    null(halo_compile_file("s.halo", nullptr, nullptr));
    refused(halo_compile_file("/tmp", nullptr, &none), "/tmp", HALO_IO);
    refused(halo_compile_file("/dev/zero", nullptr, &none), "is no spec", HALO_IO);
    refused(halo_compile("\xff\xfe", "\xff", nullptr, &none), "", HALO_SPEC);
    halo_diagnostic_info info{};
    CHECK(halo_diagnostic(0, &info) == HALO_OK);
    for (const int bad : {-1, 1 << 20, std::numeric_limits<int>::min()})
        CHECK(halo_diagnostic(bad, &info) == HALO_BAD_ARGUMENT);
    CHECK(halo_diagnostic(0, nullptr) == HALO_BAD_ARGUMENT);

    null(halo_precompile(nullptr, device, grid, 1, 1, &task));
    null(halo_precompile(program, nullptr, grid, 1, 1, &task));
    null(halo_precompile(program, device, nullptr, 1, 1, &task));
    null(halo_precompile(program, device, grid, 1, 1, nullptr));
    refused(halo_precompile(program, device, grid, 1, -1, &task), "-1 items");
    refused(halo_precompile(program, device, grid, 0, 1, &task), "1 to 4 axes");
    refused(halo_precompile(program, device, huge, 1, 1, &task), "between 1 and 2147483647");
    null(halo_precompile_on(nullptr, &device, 1, grid, 1, 1, 0, &task));
    null(halo_precompile_on(program, nullptr, 1, grid, 1, 1, 0, &task));
    null(halo_precompile_on(program, &device, 1, nullptr, 1, 1, 0, &task));
    null(halo_precompile_on(program, &device, 1, grid, 1, 1, 0, nullptr));
    refused(halo_precompile_on(program, &device, -1, grid, 1, 1, 0, &task), "-1 items");
    CHECK(task == nullptr);
    CHECK(halo_task_is_done(nullptr) == 1);
    null(halo_task_wait(nullptr));
    halo_task_release(nullptr);

    null(halo_write_bundle(nullptr, "x", archs, 1, grid, 1, 1, 1));
    null(halo_write_bundle(program, nullptr, archs, 1, grid, 1, 1, 1));
    null(halo_write_bundle(program, "x", nullptr, 1, grid, 1, 1, 1));
    null(halo_write_bundle(program, "x", archs, 2, grid, 1, 1, 1));
    null(halo_write_bundle(program, "x", archs, 1, nullptr, 1, 1, 1));
    refused(halo_write_bundle(program, "x", archs, -1, grid, 1, 1, 1), "-1 items");
    refused(halo_write_bundle(program, "x", archs, 1, grid, 1, -1, 1), "-1 items");
    refused(halo_write_bundle(program, "x", archs, 0, grid, 1, 1, 1), "one architecture or more");

    halo_simulation* simulation = nullptr;
    halo_device* const two[] = {device, device};
    for (const std::int64_t bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
        refused(halo_simulation_create_on(program, two, 2, grid, 1, bad, &simulation), "exchange_every");
    halo_program_release(program);
    halo_device_release(device);
}

TEST_CASE("misuse of the compiler: files") {
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_simulation* simulation = nullptr;
    halo_checkpoint* checkpoint = nullptr;
    const std::int64_t grid[] = {8};
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    REQUIRE(halo_compile(kSpec, "s", nullptr, &program) == HALO_OK);
    if (halo_simulation_create(program, device, grid, 1, &simulation) == HALO_OK) {
        const char* const unknown[] = {"v", nullptr};
        refused(halo_save_fields(simulation, nullptr, nullptr), " is NULL");
        refused(halo_save_fields(simulation, "u.txt", nullptr), ".npy");
        refused(halo_save_fields(simulation, "u.npy", unknown), "'v'");
        refused(halo_save_checkpoint(simulation, nullptr), " is NULL");
        refused(halo_save_checkpoint(simulation, "/none/ck"), "/none/ck", HALO_IO);
    }
    refused(halo_save_fields(nullptr, "u.npy", nullptr), " is NULL");
    refused(halo_save_checkpoint(nullptr, "ck"), " is NULL");
    refused(halo_checkpoint_find(nullptr, &checkpoint), " is NULL");
    refused(halo_checkpoint_find("ck", nullptr), " is NULL");
    refused(halo_checkpoint_find("/none", &checkpoint), "/none", HALO_IO);
    CHECK(checkpoint == nullptr);
    halo_checkpoint_info info{};
    refused(halo_checkpoint_describe(nullptr, &info), " is NULL");
    refused(halo_checkpoint_describe(nullptr, nullptr), " is NULL");
    refused(halo_checkpoint_restore(nullptr, simulation), " is NULL");
    halo_checkpoint_release(nullptr);
    halo_simulation_release(simulation);
    halo_program_release(program);
    halo_device_release(device);
}

TEST_CASE("misuse of the compiler: gradients") {
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_simulation* simulation = nullptr;
    halo_gradient* gradient = nullptr;
    const std::int64_t grid[] = {8};
    double number = 0;
    size_t room = 1;
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    REQUIRE(halo_compile("stencil s(x) {\n field u: f64\n u[t+1] = u/2\n reduce R = sum(u[t+1])\n}", "s",
                         nullptr, &program) == HALO_OK);
    const char* const with[] = {"u", nullptr};
    if (halo_simulation_create(program, device, grid, 1, &simulation) == HALO_OK) {
        refused(halo_gradient_create(simulation, nullptr, with, 0, 0, &gradient), " is NULL");
        refused(halo_gradient_create(simulation, "R", with, 0, 0, nullptr), " is NULL");
        refused(halo_gradient_create(simulation, "R", nullptr, 0, 0, &gradient), "with respect to something");
        for (const std::int64_t bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
            refused(halo_gradient_create(simulation, "R", with, 0, bad, &gradient), "one snapshot or more");
        CHECK(gradient == nullptr);
        REQUIRE(halo_gradient_create(simulation, "R", with, 0, 0, &gradient) == HALO_OK);
        refused(halo_gradient_read(gradient, "u", &number, 1), "before compute()");
        for (const std::int64_t bad : {std::int64_t{0}, std::numeric_limits<std::int64_t>::min()})
            refused(halo_gradient_compute(gradient, bad, nullptr, nullptr, 0, nullptr), "one step or more");
        refused(halo_gradient_compute(gradient, 2, &number, nullptr, 1, nullptr), "are of a trace");
        CHECK(halo_gradient_compute(gradient, 2, nullptr, nullptr, 0, nullptr) == HALO_OK);
        refused(halo_gradient_read(gradient, "u", &number, 1), "8");
        refused(halo_gradient_read(gradient, "u", nullptr, 8), " is NULL");
        refused(halo_gradient_number(gradient, "R", &number), "no parameter 'R'");
        refused(halo_gradient_number(gradient, "R", nullptr), " is NULL");
        refused(halo_gradient_trace(gradient, "p.w", &number, &room), "no trace 'p.w'");
        refused(halo_gradient_trace(gradient, "p.w", &number, nullptr), " is NULL");
    }
    halo_gradient* of_fields = nullptr;
    halo_field_weights weights[] = {{nullptr, 0, nullptr, 0, {}}};
    if (simulation != nullptr) {
        refused(halo_gradient_create_of_fields(simulation, nullptr, with, 0, &of_fields), "of one or more");
        refused(halo_gradient_create_of_fields(simulation, with, nullptr, 0, &of_fields),
                "with respect to something");
        refused(halo_gradient_create_of_fields(simulation, with, with, 0, nullptr), " is NULL");
        CHECK(of_fields == nullptr);
        REQUIRE(halo_gradient_create_of_fields(simulation, with, with, 0, &of_fields) == HALO_OK);
        refused(halo_gradient_compute(of_fields, 2, nullptr, nullptr, 0, nullptr), "with their weights");
        refused(halo_gradient_compute_of_fields(gradient, 2, nullptr, 0, nullptr), "no field");
        refused(halo_gradient_compute_of_fields(of_fields, 2, nullptr, 1, nullptr), " is NULL");
        refused(halo_gradient_compute_of_fields(of_fields, 2, nullptr, -1, nullptr), "-1");
        refused(halo_gradient_compute_of_fields(of_fields, 2, weights, 1, nullptr), " is NULL");
        weights[0].field = "u";
        refused(halo_gradient_compute_of_fields(of_fields, 2, weights, 1, nullptr), " is NULL");
        weights[0].values = &number;
        weights[0].count = 1;
        refused(halo_gradient_compute_of_fields(of_fields, 2, weights, 1, nullptr), "8");
        CHECK(halo_gradient_compute_of_fields(of_fields, 2, nullptr, 0, nullptr) == HALO_OK);
        refused(halo_gradient_read_level(of_fields, "u", 0, &number, 1), "8");
        refused(halo_gradient_read_level(of_fields, "u", 0, nullptr, 8), " is NULL");
        refused(halo_gradient_read_level(of_fields, "u", -1, &number, 1), "no level -1");
    }
    halo_gradient_release(of_fields);
    refused(halo_gradient_create(nullptr, "R", with, 0, 0, &gradient), " is NULL");
    refused(halo_gradient_compute(nullptr, 2, nullptr, nullptr, 0, nullptr), " is NULL");
    refused(halo_gradient_read(nullptr, "u", &number, 1), " is NULL");
    halo_gradient_release(nullptr);
    halo_gradient_release(gradient);
    halo_simulation_release(simulation);
    halo_program_release(program);
    halo_device_release(device);
}

TEST_CASE("misuse of the compiler: no call is forgotten here") {
    const auto text_of_file = [](const std::string& path) {
        std::ifstream file(path);
        REQUIRE(file);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string header = text_of_file(HALO_SOURCE_DIR "/include/halocline/halocline.h");
    const std::string here = text_of_file(HALO_SOURCE_DIR "/tests/embedding/misuse_compiler_test.cpp");
    const std::regex call("\n(?:halo_code|int|const char\\*|void) (halo_[a-z0-9_]+)\\(");
    int calls = 0;
    for (std::sregex_iterator at(header.begin(), header.end(), call), end; at != end; ++at, ++calls) {
        INFO((*at)[1]);
        CHECK(here.find((*at)[1].str() + "(") != std::string::npos);
    }
    CHECK(calls == 24);
}
