#include "emulator.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "block_runner.h"
#include "stand_ins.h"

namespace halo::emulator {

namespace {

constexpr std::size_t kMaxSharedBytes = 232448;  // a block of an H100 or H200
constexpr std::size_t kGap = 256;                // between shared arrays, so that a step past one is seen

const std::string& prelude() {
    static const std::string text = [] {
        std::string parts;
        for (const char* path : {HALO_EMULATOR_PRELUDE, HALO_EMULATOR_LANES}) {
            std::ifstream file(path);
            parts.append(std::istreambuf_iterator<char>(file), {});
        }
        return parts;
    }();
    return text;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The name before the parameter list of the function that __global__ at `from` begins.
std::string kernel_name(const std::string& text, std::size_t from) {
    static const std::set<std::string> kAttributes{"__launch_bounds__", "__attribute__", "__cluster_dims__",
                                                   "__maxnreg__", "__align__"};
    std::string word;
    for (std::size_t i = from; i < text.size(); ++i) {
        if (is_name_character(text[i])) {
            if (i == 0 || !is_name_character(text[i - 1])) word.clear();
            word += text[i];
        } else if (text[i] == '(') {
            if (kAttributes.count(word) == 0) return word;
            int depth = 0;
            for (; i < text.size(); ++i) {
                depth += text[i] == '(';
                depth -= text[i] == ')';
                if (depth == 0) break;
            }
        } else if (text[i] == ';' || text[i] == '{') {
            return "";
        }
    }
    return "";
}

std::vector<std::string> find_kernels(const std::string& text) {
    constexpr char kWord[] = "__global__";
    const std::string plain = without_comments(text);
    std::vector<std::string> names;
    for (std::size_t at = plain.find(kWord); at != std::string::npos; at = plain.find(kWord, at + 1)) {
        const std::string name = kernel_name(plain, at + sizeof kWord - 1);
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    return names;
}

// "_ZZ4heatE4tile" is the linker's name of `tile` in `heat`.
std::string spoken_name(const std::string& name) {
    int status = 0;
    char* demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    if (demangled == nullptr) return name;
    std::string spoken = demangled;
    std::free(demangled);
    const std::size_t colons = spoken.rfind("::");
    return colons == std::string::npos ? spoken : spoken.substr(colons + 2);
}

}  // namespace

CudaModule::CudaModule(const std::string& text, const std::string& name)
    : name_(name), text_(text), kernels_(find_kernels(text)) {
    rt::JitOptions options;
    options.file_name = "kernel.cu";
    options.prelude = prelude();
    options.optimization = optimization;
    options.line_table = true;
    options.use_cache = false;  // random programs would crowd out the user's
    // Threads meet at one place in the code: a call that may lead to a meeting is not copied into branches.
    options.flags = {"-fsanitize=thread", "-femulated-tls", "-fconvergent-functions", "-Wno-everything"};
    for (const char* option : {"-tsan-instrument-read-before-write=1", "-tsan-instrument-func-entry-exit=0",
                               "-tsan-instrument-atomics=0"}) {
        options.flags.push_back("-mllvm");
        options.flags.push_back(option);
    }
    options.symbols = emulated_functions();
    options.resolve = [this](const std::string& wanted) -> void* {
        return wanted.rfind("__emutls_v.", 0) == 0 ? &dynamic_ : nullptr;
    };
    void* (*address)(TlsControl*) = [](TlsControl* control) { return control->address; };
    options.symbols["__emutls_get_address"] = reinterpret_cast<void*>(address);
    std::string entries = "\n";
    for (const std::string& kernel : kernels_)
        entries += "HALO_ENTRY(" + kernel + ")\n";
    const rt::CompiledObject object = rt::compile_object(with_stand_ins(text) + entries, options);
    compile_seconds_ = object.seconds;
    code_ = std::make_unique<rt::JitModule>(object, options);
    place_shared_arrays();
}

// Gives each __shared__ array its address. One block runs at a time, so one copy will do.
void CudaModule::place_shared_arrays() {
    std::vector<TlsControl*> controls;
    std::size_t bytes = kMaxSharedBytes + 4 * kGap;
    constexpr char kPrefix[] = "__emutls_v.";
    for (const rt::JitModule::Variable& variable : code_->variables()) {
        if (variable.name.rfind(kPrefix, 0) == 0) {
            auto* control = static_cast<TlsControl*>(variable.address);
            controls.push_back(control);
            shared_.push_back(
                {spoken_name(variable.name.substr(sizeof kPrefix - 1)), nullptr, control->bytes});
            bytes += control->bytes + 2 * kGap;
            static_shared_bytes_ += control->bytes;
        } else if (variable.bytes > 0) {
            variables_.push_back(variable);
        }
    }
    shared_memory_ = std::make_unique<char[]>(bytes);
    char* next = shared_memory_.get();
    const auto place = [&](std::size_t size) {
        next += kGap + (kGap - reinterpret_cast<std::uintptr_t>(next) % kGap) % kGap;
        char* const address = next;
        next += size;
        return address;
    };
    for (std::size_t i = 0; i < controls.size(); ++i)
        controls[i]->address = shared_[i].address = place(shared_[i].bytes);
    dynamic_.address = place(kMaxSharedBytes);
}

std::shared_ptr<CudaModule> CudaModule::compile(const std::string& text, const std::string& name) {
    static std::map<std::string, std::weak_ptr<CudaModule>> known;
    static std::deque<std::shared_ptr<CudaModule>> last;
    if (std::shared_ptr<CudaModule> module = known[text].lock()) return module;
    auto module = std::make_shared<CudaModule>(text, name);
    known[text] = module;
    last.push_back(module);
    if (last.size() > 16) last.pop_front();
    if (known.size() > 256) std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    return module;
}

int CudaModule::parameters(const std::string& kernel) const {
    const void* count = code_->find("halo_parameters_" + kernel);
    return count == nullptr ? -1 : *static_cast<const int*>(count);
}

const rt::JitModule::Variable* CudaModule::variable(const std::string& name) const {
    const auto found = std::find_if(variables_.begin(), variables_.end(),
                                    [&](const auto& variable) { return variable.name == name; });
    return found == variables_.end() ? nullptr : &*found;
}

std::string CudaModule::text_line(int line) const {
    std::size_t begin = 0;
    for (int number = 1; number < line && begin != std::string::npos; ++number) {
        begin = text_.find('\n', begin);
        if (begin != std::string::npos) ++begin;
    }
    if (begin == std::string::npos) return "";
    begin = std::min(text_.find_first_not_of(' ', begin), text_.size());
    return text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
}

// ---- the emulator
// --------------------------------------------------------------------------------------------

Emulator::Emulator(const CheckOptions& options) {
    shadow_.set_options(options);
}
Emulator::~Emulator() = default;

void Emulator::add_array(const void* address, std::size_t bytes, const std::string& name, bool initialised) {
    shadow_.add(address, bytes, Space::global, name, initialised);
}
void Emulator::remove_array(const void* address) {
    shadow_.remove(address);
}
void Emulator::mark_written(const void* address, std::size_t bytes) {
    shadow_.mark_written(address, bytes);
}

void Emulator::attach(const std::shared_ptr<CudaModule>& module) {
    Attached& attached = attached_[module.get()];
    if (attached.count++ > 0) return;
    attached.module = module;
    for (const rt::JitModule::Variable& variable : module->variables_)
        shadow_.add(variable.address, variable.bytes, Space::variable, spoken_name(variable.name), true);
    for (const CudaModule::SharedArray& array : module->shared_)
        shadow_.add(array.address, array.bytes, Space::shared, array.name, false);
    shadow_.add(module->dynamic_.address, kMaxSharedBytes, Space::shared, "dynamic shared memory", false);
}

void Emulator::detach(const CudaModule& module) {
    const auto attached = attached_.find(&module);
    if (attached == attached_.end() || --attached->second.count > 0) return;
    for (const rt::JitModule::Variable& variable : module.variables_)
        shadow_.remove(variable.address);
    for (const CudaModule::SharedArray& array : module.shared_)
        shadow_.remove(array.address);
    shadow_.remove(module.dynamic_.address);
    attached_.erase(attached);
}

namespace {

std::string show(const ThreadIndex& index) {
    return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) +
           ")";
}

ThreadIndex index_of(const Extent3& extent) {
    return {static_cast<unsigned>(extent[0]), static_cast<unsigned>(extent[1]),
            static_cast<unsigned>(extent[2])};
}

const char* kind_name(FindingKind kind) {
    switch (kind) {
        case FindingKind::none:
            break;
        case FindingKind::out_of_bounds:
            return "out of bounds";
        case FindingKind::misaligned:
            return "misaligned access";
        case FindingKind::uninitialised:
            return "uninitialised read";
        case FindingKind::race:
            return "race";
        case FindingKind::divergent_barrier:
            return "divergent barrier";
        case FindingKind::divergent_warp:
            return "divergent warp";
        case FindingKind::deadlock:
            return "deadlock";
        case FindingKind::bad_launch:
            return "impossible launch";
    }
    return "";
}

// What no device would launch, in words; empty where all is well.
std::string refuse_shape(const LaunchShape& shape, std::size_t static_shared_bytes) {
    constexpr std::int64_t kThreads[] = {1024, 1024, 64}, kBlocks[] = {2147483647, 65535, 65535};
    std::int64_t threads = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const std::string where = " along axis " + std::to_string(axis);
        if (shape.threads[axis] < 1 || shape.threads[axis] > kThreads[axis])
            return std::to_string(shape.threads[axis]) + " threads" + where;
        if (shape.blocks[axis] < 1 || shape.blocks[axis] > kBlocks[axis])
            return std::to_string(shape.blocks[axis]) + " blocks" + where;
        threads *= shape.threads[axis];
    }
    if (threads > 1024) return std::to_string(threads) + " threads in a block";
    const std::int64_t shared = static_cast<std::int64_t>(static_shared_bytes) + shape.dynamic_shared_bytes;
    if (shape.dynamic_shared_bytes < 0 || shared > static_cast<std::int64_t>(kMaxSharedBytes))
        return std::to_string(shared) + " bytes of shared memory in a block";
    return "";
}

std::string describe_place(const Violation& violation) {
    if (violation.region == nullptr) return "memory, and no array is known";
    const Region& region = *violation.region;
    const auto offset = static_cast<std::int64_t>(violation.address - region.begin);
    const char* what = region.space == Space::shared     ? "shared "
                       : region.space == Space::variable ? "variable "
                                                         : "";
    return "byte " + std::to_string(offset) + " of " + what + "'" + region.name + "' (" +
           std::to_string(region.end - region.begin) + " bytes)";
}

}  // namespace

void Emulator::launch(CudaModule& module, const std::string& kernel, const LaunchShape& shape,
                      void** arguments) {
    auto* entry = module.code_->function<BlockRunner::Entry>("halo_entry_" + kernel);
    if (entry == nullptr)
        throw rt::Error(rt::ErrorCode::internal, "no kernel '" + kernel + "' in " + module.name_);
    if (attached_.count(&module) == 0) throw rt::Error(rt::ErrorCode::internal, "module is not attached");
    if (const std::string why = refuse_shape(shape, module.static_shared_bytes_); !why.empty())
        throw EmulationError(FindingKind::bad_launch, 0,
                             "impossible launch of kernel '" + kernel + "': " + why);

    if (shape.together) return launch_together(module, kernel, shape, arguments);
    shadow_.resize(module.dynamic_.address, static_cast<std::size_t>(shape.dynamic_shared_bytes));
    shadow_.begin_launch(next_block_);
    const std::uint32_t first_block = next_block_;
    const ThreadIndex blocks = index_of(shape.blocks);
    BlockRunner runner(shadow_, blocks, index_of(shape.threads), reinterpret_cast<const void*>(entry));
    for (ThreadIndex block; block.z < blocks.z; ++block.z) {
        for (block.y = 0; block.y < blocks.y; ++block.y) {
            for (block.x = 0; block.x < blocks.x; ++block.x) {
                if (!runner.run(block, take_number(), entry, arguments))
                    module.report(kernel, runner, first_block, blocks);
            }
        }
    }
}

std::uint32_t Emulator::take_number() {
    if (next_block_ == std::numeric_limits<std::uint32_t>::max())
        throw rt::Error(rt::ErrorCode::internal, "the emulator has run all blocks that it can count");
    return next_block_++;
}

// The shared memory of a block while others have their turn.
struct SharedOfBlock {
    std::vector<std::vector<char>> bytes;
    std::vector<std::vector<Cell>> cells;

