#include "sample_plans.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

using namespace halo::rt;

namespace {

class FakeKernel : public Kernel {
public:
    explicit FakeKernel(BlockFunction the_function) : function(std::move(the_function)) {}
    BlockFunction function;
};

class FakeRecording : public Recording {
public:
    std::vector<std::function<void()>> work;
};

template <class Element>
void copy_rows(const Geometry& g, Element* array, Element* dense, bool up) {
    for (std::int64_t z = 0; z < g.extent[2]; ++z)
        for (std::int64_t y = 0; y < g.extent[1]; ++y)
            for (std::int64_t x = 0; x < g.extent[0]; ++x) {
                Element& cell = array[g.origin + x + y * g.pitch + z * g.slice];
                Element& value = dense[x + g.extent[0] * (y + g.extent[1] * z)];
                (up ? cell : value) = up ? value : cell;
            }
}

// A kernel's view of the grid: arguments extent x, y, z, pitch, slice from `first` on.
struct Grid {
    Grid(void* const* arguments, int first)
        : extent{value_of<std::int32_t>(arguments, first), value_of<std::int32_t>(arguments, first + 1),
                 value_of<std::int32_t>(arguments, first + 2)},
          pitch(value_of<std::int32_t>(arguments, first + 3)),
          slice(value_of<std::int64_t>(arguments, first + 4)) {}
    halo::rt::Extent extent;
    std::int64_t pitch, slice;
};

void add_grid_arguments(KernelPlan& kernel) {
    for (int axis = 0; axis < 3; ++axis) {
        Argument argument;
        argument.kind = Argument::Kind::extent;
        argument.index = axis;
        kernel.arguments.push_back(argument);
    }
    for (const Argument::Kind kind : {Argument::Kind::pitch, Argument::Kind::slice}) {
        Argument argument;
        argument.kind = kind;
        kernel.arguments.push_back(argument);
    }
}

constexpr halo::rt::Lengths kTile = {8, 2, 3};
constexpr char kNobodys = 0x55;  // the bytes of memory that holds nothing

// Arguments: u_next, u, rate, change, total, then the grid.
template <class Element>
void heat_block(int rank, const std::array<std::int64_t, 3>& block, std::int64_t number,
                void* const* arguments) {
    auto* next = value_of<Element*>(arguments, 0);
    const auto* now = value_of<const Element*>(arguments, 1);
    const auto rate = value_of<Element>(arguments, 2);
    const Grid grid(arguments, 5);
    const std::int64_t stride[] = {1, grid.pitch, grid.slice};
    double change = -INFINITY, total = 0;
    const auto end = [&](int axis) { return std::min(grid.extent[axis], (block[axis] + 1) * kTile[axis]); };
    for (std::int64_t z = block[2] * kTile[2]; z < end(2); ++z) {
        for (std::int64_t y = block[1] * kTile[1]; y < end(1); ++y) {
            for (std::int64_t x = block[0] * kTile[0]; x < end(0); ++x) {
                const std::int64_t cell = x + y * grid.pitch + z * grid.slice;
                Element sum = 0;
                for (int axis = 0; axis < rank; ++axis) {
                    const Element pair = now[cell - stride[axis]] + now[cell + stride[axis]];
                    sum += pair;
                }
                const Element lack = static_cast<Element>(2 * rank) * now[cell];
                const Element flux = rate * (sum - lack);
                next[cell] = now[cell] + flux;
                change = std::fmax(change, std::fabs(static_cast<double>(next[cell] - now[cell])));
                total += static_cast<double>(next[cell]);
            }
        }
    }
    value_of<double*>(arguments, 3)[number] = change;
    value_of<double*>(arguments, 4)[number] = total;
}

}  // namespace

Argument field_argument(int field, int time) {
    Argument argument;
    argument.field = field;
    argument.time = time;
    return argument;
}

Argument scalar_argument(int param, ElementType type) {
    Argument argument;
    argument.kind = Argument::Kind::scalar;
    argument.scalar = param_scalar(param);
    argument.type = type;
    return argument;
}

Argument index_argument(Argument::Kind kind, int index) {
    Argument argument;
    argument.kind = kind;
    argument.index = index;
    return argument;
}

FieldPlan state_of_f64(const std::string& name) {
    FieldPlan field;
    field.name = name;
    field.type = ElementType::f64;
    field.role = Role::state;
    return field;
}

