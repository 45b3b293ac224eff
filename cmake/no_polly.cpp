// Debian's Clang calls Polly, whose static library is a package of its own and adds passes that are off
// unless they are asked for. This is its place, without any.
#include <llvm/Passes/PassPlugin.h>

llvm::PassPluginLibraryInfo getPollyPluginInfo();  // declared in no header

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder&) {}};
}
