// What kind of place in a text this is, as far as the tokens before it tell: texts are half-written where
// they are completed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source.h"
#include "compiler/syntax/token.h"

namespace halo::lsp {

enum class BlockKind : std::uint8_t { file, stencil, run, properties, table, schedule };

struct Context {
    BlockKind block = BlockKind::file;
    std::vector<std::string_view> statement;  // its words before the place, without the one that is written
    bool in_string = false, in_comment = false;

    bool begins() const { return statement.empty(); }
    std::string_view first() const { return statement.empty() ? std::string_view() : statement.front(); }
    std::string_view last() const { return statement.empty() ? std::string_view() : statement.back(); }
};
Context context_at(const SourceFile& source, std::uint32_t offset);

// The call whose arguments a place is in.
struct OpenCall {
    SourceRange callee;
    std::size_t argument = 0;  // the place is in, from 0
    bool is_found = false;
};
OpenCall call_around(const SourceFile& source, std::uint32_t offset);

}  // namespace halo::lsp