LaunchPlan named_plan(const std::string& name, int rank) {
    LaunchPlan plan;
    plan.name = name;
    plan.rank = rank;
    const char* const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < rank; ++axis) {
        plan.axes.emplace_back(axes[axis]);
        plan.spacing.push_back(constant_scalar(1));
        plan.origin.push_back(constant_scalar(0));
    }
    return plan;
}

HostScalar constant_scalar(double value) {
    return {{{HostScalar::Op::constant, value, 0}}};
}
HostScalar param_scalar(int index) {
    return {{{HostScalar::Op::param, 0, index}}};
}

Kernel* FakeModule::find_kernel(const KernelPlan& plan) {
    const auto function = functions.find(plan.name);
    if (function == functions.end()) return nullptr;
    auto& kernel = kernels_[plan.name];
    if (kernel == nullptr) kernel = std::make_unique<FakeKernel>(function->second);
    return kernel.get();
}

bool FakeModule::set_constant(const std::string& symbol, const void* data, std::int64_t bytes) {
    const auto found = constants.find(symbol);
    if (found == constants.end()) return false;
    found->second.resize(static_cast<std::size_t>(bytes));
    std::memcpy(found->second.data(), data, static_cast<std::size_t>(bytes));
    return true;
}

void FakeDevice::run(std::function<void()> work) {
    if (recording_)
        recorded_.push_back(std::move(work));
    else
        work();
}

void FakeDevice::not_while_recording() const {
    if (recording_) throw Error(ErrorCode::internal, "a call that cannot be recorded");
}

void* FakeDevice::allocate(std::int64_t bytes) {
    constexpr std::size_t kAlignment = 256;
    not_while_recording();
    ++live_allocations;
    std::vector<char> memory(static_cast<std::size_t>(bytes) + kAlignment, kNobodys);
    void* address = memory.data();
    std::size_t space = memory.size();
    std::align(kAlignment, static_cast<std::size_t>(bytes), address, space);
    memory_.emplace(address, std::move(memory));
    return address;
}

void FakeDevice::release(void* address) noexcept {
    if (address == nullptr) return;
    const auto found = memory_.find(address);
    if (found == memory_.end()) std::abort();  // released twice, or never allocated
    --live_allocations;
    std::fill(found->second.begin(), found->second.end(), kNobodys);
    released_.push_back(std::move(found->second));
    memory_.erase(found);
}

void FakeDevice::set_bytes(void* address, int byte, std::int64_t bytes) {
    run([=] { std::memset(address, byte, static_cast<std::size_t>(bytes)); });
}

void FakeDevice::copy_to_device(void* address, const void* host, std::int64_t bytes) {
    not_while_recording();
    std::memcpy(address, host, static_cast<std::size_t>(bytes));
}

void FakeDevice::copy_to_host(void* host, const void* address, std::int64_t bytes) {
    not_while_recording();
    std::memcpy(host, address, static_cast<std::size_t>(bytes));
}

void FakeDevice::copy_on_device(void* destination, const void* source, std::int64_t bytes) {
    run([=] { std::memcpy(destination, source, static_cast<std::size_t>(bytes)); });
}

void FakeDevice::upload_cells(void* array, const Geometry& geometry, ElementType type, const void* dense) {
    not_while_recording();
    if (type == ElementType::f32)
        copy_rows(geometry, static_cast<float*>(array), const_cast<float*>(static_cast<const float*>(dense)),
                  true);
    else
        copy_rows(geometry, static_cast<double*>(array),
                  const_cast<double*>(static_cast<const double*>(dense)), true);
}

void FakeDevice::download_cells(void* dense, const void* array, const Geometry& geometry, ElementType type) {
    not_while_recording();
    if (type == ElementType::f32)
        copy_rows(geometry, const_cast<float*>(static_cast<const float*>(array)), static_cast<float*>(dense),
                  false);
    else
        copy_rows(geometry, const_cast<double*>(static_cast<const double*>(array)),
                  static_cast<double*>(dense), false);
}

void FakeDevice::run_halo_passes(const std::vector<HaloPass>& passes, ElementType type, void* array) {
    run([=] { fill_halo(passes, type, array); });
}

std::unique_ptr<Module> FakeDevice::load(std::string_view code, const std::string&) {
    not_while_recording();
    if (loader) return loader(code);
    throw Error(ErrorCode::internal, "a fake device loads no code");
}

