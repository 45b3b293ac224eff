#include "emulated_device.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "block_runner.h"
#include "runtime/core/box.h"
#include "runtime/core/element.h"

namespace halo::emulator {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kGapBetweenArrays = 4096;  // of memory that is no array, before and after each array

class EmulatedKernel : public rt::Kernel {
public:
    EmulatedKernel(std::shared_ptr<CudaModule> its_module, const rt::KernelPlan& plan)
        : module(std::move(its_module)), name(plan.name) {
        for (int axis = 0; axis < 3; ++axis)
            shape.threads[axis] = plan.threads[axis];
        shape.dynamic_shared_bytes = plan.dynamic_shared_bytes;
    }
    std::shared_ptr<CudaModule> module;
    std::string name;
    LaunchShape shape;
};

class EmulatedModule : public rt::Module {
public:
    EmulatedModule(std::shared_ptr<Emulator> emulator, std::shared_ptr<CudaModule> module)
        : emulator_(std::move(emulator)), module_(std::move(module)) {
        emulator_->attach(module_);
    }
    ~EmulatedModule() override { emulator_->detach(*module_); }

    rt::Kernel* find_kernel(const rt::KernelPlan& plan) override {
        const auto known = kernels_.find(plan.name);
        if (known != kernels_.end()) return known->second.get();
        const int parameters = module_->parameters(plan.name);
        if (parameters < 0) return nullptr;
        if (parameters != static_cast<int>(plan.arguments.size())) {
            throw rt::Error(rt::ErrorCode::internal,
                            "kernel '" + plan.name + "' has " + std::to_string(parameters) +
                                " parameters, and the plan gives " + std::to_string(plan.arguments.size()));
        }
        auto kernel = std::make_unique<EmulatedKernel>(module_, plan);
        return kernels_.emplace(plan.name, std::move(kernel)).first->second.get();
    }

    bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) override {
        const rt::JitModule::Variable* variable = module_->variable(symbol);
        if (variable == nullptr) return false;
        if (variable->bytes != static_cast<std::size_t>(bytes)) {
            throw rt::Error(rt::ErrorCode::internal, "constant '" + symbol + "' has " +
                                                         std::to_string(variable->bytes) + " bytes, and " +
                                                         std::to_string(bytes) + " were given");
        }
        std::memcpy(variable->address, data, variable->bytes);
        return true;
    }

private:
    std::shared_ptr<Emulator> emulator_;
    std::shared_ptr<CudaModule> module_;
    std::map<std::string, std::unique_ptr<EmulatedKernel>> kernels_;
};

std::size_t size(std::int64_t bytes) {
    return static_cast<std::size_t>(bytes);
}

// Calls row(byte in the array, byte in the dense array, bytes) for each row of cells.
template <class Row>
void for_rows(const rt::Geometry& geometry, rt::ElementType type, const Row& row) {
    const std::int64_t element = rt::size_of(type);
    std::int64_t dense = 0;
    const rt::Box cells = rt::whole_box(geometry.extent);
    std::array<std::int64_t, rt::kMaxRank> cell{};
    do {
        row(geometry.element_of(cell) * element, dense, size(geometry.extent[0] * element));
        dense += geometry.extent[0] * element;
    } while (rt::advance(cell, cells, 1));
}

}  // namespace

EmulatedDevice::EmulatedDevice(const CheckOptions& options)
    : emulator_(std::make_shared<Emulator>(options)) {}

EmulatedDevice::~EmulatedDevice() = default;

std::string EmulatedDevice::description() const {
    return "emulated CUDA device, sm_90";
}

rt::MemoryInfo EmulatedDevice::memory() const {
    return {};
}

void* EmulatedDevice::allocate(std::int64_t bytes) {
    auto memory = std::make_unique<char[]>(size(bytes) + 2 * kGapBetweenArrays + kAlignment);
    auto start = reinterpret_cast<std::uintptr_t>(memory.get()) + kGapBetweenArrays;
    start += (kAlignment - start % kAlignment) % kAlignment;
    void* const address = reinterpret_cast<void*>(start);
    emulator_->add_array(address, size(bytes), "array " + std::to_string(made_++), false);
    memory_.emplace(address, std::move(memory));
    return address;
}

void EmulatedDevice::release(void* address) noexcept {
    if (address == nullptr) return;
    emulator_->remove_array(address);
    memory_.erase(address);
}

