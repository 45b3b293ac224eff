// The place that knows which version of Clang this is: from a command line to the code of one function, and
// to an object file. Everything else in this room sees plain data.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/c_code.h"

namespace halo::lift {

struct SourceRequest {
    std::string file;
    std::string function;
    std::string build_folder;  // with compile_commands.json; empty: the file's folder and those above
    std::vector<std::string> arguments;  // of clang, as after `--`; where given, no database is asked
    std::string text;  // a text without macros in the place of the file's; empty: the file is read
};

// The files that compile_commands.json in the folder, or one above it, has commands for, each once and in its
// order. Throws SourceError.
std::vector<std::string> files_of_build(const std::string& folder);

// What the compiler says about the file, or why there is no such function; lines as a compiler prints them.
class SourceError : public std::runtime_error {
public:
    explicit SourceError(const std::string& text, bool is_missing_file = false)
        : std::runtime_error(text), missing_file(is_missing_file) {}
    bool missing_file;
};

// A file that Clang has read once, as its flags say: each of its functions is had from it.
class ParsedFile {
public:
    // request.function is of no meaning here. Throws SourceError where the file cannot be read.
    explicit ParsedFile(SourceRequest request);
    ~ParsedFile();
    ParsedFile(const ParsedFile&) = delete;
    ParsedFile& operator=(const ParsedFile&) = delete;

    // Throws SourceError where the file does not compile, or has no such function.
    c::Unit function(const std::string& name) const;
    // Those of the file itself that have a body and can be asked for by this name, in the order of the text.
    // Throws SourceError where the file does not compile.
    std::vector<std::string> functions() const;
    // The kinds of statements and expressions in the bodies of functions, as Clang calls them. Throws
    // SourceError.
    std::set<std::string> kinds(const std::vector<std::string>& functions) const;
    // The bodies of functions that launch kernels, as ranges of bytes, the last one first.
    std::vector<std::pair<std::size_t, std::size_t>> launches() const;

    // The file without macros and directives but `# LINE "FILE"`, of the same flags; made at the first call.
    // Of such a text, this. Throws SourceError.
    const ParsedFile& preprocessed() const;
    // The same of a copy in which macros of the program that are whole numbers from 100 on have small values,
    // in the same order, which are told.
    const ParsedFile& made_small(std::map<std::string, int>& values) const;

    const SourceRequest& request() const { return request_; }

private:
    class Reading;
    SourceRequest request_;
    std::unique_ptr<Reading> reading_;
    mutable std::unique_ptr<ParsedFile> preprocessed_, small_;
    mutable std::map<std::string, int> small_values_;
};

// What is put in front of a byte of the file.
struct Inserted {
    std::size_t at = 0;
    std::string text;
};

// The file compiled for this machine, with `text` after its last line, and what is inserted, to an ELF
// object. Of a CUDA file: as C++ in which a kernel is a plain function and blockIdx and its like are
// variables, and without the functions that launch kernels. traced: it calls __sanitizer_cov_load4() and its
// like with each address that it reads or writes, and traps where whole numbers overflow. Throws SourceError.
std::string compile_with(const SourceRequest& request, const std::string& text,
                         const std::vector<Inserted>& inserted = {}, bool traced = false);

}  // namespace halo::lift
