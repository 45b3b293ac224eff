#include "compiler/passes/skip_copies.h"

#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/reach.h"
#include "compiler/ir/rewrite.h"
#include "compiler/passes/lets.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

// Whether both show the same past a face: an image of their own cells, or the same number.
bool shows_the_same(const Program& program, const Face& face, const Face& other) {
    if (face.kind != other.kind || face.kind == BoundaryKind::formula) return false;
    if (face.kind != BoundaryKind::fixed) return true;
    if (face.value == other.value) return true;
    const auto* value = std::get_if<Constant>(&program[face.value].node);
    const auto* other_value = std::get_if<Constant>(&program[other.value].node);
    return value != nullptr && other_value != nullptr && value->value == other_value->value;
}

class CopySkipper {
public:
    explicit CopySkipper(Program& program)
        : program_(program), uses_(uses_of_lets(program)), sources_(program.fields.size()) {}

    void run() {
        bool found = false;
        for (const Statement& statement : program_.statements) {
            const auto* assign = std::get_if<Assign>(&statement);
            if (assign == nullptr) continue;
            const std::uint32_t let = assign->target.index;
            sources_[let] = source_of(let);
            found = found || sources_[let];
        }
        if (found) replace();
    }

private:
    // What the let is a copy of; nullopt: it is none, or what reads it cannot read that.
    std::optional<Access> source_of(std::uint32_t let) const {
        const LetUse& use = uses_[let];
        if (!use.value || !use.has_plain_readers) return std::nullopt;
        const auto* access = std::get_if<Access>(&program_[*use.value].node);
        if (access == nullptr || access->time > 0 || !access->is_at_cell() || access->is_mapped())
            return std::nullopt;
        const std::optional<Access>& copied = sources_[access->field.index];
        const Access source = copied ? *copied : *access;
        return can_read(program_.fields[let], use.reach, program_[source.field]) ? std::optional(source)
                                                                                 : std::nullopt;
    }

    // Whether the source shows what the copy shows, as far as that is read.
    bool can_read(const Field& copy, const Margins& reach, const Field& source) const {
        const bool is_given = source.role == Role::input || source.role == Role::state;
        if (!is_given || source.type != copy.type || source.storage != copy.storage ||
            source.staggered != copy.staggered || !source.grid.is_whole() || !copy.grid.is_whole())
            return false;
        for (std::size_t axis = 0; axis < reach.size(); ++axis) {
            const bool is_read_past = reach[axis][0] > 0 || reach[axis][1] > 0;
            for (std::size_t side = 0; side < 2 && is_read_past; ++side)
                if (!shows_the_same(program_, copy.boundary[axis][side], source.boundary[axis][side]))
                    return false;
        }
        return true;
    }

    void replace() {
        ExprBuilder builder(program_);
        for (Statement& statement : program_.statements)
            map_reads(program_, builder, statement, [&](const Access& read) -> std::optional<ExprId> {
                const std::optional<Access>& source = sources_[read.field.index];
                if (!source) return std::nullopt;
                return builder.access(source->field, source->time, read.offset);
            });
        for (std::size_t let = 0; let < sources_.size(); ++let) {
            if (!sources_[let]) continue;
            auto& of_let = program_.fields[let].halo;
            widen(program_.fields[sources_[let]->field.index].halo, of_let);
            of_let = {};
        }
        prune(program_);
    }

    Program& program_;
    std::vector<LetUse> uses_;
    std::vector<std::optional<Access>> sources_;  // by field: what it is a copy of
};

}  // namespace

void skip_copies(Program& program) {
    CopySkipper(program).run();
}

}  // namespace halo::passes
