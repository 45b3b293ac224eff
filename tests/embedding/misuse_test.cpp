// The C interface, called wrongly: every call, with every argument that it could check, says what is wrong
// and changes nothing.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>

#include "c_calls.h"
#include "common.h"
#include "halocline/halocline.h"
#include "heat.h"

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// That a call is refused, in words that have `part` in them.
void refused(halo_code code, const char* part, halo_code expected = HALO_BAD_ARGUMENT) {
    INFO(halo_message());
    CHECK(code == expected);
    CHECK(std::string(halo_message()).find(part) != std::string::npos);
}

// A device, a program, a simulation that has done a step, and a field of its kind.
struct Things {
    halo_device* device = nullptr;
    halo_program* program = nullptr;
    halo_simulation* simulation = nullptr;
    halo_field* field = nullptr;
    halo_layout layout{};
    std::int64_t grid[2] = {8, 6};
    std::vector<float> cells = some_values(48);

    Things() {
        REQUIRE(halo_device_cpu(1, &device) == HALO_OK);
        REQUIRE(heat_open(&program) == HALO_OK);
        REQUIRE(halo_common_layout(&program, 1, device, grid, 2, &layout) == HALO_OK);
        REQUIRE(halo_field_create(device, HALO_F32, &layout, 0, 1, &field) == HALO_OK);
        REQUIRE(halo_simulation_create_in(program, device, &layout, &simulation) == HALO_OK);
        REQUIRE(halo_set(simulation, "dt", 0.1) == HALO_OK);
        REQUIRE(halo_write_f32(simulation, "u", cells.data(), cells.size(), 0) == HALO_OK);
        REQUIRE(halo_step(simulation, 1) == HALO_OK);
    }
    ~Things() {
        halo_simulation_release(simulation);
        halo_field_release(field);
        halo_program_release(program);
        halo_device_release(device);
    }
    Things(const Things&) = delete;
    Things& operator=(const Things&) = delete;
};

}  // namespace

TEST_CASE("misuse: counts, types and numbers that cannot be") {
    halo_device* device = nullptr;
    refused(halo_device_cpu(1000000000, &device), "1000000000 threads were asked for; 1 to 4096");
    refused(halo_device_cpu(-1, &device), "-1 threads");
    CHECK(device == nullptr);
    CHECK(halo_device_cuda(-1, &device) != HALO_OK);
    CHECK(halo_device_cuda_in(std::numeric_limits<int>::max(), nullptr, nullptr, &device) != HALO_OK);

    Things it;
    halo_field* field = nullptr;
    const int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
    for (const int bad : {most, least, -1, 1 << 20}) {
        refused(halo_field_create(it.device, HALO_F32, &it.layout, bad, 1, &field), "levels of the past");
        refused(halo_field_create(it.device, HALO_F32, &it.layout, 0, bad, &field), "that steps write next");
        refused(halo_field_create(it.device, HALO_F32, &it.layout, bad, bad, &field), "levels of the past");
    }
    for (const int bad : {99, -1, 8, 256, most, least}) {
        halo_type type;
        std::memcpy(&type, &bad, sizeof type);  // as C converts
        refused(halo_field_create(it.device, type, &it.layout, 0, 1, &field), "there is no type");
        halo_view view{it.cells.data(), 192, 0, 8, 0, 0};
        refused(halo_field_of_views(it.device, type, it.grid, 2, &view, 1, 0, &field), "there is no type");
    }
    CHECK(field == nullptr);
    for (const double bad : {kNan, HUGE_VAL, -HUGE_VAL}) {
        refused(halo_set(it.simulation, "dt", bad), "parameter 'dt' must be finite");
        double value = 0;
        REQUIRE(halo_get(it.simulation, "dt", &value) == HALO_OK);
        CHECK(value == 0.1);
        refused(halo_set_weights(it.simulation, "w", &bad, 1), "must be finite");
        refused(halo_set_points(it.simulation, "p", &bad, 1), "must be finite");
    }
    refused(halo_step(it.simulation, -1), "-1 steps");
    refused(halo_step(it.simulation, std::numeric_limits<std::int64_t>::max()), "too many to count");
    std::int64_t steps = 0;
    REQUIRE(halo_steps_done(it.simulation, &steps) == HALO_OK);
    CHECK(steps == 1);
}

