// Fields on the caller's memory.
#include <cstdlib>

#include "common.h"
#include "heat.h"
#include "wave.h"

using namespace halocline;

namespace {

constexpr std::int64_t kNx = 21, kNy = 10, kPitch = 40, kLeft = 5, kRows = 14;
constexpr float kUntouched = 777;

// An array with more room around its cells than halos need.
struct Array {
    std::vector<float> values = std::vector<float>(kPitch * kRows, kUntouched);
    View view() {
        return {values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)), 2 * kPitch + kLeft,
                kPitch, 0};
    }
    float& cell(std::int64_t x, std::int64_t y) {
        return values[static_cast<std::size_t>((2 + y) * kPitch + kLeft + x)];
    }
};

Field field_of(const Device& device, Array& one, Array& other) {
    return Field::of_views(device, Type::f32, {kNx, kNy}, {one.view(), other.view()});
}

}  // namespace

TEST_CASE("a simulation runs on the caller's arrays, and touches nothing around their halos") {
    const Device device = Device::cpu(1);
    const std::vector<float> start = some_values(kNx * kNy);
    Simulation own(heat_program(), device, {kNx, kNy});
    own.set("dt", 0.2);
    own.write("u", start);
    own.step(9);

    Array one, other;
    for (std::int64_t i = 0; i < kNx * kNy; ++i)
        one.cell(i % kNx, i / kNx) = start[static_cast<std::size_t>(i)];
    Simulation on_views(heat_program(), device, {kNx, kNy});
    const Field field = field_of(device, one, other);
    on_views.bind("u", field);
    on_views.set("dt", 0.2);
    on_views.step(9);
    CHECK(read_f32(on_views, "u") == read_f32(own, "u"));
    CHECK(on_views.layout().pitch == kPitch);

    const View now = field.view();
    CHECK(now.pitch == kPitch);
    CHECK(static_cast<float*>(now.memory)[now.first_cell + 3 + 4 * kPitch] ==
          read_f32(own, "u")[3 + 4 * kNx]);
    CHECK((now.memory == one.values.data() || now.memory == other.values.data()));
    for (Array* array : {&one, &other})
        for (std::int64_t y = -2; y < kNy + 2; ++y)
            for (std::int64_t x = -kLeft; x < kPitch - kLeft; ++x) {
                const bool is_ours = x >= -1 && x <= kNx && y >= -1 && y <= kNy;
                if (!is_ours) CHECK(array->cell(x, y) == kUntouched);
            }
}

TEST_CASE("cells that the caller changes count from the next step on") {
    const Device device = Device::cpu(1);
    Array one, other;
    Simulation heat(heat_program(), device, {kNx, kNy}), expected(heat_program(), device, {kNx, kNy});
    Field field = field_of(device, one, other);
    heat.bind("u", field);
    for (Simulation* each : {&heat, &expected}) {
        each->set("dt", 0.1);
        each->write("u", some_values(kNx * kNy));
        each->step(3);
    }
    View now = field.view();
    float* const cells = static_cast<float*>(now.memory) + now.first_cell;
    std::vector<float> values = read_f32(expected, "u");
    for (std::int64_t x = 0; x < kNx; ++x) {
        cells[x] += 5;  // beside the periodic faces: their halos must follow
        values[static_cast<std::size_t>(x)] += 5;
    }
    field.changed();
    expected.write("u", values);
    heat.step(2);
    expected.step(2);
    CHECK(read_f32(heat, "u") == read_f32(expected, "u"));
}

