// Host programs on a GPU, as far as a driver that is made up of host memory can tell: whose context and
// stream work goes to, which code is taken, and that nothing leaks.
#include <cmath>

#include "common.h"
#include "fake_driver.h"
#include "runtime/api/bundle.h"

using namespace halocline;
using detail::Variant;
namespace rt = halo::rt;

namespace {

// heat along a ring, whose kernel the fake driver has.
Variant heat(const std::string& target, const std::vector<std::int64_t>& grid, double rate) {
    Variant variant;
    variant.target = target;
    variant.grid = grid;
    variant.code = {"fake code"};
    rt::LaunchPlan& plan = variant.plan;
    plan.name = "heat";
    plan.axes = {"x"};
    plan.spacing = {{{{rt::HostScalar::Op::constant, 1, 0}}}};
    plan.origin = {{{{rt::HostScalar::Op::constant, 0, 0}}}};
    plan.params = {{"rate", rate}};
    rt::FieldPlan u;
    u.name = "u";
    u.type = rt::ElementType::f64;
    u.role = rt::Role::state;
    u.boundary[0][0].kind = u.boundary[0][1].kind = rt::BoundaryKind::periodic;
    u.halo[0] = {1, 1};
    plan.halo = u.halo;
    plan.fields = {u};
    rt::KernelPlan kernel;
    kernel.name = "heat_line";
    kernel.threads = {32, 4, 1};
    kernel.arguments.resize(4);
    kernel.arguments[0].time = 1;
    kernel.arguments[2].kind = rt::Argument::Kind::extent;
    kernel.arguments[3].kind = rt::Argument::Kind::scalar;
    kernel.arguments[3].type = rt::ElementType::f64;
    kernel.arguments[3].scalar.steps = {{rt::HostScalar::Op::param, 0, 0}};
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    return variant;
}

// heat in pieces of the ring, as the compiler would give it.
class HeatInPieces final : public detail::ProgramSource {
public:
    HeatInPieces() : ProgramSource(detail::info_of(heat("sm_90", {}, 0.25).plan)) {}
    std::vector<std::string> targets() const override { return {}; }
    std::shared_ptr<const detail::Code> code_for(const detail::DeviceState&, const detail::Extent&) override {
        auto code = std::make_shared<detail::Code>();
        code->plan = heat("sm_90", {}, 0.25).plan;
        code->load = [](rt::Device& on) {
            detail::Modules modules;
            modules.push_back(on.load("fake code", "heat"));
            return modules;
        };
        return code;
    }
    std::shared_ptr<const detail::PiecesCode> code_for_pieces(
        const std::vector<std::shared_ptr<detail::DeviceState>>& devices, const detail::Extent& extent,
        std::optional<std::int64_t> interval) override {
        auto code = std::make_shared<detail::PiecesCode>();
        rt::Grid grid;
        grid.extent = extent;
        grid.wraps = {true, false, false};
        code->options = {interval.value_or(1), {"u"}};
        const std::int64_t deep = code->options.interval;
        code->cut = rt::decompose(grid, {static_cast<int>(devices.size()), 1, 1}, {{{deep, deep}}}, {"x"});
        for (const auto& device : devices)
            code->pieces.push_back(code_for(*device, extent));
        return code;
    }
};

Program program_of(const std::vector<Variant>& variants) {
    return Program::from_memory(detail::bundle_text("heat", variants));
}

std::vector<int> held() {
    const FakeLibcuda& f = fake();
    return {f.live_allocations, f.live_modules, f.live_graphs,
            f.live_streams,     f.live_events,  f.retained_contexts};
}

std::vector<double> ring(std::vector<double> u, double rate, int steps) {
    for (int step = 0; step < steps; ++step) {
        const std::vector<double> now = u;
        const std::size_t n = now.size();
        for (std::size_t x = 0; x < n; ++x)
            u[x] = now[x] + rate * (now[(x + n - 1) % n] - 2 * now[x] + now[(x + 1) % n]);
    }
    return u;
}

}  // namespace