TEST_CASE("misuse: grids, layouts and views that cannot be") {
    Things it;
    halo_simulation* simulation = nullptr;
    halo_layout layout{};
    const auto refuse_grid = [&](std::int64_t x, std::int64_t y, const char* part) {
        const std::int64_t grid[] = {x, y};
        refused(halo_simulation_create(it.program, it.device, grid, 2, &simulation), part);
        refused(halo_simulation_create_on(it.program, &it.device, 1, grid, 2, 0, &simulation), part);
        refused(halo_common_layout(&it.program, 1, it.device, grid, 2, &layout), part);
        CHECK(simulation == nullptr);
    };
    refuse_grid(kHuge, 1, "between 1 and 2147483647");
    refuse_grid(1, kHuge, "between 1 and 2147483647");
    refuse_grid(8, 0, "between 1 and 2147483647");
    refuse_grid(-8, 8, "between 1 and 2147483647");
    refuse_grid(2147483647, 2147483647, "too large to index");
    for (const int axes : {0, -1, 5, std::numeric_limits<int>::max()}) {
        refused(halo_simulation_create(it.program, it.device, it.grid, axes, &simulation), "1 to 4 axes");
        layout = it.layout;
        layout.axes = axes;
        refused(halo_simulation_create_in(it.program, it.device, &layout, &simulation), "1 to 4 axes");
    }

    halo_field* field = nullptr;
    struct Bad {
        std::int64_t halo_layout::* what;
        std::int64_t value;
    };
    for (const Bad& bad : {Bad{&halo_layout::pitch, 0}, Bad{&halo_layout::pitch, 7},
                           Bad{&halo_layout::pitch, kHuge}, Bad{&halo_layout::pitch, -8},
                           Bad{&halo_layout::first_cell, -1}, Bad{&halo_layout::first_cell, kHuge},
                           Bad{&halo_layout::elements, 1}, Bad{&halo_layout::elements, -1},
                           Bad{&halo_layout::elements, std::numeric_limits<std::int64_t>::max()}}) {
        layout = it.layout;
        layout.*bad.what = bad.value;
        refused(halo_field_create(it.device, HALO_F32, &layout, 0, 1, &field), "");
        refused(halo_simulation_create_in(it.program, it.device, &layout, &simulation), "");
        CHECK(field == nullptr);
        CHECK(simulation == nullptr);
    }

    std::vector<float> memory(400);
    const std::int64_t bytes = 800;
    const halo_view good[] = {{memory.data(), bytes, 20, 12, 0, 0},
                              {memory.data() + 200, bytes, 20, 12, 0, 0}};
    const auto of_views = [&](halo_view first, int count = 2) {
        const halo_view views[] = {first, good[1]};
        return halo_field_of_views(it.device, HALO_F32, it.grid, 2, views, count, 0, &field);
    };
    const auto with = [&](auto member, auto value) {
        halo_view view = good[0];
        view.*member = value;
        return of_views(view);
    };
    refused(with(&halo_view::memory, static_cast<void*>(nullptr)), "address");
    refused(with(&halo_view::memory, static_cast<void*>(memory.data() + 198)), "an array of its own");
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, -kHuge, std::int64_t{79}})
        refused(with(&halo_view::bytes, bad), "");
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{199}, kHuge, -kHuge})
        refused(with(&halo_view::first_cell, bad), "");
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-12}, std::int64_t{7}, kHuge})
        refused(with(&halo_view::pitch, bad), "");
    for (const int count : {0, -1, std::numeric_limits<int>::min()})
        refused(of_views(good[0], count), "");
    REQUIRE(of_views(good[0]) == HALO_OK);
    halo_view view{};
    for (const int level : {1, -1, std::numeric_limits<int>::min()})
        refused(halo_field_view(field, level, &view), "there is no level");
    halo_field_release(field);
}

