// Lets: what they stand for, where they are computed, and what lies past their edges.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/fields.h"
#include "compiler/sema/guards.h"
#include "compiler/sema/stencil_analyzer.h"
#include "compiler/sema/types.h"

namespace halo::sema {

using ir::BoundaryKind;
using ir::FieldId;
using ir::Role;

void StencilAnalyzer::enter(const Step& step) {
    evaluator_.set_loop_indices(step.indices);
    const auto is_over = [&](const std::pair<std::size_t, const Symbol*>& let) {
        const std::size_t depth = let.first;
        const bool goes_on = step.iterations.size() >= depth &&
                             std::equal(current_iterations_.begin(),
                                        current_iterations_.begin() + static_cast<std::ptrdiff_t>(depth),
                                        step.iterations.begin());
        if (!goes_on) evaluator_.forget_let(*let.second);
        return !goes_on;
    };
    loop_lets_.erase(std::remove_if(loop_lets_.begin(), loop_lets_.end(), is_over), loop_lets_.end());
    current_iterations_ = step.iterations;
    if (const auto sweep = sweep_of_statement(*step.statement))
        for (const auto& [name, value] : sweeps_[sweep->index].names)
            evaluator_.define_local(name, value);
}

void StencilAnalyzer::read_let(const syntax::LetDecl& let) {
    if (const auto sweep = sweep_around(let.guards)) return read_let_in_sweep(let, *sweep);
    const Symbol& symbol = *let_symbol(let);
    const Halves place = place_of(let);
    evaluator_.set_wanted(place);
    evaluator_.set_grid(evaluator_.coarseness(let.coarse));
    Value value = evaluator_.evaluate(let.value);
    if (!evaluator_.check_grid(value, evaluator_.grid(), evaluator_.where(let.value))) value = Value();
    // The parts of a vector may lie apart, each where what it is made of lies.
    const bool may_differ = let.at.empty() && value.has_parts();
    if (!may_differ && !require_positions(value, place, fmt::format("`{}`", symbol.name), let.value))
        value = Value();
    if (value.is_poison()) has_poison_ = true;
    const bool has_clauses = !let.boundaries.empty() || !let.halos.empty();
    if (is_name(value) && has_clauses && !value.is_poison()) {
        const SourceRange where =
            let.boundaries.empty() ? let.halos.front().where : let.boundaries.front().where;
        sink_.report(DiagnosticKind::needless_boundary, where,
                     fmt::format("`{}` reads no field, so it needs no boundary and no halo", symbol.name));
    }
    std::string name = symbol.name;
    for (const LoopIndex& index : evaluator_.loop_indices())
        name += fmt::format(".{}", index.value);
    std::shared_ptr<const Shape> shape;
    if (value.has_parts()) shape = std::make_shared<const Shape>(shape_of(value));
    std::size_t leaf = 0;
    evaluator_.define_let(symbol, store(value, let, symbol, name, shape, place, leaf));
    if (!current_repeats_.empty()) repeats_.at(current_repeats_.back().index).lets.push_back(&symbol);
    if (symbol.is_in_loop) loop_lets_.emplace_back(current_iterations_.size(), &symbol);
}

bool StencilAnalyzer::require_positions(const Value& value, Halves place, const std::string& what,
                                        syntax::ExprId id) {
    if (!value.has_parts()) return evaluator_.require_position(value, place, what, id);
    return std::all_of(value.parts.begin(), value.parts.end(),
                       [&](const Value& part) { return require_positions(part, place, what, id); });
}

bool StencilAnalyzer::is_name(const Value& value) {
    if (value.has_parts())
        return std::all_of(value.parts.begin(), value.parts.end(),
                           [&](const Value& part) { return is_name(part); });
    return value.is_poison() || value.is_boolean() || value.is_uniform() || !reads_field(value);
}

Value StencilAnalyzer::store(const Value& value, const syntax::LetDecl& let, const Symbol& symbol,
                             const std::string& name, const std::shared_ptr<const Shape>& shape, Halves place,
                             std::size_t& leaf) {
    if (value.has_parts()) {
        std::size_t part = 0;
        return map_parts(value, [&](const Value& each) {
            return store(each, let, symbol, name + "." + part_name(value, part++), shape, place, leaf);
        });
    }
    const std::size_t own = leaf++;
    if (is_name(value)) return value;
    ir::Field field;
    field.name = name;
    field.type = value.type;
    field.storage = ir::natural_storage(field.type);
    field.role = Role::intermediate;
    field.grid.factor = evaluator_.grid();
    field.where = symbol.where;
    FieldInfo info;
    info.symbol = &symbol;
    const auto own_place = static_cast<Halves>((place & ~value.position.fixed) | value.position.half);
    info.stagger = own_place;
    set_stagger(field, own_place);
    info.shape = shape;
    info.leaf = own;
    info.assigned = info.written = true;
    info.written_where = symbol.where;
    infer_boundary(value, field, info);
    apply_halos(let.halos, field, info, evaluator_);
    apply_boundaries(let.boundaries, field, info, evaluator_);
    const FieldId id{static_cast<std::uint32_t>(program_.fields.size())};
    program_.fields.push_back(std::move(field));
    evaluator_.fields().push_back(std::move(info));
    assign(id, 0, value, evaluator_.where(let.value), let.where);
    const ir::Access access{id, 0, {}};
    return evaluator_.arithmetic().leaf(value.type, access, false, symbol.where,
                                        evaluator_.position_at(own_place));
}

Halves StencilAnalyzer::place_of(const syntax::LetDecl& let) {
    if (let.at.empty()) return evaluator_.own_place(let.value);
    return let_places_.at(&let);
}

void StencilAnalyzer::find_let_places() {
    for (const Step& step : steps_) {
        const auto* let = std::get_if<syntax::LetDecl>(step.statement);
        if (!let || let->at.empty() || let_places_.contains(let)) continue;
        const Halves place = evaluator_.stagger(let->at).value_or(0);
        if (place != 0) evaluator_.set_staggered();
        let_places_.emplace(let, place);
    }
}

const Symbol* StencilAnalyzer::let_symbol(const syntax::LetDecl& let) {
    if (let_symbols_.empty()) {
        for (const Symbol& symbol : symbols_.all()) {
            if (symbol.let) let_symbols_.emplace(symbol.let, &symbol);
        }
    }
    return let_symbols_.at(&let);
}

bool StencilAnalyzer::reads_field(const Value& value) {
    bool result = false;
    for_each_leaf(value, [&](const ir::Expr& expr) {
        result = result || std::holds_alternative<ir::Access>(expr.node) ||
                 std::holds_alternative<ir::CoefElement>(expr.node) ||
                 std::holds_alternative<ir::TableSum>(expr.node) ||
                 std::holds_alternative<ir::Noise>(expr.node);
    });
    return result;
}

void StencilAnalyzer::infer_boundary(const Value& value, ir::Field& field, FieldInfo& info) {
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            bool all_periodic = true, all_free = true, any_field = false;
            for_each_leaf(value, [&](const ir::Expr& expr) {
                if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
                    any_field = true;
                    if (!program_[access->field].grid.has(axis)) return;  // the same at each cell
                    if (const ir::AxisTable* table = axis_table(access->field)) {
                        if (table->cells.empty()) all_periodic = all_free = false;
                        return;
                    }
                    const bool known = evaluator_.fields()[access->field.index].has_boundary[axis][side];
                    const BoundaryKind kind = program_[access->field].boundary[axis][side].kind;
                    all_periodic = all_periodic && known && kind == BoundaryKind::periodic;
                    all_free = all_free && known && kind == BoundaryKind::free;
                } else if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) {
                    const bool varies = !ir::is_uniform_leaf(expr) && coordinate->axis == axis;
                    if (varies) all_periodic = all_free = false;
                }
            });
            if (!any_field) all_periodic = all_free = false;  // noise alone
            field.boundary[axis][side].kind = all_periodic ? BoundaryKind::periodic : BoundaryKind::free;
            info.has_boundary[axis][side] = all_periodic || all_free;
        }
    }
}

}  // namespace halo::sema