void FakeDevice::launch(Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) {
    if (calls_until_failure >= 0 && calls_until_failure-- == 0)
        throw Error(ErrorCode::launch_failed, "a launch that was told to fail");
    // Every value is one of 8 bytes, in an array of a test's plan: taken now, as the interface asks.
    constexpr int kMost = 16;
    struct Values {
        std::int64_t value[kMost];
        int count = 0;
    };
    auto values = std::make_shared<Values>();
    const auto& function = static_cast<FakeKernel&>(kernel).function;
    for (values->count = 0; values->count < 10; ++values->count)
        std::memcpy(&values->value[values->count], arguments[values->count], sizeof(std::int64_t));
    run([this, blocks, values, function] {
        ++launches;
        std::array<void*, kMost> pointers{};
        for (int i = 0; i < values->count; ++i)
            pointers[i] = &values->value[i];
        std::int64_t number = 0;
        for (std::int64_t z = 0; z < blocks[2]; ++z)
            for (std::int64_t y = 0; y < blocks[1]; ++y)
                for (std::int64_t x = 0; x < blocks[0]; ++x)
                    function({x, y, z}, number++, pointers.data());
    });
}

void FakeDevice::finish_reductions(ReductionPlan::Op op, const void* partials, std::int64_t count,
                                   std::int64_t rows, void* results) {
    run([=, this] {
        for (std::int64_t row = 0; row < rows; ++row) {
            ++finished_reductions;
            const auto* values = static_cast<const double*>(partials) + row * count;
            static_cast<double*>(results)[row] =
                op == ReductionPlan::Op::sum   ? std::accumulate(values, values + count, 0.0)
                : op == ReductionPlan::Op::min ? *std::min_element(values, values + count)
                                               : *std::max_element(values, values + count);
        }
    });
}

void FakeDevice::synchronize() {
    not_while_recording();
}

void FakeDevice::begin_recording() {
    not_while_recording();
    recording_ = true;
    ++recordings;
    recorded_.clear();
}

std::unique_ptr<Recording> FakeDevice::end_recording() {
    recording_ = false;
    auto recording = std::make_unique<FakeRecording>();
    recording->work = std::move(recorded_);
    return recording;
}

void FakeDevice::replay(Recording& recording) {
    ++replays;
    for (const auto& work : static_cast<FakeRecording&>(recording).work)
        work();
}

Sample heat_sample(int rank, ElementType type) {
    LaunchPlan plan = named_plan("heat", rank);
    plan.params = {{"rate", std::nullopt}, {"wall", 2.0}};
    FieldPlan u;
    u.name = "u";
    u.type = type;
    u.role = Role::state;
    u.boundary[0][0].kind = u.boundary[0][1].kind = BoundaryKind::periodic;
    u.boundary[1][0] = {BoundaryKind::fixed, param_scalar(1)};
    u.boundary[1][1].kind = BoundaryKind::clamp;
    u.boundary[2][0].kind = u.boundary[2][1].kind = BoundaryKind::mirror;
    for (int axis = 0; axis < rank; ++axis)
        u.halo[axis] = {1, 1};
    plan.halo = u.halo;
    plan.fields = {u};
    KernelPlan kernel;
    kernel.name = "heat_step";
    kernel.tile = kTile;
    kernel.arguments = {field_argument(0, 1), field_argument(0, 0), scalar_argument(0, type),
                        index_argument(Argument::Kind::partials, 0),
                        index_argument(Argument::Kind::partials, 1)};
    add_grid_arguments(kernel);
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};
    plan.reductions = {{"change", ReductionPlan::Op::max, false, 0},
                       {"total", ReductionPlan::Op::sum, false, 0}};

    auto module = std::make_unique<FakeModule>();
    module->functions["heat_step"] = [rank, type](const auto& block, std::int64_t number,
                                                  void* const* arguments) {
        if (type == ElementType::f32)
            heat_block<float>(rank, block, number, arguments);
        else
            heat_block<double>(rank, block, number, arguments);
    };
    return {std::move(plan), std::move(module)};
}

Sample wave_sample() {
    LaunchPlan plan = named_plan("wave", 1);
    plan.params = {{"rate", 0.25}};
    FieldPlan p = state_of_f64("p");
    p.history = 1;
    p.boundary[0][0].kind = p.boundary[0][1].kind = BoundaryKind::periodic;
    p.halo[0] = {1, 1};
    plan.halo = p.halo;
    plan.fields = {p};
    KernelPlan kernel;
    kernel.name = "wave_step";
    kernel.tile = {16, 1, 1};
    kernel.arguments = {field_argument(0, 1), field_argument(0, 0), field_argument(0, -1),
                        scalar_argument(0, ElementType::f64), scalar_argument(0, ElementType::f64)};
    add_grid_arguments(kernel);
    kernel.refresh_halos = {{0, 1}};
    plan.kernels = {kernel};

    auto module = std::make_unique<FakeModule>();
    module->functions["wave_step"] = [](const auto& block, std::int64_t, void* const* arguments) {
        auto* next = value_of<double*>(arguments, 0);
        const auto* now = value_of<const double*>(arguments, 1);
        const auto* past = value_of<const double*>(arguments, 2);
        const auto rate = value_of<double>(arguments, 3);
        const Grid grid(arguments, 5);
        for (std::int64_t x = block[0] * 16; x < std::min(grid.extent[0], block[0] * 16 + 16); ++x)
            next[x] = 2 * now[x] - past[x] + rate * (now[x - 1] - 2 * now[x] + now[x + 1]);
    };
    return {std::move(plan), std::move(module)};
}

