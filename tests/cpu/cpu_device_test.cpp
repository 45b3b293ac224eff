#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/core/session.h"
#include "runtime/cpu/jit.h"

using namespace halo::rt;

namespace {

// u[t+1] = u + k * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4 u): clamp along x, periodic along y.
constexpr char kHeat[] = R"(
extern "C" void heat(void* const* args, long begin, long end) {
    const double* u = *(double* const*)args[0];
    double* u_next = *(double* const*)args[1];
    const double k = *(const double*)args[2];
    const int nx = *(const int*)args[3];
    const int ny = *(const int*)args[4];
    const int pitch = *(const int*)args[5];
    double* change = *(double* const*)args[6];
    for (long block = begin; block < end; ++block) {
        double greatest = 0;
        const long y_end = block * 2 + 2 < ny ? block * 2 + 2 : ny;
        for (long y = block * 2; y < y_end; ++y) {
            const double* c = u + y * pitch;
            for (long x = 0; x < nx; ++x) {
                const double next = c[x] + k * (((c[x - 1] + c[x + 1]) + (c[x - pitch] + c[x + pitch])) - 4 * c[x]);
                const double moved = __builtin_fabs(next - c[x]);
                greatest = greatest > moved ? greatest : moved;
                u_next[y * pitch + x] = next;
            }
        }
        change[block] = greatest;
    }
})";

Argument argument(Argument::Kind kind, int index = 0, int time = 0) {
    Argument made;
    made.kind = kind;
    made.index = index;
    made.time = time;
    made.type = ElementType::f64;
    return made;
}

LaunchPlan heat_plan() {
    LaunchPlan plan;
    plan.name = "heat";
    plan.rank = 2;
    plan.axes = {"x", "y"};
    plan.spacing.resize(2);
    plan.origin.resize(2);
    for (int axis = 0; axis < 2; ++axis) {
        plan.spacing[axis].steps = {{HostScalar::Op::constant, 1, 0}};
        plan.origin[axis].steps = {{HostScalar::Op::constant, 0, 0}};
        plan.halo[axis] = {1, 1};
    }
    plan.params = {{"k", 0.125}};
    FieldPlan u;
    u.name = "u";
    u.type = ElementType::f64;
    u.role = Role::state;
    u.halo = plan.halo;
    u.boundary[0][0].kind = u.boundary[0][1].kind = BoundaryKind::clamp;
    u.boundary[1][0].kind = u.boundary[1][1].kind = BoundaryKind::periodic;
    plan.fields = {u};
    KernelPlan kernel;
    kernel.name = "heat";
    kernel.tile = {2147483647, 2, 1};
    kernel.arguments = {argument(Argument::Kind::field),     argument(Argument::Kind::field, 0, 1),
                        argument(Argument::Kind::scalar),    argument(Argument::Kind::extent, 0),
                        argument(Argument::Kind::extent, 1), argument(Argument::Kind::pitch),
                        argument(Argument::Kind::partials)};
    kernel.arguments[2].scalar.steps = {{HostScalar::Op::param, 0, 0}};
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    ReductionPlan change;
    change.name = "change";
    change.op = ReductionPlan::Op::max;
    plan.reductions = {change};
    return plan;
}

// The same step on a dense array.
double step(std::vector<double>& u, int nx, int ny, double k) {
    const std::vector<double> old = u;
    const auto at = [&](int x, int y) { return old[std::clamp(x, 0, nx - 1) + nx * ((y + ny) % ny)]; };
    double change = 0;
    for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) {
            const double around = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
            u[x + nx * y] = at(x, y) + k * (around - 4 * at(x, y));
            change = std::max(change, std::fabs(u[x + nx * y] - at(x, y)));
        }
    }
    return change;
}

}  // namespace

