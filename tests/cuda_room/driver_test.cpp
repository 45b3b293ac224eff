// The CUDA back end on a driver that can be told to fail (fake_libcuda.cpp): what users are told, and that
// nothing leaks.
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "cuda_under_test.h"
#include "fake_driver.h"
#include "heat_line.h"
#include "runtime/core/fields_aside.h"
#include "runtime/core/session.h"

using namespace halo::rt;

namespace {

// What the fake driver holds for us; the difference of two must be nothing.
std::vector<int> held() {
    const FakeLibcuda& f = fake();
    return {f.live_allocations, f.live_modules, f.live_graphs,
            f.live_streams,     f.live_events,  f.retained_contexts};
}

}  // namespace

CudaDevice& device_under_test() {
    fake();
    // Its own kernels are loaded at first use: here, so that held() does not change later.
    static const std::unique_ptr<CudaDevice> device = [] {
        auto opened = open_cuda_device();
        const DeviceMemory array(*opened, 1024);
        HaloPass pass;
        pass.layers.resize(1);
        for (const ElementType type : {ElementType::f32, ElementType::f64})
            opened->run_halo_passes({pass}, type, array.address());
        const Geometry large = make_geometry(1, {std::int64_t{1} << 20, 1, 1}, {});
        const DeviceMemory cells(*opened, large.elements);
        opened->upload_cells(cells.address(), large, ElementType::u8, std::string(1 << 20, 0).data());
        for (const ElementType type : {ElementType::u8, ElementType::f16, ElementType::f32, ElementType::f64})
            opened->compare_cells(array.address(), array.address(), make_geometry(1, {1, 1, 1}, {}), type);
        double cell = 0;
        for (const ElementType type : {ElementType::u8, ElementType::f16, ElementType::f32, ElementType::f64})
            opened->download_every(&cell, array.address(), make_geometry(1, {1, 1, 1}, {}), 1, type);
        for (const ElementType type : {ElementType::f16, ElementType::f32, ElementType::f64})
            opened->cells_are_finite(array.address(), make_geometry(1, {1, 1, 1}, {}), type);
        for (const ReductionPlan::Op op :
             {ReductionPlan::Op::sum, ReductionPlan::Op::min, ReductionPlan::Op::max})
            opened->finish_reductions(op, array.address(), 1, 1, array.address());
        return opened;
    }();
    return *device;
}

TEST_CASE("a device that cannot be opened gives everything back") {
    FakeLibcuda& f = fake();
    const auto before = held();
    for (const char* name : {"cuDevicePrimaryCtxRetain", "cuStreamCreateWithPriority"}) {
        f.fail_next[name] = 999;
        message(ErrorCode::internal, [] { open_cuda_device(); });
        CHECK(f.fail_next.empty());
        CHECK(held() == before);
    }
    {
        const auto device = open_cuda_device();
    }
    CHECK(held() == before);
}

TEST_CASE(
    "work of the side stream waits for that of the main one, recorded or not, and urgent work does not") {
    const auto device = open_cuda_device();
    FakeLibcuda& f = fake();
    DeviceMemory array(*device, 64), other(*device, 64);
    const auto priority = [&](Device::StreamKind kind) {
        device->use_stream(kind);
        device->copy_on_device(array.address(), other.address(), 64);
        device->use_stream(Device::StreamKind::main);
        return f.priorities.at(f.last_stream);
    };
    const int main = priority(Device::StreamKind::main);
    CHECK(priority(Device::StreamKind::side) > main);
    CHECK(priority(Device::StreamKind::urgent) < main);
    device->begin_recording();
    device->copy_on_device(array.address(), other.address(), 64);
    CHECK(f.priorities.at(f.last_stream) == main);
    device->end_recording();
}

TEST_CASE("a device tells its figures without a context") {
    device_under_test();
    const auto before = held();
    const CudaDeviceInfo info = cuda_device_info(0);
    CHECK(held() == before);
    CHECK(info.arch() == device_under_test().info().arch());
    CHECK(describe(info) == device_under_test().description());
    CHECK(has(message(ErrorCode::no_device, [] { cuda_device_info(7); }), "there is no GPU 7"));
}

