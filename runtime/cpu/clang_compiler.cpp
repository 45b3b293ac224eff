#include "runtime/cpu/clang_compiler.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendOptions.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

namespace halo::rt {

namespace {

constexpr char kPreludeName[] = "/prelude.h";

struct Host {
    std::string triple, cpu;
    std::vector<std::string> features;  // "+avx2", "-sse4a", sorted
};

const Host& host() {
    static const Host value = [] {
        Host found{llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), {}};
        llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
        for (const auto& feature : features) {
            // LLVM 19 takes these for a promise about vector width and warns.
            if (feature.first().starts_with("avx10")) continue;
            found.features.push_back((feature.second ? "+" : "-") + feature.first().str());
        }
        std::sort(found.features.begin(), found.features.end());
        return found;
    }();
    return value;
}

// Keeps the first error alone: later ones often follow from it.
class FirstError : public clang::DiagnosticConsumer {
public:
    explicit FirstError(ClangOutput& output) : output_(output) {}
    void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                          const clang::Diagnostic& diagnostic) override {
        clang::DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
        if (level < clang::DiagnosticsEngine::Error || !output_.complaint.empty()) return;
        llvm::SmallString<256> text;
        diagnostic.FormatDiagnostic(text);
        output_.complaint = text.str().str();
        if (!diagnostic.hasSourceManager() || !diagnostic.getLocation().isValid()) return;
        const clang::SourceManager& sources = diagnostic.getSourceManager();
        const clang::FullSourceLoc place(sources.getExpansionLoc(diagnostic.getLocation()), sources);
        if (place.getFileID() == sources.getMainFileID())
            output_.line = static_cast<int>(place.getExpansionLineNumber());
    }

private:
    ClangOutput& output_;
};

// Clang prefers vectors of half the width on all of Intel's processors that have vectors of 64 bytes, as the
// first of them lower their clock for these. Later ones do not: on a Sapphire Rapids a star of 25 points
// is 1.3 times as fast by them, and others as fast.
bool has_wide_vectors(const std::string& cpu) {
    constexpr std::array<const char*, 3> kNames{"sapphirerapids", "emeraldrapids", "graniterapids"};
    return std::ranges::find(kNames, cpu) != kNames.end();
}

std::vector<std::string> arguments_of(const ClangInput& input) {
    std::vector<std::string> arguments{"-triple", host().triple, "-target-cpu", host().cpu};
    if (has_wide_vectors(host().cpu)) arguments.push_back("-mprefer-vector-width=512");
    for (const std::string& feature : host().features) {
        arguments.push_back("-target-feature");
        arguments.push_back(feature);
    }
    arguments.insert(arguments.end(), input.flags.begin(), input.flags.end());
    if (!input.prelude.empty()) arguments.insert(arguments.end(), {"-include", kPreludeName});
    arguments.insert(arguments.end(),
                     {"-main-file-name", input.file_name, "-x", "c++", "/" + input.file_name});
    return arguments;
}

// "-mllvm" options are variables of the process: set when they are first asked for, and they stay.
void set_llvm_options(const std::vector<std::string>& options) {
    static std::mutex mutex;
    static std::vector<std::string> present;
    const std::lock_guard lock(mutex);
    if (options.empty() || options == present) return;
    std::vector<const char*> words{"halocline"};
    for (const std::string& option : options)
        words.push_back(option.c_str());
    llvm::cl::ResetAllOptionOccurrences();
    llvm::cl::ParseCommandLineOptions(static_cast<int>(words.size()), words.data());
    present = options;
}

}  // namespace

const std::string& clang_target_name() {
    static const std::string name = [] {
        std::string text = clang::getClangFullVersion() + " " + host().triple + " " + host().cpu;
        if (has_wide_vectors(host().cpu)) text += " wide";
        for (const std::string& feature : host().features)
            text += " " + feature;
        return text;
    }();
    return name;
}

ClangOutput run_clang(const ClangInput& input) {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser();
    });
    ClangOutput output;
    FirstError consumer(output);
    const std::vector<std::string> arguments = arguments_of(input);
    std::vector<const char*> words;
    for (const std::string& argument : arguments)
        words.push_back(argument.c_str());

    clang::CompilerInstance compiler;
    compiler.createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
    if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(), words,
                                                   compiler.getDiagnostics())) {
        if (output.complaint.empty()) output.complaint = "the compiler's arguments are not understood";
        return output;
    }
    // The invocation's diagnostic options (no warnings) hold for the engine made from now on.
    compiler.createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
    set_llvm_options(compiler.getFrontendOpts().LLVMArgs);

    auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    files->addFile("/" + input.file_name, 0, llvm::MemoryBuffer::getMemBuffer(input.text));
    if (!input.prelude.empty())
        files->addFile(kPreludeName, 0, llvm::MemoryBuffer::getMemBuffer(input.prelude));
    compiler.createFileManager(files);
    compiler.setVerboseOutputStream(llvm::nulls());

    llvm::SmallVector<char, 0> object;
    compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
    clang::EmitObjAction action;
    const bool done = compiler.ExecuteAction(action);
    if (done && output.complaint.empty()) {
        output.object.assign(object.data(), object.size());
    } else if (output.complaint.empty()) {
        output.complaint = "the compiler failed without a word";
    }
    return output;
}

}  // namespace halo::rt
