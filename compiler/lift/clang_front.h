// The place that knows which version of Clang this is: from a command line to the code of one function, and
// to an object file. Everything else in this room sees plain data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/lift/c_code.h"

namespace clang {
class ASTContext;
}

namespace halo::lift {

struct SourceRequest {
    std::string file;
    std::string function;
    std::string build_folder;  // with compile_commands.json; empty: the file's folder and those above
    std::vector<std::string> arguments;  // of clang, as after `--`; where given, no database is asked
    std::string text;                    // what preprocess() made of the file; empty: the file is read
};

// What the compiler says about the file, or why there is no such function; lines as a compiler prints them.
class SourceError : public std::runtime_error {
public:
    explicit SourceError(const std::string& text, bool is_missing_file = false)
        : std::runtime_error(text), missing_file(is_missing_file) {}
    bool missing_file;
};

// Throws SourceError.
c::Unit read_function(const SourceRequest& request);

// The file without macros and directives but `# LINE "FILE"`, to be put into `text`. made_small: macros of
// the program that are whole numbers from 100 on get small values there, in the same order, and are told.
// Throws SourceError.
std::string preprocess(const SourceRequest& request, std::map<std::string, int>* made_small = nullptr);

// The kinds of statements and expressions in the bodies of functions of the file, as Clang calls them. Throws
// SourceError.
std::set<std::string> kinds_in(const SourceRequest& request, const std::vector<std::string>& functions);

// The file compiled for this machine, with `text` after its last line, and `inserted` in front of its byte
// `at`, to an ELF object. Of a CUDA file: as
// C++ in which a kernel is a plain function and blockIdx and its like are variables, and without the
// functions that launch kernels. traced: it calls __sanitizer_cov_load4() and its like with each address that
// it reads or writes, and traps where whole numbers overflow. Throws SourceError.
std::string compile_with(const SourceRequest& request, const std::string& text,
                         const std::string& inserted = "", std::size_t at = 0, bool traced = false);

}  // namespace halo::lift
