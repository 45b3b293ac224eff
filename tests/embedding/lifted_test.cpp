// Arrays of programs in which loops are replaced by stencils, on a GPU that is made up of host memory: they
// are copied at each call, or stay there until the program wants them.
#include <numeric>

#include "common.h"
#include "fake_driver.h"
#include "halocline/lifted.h"
#include "runtime/api/bundle.h"
#include "runtime/api/c_handles.h"

using namespace halocline;
using detail::Variant;
namespace rt = halo::rt;

namespace {

// u = rate * u_before in each cell; both are one array of the program's.
Program scaled(int axes) {
    Variant variant;
    variant.target = "sm_90";
    variant.code = {"fake code"};
    rt::LaunchPlan& plan = variant.plan;
    plan.name = "scaled";
    plan.rank = axes;
    plan.axes = {"x", "y"};
    plan.axes.resize(static_cast<std::size_t>(axes));
    for (int axis = 0; axis < axes; ++axis) {
        plan.spacing.push_back({{{rt::HostScalar::Op::constant, 1, 0}}});
        plan.origin.push_back({{{rt::HostScalar::Op::constant, 0, 0}}});
    }
    plan.params = {{"rate", std::nullopt}};
    for (const char* name : {"u", "u_before"}) {
        rt::FieldPlan field;
        field.name = name;
        field.type = rt::ElementType::f64;
        field.role = plan.fields.empty() ? rt::Role::output : rt::Role::input;
        for (auto& faces : field.boundary)
            faces[0].kind = faces[1].kind = rt::BoundaryKind::free;
        plan.fields.push_back(field);
    }
    rt::KernelPlan kernel;
    kernel.name = "scale_rows";
    kernel.threads = {32, 4, 1};
    kernel.arguments.resize(6);
    kernel.arguments[1].field = 1;
    for (int i = 0; i < 2; ++i) {
        kernel.arguments[static_cast<std::size_t>(2 + i)].kind = rt::Argument::Kind::extent;
        kernel.arguments[static_cast<std::size_t>(2 + i)].index = i;
    }
    kernel.arguments[4].kind = rt::Argument::Kind::pitch;
    kernel.arguments[5].kind = rt::Argument::Kind::scalar;
    kernel.arguments[5].type = rt::ElementType::f64;
    kernel.arguments[5].scalar.steps = {{rt::HostScalar::Op::param, 0, 0}};
    plan.kernels = {kernel};
    return Program::from_memory(detail::bundle_text("scaled", {variant}));
}

// As a replaced loop calls it.
class Scaled {
public:
    explicit Scaled(int axes) : axes_(axes), program_{scaled(axes)} {
        lifted_.name = "scaled";
        REQUIRE(halo_lift_open(&program_, &lifted_.stencil) == HALO_OK);
    }
    // from: where it is another array than the one that is written; from_stride: where its rows are as far
    // apart.
    void operator()(double* first, int nx, int ny, int stride, double rate, double* from = nullptr,
                    int from_stride = 0) {
        const std::int64_t grid[2] = {nx, ny};
        const auto array_at = [&](double* at, int apart) {
            return halo_lift_array{at, sizeof(double), {0, 0, 0}, {nx, ny, 1}, {1, apart, 0}, {0, 0, 0}, 0};
        };
        halo_lift_array array = array_at(first, stride);
        const halo_lift_array before =
            array_at(from == nullptr ? first : from, from_stride == 0 ? stride : from_stride);
        array.to[0] += overwritten_beyond;
        array.is_overwritten = overwritten_beyond > 0 ? 1 : 0;
        INFO(halo_message());
        REQUIRE(halo_lift_begin(lifted_.stencil, grid, axes_) == HALO_OK);
        REQUIRE(halo_lift_set(&lifted_, "rate", rate) == HALO_OK);
        REQUIRE(halo_lift_write(&lifted_, "u", &array) == HALO_OK);
        REQUIRE(halo_lift_write(&lifted_, "u_before", &before) == HALO_OK);
        const halo_code code = halo_lift_step(&lifted_, 1);
        INFO(halo_message());
        REQUIRE(code == HALO_OK);
        halo_lift_read(&lifted_, "u", &array);
    }

