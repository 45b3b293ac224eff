// Nvrtc: CUDA C++ text to a CUBIN, in process, without a GPU. The library is opened when first used; nothing
// of the CUDA toolkit is needed to build. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"

namespace halo::rt {

// What ptxas said of one kernel.
struct KernelUsage {
    std::string name;
    int registers = 0;
    std::int64_t stack_bytes = 0;
    std::int64_t spill_store_bytes = 0;
    std::int64_t spill_load_bytes = 0;
    std::int64_t static_shared_bytes = 0;
};

struct CompiledCuda {
    std::string cubin;
    std::string log;                 // of ptxas
    std::vector<KernelUsage> usage;  // one for each kernel, in the log's order
    bool from_cache = false;
};

struct NvrtcOptions {
    std::string arch = "sm_90";
    std::vector<std::string> extra;  // appended to compile()'s own
    bool text_of_user = false;       // so that what is wrong with it is no defect of ours
};

class Nvrtc {
public:
    // nullptr where no libnvrtc can be opened; why_missing() then says where it was looked for and how to get
    // it.
    static Nvrtc* find();
    static std::string why_missing();

    int major() const;
    int minor() const;
    const std::string& path() const;         // of the library
    std::vector<int> architectures() const;  // 75, 80, 90 …

    // Options: -arch, -std=c++17, -minimal and --no-cache (where the version has them), -fmad=false,
    // --ptxas-options=-v. With a cache the result is looked up and kept there. Throws Error: compile_failed
    // with the text around the first error, for the text is ours; bad_argument for an arch that this NVRTC
    // does not know.
    CompiledCuda compile(const std::string& text, const std::string& name, const NvrtcOptions& options,
                         const DiskCache* cache = nullptr);

    // The PTX for that arch and later ones, as compile() makes it on its way; never cached.
    std::string compile_to_ptx(const std::string& text, const std::string& name, const NvrtcOptions& options);

    // What compile() would find in the cache; nullopt where it would have to compile.
    std::optional<CompiledCuda> find_compiled(const std::string& text, const NvrtcOptions& options,
                                              const DiskCache& cache) const;
    // By which the cache has what compile() makes of it.
    std::string key_of(const std::string& text, const NvrtcOptions& options) const;

    ~Nvrtc();

private:
    struct Library;
    explicit Nvrtc(std::unique_ptr<Library> library);
    std::string version() const;
    std::vector<std::string> all_options(const NvrtcOptions& options) const;
    std::unique_ptr<Library> library_;
};

}  // namespace halo::rt
