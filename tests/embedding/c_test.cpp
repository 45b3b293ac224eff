// The C interface: what C programs do, and what they are told.
#include "c_calls.h"
#include "common.h"
#include "heat.h"

using namespace halocline;

TEST_CASE("C computes what C++ does") {
    std::vector<float> values = some_values(40 * 9), expected = values;
    Simulation heat(heat_program(), Device::cpu(1), {40, 9});
    heat.set("dt", 0.2);
    heat.write("u", expected);
    heat.step(10);
    heat.read("u", std::span<float>(expected));
    double change = 0;
    const char* trouble = run_heat_in_c(values.data(), 40, 9, 10, &change);
    CHECK(std::string(trouble == nullptr ? "" : trouble).empty());
    CHECK(values == expected);
    CHECK(change == heat.reduce("change"));
    values = some_values(40 * 9);
    trouble = run_heat_on_views_in_c(values.data(), 40, 9, 10);
    CHECK(std::string(trouble == nullptr ? "" : trouble).empty());
    CHECK(values == expected);
}

TEST_CASE("C is told what is wrong, and null pointers are") {
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_simulation* simulation = nullptr;
    REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
    REQUIRE(heat_open(&program) == HALO_OK);
    CHECK(std::string(halo_device_kind(device)) == "cpu");
    CHECK(std::string(halo_program_name(program)) == "heat");
    CHECK(halo_program_axes(program) == 2);
    halo_field_info info{};
    REQUIRE(halo_program_field(program, 0, &info) == HALO_OK);
    CHECK(std::string(info.name) == "u");
    CHECK(info.type == HALO_F32);
    CHECK(info.role == 1);
    CHECK(halo_program_field(program, 1, &info) == HALO_BAD_ARGUMENT);

    const int64_t grid[] = {8, 8};
    CHECK(halo_simulation_create(program, device, grid, 5, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "1 to 4 axes, not 5"));
    CHECK(halo_simulation_create(program, nullptr, grid, 2, &simulation) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "the device is NULL"));
    CHECK(halo_simulation_create(program, device, grid, 2, nullptr) == HALO_BAD_ARGUMENT);
    REQUIRE(halo_simulation_create(program, device, grid, 2, &simulation) == HALO_OK);
    CHECK(halo_set(simulation, "nothing", 1) == HALO_BAD_ARGUMENT);
    CHECK(says(halo_message(), "it has 'lambda', 'dt', 'wall'"));
    CHECK(halo_set(simulation, nullptr, 1) == HALO_BAD_ARGUMENT);
    CHECK(halo_write_f32(simulation, "u", nullptr, 64, 0) == HALO_BAD_ARGUMENT);
    CHECK(halo_step(simulation, 1) == HALO_BAD_ARGUMENT);
    halo_program* none = nullptr;
    CHECK(halo_program_load("/no/such/file", &none) == HALO_IO);
    CHECK(none == nullptr);
    halo_simulation_release(simulation);
    halo_program_release(program);
    halo_device_release(device);
    halo_device_release(nullptr);
    halo_simulation_release(nullptr);
    halo_program_release(nullptr);
    halo_field_release(nullptr);
}
