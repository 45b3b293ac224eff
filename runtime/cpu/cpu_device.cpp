#include "runtime/cpu/cpu_device.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/cpu/jit.h"

namespace halo::rt {

namespace {

class JitCode : public HostCode {
public:
    explicit JitCode(JitModule code) : code_(std::move(code)) {}

    void* find(const std::string& name) override { return code_.find(name); }
    bool set_constant(const std::string& symbol, const void* data, std::int64_t bytes) override {
        for (const JitModule::Variable& variable : code_.variables()) {
            if (variable.name != symbol) continue;
            if (variable.bytes < static_cast<std::size_t>(bytes)) {
                throw Error(ErrorCode::internal, "constant '" + symbol + "' holds " +
                                                     std::to_string(variable.bytes) + " bytes, and " +
                                                     std::to_string(bytes) + " were given");
            }
            std::memcpy(variable.address, data, static_cast<std::size_t>(bytes));
            return true;
        }
        return false;
    }

private:
    JitModule code_;
};

}  // namespace

std::unique_ptr<HostCode> load_object(std::string_view object) {
    CompiledObject compiled;
    compiled.bytes = object;
    return std::make_unique<JitCode>(JitModule(compiled));
}

std::unique_ptr<Device> make_cpu_device(int threads) {
    if (!cpu_available()) throw Error(ErrorCode::no_device, cpu_unavailable_reason());
    return make_host_device(threads,
                            [](std::string_view code, const std::string&) { return load_object(code); });
}

}  // namespace halo::rt
