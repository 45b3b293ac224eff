// C++ text to machine code, in this process: clang, then LLVM's ORC. No compiler, header or file of the
// machine is used, so the text includes nothing: mathematics is __builtin_sqrt and its like, which end in
// this process's libm.
//
// The text is compiled as C++17 at -O3 for this machine's processor, with nothing contracted or reassociated
// and no errno from mathematics. What was compiled once is taken from the disk cache (runtime/core) the next
// time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halo::rt {

// Whether this build can compile (it cannot without LLVM), and if not, why and what to do, as a sentence.
bool cpu_available();
std::string cpu_unavailable_reason();

// Names everything that the code of a module depends on besides its text: compiler, processor, flags.
std::string cpu_target_name();

struct JitOptions {
    std::string file_name = "kernel.cpp";  // in the compiler's messages
    std::string prelude;                   // read before the text; line numbers stay the text's own
    std::vector<std::string> flags;        // more arguments of `clang -cc1`, after ours; "-mllvm" pairs too
    std::map<std::string, void*> symbols;  // what the text may call or name, besides libc and libm
    // Asked for names found nowhere else; null where it knows none either.
    std::function<void*(const std::string&)> resolve;
    int optimization = 3;      // 0 … 3
    bool vector_math = false;  // vectorise exp, sin … with libmvec: up to 4 units in the last place off
    bool line_table = false;   // keep what line() needs
    bool export_data = false;  // make data() list the module's variables, also those of functions
    bool use_cache = true;
};

// The object file (ELF) that the text becomes, from the disk cache where it is there. Throws Error:
// compile_failed where the text is refused (a defect of ours: the message shows the text around the first
// complaint), no_device where this build has no compiler.
struct CompiledObject {
    std::string bytes;
    bool from_cache = false;
    double seconds = 0;  // that it took
};
CompiledObject compile_object(const std::string& text, const JitOptions& options = {});

// Code in memory, until the module goes. Once made, it may be used from several threads.
class JitModule {
public:
    // Loads an object; of the options, those about symbols and lines matter. Throws Error: compile_failed
    // where it names something that nobody knows, or is no object file for this machine.
    explicit JitModule(const CompiledObject& object, const JitOptions& options = {});
    ~JitModule();
    JitModule(JitModule&&) noexcept;
    JitModule& operator=(JitModule&&) noexcept;

    void* find(const std::string& name) const;  // null where the text defines no such thing
    template <class Signature>
    Signature* function(const std::string& name) const {
        return reinterpret_cast<Signature*>(find(name));
    }

    // The line of the text, from 1, that the machine code before a return address was made from; nullopt
    // where it is none of ours or was compiled without line_table.
    std::optional<int> line(const void* return_address) const;

    struct Variable {
        std::string name;  // as the linker knows it
        void* address = nullptr;
        std::size_t bytes = 0;
    };
    const std::vector<Variable>& variables()
        const;  // all, also those of functions; in the order of their addresses

private:
    struct Code;
    std::unique_ptr<Code> code_;
};

}  // namespace halo::rt
