#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/lint/parts.h"

namespace halo::lint {

namespace {

using Reach = std::array<std::array<int, 2>, ir::kMaxRank>;  // [axis][side]: how far reads go

// Of the field of that name and of its components.
Reach reach_of(const ir::Program& program, const std::string& name) {
    Reach reach{};
    for (const ir::Expr& expr : program.exprs) {
        const auto* access = std::get_if<ir::Access>(&expr.node);
        if (access == nullptr) continue;
        const std::string& field = program[access->field].name;
        if (field != name && !field.starts_with(name + ".")) continue;
        for (std::size_t axis = 0; axis < reach.size(); ++axis) {
            const std::array<int, 2> past = ir::past_faces(*access, static_cast<int>(axis));
            for (std::size_t side = 0; side < past.size(); ++side)
                reach[axis][side] = std::max(reach[axis][side], past[side]);
        }
    }
    return reach;
}

class WideHalos {
public:
    WideHalos(const syntax::File& file, const ir::Program& program, DiagnosticSink& sink)
        : file_(file), program_(program), sink_(sink) {}

    void check(const syntax::Name& name, const std::vector<syntax::HaloEntry>& halos) {
        if (halos.empty()) return;
        const Reach reach = reach_of(program_, name.text);
        for (const syntax::HaloEntry& entry : halos) {
            // A width that is computed is meant to be whatever it comes to.
            const auto* number = std::get_if<syntax::Number>(&file_[entry.width].node);
            const std::optional<std::int64_t> width = number ? number->value.as_int64() : std::nullopt;
            if (!width) continue;
            const int needed = widest(reach, entry);
            if (*width <= needed) continue;
            const SourceRange where = file_[entry.width].where;
            const std::string how_far =
                needed == 0 ? "not read past the edge"
                            : fmt::format("read {} cell{} past the edge", needed, needed == 1 ? "" : "s");
            Diagnostic& diagnostic =
                sink_
                    .report(
                        DiagnosticKind::wide_halo, where,
                        fmt::format("`{}` is {} there, so its halo is wider than needed", name.text, how_far))
                    .note("a halo need not be written: it is found from what is read")
                    .mend(where, std::to_string(needed));
            if (leaves_cells(name.text, reach)) {
                const std::string& axis = program_.axes.front().name;
                diagnostic.note(
                    fmt::format("cells at a `free` face keep their value only where what they read is "
                                "missing, however wide the halo; `on {} in {}..{} {{ … }}` leaves out more",
                                axis, *width, -*width - 1));
            }
        }
    }

private:
    // Whether the field is read past a free face.
    bool leaves_cells(const std::string& name, const Reach& reach) const {
        for (const ir::Field& field : program_.fields) {
            if (field.name != name && !field.name.starts_with(name + ".")) continue;
            for (std::size_t axis = 0; axis < ir::kMaxRank; ++axis)
                for (std::size_t side = 0; side < 2; ++side)
                    if (reach[axis][side] > 0 && field.boundary[axis][side].kind == ir::BoundaryKind::free)
                        return true;
        }
        return false;
    }

    // Of the faces that the entry is for.
    int widest(const Reach& reach, const syntax::HaloEntry& entry) const {
        int most = 0;
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const std::string& axis_name = program_.axes[static_cast<std::size_t>(axis)].name;
            if (entry.face && entry.face->axis.text != axis_name) continue;
            for (int side = 0; side < 2; ++side) {
                const bool is_low = side == 0;
                if (entry.face && entry.face->side && (*entry.face->side == syntax::Side::low) != is_low)
                    continue;
                most = std::max(most, reach[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)]);
            }
        }
        return most;
    }

    const syntax::File& file_;
    const ir::Program& program_;
    DiagnosticSink& sink_;
};

}  // namespace

void find_wide_halos(const syntax::File& file, const syntax::Stencil& stencil, const ir::Program& program,
                     DiagnosticSink& sink) {
    if (!program.points.empty()) return;  // points near an edge read past it, too
    WideHalos halos(file, program, sink);
    for (const syntax::StencilStatement& statement : stencil.statements) {
        if (const auto* field = std::get_if<syntax::FieldDecl>(&statement)) {
            for (const syntax::Name& name : field->names)
                halos.check(name, field->halos);
        } else if (const auto* let = std::get_if<syntax::LetDecl>(&statement)) {
            halos.check(let->name, let->halos);
        }
    }
}

}  // namespace halo::lint
