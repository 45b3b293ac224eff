// Why the stages of a program cannot form a pipeline.
#include <algorithm>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/ir/grids.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/repeats.h"
#include "compiler/ir/shown_cells.h"
#include "compiler/schedule/packed_stages.h"
#include "compiler/schedule/pipeline.h"

namespace halo::schedule {

namespace {

class Refusal {
public:
    explicit Refusal(const ir::Program& program) : program_(program) {}

    // In the user's words; empty where the program has a pipeline.
    std::string run() const {
        if (ir::has_coarse_grids(program_)) return ir::kSeveralGrids;
        if (program_.rank() < 2) return "a program of one axis has no axis to traverse";
        if (program_.rank() > kMostAxesOfTile) return "it has four axes, and tiles have three at most";
        if (!std::ranges::all_of(program_.tables, &ir::Table::is_series) || !program_.points.empty())
            return "tables and points are not part of a pipeline";
        for (const ir::Statement& statement : program_.statements)
            if (std::holds_alternative<ir::Inject>(statement) ||
                std::holds_alternative<ir::Sample>(statement))
                return "a statement is no assignment";
        if (ir::has_repeats(program_)) return "statements are done several times in a step";
        const std::vector<bool> in_place = ir::in_place_statements(program_);
        std::vector<ir::ExprId> roots;
        for (std::size_t index = 0; index < program_.statements.size(); ++index) {
            const auto* assign = std::get_if<ir::Assign>(&program_.statements[index]);
            if (assign != nullptr && assign->sweep) return "a statement goes along an axis cell after cell";
            if (in_place[index] || (assign != nullptr && !assign->region.is_whole()))
                return "a statement is for a part of the grid, or changes a level in place";
            for (const ir::ExprId root : ir::roots_of(program_.statements[index]))
                roots.push_back(root);
        }
        if (std::string why = refused_values(roots); !why.empty()) return why;
        return refused_fields(roots);
    }

private:
    std::string refused_values(const std::vector<ir::ExprId>& roots) const {
        const std::vector<bool> reached = ir::reachable_exprs(program_, roots);
        for (std::size_t e = 0; e < reached.size(); ++e) {
            if (reached[e] && std::holds_alternative<ir::ReductionRef>(program_.exprs[e].node))
                return "a statement reads a reduction of the step before";
        }
        return "";
    }

    std::string refused_fields(const std::vector<ir::ExprId>& roots) const {
        std::set<std::uint32_t> used;
        const std::vector<bool> reached = ir::reachable_exprs(program_, roots);
        for (std::size_t e = 0; e < reached.size(); ++e)
            if (const auto* access = std::get_if<ir::Access>(&program_.exprs[e].node);
                access && reached[e] && program_[access->field].grid.is_whole())
                used.insert(access->field.index);
        for (const ir::Statement& statement : program_.statements)
            if (const auto* assign = std::get_if<ir::Assign>(&statement)) used.insert(assign->target.index);
        const bool is_packed = can_be_packed(used);
        for (const std::uint32_t index : used) {
            const ir::Field& field = program_.fields[index];
            const std::string name = "`" + field.name + "`";
            const bool is_as_computed =
                ir::is_real(field.type) && field.storage == ir::natural_storage(field.type);
            if (!is_packed && !is_as_computed)
                return packs_without_reductions(used) ? "reductions of single bytes are found by single steps"
                                                      : not_as_computed(field);
            if (ir::interleave(program_, ir::FieldId{index}).group != nullptr)
                return name + " has `layout aos`";
            if (field.role == ir::Role::output) return name + " is an output that another value depends on";
            if (field.role != ir::Role::state && field.history > 0) return "the past of " + name + " is read";
            if (ir::has_formula(field) && !ir::stores_can_fill(program_, field))
                return "a formula says what lies past a face of " + name;
            for (const auto& faces : field.boundary)
                for (const ir::Face& face : faces)
                    if (face.kind == ir::BoundaryKind::fixed && ir::changes_with_step(program_, face.value))
                        return "what lies past a face of " + name + " depends on the number of the step";
        }
        for (int axis = 0; axis < program_.rank(); ++axis)
            if (std::string why = refused_axis(axis, used); !why.empty()) return why;
        return "";
    }

    bool packs_without_reductions(const std::set<std::uint32_t>& used) const {
        ir::Program other = program_;
        const auto reductions = std::ranges::remove_if(other.statements, [](const ir::Statement& statement) {
            return std::holds_alternative<ir::Reduce>(statement);
        });
        if (reductions.empty()) return false;
        other.statements.erase(reductions.begin(), reductions.end());
        return Refusal(other).can_be_packed(used);
    }

    // Whether words hold four cells of a row: then nothing past a face may be a negative.
    bool can_be_packed(const std::set<std::uint32_t>& used) const {
        for (const std::uint32_t index : used) {
            const ir::Field& field = program_.fields[index];
            if (field.role != ir::Role::intermediate && !is_of_bytes(field)) return false;
            for (int axis = 0; axis < program_.rank(); ++axis)
                for (int side = 0; side < 2; ++side)
                    if (ir::shown_cells(program_, field, axis, side).negates) return false;
        }
        return packed_stages(program_, ir::form_stages(program_)).has_value();
    }

    std::string refused_axis(int axis, const std::set<std::uint32_t>& used) const {
        bool periodic = false, other = false;
        for (const std::uint32_t index : used) {
            const ir::Field& field = program_.fields[index];
            for (int side = 0; side < 2; ++side) {
                const bool wraps = field.image(axis, side).wraps();
                if (wraps) periodic = periodic || field.halo[axis][side] > 0;
                if (!wraps) other = other || field.halo[axis][side] > 0;
            }
        }
        for (const ir::Statement& statement : program_.statements)
            for (const int margin : ir::margins_of(statement)[static_cast<std::size_t>(axis)])
                other = other || margin > 0;
        if (periodic && other)
            return "along " + program_.axes[axis].name + " one field is periodic and another is not";
        return "";
    }

    const ir::Program& program_;
};

}  // namespace

std::string not_as_computed(const ir::Field& field) {
    return "`" + field.name + "` is not stored as f32 or f64 as it is computed";
}

std::string pipeline_refusal(const ir::Program& program) {
    return Refusal(program).run();
}

}  // namespace halo::schedule
