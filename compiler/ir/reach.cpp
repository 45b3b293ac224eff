#include "compiler/ir/reach.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/sweeps.h"

namespace halo::ir {

namespace {

// Of a read so far away, whose cell needs `reach` around it. Past its face a mirror shows cells that lie the
// other way.
Reach shifted(Reach reach, const Offset& offset, const Field& field) {
    for (std::size_t axis = 0; axis < reach.size(); ++axis) {
        const std::array<int, 2> away{std::max(0, -offset[axis]), std::max(0, offset[axis])};
        for (std::size_t side = 0; side < 2; ++side) {
            const bool is_mirrored =
                field.image(static_cast<int>(axis), 1 - static_cast<int>(side)).reflects();
            reach[axis][side] += is_mirrored ? std::max(away[0], away[1]) : away[side];
        }
    }
    return reach;
}

// What lies past a formula's face is made of cells up to Face::reach away from it.
Reach of_faces(const Program& program) {
    Reach reach{};
    for (const Field& field : program.fields)
        for (std::size_t axis = 0; axis < reach.size(); ++axis)
            for (std::size_t side = 0; side < 2; ++side)
                if (field.boundary[axis][side].kind == BoundaryKind::formula)
                    for (int& each : reach[axis])
                        each = std::max(each, field.boundary[axis][side].reach);
    return reach;
}

int radius_of(const Program& program, const Statement& statement) {
    if (const auto* sample = std::get_if<Sample>(&statement)) return program[sample->points].radius;
    return 0;
}

}  // namespace

void widen(Reach& reach, const Reach& by) {
    for (std::size_t axis = 0; axis < reach.size(); ++axis)
        for (std::size_t side = 0; side < 2; ++side)
            reach[axis][side] = std::max(reach[axis][side], by[axis][side]);
}

StepReach step_reach(const Program& program) {
    StepReach result;
    result.states = of_faces(program);
    result.results = result.states;
    std::map<Level, Reach> written;
    ReachWalk walk(program);
    const auto reach_of = [&](const Statement& statement) {
        // A part of a grid leaves them as they were, too, at faces that the grid does not have. A step may
        // read less far, where terms have cancelled out.
        Reach reach = margins_of(statement);
        for (const std::uint32_t index : walk.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program.exprs[index].node);
            if (access == nullptr) continue;
            const auto before = written.find({access->field, access->time});
            widen(reach, shifted(before == written.end() ? Reach{} : before->second, access->offset,
                                 program[access->field]));
        }
        return reach;
    };
    Reach of_sweep{};
    std::size_t past_sweep = 0;
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const Statement& statement = program.statements[i];
        Reach reach = reach_of(statement);
        // The statements of a sweep read each other's cells: each reaches as far as any.
        if (sweep_of(statement) != nullptr && i >= past_sweep) {
            past_sweep = end_of_sweep(program, i);
            of_sweep = {};
            for (std::size_t member = i; member < past_sweep; ++member)
                widen(of_sweep, reach_of(program.statements[member]));
        }
        if (i < past_sweep) widen(reach, of_sweep);
        const auto write = [&](FieldId field, int time) {
            widen(written[{field, time}], reach);
            if (program[field].role == Role::intermediate) return;
            widen(program[field].role == Role::state ? result.states : result.results, reach);
        };
        if (const auto* assign = std::get_if<Assign>(&statement)) {
            write(assign->target, assign->time);
        } else if (const auto* inject = std::get_if<Inject>(&statement)) {
            write(inject->target, inject->time);
        } else {
            const int radius = radius_of(program, statement);
            for (int axis = 0; axis < program.rank(); ++axis)
                for (int& each : reach[static_cast<std::size_t>(axis)])
                    each += radius;
            widen(result.results, reach);
        }
    }
    return result;
}

std::vector<bool> fields_carried(const Program& program) {
    std::vector<bool> carried(program.fields.size());
    for (std::size_t i = 0; i < carried.size(); ++i)
        carried[i] = program.fields[i].role == Role::state ||
                     (program.fields[i].role == Role::output && program.fields[i].history > 0);
    std::set<std::uint32_t> written;
    ReachWalk walk(program);
    for (const Statement& statement : program.statements) {
        for (const std::uint32_t index : walk.from(roots_of(statement))) {
            const auto* access = std::get_if<Access>(&program.exprs[index].node);
            if (access == nullptr || program[access->field].role != Role::output) continue;
            // Cells that a statement leaves out keep what they held.
            if (!access->is_at_cell() || !written.contains(access->field.index))
                carried[access->field.index] = true;
        }
        if (const auto* assign = std::get_if<Assign>(&statement)) written.insert(assign->target.index);
    }
    return carried;
}

}  // namespace halo::ir