TEST_CASE("arrays that do not fit are refused with what they must be") {
    const Device device = Device::cpu(1);
    Array one, other;
    const auto bind = [&](const Field& field) {
        Simulation heat(heat_program(), device, {kNx, kNy});
        heat.bind("u", field);
    };
    const auto of = [&](std::vector<View> views) {
        return Field::of_views(device, Type::f32, {kNx, kNy}, views);
    };
    View view = one.view(), second = other.view();
    CHECK(says(refusal([&] { bind(of({view})); }),
               "needs 2 arrays: 1 for t and the past, 1 that steps write next; there are 1"));
    view.first_cell = kPitch - 1;
    CHECK(says(refusal([&] { bind(of({view, second})); }), "41 elements before cell (0,0,0)"));
    view = one.view();
    view.bytes -= 3 * kPitch * 4;
    CHECK(says(refusal([&] { bind(of({view, second})); }), "from it on"));
    view = one.view();
    view.pitch = second.pitch = kNx + 1;
    CHECK(says(refusal([&] { bind(of({view, second})); }), "the pitch must be 23 or more"));
    second.pitch = kPitch;
    CHECK(says(refusal([&] { of({view, second}); }), "one pitch"));
    view = one.view();
    view.memory = nullptr;
    CHECK(says(refusal([&] { of({view, second}); }), "address"));
    view = one.view();
    view.first_cell = 10000;
    CHECK(says(refusal([&] { of({view, second}); }), "is not within its 2240 bytes (560 elements)"));
    CHECK(says(refusal([&] { of({one.view(), one.view()}); }), "array of its own"));
    CHECK(
        says(refusal([&] { Field::of_views(device, Type::f32, {kNx, kNy}, {}); }), "needs 1 arrays or more"));
    CHECK(
        says(refusal([&] { bind(Field::of_views(device, Type::f32, {kNx, kNy - 1}, {one.view(), second})); }),
             "21 x 10 cells, and the arrays for 'u' 21 x 9"));
    CHECK(says(refusal([&] { bind(Field::of_views(device, Type::f64, {kNx, kNy}, {one.view(), second})); }),
               "bytes"));
    CHECK(says(
        refusal([&] { bind(Field::of_views(Device::cpu(1), Type::f32, {kNx, kNy}, {one.view(), second})); }),
        "another Device"));
    const Field good = field_of(device, one, other);
    CHECK(says(refusal([&] { good.view(-1); }), "there is no level -1"));

    Simulation heat(heat_program(), device, {kNx, kNy});
    heat.write("u", some_values(kNx * kNy));
    CHECK(says(refusal([&] { heat.bind("u", good); }), "bind fields before anything else is done"));
    Simulation wave(wave_program(), device, {4, 4, 4});
    CHECK(says(refusal([&] {
                   wave.bind("p",
                             Field(device, Type::f64, common_layout({wave_program()}, device, {4, 4, 4})));
               }),
               "keeps 1 past levels, and the arrays that it is to be bound to are of a field with 0"));
}

TEST_CASE("a field is copied with all that it holds, and read by itself") {
    const Device device = Device::cpu(1);
    Simulation heat(heat_program(), device, {kNx, kNy});
    const Field field = heat.field("u");
    heat.set("dt", 0.2);
    heat.write("u", some_values(kNx * kNy));
    Field twin = field.copy();
    CHECK(twin.view().memory != field.view().memory);
    CHECK(twin.view().pitch == field.view().pitch);
    std::vector<float> mine(kNx * kNy), its(kNx * kNy);
    field.read_elements(mine.data(), static_cast<std::int64_t>(mine.size() * sizeof(float)));
    twin.read_elements(its.data(), static_cast<std::int64_t>(its.size() * sizeof(float)));
    CHECK(mine == some_values(kNx * kNy));
    CHECK(its == mine);
    CHECK(says(refusal([&] { field.read_elements(mine.data(), 12); }), "there is room for 12"));
    CHECK(says(refusal([&] { field.read_elements(nullptr, 0); }), "room for 0"));
    CHECK(says(refusal([&] { field.read_elements(mine.data(), 840, 1); }), "no level +1"));
    CHECK(says(refusal([&] { twin.write_elements(mine.data(), 12); }), "what is given has 12"));
    std::vector<float> others(its.size(), 3);
    twin.write_elements(others.data(), static_cast<std::int64_t>(others.size() * sizeof(float)));
    twin.read_elements(its.data(), static_cast<std::int64_t>(its.size() * sizeof(float)));
    CHECK(its == others);
    twin.write_elements(mine.data(), static_cast<std::int64_t>(mine.size() * sizeof(float)));

    // Bound in its place, the copy goes on; the original stays as it was.
    heat.bind("u", twin);
    heat.step(3);
    field.read_elements(its.data(), static_cast<std::int64_t>(its.size() * sizeof(float)));
    CHECK(its == mine);
    CHECK(read_f32(heat, "u") != mine);
}

TEST_CASE("cells are written from rows that lie apart") {
    const Device device = Device::cpu(1);
    Simulation heat(heat_program(), device, {kNx, kNy});
    Array array;
    const std::vector<float> start = some_values(kNx * kNy);
    for (std::int64_t i = 0; i < kNx * kNy; ++i)
        array.cell(i % kNx, i / kNx) = start[static_cast<std::size_t>(i)];
    heat.write_view("u", array.view());
    CHECK(read_f32(heat, "u") == start);
    View small = array.view();
    small.bytes = small.first_cell * 4;
    refusal([&] { heat.write_view("u", small); });
    small = array.view();
    small.pitch = kNx - 1;
    refusal([&] { heat.write_view("u", small); });
    CHECK(says(refusal([&] { heat.write_view("u", {}); }), "address"));
    CHECK(says(refusal([&] { heat.write_view("v", array.view()); }), "no field 'v'"));
    CHECK(read_f32(heat, "u") == start);

    heat.set("dt", 0.2);
    heat.step(2);
    heat.read_view("u", array.view());
    const std::vector<float> now = read_f32(heat, "u");
    for (std::int64_t i = 0; i < kNx * kNy; ++i)
        REQUIRE(array.cell(i % kNx, i / kNx) == now[static_cast<std::size_t>(i)]);
    refusal([&] { heat.read_view("u", small); });
    CHECK(says(refusal([&] { heat.read_view("v", array.view()); }), "no field 'v'"));
}