    int overwritten_beyond = 0;  // cells of a row, which the kernel leaves

private:
    const int axes_;
    halo_program program_;
    halo_lifted lifted_{};
};

constexpr int kStride = 8, kRows = 5;
std::vector<double> numbered() {
    std::vector<double> cells(kStride * kRows);
    std::iota(cells.begin(), cells.end(), 1.0);
    return cells;
}
// The box of nx x ny cells, so much larger.
void scale(std::vector<double>& cells, int nx, int ny, double rate) {
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x)
            cells[static_cast<std::size_t>(y * kStride + x)] *= rate;
}

struct Keeping {
    Keeping() { halo_lift_keep_arrays(1); }
    Keeping(const Keeping&) = delete;
    Keeping& operator=(const Keeping&) = delete;
    ~Keeping() { halo_lift_keep_arrays(0); }
};

}  // namespace

TEST_CASE("without being asked, stencils leave their results in the program's arrays") {
    fake();
    Scaled stencil(2);
    std::vector<double> cells = numbered(), expected = cells;
    for (const double rate : {2.0, 3.0}) {
        stencil(cells.data(), 6, 4, kStride, rate);
        scale(expected, 6, 4, rate);
        CHECK(cells == expected);
    }
    cells[1] = expected[1] = 100;  // the program changes them as it likes
    stencil(cells.data(), 6, 4, kStride, 0.5);
    scale(expected, 6, 4, 0.5);
    CHECK(cells == expected);
}

TEST_CASE("arrays that are kept reach the program when it asks for them") {
    fake();
    Scaled stencil(2);
    const Keeping keeping;
    std::vector<double> cells = numbered(), expected = cells;
    const std::vector<double> start = cells;
    stencil(cells.data(), 6, 4, kStride, 2.0);
    stencil(cells.data(), 6, 4, kStride, 3.0);
    CHECK(cells == start);
    scale(expected, 6, 4, 6.0);
    SECTION("by an address in it") {
        std::vector<double> other = numbered();
        CHECK(halo_lift_take_back(other.data()) == HALO_OK);
        CHECK(cells == start);
        CHECK(halo_lift_take_back(&cells[kStride + 2]) == HALO_OK);
        CHECK(cells == expected);
    }
    SECTION("all of them") {
        CHECK(halo_lift_take_back(nullptr) == HALO_OK);
        CHECK(cells == expected);
    }
    SECTION("where the loops run instead") {
        const halo_lift_array array = {cells.data(),    sizeof(double), {0, 0, 0}, {2, 2, 1},
                                       {1, kStride, 0}, {0, 0, 0},      0};
        const halo_lift_array* const arrays[] = {&array};
        CHECK(halo_lift_loops(arrays, 1) == 0);
        CHECK(cells == expected);
    }
    SECTION("where nothing is kept any longer") {
        halo_lift_keep_arrays(0);
        CHECK(cells == expected);
    }
    cells[0] = expected[0] = 7;  // what the program has changed is what the next stencil sees
    stencil(cells.data(), 6, 4, kStride, 10.0);
    CHECK(halo_lift_take_back(cells.data()) == HALO_OK);
    scale(expected, 6, 4, 10.0);
    CHECK(cells == expected);
}

TEST_CASE("boxes of one array share what is kept of it, and other views of its memory see it") {
    fake();
    Scaled stencil(2), line(1);
    const Keeping keeping;
    std::vector<double> cells = numbered(), expected = cells;
    stencil(cells.data(), 6, 2, kStride, 2.0);
    scale(expected, 6, 2, 2.0);
    stencil(cells.data(), 4, 5, kStride, 3.0);  // further down
    scale(expected, 4, 5, 3.0);
    stencil(cells.data(), 8, 3, kStride, 5.0);  // and to the right
    scale(expected, 8, 3, 5.0);
    stencil(cells.data(), 2, 1, kStride, 7.0);  // a part
    scale(expected, 2, 1, 7.0);
    line(cells.data(), kStride * kRows, 1, 0, 0.5);  // as one row
    for (double& each : expected)
        each *= 0.5;
    stencil(cells.data() + kStride, 8, 1, kStride, 11.0);  // from its second row on
    for (std::size_t x = 0; x < kStride; ++x)
        expected[kStride + x] *= 11.0;
    CHECK(halo_lift_take_back(nullptr) == HALO_OK);
    CHECK(cells == expected);
}

