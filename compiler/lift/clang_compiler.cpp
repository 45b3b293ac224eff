#include "compiler/lift/clang_compiler.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Driver/Types.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <vector>

#include "compiler/lift/stand_in_headers.h"
#include "compiler/lift/stand_ins.h"

namespace halo::lift {

namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& tail) {
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// As in compile_commands.json, without compiler, input and output; else nothing.
std::vector<std::string> database_arguments(const SourceRequest& request, std::string& folder) {
    std::string trouble;
    std::unique_ptr<clang::tooling::CompilationDatabase> database =
        request.build_folder.empty()
            ? clang::tooling::CompilationDatabase::autoDetectFromSource(request.file, trouble)
            : clang::tooling::CompilationDatabase::autoDetectFromDirectory(request.build_folder, trouble);
    if (!database) {
        if (request.build_folder.empty()) return {};
        throw SourceError("there is no compile_commands.json in " + request.build_folder, true);
    }
    const std::string path = fs::absolute(request.file).lexically_normal().string();
    std::vector<clang::tooling::CompileCommand> commands = database->getCompileCommands(path);
    if (commands.empty()) return {};
    folder = commands.front().Directory;
    auto words = clang::tooling::getClangStripOutputAdjuster()(commands.front().CommandLine, path);
    std::vector<std::string> arguments;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const bool is_input = ends_with(path, fs::path(words[i]).filename().string()) &&
                              fs::path(words[i]).extension() == fs::path(path).extension();
        if (words[i] == "-c" || words[i] == "--" || is_input) continue;
        arguments.push_back(words[i]);
    }
    return arguments;
}

// Drops -fopenmp and warnings: OpenMP's pragmas say how a loop is run and not what it computes, and warnings
// are the compiler's matter.
bool is_dropped(const std::string& argument) {
    return argument.rfind("-fopenmp", 0) == 0 || argument.rfind("-fopenacc", 0) == 0 ||
           argument.rfind("-W", 0) == 0 || argument.rfind("-O", 0) == 0 || argument.rfind("-g", 0) == 0 ||
           argument == "-c" || argument.rfind("-march", 0) == 0 || argument.rfind("--expt", 0) == 0 ||
           argument.rfind("-arch", 0) == 0;
}

constexpr char kCudaFolder[] = "/halo-lift-cuda", kOtherFolder[] = "/halo-lift-headers";
constexpr char kCallFolder[] = "/halo-lift-calls", kKokkosFolder[] = "/halo-lift-kokkos";

struct Command {
    std::vector<std::string> words;  // of clang's driver
    std::string folder;
};

Command command_of(const SourceRequest& request, Mode mode) {
    Command command;
    std::vector<std::string> arguments = request.arguments;
    if (arguments.empty()) arguments = database_arguments(request, command.folder);
    command.words = {HALO_CLANG, "-fsyntax-only", "-resource-dir", HALO_CLANG_RESOURCES, "-w"};
    if (is_cuda(request)) {
        if (mode == Mode::read)
            command.words.insert(command.words.end(), {"-x", "cuda", "--cuda-host-only", "-nocudainc",
                                                       "-nocudalib", "--no-cuda-version-check"});
        else
            command.words.insert(command.words.end(), {"-x", "c++", "-DHALO_LIFT_HOST=1"});
        if (request.text.empty())
            command.words.insert(command.words.end(), {"-include", std::string(kCudaFolder) + "/prelude.h",
                                                       "-isystem", kCudaFolder});
    }
    // One thread runs it, and the loader does not support thread-local storage.
    if (mode == Mode::compile)
        command.words.insert(command.words.end(), {"-Dthread_local=", "-D_Thread_local=", "-D__thread="});
    // What calls the function fills the members of its objects.
    if (mode == Mode::compile) command.words.emplace_back("-fno-access-control");
    // Stencils that a source calls already are run by stand-ins, too, and need no headers of Halocline's.
    if (request.text.empty())
        command.words.insert(command.words.end(), {"-iquote", kCallFolder, "-I", kKokkosFolder});
    for (const std::string& argument : arguments) {
        if (!is_dropped(argument)) command.words.push_back(argument);
    }
    if (request.text.empty()) command.words.insert(command.words.end(), {"-idirafter", kOtherFolder});
    // Computes as the text states: no contraction of products and sums.
    command.words.insert(command.words.end(), {"-ffp-contract=off", fs::absolute(request.file).string()});
    return command;
}

