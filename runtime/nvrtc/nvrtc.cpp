#include "runtime/nvrtc/nvrtc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "runtime/nvrtc/library.h"
#include "runtime/nvrtc/ptxas_log.h"

namespace halo::rt {

namespace {

struct Search {
    std::unique_ptr<Nvrtc> found;
    std::string tried;
};

// What is around a line of the text, with the line marked.
std::string excerpt(std::string_view text, int wanted) {
    constexpr int kAround = 4;
    std::string shown;
    int number = 1;
    while (!text.empty() && number <= wanted + kAround) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (number >= wanted - kAround)
            shown += fmt::format("  {} {:5} | {}\n", number == wanted ? '>' : ' ', number, line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        ++number;
    }
    return shown;
}

// The line of the first "name(12): error" in a log; 0 where there is none.
int first_error_line(std::string_view log) {
    std::size_t at = 0;
    while ((at = log.find('(', at)) != std::string_view::npos) {
        ++at;
        int line = 0;
        const auto parsed = std::from_chars(log.data() + at, log.data() + log.size(), line);
        const std::string_view rest(parsed.ptr,
                                    log.size() - static_cast<std::size_t>(parsed.ptr - log.data()));
        if (parsed.ec == std::errc() && rest.starts_with("): error")) return line;
    }
    return 0;
}

std::string first_lines(std::string_view log, int count) {
    std::string lines;
    while (!log.empty() && count-- > 0) {
        const std::string_view line = log.substr(0, log.find('\n'));
        if (!line.empty()) lines += fmt::format("  {}\n", line);
        log.remove_prefix(std::min(log.size(), line.size() + 1));
    }
    return lines;
}

Error refused(const std::string& text, const std::string& name, std::string_view log,
              const std::string& version, bool of_user) {
    constexpr int kLogLines = 12;
    if (of_user)
        return Error(ErrorCode::compile_failed,
                     fmt::format("NVRTC {} refuses '{}':\n{}", version, name, first_lines(log, kLogLines)));
    std::string message = fmt::format(
        "internal error: NVRTC {} refused the CUDA text generated for '{}'. This is a defect of Halocline, "
        "not of your "
        "program; please report it with the program and this text.\n{}",
        version, name, first_lines(log, kLogLines));
    if (const int line = first_error_line(log); line > 0)
        message += "The text there:\n" + excerpt(text, line);
    return Error(ErrorCode::compile_failed, message);
}

// One entry of the cache: the log's length, the log, the CUBIN.
std::string pack(const CompiledCuda& compiled) {
    return fmt::format("{}\n{}{}", compiled.log.size(), compiled.log, compiled.cubin);
}

std::optional<CompiledCuda> unpack(std::string_view bytes) {
    std::size_t log_size = 0;
    const auto parsed = std::from_chars(bytes.data(), bytes.data() + bytes.size(), log_size);
    if (parsed.ec != std::errc() || parsed.ptr == bytes.data() + bytes.size() || *parsed.ptr != '\n')
        return std::nullopt;
    bytes.remove_prefix(static_cast<std::size_t>(parsed.ptr - bytes.data()) + 1);
    if (bytes.size() < log_size) return std::nullopt;
    CompiledCuda compiled;
    compiled.log = bytes.substr(0, log_size);
    compiled.cubin = bytes.substr(log_size);
    compiled.usage = parse_ptxas_log(compiled.log);
    compiled.from_cache = true;
    return compiled;
}

// Frees the program also after an exception.
template <class Library>
class ProgramOwner {
public:
    explicit ProgramOwner(const Library& library) : library_(library) {}
    ~ProgramOwner() {
        if (program != nullptr) library_.destroy(&program);
    }
    ProgramOwner(const ProgramOwner&) = delete;
    ProgramOwner& operator=(const ProgramOwner&) = delete;
    typename Library::Program program = nullptr;

private:
    const Library& library_;
};

template <class Library>
void check(const Library& library, int result, const char* what) {
    if (result != Library::kSuccess)
        throw Error(ErrorCode::internal,
                    fmt::format("NVRTC: {} failed: {}", what, library.error_text(result)));
}

// Compiles; gives the log.
template <class Library>
std::string run_compiler(const Library& library, ProgramOwner<Library>& owner, const std::string& text,
                         const std::string& name, const std::vector<std::string>& options,
                         const std::string& version, bool of_user) {
    check(library, library.create(&owner.program, text.c_str(), name.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
    std::vector<const char*> raw;
    for (const std::string& option : options)
        raw.push_back(option.c_str());
    const int result = library.compile(owner.program, static_cast<int>(raw.size()), raw.data());

    std::string log;
    std::size_t bytes = 0;
    check(library, library.log_size(owner.program, &bytes), "nvrtcGetProgramLogSize");
    log.resize(bytes);
    if (bytes > 0) check(library, library.log(owner.program, log.data()), "nvrtcGetProgramLog");
    while (!log.empty() && log.back() == '\0')
        log.pop_back();
    if (result == Library::kCompilationFailed) throw refused(text, name, log, version, of_user);
    if (result == Library::kInvalidOption)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("NVRTC {} does not know one of these options: {}\n{}", version,
                                fmt::join(options, " "), first_lines(log, 4)));
    check(library, result, "nvrtcCompileProgram");
    return log;
}

template <class Library>
CompiledCuda compile_cubin(const Library& library, const std::string& text, const std::string& name,
                           const std::vector<std::string>& options, const std::string& version,
                           bool of_user) {
    ProgramOwner<Library> owner(library);
    CompiledCuda compiled;
    compiled.log = run_compiler(library, owner, text, name, options, version, of_user);
    std::size_t bytes = 0;
    check(library, library.cubin_size(owner.program, &bytes), "nvrtcGetCUBINSize");
    compiled.cubin.resize(bytes);
    check(library, library.cubin(owner.program, compiled.cubin.data()), "nvrtcGetCUBIN");
    compiled.usage = parse_ptxas_log(compiled.log);
    return compiled;
}

// "sm_90" and "sm_90a" alike.
void check_arch(const std::string& arch, const std::vector<int>& known, const std::string& version) {
    int number = 0;
    if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
    if (number > 0 && (known.empty() || std::find(known.begin(), known.end(), number) != known.end())) return;
    throw Error(ErrorCode::bad_argument, fmt::format("NVRTC {} does not compile for '{}'; it knows sm_{}",
                                                     version, arch, fmt::join(known, ", sm_")));
}

}  // namespace

static Search& search() {
    static Search result;
    return result;
}

Nvrtc* Nvrtc::find() {
    static Nvrtc* const found = [] {
        Search& here = search();
        if (auto library = Library::open(here.tried)) here.found.reset(new Nvrtc(std::move(library)));
        return here.found.get();
    }();
    return found;
}

std::string Nvrtc::why_missing() {
    if (find() != nullptr) return {};
    return fmt::format(
        "NVRTC, NVIDIA's run-time compiler, was not found ({}). It comes with the CUDA toolkit 12 or 13 "
        "(package "
        "cuda-nvrtc-13-0 and its like); where it is in an unusual place, set CUDA_HOME to the toolkit's "
        "folder",
        search().tried);
}

Nvrtc::Nvrtc(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvrtc::~Nvrtc() = default;

int Nvrtc::major() const {
    return library_->major;
}
int Nvrtc::minor() const {
    return library_->minor;
}
const std::string& Nvrtc::path() const {
    return library_->path;
}
std::vector<int> Nvrtc::architectures() const {
    return library_->architectures;
}

std::string Nvrtc::version() const {
    return fmt::format("{}.{}", major(), minor());
}

std::vector<std::string> Nvrtc::all_options(const NvrtcOptions& options) const {
    std::vector<std::string> list = {"-arch=" + options.arch, "-std=c++17", "-fmad=false",
                                     "--ptxas-options=-v"};
    if (library_->minimal) list.emplace_back("-minimal");
    // Where there is a driver, NVRTC keeps results of its own, and says nothing of registers when it gives
    // one back.
    if (library_->no_cache) list.emplace_back("--no-cache");
    list.insert(list.end(), options.extra.begin(), options.extra.end());
    return list;
}

std::string Nvrtc::key_of(const std::string& text, const NvrtcOptions& options) const {
    return hash_key({"nvrtc", version(), library_->build,
                     fmt::format("{}", fmt::join(all_options(options), "\n")), text});
}

std::optional<CompiledCuda> Nvrtc::find_compiled(const std::string& text, const NvrtcOptions& options,
                                                 const DiskCache& cache) const {
    const std::optional<std::string> bytes = cache.get(key_of(text, options));
    return bytes ? unpack(*bytes) : std::nullopt;
}

CompiledCuda Nvrtc::compile(const std::string& text, const std::string& name, const NvrtcOptions& options,
                            const DiskCache* cache) {
    check_arch(options.arch, library_->architectures, version());
    if (cache != nullptr)
        if (std::optional<CompiledCuda> found = find_compiled(text, options, *cache))
            return std::move(*found);
    CompiledCuda compiled =
        compile_cubin(*library_, text, name, all_options(options), version(), options.text_of_user);
    if (cache != nullptr) cache->put(key_of(text, options), pack(compiled));
    return compiled;
}

std::string Nvrtc::compile_to_ptx(const std::string& text, const std::string& name,
                                  const NvrtcOptions& options) {
    check_arch(options.arch, library_->architectures, version());
    ProgramOwner<Library> owner(*library_);
    run_compiler(*library_, owner, text, name, all_options(options), version(), options.text_of_user);
    std::size_t bytes = 0;
    check(*library_, library_->ptx_size(owner.program, &bytes), "nvrtcGetPTXSize");
    std::string ptx(bytes, '\0');
    check(*library_, library_->ptx(owner.program, ptx.data()), "nvrtcGetPTX");
    while (!ptx.empty() && ptx.back() == '\0')
        ptx.pop_back();
    return ptx;
}

}  // namespace halo::rt
