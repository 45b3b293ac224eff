// Runs CUDA text on this machine's processor, unmodified, and watches it: the text is compiled in this
// process with calls before each access to memory, one fiber runs each CUDA thread, blocks run one after the
// other.
//
// A mistake of a kernel ends its launch with an EmulationError that names kernel, block, thread and line:
// accesses outside every array or across its end, vector accesses that are not aligned, reads of memory that
// nobody wrote (shared: in this block), races (shadow.h), barriers and warp meetings that not all threads
// reach at one place, launches that no device would take. A thread's own variables are not watched.
//
// Not understood: inline PTX, text that includes headers, partial warp masks that meet at two places at once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/cpu/jit.h"
#include "shadow.h"

namespace halo::emulator {

class BlockRunner;
struct ThreadIndex;

using Extent3 = std::array<std::int64_t, 3>;

class EmulationError : public rt::Error {
public:
    EmulationError(FindingKind kind, int line, const std::string& text)
        : rt::Error(rt::ErrorCode::launch_failed, text), kind_(kind), line_(line) {}
    FindingKind kind() const { return kind_; }
    int line() const { return line_; }  // of the CUDA text, from 1; 0 where not known

private:
    FindingKind kind_;
    int line_;
};

// Compiled CUDA text. Its variables are its own; two launches of one module must not run at once.
class CudaModule {
public:
    // Of texts that are compiled from now on. Without it each access that a text has is watched, and LLVM
    // takes half the time; kernels take longer, which shows where one text runs on large grids.
    static inline int optimization = 1;

    // Throws Error where the text is refused.
    CudaModule(const std::string& text, const std::string& name);
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    // The same text gives the same module while somebody holds it or it is among the last few.
    static std::shared_ptr<CudaModule> compile(const std::string& text, const std::string& name);

    const std::vector<std::string>& kernels() const { return kernels_; }
    int parameters(const std::string& kernel) const;  // -1 where there is no such kernel
    const rt::JitModule::Variable* variable(const std::string& name) const;  // __constant__ and __device__
    double compile_seconds() const { return compile_seconds_; }

private:
    friend class Emulator;
    friend struct SharedOfBlock;
    struct SharedArray {
        std::string name;
        char* address = nullptr;
        std::size_t bytes = 0;
    };
    // As gcc and clang lay it out for emulated thread-local variables.
    struct TlsControl {
        std::size_t bytes = 0, alignment = 16;
        void* address = nullptr;
        void* initial = nullptr;
    };
    void place_shared_arrays();
    [[noreturn]] void report(const std::string& kernel, const BlockRunner& runner, std::uint32_t first_block,
                             const ThreadIndex& blocks) const;
    std::string text_line(int line) const;

    std::string name_, text_;
    std::vector<std::string> kernels_;
    double compile_seconds_ = 0;
    std::unique_ptr<char[]> shared_memory_;
    TlsControl dynamic_;  // of every `extern __shared__` array
    std::vector<SharedArray> shared_;
    std::vector<rt::JitModule::Variable> variables_;
    std::unique_ptr<rt::JitModule> code_;
    std::size_t static_shared_bytes_ = 0;
};

struct LaunchShape {
    Extent3 blocks{1, 1, 1};
    Extent3 threads{1, 1, 1};
    std::int64_t dynamic_shared_bytes = 0;
    bool together = false;  // all blocks at once, as they wait for each other
};

// Global memory, and launches on it. One thread at a time uses emulators.
class Emulator {
public:
    explicit Emulator(const CheckOptions& options = {});
    ~Emulator();

    // The arrays that kernels may touch.
    void add_array(const void* address, std::size_t bytes, const std::string& name, bool initialised);
    void remove_array(const void* address);
    void mark_written(const void* address, std::size_t bytes);

    void attach(const std::shared_ptr<CudaModule>& module);  // counts; detach as often
    void detach(const CudaModule& module);

    // arguments[i] points at the value of parameter i. Throws EmulationError, and after it arrays hold what
    // had been written until then.
    void launch(CudaModule& module, const std::string& kernel, const LaunchShape& shape, void** arguments);

private:
    void launch_together(CudaModule& module, const std::string& kernel, const LaunchShape& shape,
                         void** arguments);
    std::uint32_t take_number();  // of a block
    Shadow shadow_;
    std::uint32_t next_block_ = 2;
    struct Attached {
        std::shared_ptr<CudaModule> module;
        int count = 0;
    };
    std::map<const CudaModule*, Attached> attached_;
};

}  // namespace halo::emulator