Sample wave_with_block() {
    Sample sample = wave_sample();
    LaunchPlan& plan = sample.plan;
    plan.coefs = {{"w", "w_constant", ElementType::f64, {0}, {1}, {0.5, 0.25}}};
    plan.fields[0].spare_levels = 1;
    TimeBlock block;
    block.steps = 3;
    block.levels = 2;
    block.least_extent = {4, 1, 1};
    block.kernel.name = "wave_3_steps";
    block.kernel.blocks = 1;
    block.kernel.arguments = {field_argument(0, 2), field_argument(0, 1), field_argument(0, 0),
                              field_argument(0, -1), scalar_argument(0, ElementType::f64)};
    add_grid_arguments(block.kernel);
    plan.time_block = block;
    return sample;
}

std::unique_ptr<FakeModule> wave_block_module() {
    auto module = std::make_unique<FakeModule>();
    module->constants["w_constant"] = {};
    module->functions["wave_3_steps"] = [](const auto&, std::int64_t, void* const* arguments) {
        const auto rate = value_of<double>(arguments, 4);
        const std::int64_t n = Grid(arguments, 5).extent[0];
        const auto row = [&](int argument) {
            const auto* cells = value_of<const double*>(arguments, argument);
            return std::vector<double>(cells, cells + n);
        };
        std::vector<double> now = row(2), past = row(3);  // cells alone, not what lies past them
        for (int step = 0; step < 3; ++step) {
            std::vector<double> next(now.size());
            for (std::int64_t x = 0; x < n; ++x) {
                const double before = now[(x + n - 1) % n], here = now[x], after = now[(x + 1) % n];
                next[x] = 2 * here - past[x] + rate * (before - 2 * here + after);
            }
            past = std::exchange(now, std::move(next));
        }
        std::copy(now.begin(), now.end(), value_of<double*>(arguments, 0));
        std::copy(past.begin(), past.end(), value_of<double*>(arguments, 1));
    };
    return module;
}

Sample weights_sample(bool by_pointer) {
    LaunchPlan plan = named_plan("weights", 1);
    FieldPlan u, out;
    u.name = "u";
    u.role = Role::input;
    u.type = ElementType::f64;
    out.name = "out";
    out.type = ElementType::f64;
    out.role = Role::output;
    out.history = 1;
    plan.fields = {u, out};
    plan.coefs = {{"w", "w_constant", ElementType::f32, {0}, {1}, {0.5, 0.25}}};
    KernelPlan kernel;
    kernel.name = "weights_step";
    kernel.tile = {1 << 20, 1, 1};
    kernel.arguments = {field_argument(1, 0), field_argument(1, -1), field_argument(0, 0),
                        by_pointer ? index_argument(Argument::Kind::coefs, 0) : field_argument(0, 0),
                        field_argument(0, 0)};
    add_grid_arguments(kernel);
    plan.kernels = {kernel};

    auto module = std::make_unique<FakeModule>();
    FakeModule* constants = module.get();
    if (!by_pointer) module->constants["w_constant"] = {};
    module->functions["weights_step"] = [by_pointer, constants](const auto&, std::int64_t,
                                                                void* const* arguments) {
        auto* out_now = value_of<double*>(arguments, 0);
        const auto* out_past = value_of<const double*>(arguments, 1);
        const auto* in = value_of<const double*>(arguments, 2);
        float w[2];
        std::memcpy(
            w, by_pointer ? value_of<const char*>(arguments, 3) : constants->constants["w_constant"].data(),
            sizeof w);
        const Grid grid(arguments, 5);
        for (std::int64_t x = 1; x + 1 < grid.extent[0]; ++x)
            out_now[x] =
                out_past[x] + static_cast<double>(w[0]) * in[x - 1] + static_cast<double>(w[1]) * in[x + 1];
    };
    return {std::move(plan), std::move(module)};
}