TEST_CASE("work goes to the caller's context and stream, and the thread's context stays") {
    FakeLibcuda& f = fake();
    const auto before = held();
    const std::vector<double> start = {1, 5, 2, 8, 3, 3, 9, 1};
    int context_of_caller = 0, stream_of_caller = 0;
    for (void* const stream : {static_cast<void*>(&stream_of_caller), static_cast<void*>(nullptr)}) {
        CudaHandles handles;
        handles.context = &context_of_caller;
        handles.stream = stream;
        void* const current = f.current_context();
        const Device device = Device::cuda(handles);
        CHECK(device.kind() == "cuda:0");
        CHECK(device.arch() == "sm_90");
        CHECK(device.stream() == stream);
        Simulation simulation(program_of({heat("sm_90", {}, 0.25)}), device, {8});
        simulation.write("u", start);
        simulation.step(300);
        CHECK(f.last_stream == stream);
        CHECK(simulation.read("u") == ring(start, 0.25, 300));
        device.wait();
        CHECK(f.current_context() == current);
    }
    CHECK(held() == before);
}

TEST_CASE("a stream says which GPU and context it belongs to") {
    FakeLibcuda& f = fake();
    const auto before = held();
    int stream_of_caller = 0;
    CudaHandles handles;
    handles.ordinal = CudaHandles::kOfStream;
    CHECK(says(refusal([&] { Device::cuda(handles); }), "does not say which GPU"));
    handles.stream = nullptr;
    CHECK(says(refusal([&] { Device::cuda(handles); }), "does not say which GPU"));
    handles.stream = &stream_of_caller;
    {
        const Device device = Device::cuda(handles);
        CHECK(device.kind() == "cuda:0");
        CHECK(device.stream() == &stream_of_caller);
        CHECK(f.retained_contexts == before.back());  // it is the caller's
    }
    f.fail_next["cuStreamGetCtx"] = 400;
    CHECK(says(refusal([&] { Device::cuda(handles); }, ErrorCode::internal), "given stream"));
    CHECK(held() == before);
}

TEST_CASE("the owner of a stream is held until all that was made on the device is gone") {
    fake();
    int stream_of_caller = 0;
    auto owner = std::make_shared<int>(1);
    CudaHandles handles;
    handles.stream = &stream_of_caller;
    handles.owner = owner;
    auto device = std::make_unique<Device>(Device::cuda(handles));
    handles.owner.reset();
    auto simulation = std::make_unique<Simulation>(program_of({heat("sm_90", {}, 0.25)}), *device, Grid{8});
    const std::weak_ptr<int> seen = owner;
    owner.reset();
    device.reset();
    CHECK_FALSE(seen.expired());
    simulation.reset();
    CHECK(seen.expired());
}

TEST_CASE("a device and a stream of the caller's wait for each other") {
    FakeLibcuda& f = fake();
    const auto before = held();
    {
        int other = 0;
        const Device device = Device::cuda();
        void* const current = f.current_context();
        device.wait_for_stream(&other);
        CHECK(f.recorded_stream == &other);
        CHECK(f.waiting_stream == device.stream());
        device.make_stream_wait(&other);
        CHECK(f.recorded_stream == device.stream());
        CHECK(f.waiting_stream == &other);
        CHECK(f.current_context() == current);
        f.fail_next["cuStreamWaitEvent"] = 1;
        CHECK(says(refusal([&] { device.make_stream_wait(&other); }, ErrorCode::internal), "stream"));
    }
    CHECK(held() == before);
    const Device cpu = Device::cpu(1);
    cpu.wait_for_stream(nullptr);
    cpu.make_stream_wait(nullptr);
}

