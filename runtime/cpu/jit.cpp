#include "runtime/cpu/jit.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>

#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/core/kernel_lock.h"
#include "runtime/cpu/clang_compiler.h"
#include "runtime/cpu/object_loader.h"

namespace halo::rt {

namespace {

// For what another process is compiling. One that takes longer has been stopped.
constexpr std::chrono::seconds kMostToWait{60};

std::vector<std::string> compiler_flags(const JitOptions& options) {
    std::vector<std::string> flags{"-emit-obj",
                                   "-std=c++17",
                                   "-O" + std::to_string(options.optimization),
                                   "-ffp-contract=off",  // contraction is decided once, for all engines
                                   "-mrelocation-model",
                                   "pic",
                                   "-pic-level",
                                   "2",
                                   "-nobuiltininc",
                                   "-nostdsysteminc",
                                   "-mframe-pointer=none",
                                   "-w",
                                   "-fno-threadsafe-statics"};
    if (options.optimization >= 2) flags.insert(flags.end(), {"-vectorize-loops", "-vectorize-slp"});
    if (options.vector_math) flags.push_back("-fveclib=libmvec");
    // A call in tail position leaves no return address behind.
    if (options.line_table)
        flags.insert(flags.end(), {"-debug-info-kind=line-tables-only", "-dwarf-version=4",
                                   "-fno-optimize-sibling-calls"});
    flags.insert(flags.end(), options.flags.begin(), options.flags.end());
    return flags;
}

// libmvec's functions, if the machine has it; the handle lasts as long as the process.
void* vector_math_library() {
    static void* const library = ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
}

std::string around_line(const std::string& text, int line) {
    std::string shown;
    int number = 1;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (number >= line - 3 && number <= line + 3) {
            shown += (number == line ? "> " : "  ") + std::to_string(number) + " | " +
                     text.substr(begin, end - begin) + "\n";
        }
        begin = end + 1;
    }
    return shown;
}

[[noreturn]] void refuse(const ClangInput& input, const ClangOutput& output) {
    std::string message =
        "the text generated for the CPU was refused by its compiler; this is a defect of "
        "Halocline, please report it\n" +
        input.file_name + ":" + std::to_string(output.line) + ": " + output.complaint;
    if (output.line > 0) message += "\n" + around_line(input.text, output.line);
    throw Error(ErrorCode::compile_failed, message);
}

std::string cache_key(const ClangInput& input) {
    std::vector<std::string_view> parts{"cpu object 1", clang_target_name(), input.file_name, input.prelude,
                                        input.text};
    parts.insert(parts.end(), input.flags.begin(), input.flags.end());
    return hash_key(parts);
}

CompiledObject compile(const ClangInput& input) {
    CompiledObject result;
    ClangOutput output = run_clang(input);
    if (output.object.empty()) refuse(input, output);
    result.bytes = std::move(output.object);
    return result;
}

// The ranks of a run ask for the same object at the same moment: one compiles it, and the others wait.
CompiledObject find_or_compile(const ClangInput& input) {
    const DiskCache cache = DiskCache::in_user_folder();
    const std::string key = cache_key(input);
    CompiledObject result;
    const auto is_found = [&] {
        std::optional<std::string> object = cache.get(key);
        result.from_cache = object.has_value();
        if (object) result.bytes = std::move(*object);
        return result.from_cache;
    };
    if (is_found()) return result;
    const std::optional<KernelLock> lock = KernelLock::wait(cache, key, kMostToWait);
    if (is_found()) return result;
    result = compile(input);
    cache.put(key, result.bytes);
    return result;
}

}  // namespace

bool cpu_available() {
    return true;
}
std::string cpu_unavailable_reason() {
    return "";
}
std::string cpu_target_name() {
    return clang_target_name();
}

CompiledObject compile_object(const std::string& text, const JitOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    JitOptions possible = options;
    if (possible.vector_math && vector_math_library() == nullptr) possible.vector_math = false;
    const ClangInput input{options.file_name, text, options.prelude, compiler_flags(possible)};
    CompiledObject result = options.use_cache ? find_or_compile(input) : compile(input);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

struct JitModule::Code {
    std::unique_ptr<LoadedObject> object;
    std::string file_name;
    std::map<std::string, void*> by_name;
    std::vector<Variable> variables;
};

JitModule::JitModule(const CompiledObject& object, const JitOptions& options)
    : code_(std::make_unique<Code>()) {
    code_->object =
        std::make_unique<LoadedObject>(object.bytes, [&options](const std::string& name) -> void* {
            if (const auto found = options.symbols.find(name); found != options.symbols.end())
                return found->second;
            if (options.resolve) {
                if (void* address = options.resolve(name)) return address;
            }
            if (void* address = ::dlsym(RTLD_DEFAULT, name.c_str())) return address;
            // Objects compiled with vector_math may be loaded by programs that do not set it.
            if (name.rfind("_ZGV", 0) == 0 && vector_math_library())
                return ::dlsym(vector_math_library(), name.c_str());
            return nullptr;
        });
    code_->file_name = options.file_name;
    for (const LoadedObject::Symbol& symbol : code_->object->symbols()) {
        code_->by_name.emplace(symbol.name, symbol.address);
        if (!symbol.is_code) code_->variables.push_back({symbol.name, symbol.address, symbol.bytes});
    }
}

JitModule::~JitModule() = default;
JitModule::JitModule(JitModule&&) noexcept = default;
JitModule& JitModule::operator=(JitModule&&) noexcept = default;

void* JitModule::find(const std::string& name) const {
    const auto found = code_->by_name.find(name);
    return found == code_->by_name.end() ? nullptr : found->second;
}

std::optional<int> JitModule::line(const void* return_address) const {
    if (return_address == nullptr) return std::nullopt;
    return code_->object->line(static_cast<const char*>(return_address) - 1, code_->file_name);
}

const std::vector<JitModule::Variable>& JitModule::variables() const {
    return code_->variables;
}

}  // namespace halo::rt