TEST_CASE("a GPU says whether it reaches another's memory") {
    CHECK(cuda_reaches(0, 0));
    fake().fail_next["cuDeviceCanAccessPeer"] = 999;
    CHECK(has(message(ErrorCode::internal, [] { cuda_reaches(0, 0); }), "looking for a way to another GPU"));
}

TEST_CASE("code that does not load is explained") {
    CudaDevice& device = device_under_test();
    const auto before = held();
    const std::string newer =
        message(ErrorCode::driver_too_old, [&] { device.load("of a newer CUDA", "heat"); });
    CHECK(has(newer, "'heat'"));
    CHECK(has(newer, "Fake GPU (sm_90)"));
    CHECK(has(newer, "this driver's 13.0"));
    CHECK(has(message(ErrorCode::compile_failed, [&] { device.load("bad PTX", "heat"); }),
              "line 3: unknown symbol"));
    fake().fail_next["cuModuleLoadDataEx"] = 2;
    message(ErrorCode::out_of_memory, [&] { device.load("fake code", "heat"); });
    CHECK(held() == before);
}

TEST_CASE("kernels are found by name, with their figures and limits") {
    CudaDevice& device = device_under_test();
    const auto module = device.load("fake code", "heat");
    CHECK(module->find_kernel(plan_of("no_such_kernel")) == nullptr);
    Kernel* kernel = module->find_kernel(plan_of("nothing"));
    REQUIRE(kernel != nullptr);
    CHECK(module->find_kernel(plan_of("nothing")) == kernel);
    CHECK(kernel->info().registers == 40);
    CHECK(kernel->info().spill_bytes == 16);
    CHECK(kernel->info().static_shared_bytes == 1024);

    KernelPlan large = plan_of("nothing");
    large.dynamic_shared_bytes = 100000;
    Kernel* with_shared = module->find_kernel(large);
    CHECK(with_shared != kernel);
    CHECK(fake().allowed_dynamic_shared_bytes == 232448 - 1024);
    device.launch(*with_shared, {1, 1, 1}, nullptr);
    CHECK(fake().last_dynamic_shared_bytes == 100000);

    large.dynamic_shared_bytes = 232448;
    CHECK(has(message(ErrorCode::bad_argument, [&] { module->find_kernel(large); }),
              "228.0 KiB of shared memory"));
    KernelPlan wide = plan_of("nothing");
    wide.threads = {32, 32, 1};
    CHECK(has(message(ErrorCode::bad_argument, [&] { module->find_kernel(wide); }), "1024 threads a block"));
    CHECK(has(message(ErrorCode::bad_argument, [&] { device.launch(*kernel, {1, 65536, 1}, nullptr); }),
              "65536 blocks"));
    message(ErrorCode::bad_argument, [&] { device.launch(*kernel, {0, 1, 1}, nullptr); });
}

TEST_CASE("constants are set by their symbol") {
    const auto module = device_under_test().load("fake code", "heat");
    const float values[5] = {1, 2, 3, 4, 5};
    CHECK(module->set_constant("weights", values, 16));
    CHECK(fake().constants[3] == 4);
    CHECK_FALSE(module->set_constant("others", values, 16));
    CHECK(has(message(ErrorCode::bad_argument, [&] { module->set_constant("weights", values, 20); }),
              "has 16 bytes"));
}

TEST_CASE("cells are copied without pinned memory where there is none") {
    const auto device = open_cuda_device();
    const Geometry cells = make_geometry(2, {1000, 1100, 1}, {});
    std::vector<double> values(1000 * 1100), back(values.size());
    std::iota(values.begin(), values.end(), 0.5);
    const DeviceMemory array(*device, cells.elements * 8);
    fake().fail_next["cuMemAllocHost_v2"] = 2;
    device->upload_cells(array.address(), cells, ElementType::f64, values.data());
    fake().fail_next["cuMemAllocHost_v2"] = 2;
    device->download_cells(back.data(), array.address(), cells, ElementType::f64);
    CHECK(fake().fail_next.empty());
    CHECK(back == values);
    fake().fail_next["cuEventSynchronize"] = 700;
    CHECK(has(message(ErrorCode::launch_failed,
                      [&] { device->download_cells(back.data(), array.address(), cells, ElementType::f64); }),
              "copying between host and GPU"));
}