TEST_CASE("nothing is put into a stream that is being recorded to a graph of the caller's") {
    FakeLibcuda& f = fake();
    const auto before = held();
    {
        int stream = 0, other = 0;
        CudaHandles handles;
        handles.stream = &stream;
        const auto refused = [&](const auto& call) {
            return says(refusal(call, ErrorCode::launch_failed), "recorded to a CUDA graph");
        };
        std::optional<Device> another = Device::cuda(handles);
        const Device device = Device::cuda(handles), own = Device::cuda();
        Simulation simulation(program_of({heat("sm_90", {}, 0.25)}), device, {8});
        simulation.write("u", std::vector<double>{1, 5, 2, 8, 3, 3, 9, 1});
        simulation.step(3);
        const std::vector<double> there = simulation.read("u");

        f.streams_recorded_by_caller = {&stream};
        CHECK(refused([&] { (void)Device::cuda(handles); }));
        CHECK(refused([&] { simulation.step(2); }));
        CHECK(refused([&] { simulation.wait(); }));
        CHECK(refused([&] { (void)simulation.read("u"); }));
        CHECK(refused([&] { own.wait_for_stream(&stream); }));
        CHECK(refused([&] { own.make_stream_wait(&stream); }));
        own.wait_for_stream(&other);
        another.reset();
        CHECK(f.streams_recorded_by_caller.contains(&stream));  // the recording has not ended

        f.streams_recorded_by_caller = {};
        CHECK(simulation.steps_done() == 3);
        CHECK(simulation.read("u") == there);
        simulation.step(1);
    }
    CHECK(held() == before);
}

TEST_CASE("a simulation with a stream of its own works beside recordings of the caller's") {
    FakeLibcuda& f = fake();
    const auto before = held();
    int other = 0;
    f.streams_recorded_by_caller = {&other};
    {
        Simulation simulation(program_of({heat("sm_90", {}, 0.25)}), Device::cuda(), {8});
        simulation.write("u", std::vector<double>{1, 5, 2, 8, 3, 3, 9, 1});
        simulation.step(300);
        CHECK(std::abs(simulation.read("u")[0] - 4.0) < 1e-9);  // the mean
    }
    CHECK(f.capture_mode == 0);
    CHECK(held() == before);
    f.streams_recorded_by_caller = {};
}

TEST_CASE("cells are copied from and to the device's memory") {
    fake();
    const Device device = Device::cuda();
    const Program program = program_of({heat("sm_90", {}, 0.25)});
    Simulation one(program, device, {8}), other(program, device, {8});
    const std::vector<double> start = {1, 5, 2, 8, 3, 3, 9, 1};
    one.write("u", start);
    const Field field = one.field("u");
    other.write_view("u", field.view());
    const Field copy = field.copy();
    other.read_view("u", copy.view());
    std::vector<double> cells(8);
    field.copy().read_elements(cells.data(), 64);
    CHECK(cells == start);
    one.step(3);
    other.step(3);
    CHECK(one.read("u") == other.read("u"));
}

TEST_CASE("the devices that there are") {
    fake();
    const Devices found = find_devices();
    REQUIRE(found.all.size() == 2);
    CHECK(found.all[0].kind == "cuda:0");
    CHECK(found.all[0].arch == "sm_90");
    CHECK(found.all[0].memory == std::int64_t{1} << 30);
    CHECK(found.all[1].kind == "cpu");
    CHECK(found.why_no_gpu.empty());
}

TEST_CASE("pieces work in the callers' streams, and the thread's context stays") {
    FakeLibcuda& f = fake();
    const auto before = held();
    const std::vector<double> start = {1, 5, 2, 8, 3, 3, 9, 1, 4, 4, 0, 7};
    int contexts[2] = {}, streams[2] = {};
    for (const int every : {1, 2}) {
        std::vector<Device> devices;
        for (int i = 0; i < 2; ++i) {
            CudaHandles handles;
            handles.context = &contexts[i];
            handles.stream = &streams[i];
            devices.push_back(Device::cuda(handles));
        }
        void* const current = f.current_context();
        const Program program(std::make_shared<HeatInPieces>());
        Simulation simulation(program, devices, {12}, {.exchange_every = every});
        simulation.write("u", start);
        simulation.step(7);
        CHECK(f.last_stream == &streams[1]);
        CHECK(f.current_context() == current);
        CHECK(simulation.read("u") == ring(start, 0.25, 7));
        simulation.step(1);
        simulation.wait();
        CHECK(simulation.read("u") == ring(start, 0.25, 8));
        CHECK(f.current_context() == current);
        CHECK(says(refusal([&] { Simulation(program, {devices[0], Device::cpu(1)}, {12}); }),
                   "on GPUs, or on CPUs: not on 'cuda:0' and 'cpu'"));
    }
    CHECK(held() == before);
}

