// The names of a spec and its modules: where each is declared, and where it is used. Definitions, references,
// renaming, symbols and colours all come from this index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/source.h"
#include "compiler/syntax/tree.h"

namespace halo::lsp {

enum class NameKind : std::uint8_t {
    stencil,
    axis,
    param,
    constant,
    coef,
    field,
    component,
    let,
    function,
    parameter,  // of a def
    reduction,
    table,
    column,  // of a table; a number or a trace of points
    series,
    points,
    index,  // of a sum or a loop over a range; a row of a table; the level of a repeat
};
std::string_view describe(NameKind kind);  // "param", "index"

struct NameDefinition {
    NameKind kind = NameKind::param;
    std::string name;
    SourceRange where;    // of the name; what is declared in a loop over names shares it
    SourceRange whole;    // of the declaration
    SourceRange scope;    // where it is known; all of the text: shared
    std::string stencil;  // that it belongs to; empty: shared
    std::string owner;    // of a component or column: the field or table
    std::string text;     // of the declaration, on one line
};

struct NameUse {
    SourceRange where;
    std::size_t definition = 0;  // in NameIndex::definitions
    bool is_definition = false;
    bool is_written = false;  // a statement assigns it
};

struct NameIndex {
    std::vector<NameDefinition> definitions;
    std::vector<NameUse> uses;  // by place; where it stands in a loop over names, one place may have several

    // The uses that a place is in, or that end there.
    std::vector<const NameUse*> at(std::uint32_t offset) const;
    // All uses of what is declared at that place.
    std::vector<const NameUse*> of(SourceRange definition) const;
};

NameIndex index_names(const SourceFile& source, const syntax::File& tree);

}  // namespace halo::lsp