TEST_CASE("what loops overwrite is not copied to the GPU before") {
    fake();
    Scaled stencil(2);
    const Keeping keeping;
    std::vector<double> cells = numbered(), from = numbered(), expected = cells;
    stencil.overwritten_beyond = 1;
    stencil(cells.data(), 5, 4, kStride, 2.0, from.data());
    CHECK(halo_lift_take_back(nullptr) == HALO_OK);
    scale(expected, 5, 4, 2.0);
    for (std::size_t y = 0; y < 4; ++y)
        expected[y * kStride + 5] = 0;  // as the copy was, which no kernel has changed here
    CHECK(cells == expected);
}

TEST_CASE("arrays whose rows are not as long are kept with rows that are") {
    fake();
    Scaled stencil(2);
    const Keeping keeping;
    constexpr int kLonger = 70;  // than a row of the copy of the other one
    std::vector<double> cells = numbered(), corners(kLonger * kRows), expected = cells;
    std::iota(corners.begin(), corners.end(), 100.0);
    for (int t = 0; t < 2; ++t) {
        stencil(cells.data(), 6, 4, kStride, 2.0);
        scale(expected, 6, 4, 2.0);
        stencil(corners.data(), kLonger, kRows, kLonger, 3.0);
        stencil(cells.data(), 6, 4, kStride, 0.25, corners.data(), kLonger);
    }
    CHECK(halo_lift_take_back(nullptr) == HALO_OK);
    for (std::size_t y = 0; y < 4; ++y)
        for (std::size_t x = 0; x < 6; ++x)
            expected[y * kStride + x] = 0.25 * corners[y * kLonger + x];
    CHECK(cells == expected);
    CHECK(corners.front() == 900.0);
}

TEST_CASE("arrays that are columns of one are told apart") {
    fake();
    Scaled stencil(2);
    const Keeping keeping;
    std::vector<double> cells = numbered(), expected = cells;
    for (int t = 0; t < 2; ++t) {
        stencil(cells.data(), 3, kRows, kStride, 2.0, cells.data() + 4);
        for (std::size_t y = 0; y < kRows; ++y)
            for (std::size_t x = 0; x < 3; ++x)
                expected[y * kStride + x] = 2.0 * expected[y * kStride + x + 4];
        stencil(cells.data() + 4, 3, kRows, kStride, 3.0);
        for (std::size_t y = 0; y < kRows; ++y)
            for (std::size_t x = 4; x < 7; ++x)
                expected[y * kStride + x] *= 3.0;
    }
    CHECK(halo_lift_take_back(nullptr) == HALO_OK);
    CHECK(cells == expected);
}

TEST_CASE("small steps on kept arrays begin together, each after those that it needs") {
    fake();
    Scaled small[5] = {Scaled(2), Scaled(2), Scaled(2), Scaled(2), Scaled(2)}, large(2);
    constexpr int kLarge = 300;  // cells along each axis: more than are held back
    std::vector<double> wide(kLarge * kLarge, 1.0);
    std::vector<double> a = numbered(), b = numbered(), c = numbered();
    std::vector<double> expected_a = a, expected_b = b, expected_c = c;
    const Keeping keeping;
    const auto copy = [&](std::vector<double>& to, const std::vector<double>& from, double rate) {
        to = from;
        scale(to, kStride, kRows, rate);
    };
    for (int round = 0; round < 4; ++round) {
        const double rate = round < 3 ? 2.0 : 3.0;
        const int launches = fake().launches, graphs = fake().graph_launches;
        small[0](a.data(), kStride, kRows, kStride, rate);
        small[1](b.data(), kStride, kRows, kStride, 0.5);
        small[2](c.data(), kStride, kRows, kStride, 1.5, a.data());
        small[3](a.data(), kStride, kRows, kStride, 0.25, b.data());
        small[4](b.data(), kStride, kRows, kStride, 3.0, c.data());
        if (round > 0) CHECK(fake().launches == launches);  // the first uploads in between
        large(wide.data(), kLarge, kLarge, kLarge, 2.0);
        if (round > 0) CHECK(fake().launches == launches + 6);
        if (round > 1) CHECK(fake().graph_launches == graphs + (round == 2 ? 1 : 0));
        scale(expected_a, kStride, kRows, rate);
        scale(expected_b, kStride, kRows, 0.5);
        copy(expected_c, expected_a, 1.5);
        copy(expected_a, expected_b, 0.25);
        copy(expected_b, expected_c, 3.0);
    }
    CHECK(halo_lift_take_back(nullptr) == HALO_OK);
    CHECK(a == expected_a);
    CHECK(b == expected_b);
    CHECK(c == expected_c);
    CHECK(wide == std::vector<double>(kLarge * kLarge, 16.0));
}