TEST_CASE("misuse: arrays of values that do not fit") {
    Things it;
    std::vector<double> doubles(48);
    for (const size_t count : {size_t{0}, size_t{47}, size_t{49}, SIZE_MAX}) {
        refused(halo_write_f32(it.simulation, "u", it.cells.data(), count, 0), "48 values");
        refused(halo_read_f32(it.simulation, "u", it.cells.data(), count, 0), "48 values");
        refused(halo_write_f64(it.simulation, "u", doubles.data(), count, 0), "48 values");
        refused(halo_read_f64(it.simulation, "u", doubles.data(), count, 0), "48 values");
    }
    for (const size_t bytes : {size_t{0}, size_t{191}, size_t{195}, SIZE_MAX}) {
        refused(halo_write_elements(it.simulation, "u", it.cells.data(), bytes, 0), "192 bytes");
        refused(halo_read_elements(it.simulation, "u", it.cells.data(), bytes, 0), "192 bytes");
    }
    for (const int level : {1, -1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
        refused(halo_write_f32(it.simulation, "u", it.cells.data(), 48, level), "level");
        refused(halo_read_elements(it.simulation, "u", it.cells.data(), 192, level), "level");
        halo_view view{};
        refused(halo_simulation_view(it.simulation, "u", 0, level, &view), "level");
    }
    for (const int piece : {1, -1, std::numeric_limits<int>::min()}) {
        halo_view view{};
        halo_piece cells{};
        refused(halo_simulation_view(it.simulation, "u", piece, 0, &view), "no piece");
        refused(halo_simulation_piece(it.simulation, piece, &cells), "1 piece");
        halo_field_info info{};
        refused(halo_program_field(it.program, piece, &info), "1 field");
    }
    size_t count = 0;
    double value = 0;
    refused(halo_trace(it.simulation, "p", "heard", &value, &count), "'p'");
    refused(halo_set_table(it.simulation, "t", &value, 1), "'t'");
    refused(halo_set_series(it.simulation, "t", &value, 1), "'t'");
    refused(halo_set_point_values(it.simulation, "p", "gain", &value, 1), "'p'");
    refused(halo_bind(it.simulation, "v", it.field), "'v'");
    halo_field* field = nullptr;
    refused(halo_share(it.simulation, "v", &field), "'v'");
    refused(halo_reduce(it.simulation, "v", &value), "'v'");
}

TEST_CASE("misuse: files and bytes that are no bundles") {
    halo_program* program = nullptr;
    refused(halo_program_load("/dev/zero", &program), "it is no plain file", HALO_IO);
    refused(halo_program_load("/tmp", &program), "it is a folder", HALO_IO);
    refused(halo_program_load("", &program), "there is no such file", HALO_IO);
    refused(halo_program_load("/no/such/file", &program), "there is no such file", HALO_IO);
    refused(halo_program_from_memory("x", 0, nullptr, "text", &program), "no Halocline bundle");
    refused(halo_program_from_memory("halocline bundle 2\nx\n", 21, nullptr, "text", &program), "checksum");
    CHECK(program == nullptr);
}

// Every pointer may be NULL by mistake.
TEST_CASE("misuse: NULL") {
    Things it;
    int number = 0;
    std::int64_t count = 0;
    std::size_t size = 0;
    double value = 0;
    halo_view view{};
    halo_layout layout{};
    halo_piece piece{};
    halo_field_info info{};
    halo_field* field = nullptr;
    halo_program* program = nullptr;
    halo_simulation* simulation = nullptr;
    halo_simulation* const s = it.simulation;
    float* const f = it.cells.data();
    const auto null = [](halo_code code) { refused(code, " is NULL"); };
    null(halo_device_cuda(0, nullptr));
    null(halo_device_cuda_in(0, nullptr, nullptr, nullptr));
    null(halo_device_cpu(1, nullptr));
    null(halo_device_best(nullptr));
    null(halo_device_wait(nullptr));
    CHECK(std::string(halo_device_kind(nullptr)).empty());
    null(halo_program_load(nullptr, &program));
    null(halo_program_load("x", nullptr));
    null(halo_program_from_memory(nullptr, 4, nullptr, "n", &program));
    null(halo_program_from_memory("xxxx", 4, nullptr, nullptr, &program));
    null(halo_program_from_memory("xxxx", 4, nullptr, "n", nullptr));
    CHECK(std::string(halo_program_name(nullptr)).empty());
    CHECK(halo_program_axes(nullptr) == 0);
    null(halo_program_field(nullptr, 0, &info));
    null(halo_program_field(it.program, 0, nullptr));
    halo_program* const none[] = {nullptr};
    null(halo_common_layout(nullptr, 1, it.device, it.grid, 2, &layout));
    null(halo_common_layout(none, 1, it.device, it.grid, 2, &layout));
    null(halo_common_layout(&it.program, 1, nullptr, it.grid, 2, &layout));
    null(halo_common_layout(&it.program, 1, it.device, nullptr, 2, &layout));
    null(halo_common_layout(&it.program, 1, it.device, it.grid, 2, nullptr));
    refused(halo_common_layout(&it.program, -1, it.device, it.grid, 2, &layout), "-1 items");
    null(halo_field_create(nullptr, HALO_F32, &it.layout, 0, 1, &field));
    null(halo_field_create(it.device, HALO_F32, nullptr, 0, 1, &field));
    null(halo_field_create(it.device, HALO_F32, &it.layout, 0, 1, nullptr));
    null(halo_field_of_views(nullptr, HALO_F32, it.grid, 2, &view, 1, 0, &field));
    null(halo_field_of_views(it.device, HALO_F32, nullptr, 2, &view, 1, 0, &field));
    null(halo_field_of_views(it.device, HALO_F32, it.grid, 2, nullptr, 1, 0, &field));
    null(halo_field_of_views(it.device, HALO_F32, it.grid, 2, &view, 1, 0, nullptr));
    null(halo_field_view(nullptr, 0, &view));
    null(halo_field_view(it.field, 0, nullptr));
    null(halo_field_changed(nullptr));
    null(halo_simulation_create(nullptr, it.device, it.grid, 2, &simulation));
    null(halo_simulation_create(it.program, nullptr, it.grid, 2, &simulation));
    null(halo_simulation_create(it.program, it.device, nullptr, 2, &simulation));
    null(halo_simulation_create(it.program, it.device, it.grid, 2, nullptr));
    null(halo_simulation_create_in(nullptr, it.device, &it.layout, &simulation));
    null(halo_simulation_create_in(it.program, nullptr, &it.layout, &simulation));
    null(halo_simulation_create_in(it.program, it.device, nullptr, &simulation));
    null(halo_simulation_create_in(it.program, it.device, &it.layout, nullptr));
    halo_device* const no_device[] = {nullptr};
    null(halo_simulation_create_on(nullptr, &it.device, 1, it.grid, 2, 0, &simulation));
    null(halo_simulation_create_on(it.program, nullptr, 1, it.grid, 2, 0, &simulation));
    null(halo_simulation_create_on(it.program, no_device, 1, it.grid, 2, 0, &simulation));
    null(halo_simulation_create_on(it.program, &it.device, 1, nullptr, 2, 0, &simulation));
    null(halo_simulation_create_on(it.program, &it.device, 1, it.grid, 2, 0, nullptr));
    refused(halo_simulation_create_on(it.program, &it.device, -1, it.grid, 2, 0, &simulation), "-1 items");
    refused(halo_simulation_create_on(it.program, &it.device, 0, it.grid, 2, 0, &simulation),
            "needs a device");
    null(halo_set(nullptr, "dt", 1));
    null(halo_set(s, nullptr, 1));
    null(halo_get(nullptr, "dt", &value));
    null(halo_get(s, nullptr, &value));
    null(halo_get(s, "dt", nullptr));
    null(halo_set_weights(nullptr, "w", &value, 1));
    null(halo_set_weights(s, nullptr, &value, 1));
    null(halo_set_weights(s, "w", nullptr, 1));
    null(halo_set_table(nullptr, "t", &value, 1));
    null(halo_set_table(s, nullptr, &value, 1));
    null(halo_set_table(s, "t", nullptr, 1));
    null(halo_set_series(nullptr, "t", &value, 1));
    null(halo_set_series(s, nullptr, &value, 1));
    null(halo_set_series(s, "t", nullptr, 1));
    null(halo_set_points(nullptr, "p", &value, 1));
    null(halo_set_points(s, nullptr, &value, 1));
    null(halo_set_points(s, "p", nullptr, 1));
    null(halo_set_point_values(nullptr, "p", "v", &value, 1));
    null(halo_set_point_values(s, nullptr, "v", &value, 1));
    null(halo_set_point_values(s, "p", nullptr, &value, 1));
    null(halo_set_point_values(s, "p", "v", nullptr, 1));
    null(halo_trace(nullptr, "p", "v", &value, &size));
    null(halo_trace(s, nullptr, "v", &value, &size));
    null(halo_trace(s, "p", nullptr, &value, &size));
    null(halo_trace(s, "p", "v", &value, nullptr));
    null(halo_bind(nullptr, "u", it.field));
    null(halo_bind(s, nullptr, it.field));
    null(halo_bind(s, "u", nullptr));
    null(halo_share(nullptr, "u", &field));
    null(halo_share(s, nullptr, &field));
    null(halo_share(s, "u", nullptr));
    std::vector<double> d(48);
    null(halo_write_f32(nullptr, "u", f, 48, 0));
    null(halo_write_f32(s, nullptr, f, 48, 0));
    null(halo_write_f32(s, "u", nullptr, 48, 0));
    null(halo_write_f64(nullptr, "u", d.data(), 48, 0));
    null(halo_write_f64(s, nullptr, d.data(), 48, 0));
    null(halo_write_f64(s, "u", nullptr, 48, 0));
    null(halo_read_f32(nullptr, "u", f, 48, 0));
    null(halo_read_f32(s, nullptr, f, 48, 0));
    null(halo_read_f32(s, "u", nullptr, 48, 0));
    null(halo_read_f64(nullptr, "u", d.data(), 48, 0));
    null(halo_read_f64(s, nullptr, d.data(), 48, 0));
    null(halo_read_f64(s, "u", nullptr, 48, 0));
    null(halo_write_elements(nullptr, "u", f, 192, 0));
    null(halo_write_elements(s, nullptr, f, 192, 0));
    null(halo_write_elements(s, "u", nullptr, 192, 0));
    null(halo_read_elements(nullptr, "u", f, 192, 0));
    null(halo_read_elements(s, nullptr, f, 192, 0));
    null(halo_read_elements(s, "u", nullptr, 192, 0));
    null(halo_step(nullptr, 1));
    null(halo_wait(nullptr));
    null(halo_reduce(nullptr, "change", &value));
    null(halo_reduce(s, nullptr, &value));
    null(halo_reduce(s, "change", nullptr));
    null(halo_steps_done(nullptr, &count));
    null(halo_steps_done(s, nullptr));
    null(halo_simulation_layout(nullptr, &layout));
    null(halo_simulation_layout(s, nullptr));
    null(halo_simulation_piece_count(nullptr, &number));
    null(halo_simulation_piece_count(s, nullptr));
    null(halo_simulation_piece(nullptr, 0, &piece));
    null(halo_simulation_piece(s, 0, nullptr));
    null(halo_simulation_view(nullptr, "u", 0, 0, &view));
    null(halo_simulation_view(s, nullptr, 0, 0, &view));
    null(halo_simulation_view(s, "u", 0, 0, nullptr));
    // What was refused has changed nothing.
    std::vector<float> now(48), expected(48);
    Things other;
    REQUIRE(halo_read_f32(s, "u", now.data(), 48, 0) == HALO_OK);
    REQUIRE(halo_read_f32(other.simulation, "u", expected.data(), 48, 0) == HALO_OK);
    CHECK(now == expected);
}

TEST_CASE("misuse: no call is forgotten here") {
    const auto text_of_file = [](const std::string& path) {
        std::ifstream file(path);
        REQUIRE(file);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string header = text_of_file(HALO_SOURCE_DIR "/include/halocline/runtime.h");
    const std::string here = text_of_file(HALO_SOURCE_DIR "/tests/embedding/misuse_test.cpp");
    const std::set<std::string> without_arguments{"halo_message", "halo_version"};
    const std::regex call("\n(?:halo_code|int|const char\\*|void) (halo_[a-z0-9_]+)\\(");
    int calls = 0;
    for (std::sregex_iterator at(header.begin(), header.end(), call), end; at != end; ++at, ++calls) {
        const std::string name = (*at)[1];
        INFO(name);
        const bool is_release = name.ends_with("_release");  // c_test.cpp releases NULL
        if (!is_release && !without_arguments.contains(name))
            CHECK(here.find(name + "(") != std::string::npos);
    }
    CHECK(calls > 45);
}
