// Text to tree. docs/language.md has the grammar.
//
// All mistakes of a file are reported in one go, one message each: after a mistake the parser goes on with
// the next statement. Whatever the text, time and memory are proportional to its length, and the stack is
// bounded.
#pragma once

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::syntax {

inline constexpr std::size_t kMaxFileBytes = 4u << 20;  // longer files are refused (file-too-large)
inline constexpr int kMaxNesting = 200;                 // of brackets, signs, conditionals (nesting-too-deep)

// Reports to the sink; the tree holds what could be read.
File parse(const SourceFile& source, DiagnosticSink& sink);

// Reads a module, the last part of `source`, which begins at `begin`: what it shares and what it uses is
// added to `into`. Its stencils and runs are its own: they are read, and left out.
void parse_module(const SourceFile& source, std::uint32_t begin, DiagnosticSink& sink, File& into);

// Reads a condition, the last part of `source`, which begins at `begin`. It becomes the one run of `into`, of
// the stencil with that name: a run of any number of steps, until the condition holds.
void parse_until(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                 DiagnosticSink& sink, File& into);

// Reads what the command line says of a run, the last part of `source`, which begins at `begin`: it takes the
// place of what the run block of that stencil says, and a run block is made where there is none. `first` is
// where the first of such parts begins: what is before it is the file's.
void parse_run_init(const SourceFile& source, std::uint32_t begin, std::uint32_t first,
                    const std::string& stencil, DiagnosticSink& sink, File& into);
void parse_run_until(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                     DiagnosticSink& sink, File& into);
// "plot u to …" or "movie u …" is added to what the run block says: which of its pictures it replaces knows
// who takes them.
void parse_run_picture(const SourceFile& source, std::uint32_t begin, const std::string& stencil,
                       DiagnosticSink& sink, File& into);

// The words that can be the name of nothing: they are part of expressions or open a block.
bool is_reserved(std::string_view word);

}  // namespace halo::syntax
