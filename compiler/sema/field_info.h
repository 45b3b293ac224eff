// What an evaluator knows of fields, and how expressions name them and their cells.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ir/program.h"
#include "compiler/sema/ghosts.h"
#include "compiler/sema/shape.h"
#include "compiler/sema/symbols.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

// What is known of a field (or let) while statements are read; parallel to Program::fields.
struct FieldInfo {
    const Symbol* symbol = nullptr;
    std::shared_ptr<const Shape> shape;  // of what the symbol declares; none: a number
    std::size_t leaf = 0;                // which of the shape's leaves this is
    bool assigned = false;               // some statement of the stencil does (lets: true)
    bool written = false;                // a statement before this one has
    SourceRange written_where;
    struct Contract {
        int width = 0;
        SourceRange where;
    };
    std::array<std::array<std::optional<Contract>, 2>, ir::kMaxRank> contract;  // written halos, [axis][side]
    std::array<std::array<bool, 2>, ir::kMaxRank> has_boundary{};  // false: reads past it need one
    std::array<std::array<std::optional<GhostRule>, 2>, ir::kMaxRank> ghosts;  // of formula faces
    bool asked_for_boundary = false;
    bool reported_unwritten = false;
    bool kept = false;   // what a repeat changes later was given its old value before
    Halves stagger = 0;  // the axes along which it lies half a cell up
    std::string part;  // ".x" where this is what a clause for that component sees: shape and leaf are its own
};

// Within `repeat k to n { … }`: what `p[k]` and `p[k+1]` are.
struct Iterates {
    std::string_view name;                       // k
    std::set<std::uint32_t> written;             // fields that the block assigns at k+1
    std::map<std::uint32_t, ir::FieldId> next;   // by field: what holds its value at k+1, from there on
    mutable std::set<std::uint32_t> reported{};  // fields that have no such level, of which it was said
    std::set<std::string_view> misread{};        // names of which the block assigns a level that there is not
    std::set<std::uint32_t> unread{};            // of `written`: the value had a mistake
};

struct Subscripts {  // u[t+1, x-2], vx[x-1/2]
    int time = 0;
    bool has_time = false;
    ir::Offset offset{};              // whole cells, rounded down
    ir::GridMap map{};                // e[x/2], r[2*y+1]: of the cells of another grid
    Halves half = 0;                  // axes along which it is half a cell more
    std::optional<int> iterate;       // p[k+1]: 1; p[k]: 0
    const Iterates* level = nullptr;  // k
};

// The unknown of an equation that is read now: what its level stands for.
struct UnknownField {
    ir::FieldId field;
    int time = 0;
    ir::FieldId in_its_place;
    int time_there = 0;
};

// A field, or a part of one, as it is named: `v`, `v.x`, `f.i[x-1]`, `v[t+1].y`.
struct Reference {
    const Symbol* symbol = nullptr;
    std::string name;                         // of the part: "v.x"
    const Shape* shape = nullptr;             // of the part
    std::uint32_t first = 0;                  // of its leaves among Program::fields
    const syntax::Expr* subscript = nullptr;  // the Index; null: none
};

struct LoopIndex {  // of a `for`
    std::string_view name;
    std::int64_t value = 0;
};

}  // namespace halo::sema