    // Puts one block's away, or brings it back.
    void swap(CudaModule& module, Shadow& shadow, std::size_t dynamic_bytes) {
        bytes.resize(module.shared_.size() + 1);
        cells.resize(bytes.size());
        const auto exchange = [&](std::size_t index, void* address, std::size_t size) {
            bytes[index].resize(size);
            auto* memory = static_cast<char*>(address);
            std::swap_ranges(bytes[index].begin(), bytes[index].end(), memory);
            if (size > 0) shadow.swap_cells(address, cells[index]);
        };
        for (std::size_t index = 0; index < module.shared_.size(); ++index)
            exchange(index, module.shared_[index].address, module.shared_[index].bytes);
        exchange(module.shared_.size(), module.dynamic_.address, dynamic_bytes);
    }
};

// Blocks take turns: each runs until all its threads poll packets of others.
void Emulator::launch_together(CudaModule& module, const std::string& kernel, const LaunchShape& shape,
                               void** arguments) {
    auto* entry = module.code_->function<BlockRunner::Entry>("halo_entry_" + kernel);
    const ThreadIndex blocks = index_of(shape.blocks), threads = index_of(shape.threads);
    const std::size_t count = std::size_t{blocks.x} * blocks.y * blocks.z;
    if (count * threads.x * threads.y * threads.z > BlockRunner::kMostThreadsTogether)
        throw EmulationError(FindingKind::bad_launch, 0,
                             "kernel '" + kernel + "' has more blocks than can be there at once");
    const auto dynamic_bytes = static_cast<std::size_t>(shape.dynamic_shared_bytes);
    shadow_.resize(module.dynamic_.address, dynamic_bytes);
    shadow_.begin_launch(next_block_);
    const std::uint32_t first_block = next_block_;
    std::vector<std::unique_ptr<BlockRunner>> runners;
    std::vector<SharedOfBlock> shared(count);
    for (std::size_t number = 0; number < count; ++number)
        runners.push_back(std::make_unique<BlockRunner>(
            shadow_, blocks, threads, reinterpret_cast<const void*>(entry), static_cast<int>(number)));
    const auto turn = [&](std::size_t number, bool is_first) {
        const auto index = static_cast<unsigned>(number);
        const ThreadIndex block{index % blocks.x, index / blocks.x % blocks.y, index / blocks.x / blocks.y};
        BlockRunner& runner = *runners[number];
        shared[number].swap(module, shadow_, dynamic_bytes);
        const bool good = is_first ? runner.run(block, take_number(), entry, arguments) : runner.go_on();
        if (!good) module.report(kernel, runner, first_block, blocks);
        shared[number].swap(module, shadow_, dynamic_bytes);
        return !runner.is_paused();
    };
    std::vector<std::size_t> left;
    for (std::size_t number = 0; number < count; ++number)
        if (!turn(number, true)) left.push_back(number);
    // A thread may give way before it has seen all packets that it polls: one idle round is no deadlock yet.
    constexpr int kIdleRounds = 16;
    for (int idle = 0; !left.empty();) {
        const std::uint64_t before = BlockRunner::packets_stored();
        const std::size_t there = left.size();
        std::erase_if(left, [&](std::size_t number) { return turn(number, false); });
        const bool is_idle = left.size() == there && BlockRunner::packets_stored() == before;
        idle = is_idle ? idle + 1 : 0;
        if (idle == kIdleRounds) {
            runners[left.front()]->report_deadlock();
            module.report(kernel, *runners[left.front()], first_block, blocks);
        }
    }
}

// What the first finding of a launch was, in words.
void CudaModule::report(const std::string& kernel, const BlockRunner& runner, std::uint32_t first_block,
                        const ThreadIndex& blocks) const {
    const Trouble& trouble = runner.trouble();
    const Violation& violation = trouble.violation;
    const bool left = trouble.place == nullptr;  // the kernel, while others wait
    const int line = code_->line(left ? trouble.other_place : trouble.place).value_or(0);
    std::string text = std::string(kind_name(trouble.kind)) + ": kernel '" + kernel + "', block " +
                       show(trouble.block) + ", thread " + show(trouble.thread);
    const auto add_line = [&](int number) {
        if (number > 0) text += "\n    " + name_ + ":" + std::to_string(number) + " | " + text_line(number);
    };
    if (violation.kind == FindingKind::none) {  // a meeting that fails
        text += left ? " left the kernel, and thread " + show(trouble.other_thread) + " waits for it"
                     : "; thread " + show(trouble.other_thread) + " " + trouble.detail;
        add_line(line);
        if (!left) add_line(code_->line(trouble.other_place).value_or(0));
        throw EmulationError(trouble.kind, line, text);
    }
    text += std::string(violation.is_write ? " writes " : " reads ") + std::to_string(trouble.bytes) +
            " bytes at " + describe_place(violation);
    if (*trouble.detail != '\0') text += std::string(", ") + trouble.detail;
    add_line(line);
    if (trouble.kind == FindingKind::race) {
        const Access& other = violation.other;
        const std::uint32_t number = other.block - first_block;
        text += "\n  which thread " + show(runner.thread_index(other.thread)) + " of block " +
                show({number % blocks.x, number / blocks.x % blocks.y, number / blocks.x / blocks.y}) +
                (violation.other_is_write ? " wrote" : " read") + " with no barrier between them";
        add_line(code_->line(runner.place_of(other.site)).value_or(0));
    }
    throw EmulationError(trouble.kind, line, text);
}

}  // namespace halo::emulator
