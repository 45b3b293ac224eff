// Fields that several simulations share.
#include "common.h"
#include "heat.h"
#include "heat_back.h"
#include "mirrored.h"
#include "smooth.h"

using namespace halocline;

namespace {

const Grid kGrid = {33, 12};
constexpr std::int64_t kCells = 33 * 12;

Simulation heat_on(const Device& device, const SimulationOptions& options = {}) {
    Simulation heat(heat_program(), device, kGrid, options);
    heat.set("dt", 0.2);
    return heat;
}

}  // namespace

TEST_CASE("one program steps a field, and another one reads it further away") {
    const Device device = Device::cpu(1);
    SimulationOptions options;
    options.layout = common_layout({heat_program(), smooth_program()}, device, kGrid);
    Simulation heat = heat_on(device, options);
    Simulation smooth(smooth_program(), device, kGrid, options);
    heat.write("u", some_values(kCells));
    smooth.bind("u", heat.field("u"));

    Simulation heat_alone = heat_on(device), smooth_alone(smooth_program(), device, kGrid);
    heat_alone.write("u", some_values(kCells));
    for (int round = 0; round < 4; ++round) {
        heat.step(1 + round % 2);
        smooth.step();
        heat_alone.step(1 + round % 2);
        smooth_alone.write("u", read_f32(heat_alone, "u"));
        smooth_alone.step();
        CHECK(read_f32(smooth, "v") == read_f32(smooth_alone, "v"));
        CHECK(read_f32(heat, "u") == read_f32(heat_alone, "u"));
    }
    heat.write("u", some_values(kCells, 5));
    smooth.step();
    smooth_alone.write("u", some_values(kCells, 5));
    smooth_alone.step();
    CHECK(read_f32(smooth, "v") == read_f32(smooth_alone, "v"));
}

TEST_CASE("two programs step one field in turns") {
    const Device device = Device::cpu(1);
    Simulation heat = heat_on(device);
    Simulation back(heat_back_program(), device, kGrid);
    const Field field(device, Type::f32, common_layout({heat_program(), heat_back_program()}, device, kGrid));
    heat.bind("u", field);
    back.bind("u", field);
    heat.write("u", some_values(kCells));

    Simulation heat_alone = heat_on(device), back_alone(heat_back_program(), device, kGrid);
    std::vector<float> values = some_values(kCells);
    for (int round = 0; round < 5; ++round) {
        heat.step(1 + round);
        back.step(2);
        heat_alone.write("u", values);
        heat_alone.step(1 + round);
        back_alone.write("u", read_f32(heat_alone, "u"));
        back_alone.step(2);
        values = read_f32(back_alone, "u");
        CHECK(read_f32(heat, "u") == values);
        CHECK(read_f32(back, "u") == values);
    }
}

TEST_CASE("one array is no two fields of a program") {
    const Device device = Device::cpu(1);
    Simulation smooth(smooth_program(), device, kGrid);
    const Field field(device, Type::f32, common_layout({smooth_program()}, device, kGrid));
    smooth.bind("u", field);
    CHECK(says(refusal([&] { smooth.bind("v", field); }),
               "'u' and 'v' of 'smooth' cannot be bound to the same array"));
    // Another field in its place is fine, and the first one is free again.
    smooth.bind("u", Field(device, Type::f32, common_layout({smooth_program()}, device, kGrid)));
    smooth.bind("v", field);
    smooth.write("u", std::vector<float>(kCells, 1.0f));
    smooth.step();
    CHECK(read_f32(smooth, "v")[3] == 1);
}

TEST_CASE("a field outlives the simulation that made it") {
    const Device device = Device::cpu(1);
    std::optional<Field> field;
    std::vector<float> values;
    {
        Simulation heat = heat_on(device);
        heat.write("u", some_values(kCells));
        heat.step(3);
        values = read_f32(heat, "u");
        field = heat.field("u");
    }
    Simulation other = heat_on(device);
    other.bind("u", *field);
    CHECK(read_f32(other, "u") == values);
}

TEST_CASE("programs that mean different things past a face cannot share a field") {
    const Device device = Device::cpu(1);
    SimulationOptions options;
    options.layout = common_layout({heat_program(), smooth_program(), mirrored_program()}, device, kGrid);
    Simulation heat = heat_on(device, options);
    const Field field = heat.field("u");
    Simulation mirrored(mirrored_program(), device, kGrid, options);
    CHECK(says(refusal([&] { mirrored.bind("u", field); }),
               "'u' of 'mirrored' and 'u' of 'heat' cannot share their arrays: they have different "
               "boundaries past the low "
               "face of y"));

    Simulation smooth(smooth_program(), device, kGrid, options);
    smooth.bind("u", field);
    smooth.step();
    heat.set("wall", 5);
    CHECK(says(refusal([&] { heat.step(); }), "fix different values past the low face of x: 5 and 2"));
    smooth.set("wall", 5);
    heat.step();
    smooth.step();

    Simulation narrow = heat_on(device), wide(smooth_program(), device, kGrid);
    CHECK(says(refusal([&] { wide.bind("u", narrow.field("u")); }),
               "need room for halos: 98 elements before cell (0,0,0)"));
}