TEST_CASE("failures name what was being done") {
    CudaDevice& device = device_under_test();
    const auto module = device.load("fake code", "heat");
    Kernel* kernel = module->find_kernel(plan_of("nothing"));
    REQUIRE(kernel != nullptr);
    fake().fail_next["cuLaunchKernel"] = 701;
    CHECK(has(message(ErrorCode::launch_failed, [&] { device.launch(*kernel, {1, 1, 1}, nullptr); }),
              "starting kernel 'nothing'"));
    fake().fail_next["cuStreamSynchronize"] = 700;
    const std::string stopped = message(ErrorCode::launch_failed, [&] { device.synchronize(); });
    CHECK(has(stopped, "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"));
    CHECK(has(stopped, "please report it"));
    fake().fail_next["cuMemsetD8Async"] = 1;
    message(ErrorCode::internal, [&] { device.set_bytes(nullptr, 0, 0); });
}

TEST_CASE("blocks that wait for each other are launched together, or not at all") {
    CudaDevice& device = device_under_test();
    const auto module = device.load("fake code", "heat");
    Kernel* kernel = module->find_kernel(plan_of("nothing"));
    REQUIRE(kernel != nullptr);
    CHECK(device.most_resident_blocks(*kernel) == 132);
    const int before = fake().resident_launches;
    device.launch_resident(*kernel, {11, 4, 3}, nullptr);
    CHECK(fake().resident_launches == before + 1);
    CHECK(has(message(ErrorCode::internal, [&] { device.launch_resident(*kernel, {133, 1, 1}, nullptr); }),
              "starting all blocks of kernel 'nothing' at once"));
    CHECK(fake().resident_launches == before + 1);
}

namespace {

// Lines of 16 cells, of which each third is made of the one before it.
struct Lines {
    explicit Lines(CudaDevice& on) : device(on), module(on.load("fake code", "heat")) {
        KernelPlan plan = plan_of("heat_line");
        plan.arguments.resize(4);
        kernel = module->find_kernel(plan);
        for (std::size_t line = 0; line < 6; ++line) {
            memory.emplace_back(device, 18 * 8);
            std::vector<double> cells(18);
            for (std::size_t i = 0; i < cells.size(); ++i)
                cells[i] = static_cast<double>((line + 3) * i * i % 17);
            device.copy_to_device(memory.back().address(), cells.data(), 18 * 8);
        }
    }
    void make(std::size_t to, std::size_t from, double rate = 0.25) {
        std::uint64_t values[4] = {};
        void* const addresses[2] = {static_cast<double*>(memory[to].address()) + 1,
                                    static_cast<double*>(memory[from].address()) + 1};
        const std::int32_t cells = 16;
        std::memcpy(&values[0], &addresses[0], 8);
        std::memcpy(&values[1], &addresses[1], 8);
        std::memcpy(&values[2], &cells, 4);
        std::memcpy(&values[3], &rate, 8);
        void* arguments[4] = {&values[0], &values[1], &values[2], &values[3]};
        device.launch(*kernel, {1, 1, 1}, arguments);
    }
    std::vector<double> cells() {
        std::vector<double> all(18 * memory.size());
        for (std::size_t line = 0; line < memory.size(); ++line)
            device.copy_to_host(all.data() + 18 * line, memory[line].address(), 18 * 8);
        return all;
    }
    CudaDevice& device;
    std::unique_ptr<Module> module;
    Kernel* kernel = nullptr;
    std::vector<DeviceMemory> memory;
};

}  // namespace