// Clang treats a file without a known extension as an object to link.
void check_language(const SourceRequest& request, const Command& command) {
    namespace types = clang::driver::types;
    const types::ID type = types::lookupTypeForExtension(llvm::sys::path::extension(request.file).ltrim('.'));
    const auto says = [](const std::string& word) { return word.rfind("-x", 0) == 0; };
    if (std::any_of(command.words.begin(), command.words.end(), says)) return;
    if (type == types::TY_INVALID || type == types::TY_Object)
        throw SourceError(request.file + " is no C, C++ or CUDA by its name; say which after --: -- -x c");
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const SourceRequest& request, const Command& command,
                                                         const std::string* replacement) {
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    if (replacement)
        memory->addFile(fs::absolute(request.file).string(), 0,
                        llvm::MemoryBuffer::getMemBufferCopy(*replacement));
    if (is_cuda(request)) {
        const std::string folder = kCudaFolder;
        memory->addFile(folder + "/prelude.h", 0, llvm::MemoryBuffer::getMemBufferCopy(kCudaPrelude));
        for (const char* name :
             {"cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"})
            memory->addFile(folder + "/" + name, 0, llvm::MemoryBuffer::getMemBufferCopy("#pragma once\n"));
    }
    const std::string others = kOtherFolder;
    memory->addFile(others + "/omp.h", 0, llvm::MemoryBuffer::getMemBufferCopy(kOmpHeader));
    memory->addFile(std::string(kCallFolder) + "/halocline/lifted.h", 0,
                    llvm::MemoryBuffer::getMemBufferCopy("#ifdef HALO_LIFT_REQUIRED\n"
                                                         "#include_next \"halocline/lifted.h\"\n"
                                                         "#endif\n" +
                                                         std::string(kCallDeclarations)));
    memory->addFile(others + "/mpi.h", 0, llvm::MemoryBuffer::getMemBufferCopy(kMpiHeader));
    const std::string kokkos = kKokkosFolder;
    memory->addFile(kokkos + "/Kokkos_Core.hpp", 0, llvm::MemoryBuffer::getMemBufferCopy(kKokkosHeader));
    for (const char* name : {"Kokkos_Macros.hpp", "Kokkos_Timer.hpp", "Kokkos_MathematicalFunctions.hpp"})
        memory->addFile(kokkos + "/" + name, 0,
                        llvm::MemoryBuffer::getMemBufferCopy("#include <Kokkos_Core.hpp>\n"));
    auto overlay =
        llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::createPhysicalFileSystem());
    overlay->pushOverlay(memory);
    if (!command.folder.empty()) overlay->setCurrentWorkingDirectory(command.folder);
    return overlay;
}

}  // namespace

std::vector<std::string> files_of_build(const std::string& folder) {
    std::string trouble;
    const auto database = clang::tooling::CompilationDatabase::autoDetectFromDirectory(folder, trouble);
    if (!database) throw SourceError("there is no compile_commands.json in " + folder, true);
    std::vector<std::string> files;
    for (const clang::tooling::CompileCommand& each : database->getAllCompileCommands()) {
        std::string path = (fs::path(each.Directory) / each.Filename)
                               .lexically_normal()
                               .string();  // of an absolute one, that
        if (std::find(files.begin(), files.end(), path) == files.end()) files.push_back(std::move(path));
    }
    return files;
}

bool is_stand_in(const std::string& file) {
    return file.starts_with(kKokkosFolder);
}

bool is_cuda(const SourceRequest& request) {
    return ends_with(request.file, ".cu");
}

std::unique_ptr<clang::CompilerInstance> make_compiler(const SourceRequest& request, Mode mode,
                                                       const std::string* replacement,
                                                       llvm::raw_string_ostream& messages) {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser();
    });
    const Command command = command_of(request, mode);
    check_language(request, command);
    auto files = files_of(request, command, replacement);
    std::vector<const char*> words;
    for (const std::string& word : command.words)
        words.push_back(word.c_str());

    auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
    options->ShowCarets = true;
    auto diagnostics = clang::CompilerInstance::createDiagnostics(
        options.get(), new clang::TextDiagnosticPrinter(messages, options.get()));
    clang::CreateInvocationOptions how;
    how.Diags = diagnostics;
    how.VFS = files;
    std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(words, how);
    if (!invocation) {
        messages.flush();
        throw SourceError("the arguments after -- are not understood by clang\n" + messages.str());
    }
    // The driver's default frees no memory, as its process reads one file; this process reads several.
    invocation->getFrontendOpts().DisableFree = invocation->getCodeGenOpts().DisableFree = false;
    auto compiler = std::make_unique<clang::CompilerInstance>();
    compiler->setInvocation(invocation);
    compiler->createDiagnostics(new clang::TextDiagnosticPrinter(messages, &compiler->getDiagnosticOpts()));
    compiler->createFileManager(files);
    compiler->setVerboseOutputStream(llvm::nulls());
    return compiler;
}

}  // namespace halo::lift