TEST_CASE("cpu device: a session steps, fills halos and reduces as a plain loop does") {
    const CompiledObject object = compile_object(kHeat);
    for (const int threads : {1, 2, 3}) {
        const std::unique_ptr<Device> device = make_cpu_device(threads);
        for (const auto& [nx, ny] :
             std::vector<std::pair<int, int>>{{1, 1}, {7, 1}, {1, 5}, {64, 33}, {517, 300}}) {
            INFO(threads << " threads, " << nx << " by " << ny);
            std::vector<std::unique_ptr<Module>> modules;
            modules.push_back(device->load(object.bytes, "heat"));
            SessionOptions options;
            options.poison = true;
            Session session(heat_plan(), {nx, ny, 1}, *device, std::move(modules), options);
            std::vector<double> u(static_cast<std::size_t>(nx * ny));
            for (std::size_t i = 0; i < u.size(); ++i)
                u[i] = static_cast<double>(i * 7919 % 101);
            session.upload("u", 0, std::span<const double>(u));
            double change = 0;
            for (int i = 0; i < 5; ++i)
                change = step(u, nx, ny, 0.125);
            session.step(5);
            CHECK(session.download("u") == u);
            CHECK(session.reduction("change") == change);
        }
    }
}

TEST_CASE("cpu device: copies and fills of any size") {
    const std::unique_ptr<Device> device = make_cpu_device(2);
    for (const std::int64_t bytes : {1, 1000, 1 << 17, (1 << 20) + 3}) {
        std::vector<unsigned char> from(static_cast<std::size_t>(bytes)), to(from.size());
        std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
        DeviceMemory first(*device, bytes), second(*device, bytes);
        device->copy_to_device(first.address(), from.data(), bytes);
        device->copy_on_device(second.address(), first.address(), bytes);
        device->copy_to_host(to.data(), second.address(), bytes);
        CHECK(to == from);
        device->set_bytes(first.address(), 0xff, bytes);
        device->copy_to_host(to.data(), first.address(), bytes);
        CHECK(std::count(to.begin(), to.end(), 0xff) == bytes);
    }
}

TEST_CASE("cpu device: cells that are not finite are found in any place, and halos do not count") {
    const std::unique_ptr<Device> device = make_cpu_device(3);
    const Geometry geometry = make_geometry(3, {37, 5, 6}, {{{2, 1}, {1, 1}, {1, 2}}}, device->row_layout());
    const std::int64_t cells = 37 * 5 * 6;
    const DeviceMemory memory(*device, geometry.elements * 4);
    device->set_bytes(memory.address(), 0xff, memory.bytes());  // NaN, in halos and padding, too
    std::vector<float> dense(static_cast<std::size_t>(cells), 1.0F);
    const auto is_finite = [&] {
        device->upload_cells(memory.address(), geometry, ElementType::f32, dense.data());
        return device->cells_are_finite(memory.address(), geometry, ElementType::f32);
    };
    CHECK(is_finite() == true);
    for (std::size_t cell = 0; cell < dense.size(); ++cell) {
        dense[cell] =
            cell % 2 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
        if (is_finite() != false) FAIL("cell " << cell);
        dense[cell] = 1;
    }
    CHECK(is_finite() == true);
}

TEST_CASE("cpu device: constants and kernels are found by name") {
    const std::unique_ptr<Device> device = make_cpu_device(1);
    const CompiledObject object = compile_object(R"(
        float weights[3];
        extern "C" void sum(void* const* args, long, long) {
            **(float* const*)args[0] = weights[0] + weights[1] + weights[2];
        })");
    const std::unique_ptr<Module> module = device->load(object.bytes, "sum");
    const float weights[] = {1, 2, 4};
    CHECK(module->set_constant("weights", weights, sizeof weights));
    CHECK_FALSE(module->set_constant("wights", weights, sizeof weights));
    KernelPlan plan;
    plan.name = "other";
    CHECK(module->find_kernel(plan) == nullptr);
    plan.name = "sum";
    Kernel* kernel = module->find_kernel(plan);
    REQUIRE(kernel != nullptr);
    DeviceMemory result(*device, sizeof(float));
    void* pointer = result.address();
    void* arguments[] = {&pointer};
    device->launch(*kernel, {1, 1, 1}, arguments);
    CHECK(*static_cast<float*>(result.address()) == 7);
    CHECK_THROWS_AS(device->load("no object file", "bad"), Error);
    CHECK_THROWS_AS(make_cpu_device(-1), Error);
}