TEST_CASE("launches that are held back are started together, each after those that it must come after") {
    CudaDevice& device = device_under_test();
    REQUIRE(device.can_hold_launches());
    Lines at_once(device), held_back(device);
    const int graphs = fake().graph_launches;
    for (int round = 0; round < 4; ++round) {
        const double rate = round == 3 ? 0.5 : 0.25;  // the last time with other arguments
        for (std::size_t line : {std::size_t{0}, std::size_t{3}}) {
            at_once.make(line + 1, line, rate);
            at_once.make(line + 2, line + 1, rate);
        }
        at_once.make(0, 5, rate);
        const int launches = fake().launches;
        const std::int64_t first = device.noted_launches();
        for (const int line : {0, 3}) {
            device.hold_launches({});
            held_back.make(static_cast<std::size_t>(line) + 1, static_cast<std::size_t>(line), rate);
            held_back.make(static_cast<std::size_t>(line) + 2, static_cast<std::size_t>(line) + 1, rate);
            device.stop_holding();
        }
        device.hold_launches({first - 1, first, first + 3});
        held_back.make(0, 5, rate);
        device.stop_holding();
        CHECK(device.held_launches() == 5);
        CHECK(fake().launches == launches);
        CHECK(held_back.cells() == at_once.cells());
        CHECK(device.held_launches() == 0);
        CHECK(fake().launches == launches + 5);
        CHECK(fake().graph_launches == graphs + (round == 1 || round == 2 ? round : round / 3 * 2));
    }
    // Anything else that is asked for comes after those so far, also between two of the same step.
    for (int round = 0; round < 3; ++round) {
        device.hold_launches({});
        held_back.make(1, 0);
        at_once.cells();
        CHECK(device.held_launches() == 0);
        const std::int64_t first = device.noted_launches();
        for (const std::size_t line : {std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}})
            held_back.make(line, line - 1);
        device.stop_holding();
        CHECK(device.noted_launches() == first + 4);
        for (const std::size_t line :
             {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}})
            at_once.make(line, line - 1);
        CHECK(device.held_launches() == 0);
        CHECK(held_back.cells() == at_once.cells());
    }
}

TEST_CASE("a session runs on it, its steps recorded in graphs") {
    CudaDevice& device = device_under_test();
    const auto before = held();
    {
        Session session = open_heat(device);
        CHECK(fake().constants[2] == 2.5f);
        std::vector<double> u(50);
        for (std::size_t i = 0; i < u.size(); ++i)
            u[i] = static_cast<double>((i * 7) % 16);
        session.upload("u", 0, u);
        const auto step = [&](double rate) {
            std::vector<double> next(50);
            for (std::size_t i = 0; i < 50; ++i)
                next[i] = u[i] + rate * (u[(i + 49) % 50] - 2 * u[i] + u[(i + 1) % 50]);
            u = next;
        };
        const int graphs = fake().graph_launches;
        session.step(300);
        for (int i = 0; i < 300; ++i)
            step(0.25);
        CHECK(fake().graph_launches > graphs);
        CHECK(session.download("u") == u);
        session.set_param("rate", 0.125);
        session.step(131);
        for (int i = 0; i < 131; ++i)
            step(0.125);
        CHECK(session.download("u") == u);
        CHECK(session.kernel_info(0).registers == 40);
    }
    CHECK(held() == before);
}

namespace {

std::vector<double> wavy_line() {
    std::vector<double> u(50);
    for (std::size_t i = 0; i < u.size(); ++i)
        u[i] = static_cast<double>((i * 7) % 16);
    return u;
}

}  // namespace

TEST_CASE("steps are submitted before what was set aside is fetched, which their stream does not wait for") {
    FakeLibcuda& f = fake();
    const auto before = held();
    {
        const auto device = open_cuda_device();
        Session session = open_heat(*device);
        session.upload("u", 0, std::span<const double>(wavy_line()));
        const std::unique_ptr<FieldsAside> aside = FieldsAside::of(session);
        REQUIRE(aside != nullptr);
        const Lattice some{{3, 0, 0}, {6, 1, 1}, {7, 1, 1}};
        RunOptions options;
        for (options.steps = 1; options.steps < 400; options.steps += 99) {
            const std::vector<double> then = session.download("u");
            REQUIRE(aside->set_aside({{"u", 0, lattice_of(whole_box({50, 1, 1}))}, {"u", 0, some}}));
            void* const of_steps = f.last_stream;
            CHECK(aside->are_finite());
            const int replays = f.graph_launches, launches = f.launches;
            int calls = 0;
            options.meanwhile = [&] {
                ++calls;
                CHECK(f.launches > launches);
                CHECK((options.steps < 100 || f.graph_launches > replays));
                std::vector<double> all(50), part(6);
                aside->fetch(1, part.data());
                CHECK(f.fetching_stream != of_steps);
                aside->fetch(0, all.data());
                CHECK(all == then);
                for (std::size_t i = 0; i < part.size(); ++i)
                    CHECK(part[i] == then[3 + 7 * i]);
                session.synchronize();
            };
            session.run(options);
            CHECK(calls == 1);
            CHECK(session.download("u") != then);
        }
        CHECK_THROWS_AS(aside->set_aside({{"u", 0, {{3, 0, 0}, {7, 1, 1}, {8, 1, 1}}}}), Error);
        CHECK_THROWS_AS(aside->set_aside({{"w", 0, some}}), Error);
    }
    CHECK(held() == before);
}

