#include "compiler/passes/merge_writes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/passes/rebuild.h"

namespace halo::passes {

using namespace ir;

namespace {

using LevelId = std::pair<std::uint32_t, int>;  // field, time

class Merger {
public:
    explicit Merger(Program& program) : program_(program), builder_(program) {}

    // Returns whether something has changed.
    bool run() {
        bool changed = false;
        const auto fields = static_cast<std::uint32_t>(program_.fields.size());
        for (std::uint32_t field = 0; field < fields; ++field)
            if (program_.fields[field].role == Role::state) changed = merge_level(FieldId{field}) || changed;
        return changed;
    }

private:
    bool merge_level(FieldId target) {
        if (writers_of(target).size() < 2 || !can_merge_level(target)) return false;
        bool changed = false;
        for (std::size_t number = 0; number + 1 < writers_of(target).size();) {
            const std::vector<std::size_t> writers = writers_of(target);
            if (merge(writers[number], writers[number + 1]))
                changed = true;
            else
                ++number;
        }
        return changed;
    }

    // Statements that write the state's next level, in order.
    std::vector<std::size_t> writers_of(FieldId target) const {
        std::vector<std::size_t> writers;
        for (std::size_t index = 0; index < program_.statements.size(); ++index)
            if (written_by(index) == LevelId{target.index, 1}) writers.push_back(index);
        return writers;
    }

    std::optional<LevelId> written_by(std::size_t index) const {
        if (const auto* assign = std::get_if<Assign>(&program_.statements[index]))
            return LevelId{assign->target.index, assign->time};
        if (const auto* inject = std::get_if<Inject>(&program_.statements[index]))
            return LevelId{inject->target.index, inject->time};
        return std::nullopt;
    }

    bool can_merge_level(FieldId target) const {
        const Field& field = program_[target];
        return field.storage == natural_storage(field.type);
    }

    // A let has the state's boundary: what lies past a face is the same at both then.
    bool can_have_let(FieldId target) const {
        const Field& field = program_[target];
        if (has_formula(field)) return false;
        for (int axis = 0; axis < program_.rank(); ++axis)
            for (const Face& face : field.boundary[static_cast<std::size_t>(axis)])
                if (face.kind == BoundaryKind::fixed && changes_with_step(program_, face.value)) return false;
        return true;
    }

    // The statement where all of it can be part of another.
    const Assign* whole(std::size_t index) const {
        const auto* assign = std::get_if<Assign>(&program_.statements[index]);
        if (assign == nullptr || !assign->region.is_whole() || assign->margins != Margins{}) return nullptr;
        for (const std::uint32_t reached : reached_exprs(program_, roots_of(program_.statements[index])))
            if (std::holds_alternative<TableSum>(program_.exprs[reached].node)) return nullptr;
        return assign;
    }

    std::set<LevelId> read_by(std::size_t index) const {
        std::set<LevelId> levels;
        for (const std::uint32_t reached : reached_exprs(program_, roots_of(program_.statements[index])))
            if (const auto* access = std::get_if<Access>(&program_.exprs[reached].node))
                levels.emplace(access->field.index, access->time);
        return levels;
    }

    // Makes the earlier of two statements part of the later; false where that might mean something else.
    bool merge(std::size_t earlier, std::size_t later) {
        const Assign* first = whole(earlier);
        const Assign* second = whole(later);
        if (first == nullptr || second == nullptr) return false;
        const FieldId target = first->target;
        const LevelId level{target.index, 1};
        // The earlier is to read at the place of the later what it read, and nobody sees its result between.
        const std::set<LevelId> read = read_by(earlier);
        for (std::size_t between = earlier + 1; between < later; ++between) {
            const std::optional<LevelId> written = written_by(between);
            if (read_by(between).contains(level) || (written && read.contains(*written))) return false;
        }
        const bool reads_neighbours = reads_beside(later, level);
        if (reads_neighbours &&
            (has_let_.contains(target.index) || writers_of(target).size() > 2 || !can_have_let(target)))
            return false;

        Assign merged = *second;
        const ExprId left = with_rest(*first, builder_.access(target, 0, Offset{}));
        if (reads_neighbours) {
            Assign let = *first;
            let.target = add_let(target);
            let.time = 0;
            let.value = left;
            let.condition.reset();
            const FieldId before = let.target;
            const auto replace = [&](const Access& access) {
                return builder_.access(before, 0, access.offset);
            };
            replace_reads(merged, level, replace);
            merged.value = with_rest(merged, builder_.access(before, 0, Offset{}));
            program_.statements[earlier] = std::move(let);
        } else {
            replace_reads(merged, level, [&](const Access&) { return left; });
            merged.value = with_rest(merged, left);
        }
        merged.condition.reset();
        program_.statements[later] = std::move(merged);
        if (!reads_neighbours)
            program_.statements.erase(program_.statements.begin() + static_cast<std::ptrdiff_t>(earlier));
        return true;
    }

    bool reads_beside(std::size_t index, LevelId level) const {
        for (const std::uint32_t reached : reached_exprs(program_, roots_of(program_.statements[index]))) {
            const auto* access = std::get_if<Access>(&program_.exprs[reached].node);
            if (access != nullptr && LevelId{access->field.index, access->time} == level &&
                access->offset != Offset{})
                return true;
        }
        return false;
    }

    // What the statement gives each cell, with `rest` where its condition is false.
    ExprId with_rest(const Assign& assign, ExprId rest) {
        return assign.condition ? builder_.select(*assign.condition, assign.value, rest) : assign.value;
    }

    FieldId add_let(FieldId target) {
        Field let = program_[target];
        let.role = Role::intermediate;
        let.history = 0;
        const std::string stem = let.name + "_before";
        let.name = stem;
        for (int number = 2; is_taken(let.name); ++number)
            let.name = stem + "_" + std::to_string(number);
        program_.fields.push_back(std::move(let));
        has_let_.insert(target.index);
        return FieldId{static_cast<std::uint32_t>(program_.fields.size() - 1)};
    }

    bool is_taken(const std::string& name) const {
        return std::ranges::any_of(program_.fields, [&](const Field& field) { return field.name == name; });
    }

    // Puts replace(access) in the place of each read of the level in the statement.
    template <class Replace>
    void replace_reads(Assign& assign, LevelId level, Replace&& replace) {
        std::vector<ExprId> roots{assign.value};
        if (assign.condition) roots.push_back(*assign.condition);
        std::map<std::uint32_t, ExprId> made;
        for (const std::uint32_t index : reached_exprs(program_, roots)) {
            Expr expr = program_.exprs[index];  // a copy: the arena grows
            const auto* access = std::get_if<Access>(&expr.node);
            if (access != nullptr && LevelId{access->field.index, access->time} == level) {
                made[index] = replace(*access);
                continue;
            }
            map_operands(expr, [&](ExprId operand) { return made.at(operand.index); });
            made[index] = builder_.add(std::move(expr));
        }
        assign.value = made.at(assign.value.index);
        if (assign.condition) assign.condition = made.at(assign.condition->index);
    }

    Program& program_;
    ExprBuilder builder_;
    std::set<std::uint32_t> has_let_;  // states
};

}  // namespace

void merge_writes(Program& program) {
    if (Merger(program).run()) prune(program);
}

}  // namespace halo::passes