TEST_CASE("of a bundle the code for the device and the grid is taken") {
    fake();
    const Program program =
        program_of({heat("sm_80", {}, 0.5), heat("sm_90", {}, 0.25), heat("sm_90", {6}, 0.125)});
    const Device device = Device::cuda();
    CHECK(Simulation(program, device, {8}).get("rate") == 0.25);
    CHECK(Simulation(program, device, {6}).get("rate") == 0.125);
    CHECK(says(
        refusal([&] { Simulation(program_of({heat("sm_80", {}, 0.5)}), device, {8}); }, ErrorCode::no_device),
        "has no code for sm_90 and the grid 8; it has code for: sm_80, any grid"));
}

TEST_CASE("fields of the caller's device memory, and what they must be") {
    fake();
    const Device device = Device::cuda();
    const Program program = program_of({heat("sm_90", {}, 0.25)});
    const Layout layout = common_layout({program}, device, {8});
    CHECK(layout.alignment == 32);
    CHECK(layout.pitch == 64);
    const Field field(device, Type::f64, layout);
    Simulation one(program, device, {8}), other(program, device, {8});
    one.bind("u", field);
    other.bind("u", field);
    const std::vector<double> start = {1, 5, 2, 8, 3, 3, 9, 1};
    one.write("u", start);
    one.step(5);
    other.step(2);
    one.step(1);
    CHECK(other.read("u") == ring(start, 0.25, 8));

    const Field more(device, Type::f64, layout);
    View view = field.view(), other_view = more.view();
    view.pitch = other_view.pitch = 72;
    Simulation third(program, device, {8});
    CHECK(says(refusal([&] { third.bind("u", Field::of_views(device, Type::f64, {8}, {view, other_view})); }),
               "the pitch must be 64 or more and a multiple of 32"));
    Layout roomy = layout;
    roomy.elements += 32;
    const Field wide(device, Type::f64, roomy), wide_too(device, Type::f64, roomy);
    View shifted = wide.view(), other_shifted = wide_too.view();
    shifted.first_cell += 1;
    other_shifted.first_cell += 1;
    const Field odd = Field::of_views(device, Type::f64, {8}, {shifted, other_shifted});
    CHECK(says(refusal([&] { third.bind("u", odd); }), "must be a multiple of 256 bytes"));
}

TEST_CASE("what the driver reports comes out as an error, with its code") {
    FakeLibcuda& f = fake();
    const Device device = Device::cuda();
    Simulation simulation(program_of({heat("sm_90", {}, 0.25)}), device, {8});
    simulation.step();
    f.fail_next["cuLaunchKernel"] = 700;
    CHECK(says(refusal([&] { simulation.step(); }, ErrorCode::launch_failed), "illegal memory access"));
    simulation.step();  // goes on from where it was
    CHECK(simulation.steps_done() == 2);
    f.devices = 0;
    CHECK(Device::best().kind() == "cpu");
    CHECK(says(refusal([] { Device::cuda(0); }, ErrorCode::no_device), "there is no GPU 0"));
    f.devices = 1;
    Simulation large(program_of({heat("sm_90", {}, 0.25)}), device, {std::int64_t{1} << 29});
    refusal([&] { large.step(); }, ErrorCode::out_of_memory);
}