TEST_CASE("nothing is set aside where there is no memory for it") {
    FakeLibcuda& f = fake();
    const auto device = open_cuda_device();
    Session session = open_heat(*device);
    session.upload("u", 0, std::span<const double>(wavy_line()));
    const std::vector<FieldsAside::Part> all{{"u", 0, lattice_of(whole_box({50, 1, 1}))}};
    f.fail_next["cuMemAllocHost_v2"] = 2;
    CHECK(FieldsAside::of(session) == nullptr);
    const std::unique_ptr<FieldsAside> aside = FieldsAside::of(session), second = FieldsAside::of(session);
    f.fail_next["cuMemAlloc_v2"] = 2;
    CHECK_FALSE(aside->set_aside(all));
    CHECK(f.fail_next.empty());
    CHECK_FALSE(aside->set_aside(all));  // nor is it tried again
    // A quarter of what is free is taken at most.
    const std::int64_t total = std::exchange(f.total_bytes, f.used_bytes + 1024);
    CHECK_FALSE(second->set_aside(all));
    f.total_bytes = total;
    const Lattice one{{3, 0, 0}, {1, 1, 1}, {1, 1, 1}};
    REQUIRE(second->set_aside({{"u", 0, one}}));
    double cell = 0;
    second->fetch(0, &cell);
    CHECK(cell == 21 % 16);
    f.fail_next["cuLaunchKernel"] = 700;
    CHECK(has(message(ErrorCode::launch_failed, [&] { second->set_aside({{"u", 0, one}}); }),
              "starting kernel 'gather_cells'"));
    f.fail_next["cuEventSynchronize"] = 700;
    message(ErrorCode::launch_failed, [&] { second->are_finite(); });
}

TEST_CASE("a recording that fails is ended, and the session can go on") {
    CudaDevice& device = device_under_test();
    const auto before = held();
    {
        Session session = open_heat(device);
        for (const char* name : {"cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
            fake().fail_next[name] = 999;
            message(ErrorCode::internal, [&] { session.step(64); });
            session.step(1);
            session.step(1);
        }
        session.set_param("rate", 0.5);  // needs a new recording
        fake().fail_next["cuLaunchKernel"] = 700;
        message(ErrorCode::launch_failed, [&] { session.step(64); });
        session.step(64);
        session.synchronize();
    }
    CHECK(held() == before);
}

TEST_CASE("work goes into the caller's context and stream, and recording into a stream of our own") {
    FakeLibcuda& f = fake();
    CudaDevice& primary = device_under_test();
    const auto before = held();
    int context_of_caller = 0, stream_of_caller = 0;  // known by their addresses
    for (void* const stream : {static_cast<void*>(&stream_of_caller), static_cast<void*>(nullptr)}) {
        CudaOptions options;
        options.context = &context_of_caller;
        options.stream = stream;
        const auto device = open_cuda_device(options);
        CHECK(f.retained_contexts == before.back());
        CHECK(device->context() == &context_of_caller);
        CHECK(device->stream() == stream);

        Session session = open_heat(*device);
        session.upload("u", 0, std::span<const double>(std::vector<double>(50, 1.0)));
        const int replays = f.graph_launches;
        for (const int steps : {1, 200}) {
            session.step(steps);
            CHECK(f.last_stream == stream);
        }
        CHECK(f.graph_launches > replays);
        CHECK(session.download("u") == std::vector<double>(50, 1.0));

        CHECK(f.current_context() == &context_of_caller);
        primary.synchronize();
        {
            const CurrentCudaContext keep;
            device->synchronize();
            CHECK(f.current_context() == &context_of_caller);
        }
        CHECK(f.current_context() == primary.context());
    }
    CHECK(held() == before);
}
