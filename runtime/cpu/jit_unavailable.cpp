// jit.h in a build without LLVM.
#include "runtime/core/error.h"
#include "runtime/cpu/jit.h"

namespace halo::rt {

struct JitModule::Code {};

bool cpu_available() {
    return false;
}
std::string cpu_unavailable_reason() {
    return "this build has no CPU compiler: LLVM 19 was not found when it was configured (on Debian and "
           "Ubuntu: "
           "apt-get install llvm-19-dev libclang-19-dev clang-19, then configure and build again)";
}
std::string cpu_target_name() {
    return "";
}

CompiledObject compile_object(const std::string&, const JitOptions&) {
    throw Error(ErrorCode::no_device, cpu_unavailable_reason());
}

JitModule::JitModule(const CompiledObject&, const JitOptions&) {
    throw Error(ErrorCode::no_device, cpu_unavailable_reason());
}
JitModule::~JitModule() = default;
JitModule::JitModule(JitModule&&) noexcept = default;
JitModule& JitModule::operator=(JitModule&&) noexcept = default;
void* JitModule::find(const std::string&) const {
    return nullptr;
}
std::optional<int> JitModule::line(const void*) const {
    return std::nullopt;
}
const std::vector<JitModule::Variable>& JitModule::variables() const {
    static const std::vector<Variable> none;
    return none;
}

}  // namespace halo::rt