void EmulatedDevice::set_bytes(void* address, int byte, std::int64_t bytes) {
    std::memset(address, byte, size(bytes));
    emulator_->mark_written(address, size(bytes));
}

void EmulatedDevice::copy_to_device(void* address, const void* host, std::int64_t bytes) {
    std::memcpy(address, host, size(bytes));
    emulator_->mark_written(address, size(bytes));
}

void EmulatedDevice::copy_to_host(void* host, const void* address, std::int64_t bytes) {
    std::memcpy(host, address, size(bytes));
}

void EmulatedDevice::copy_on_device(void* destination, const void* source, std::int64_t bytes) {
    copy_to_device(destination, source, bytes);
}

void EmulatedDevice::upload_cells(void* array, const rt::Geometry& geometry, rt::ElementType type,
                                  const void* dense) {
    for_rows(geometry, type, [&](std::int64_t in_array, std::int64_t in_dense, std::size_t bytes) {
        char* const row = static_cast<char*>(array) + in_array;
        std::memcpy(row, static_cast<const char*>(dense) + in_dense, bytes);
        emulator_->mark_written(row, bytes);
    });
}

void EmulatedDevice::download_cells(void* dense, const void* array, const rt::Geometry& geometry,
                                    rt::ElementType type) {
    for_rows(geometry, type, [&](std::int64_t in_array, std::int64_t in_dense, std::size_t bytes) {
        std::memcpy(static_cast<char*>(dense) + in_dense, static_cast<const char*>(array) + in_array, bytes);
    });
}

std::optional<rt::CellComparison> EmulatedDevice::compare_cells(const void* first, const void* second,
                                                                const rt::Geometry& geometry,
                                                                rt::ElementType type) {
    const auto size = static_cast<std::size_t>(rt::size_of(type));
    const auto cells = static_cast<std::size_t>(geometry.extent.cells());
    std::vector<char> a(cells * size), b(cells * size);
    download_cells(a.data(), first, geometry, type);
    download_cells(b.data(), second, geometry, type);
    rt::CellComparison result;
    for (std::size_t i = 0; i < cells; ++i) {
        result.different += std::memcmp(&a[i * size], &b[i * size], size) != 0 ? 1 : 0;
        result.numbers += std::isnan(rt::decode(&a[i * size], type)) ? 0 : 1;
    }
    return result;
}

void EmulatedDevice::run_halo_passes(const std::vector<rt::HaloPass>& passes, rt::ElementType type,
                                     void* array) {
    rt::fill_halo(passes, type, array);
    const std::int64_t element = rt::size_of(type);
    for (const rt::HaloPass& pass : passes) {
        for (std::int64_t unit = 0; unit < pass.units(); ++unit) {
            const std::int64_t base = pass.place_of(unit);
            for (const rt::HaloPass::Layer& layer : pass.layers) {
                emulator_->mark_written(static_cast<char*>(array) + (base + layer.destination) * element,
                                        size(pass.row_length * element));
            }
        }
    }
}

std::unique_ptr<rt::Module> EmulatedDevice::load(std::string_view text, const std::string& name) {
    return std::make_unique<EmulatedModule>(emulator_, CudaModule::compile(std::string(text), name));
}

void EmulatedDevice::launch(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments) {
    auto& emulated = static_cast<EmulatedKernel&>(kernel);
    emulated.shape.blocks = blocks;
    ++launches_;
    emulator_->launch(*emulated.module, emulated.name, emulated.shape, arguments);
}

std::int64_t EmulatedDevice::most_resident_blocks(rt::Kernel& kernel) {
    const auto& threads = static_cast<EmulatedKernel&>(kernel).shape.threads;
    return BlockRunner::kMostThreadsTogether / (threads[0] * threads[1] * threads[2]);
}

void EmulatedDevice::launch_resident(rt::Kernel& kernel, const std::array<std::int64_t, 3>& blocks,
                                     void** arguments) {
    auto& emulated = static_cast<EmulatedKernel&>(kernel);
    LaunchShape shape = emulated.shape;
    shape.blocks = blocks;
    shape.together = true;
    ++launches_;
    emulator_->launch(*emulated.module, emulated.name, shape, arguments);
}

}  // namespace halo::emulator
