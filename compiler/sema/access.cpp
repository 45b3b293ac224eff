// Reads: fields and lets at offsets and levels, weights of coefs, and the checks that come with them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/evaluator.h"
#include "compiler/sema/field_axes.h"

namespace halo::sema {

using ir::FieldId;
using ir::Role;

std::string access_text(const std::string& name, int time, const ir::Offset& offset,
                        const std::vector<std::string>& axes) {
    std::string inside;
    const auto append = [&](const std::string& axis, int distance) {
        if (distance == 0) return;
        inside += fmt::format("{}{}{:+}", inside.empty() ? "" : ", ", axis, distance);
    };
    append("t", time);
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        append(axes[axis], offset[axis]);
    return inside.empty() ? name : fmt::format("{}[{}]", name, inside);
}

namespace {

const char* side_name(int side) {
    return side == 0 ? "low" : "high";
}

}  // namespace

Value Evaluator::index(const syntax::Index& node, const syntax::Expr& expr) {
    const SourceRange where = expr.where;
    bool failed = false;
    if (const std::optional<Reference> field = reference(expr, failed)) return read_reference(*field, where);
    if (failed) return Value();
    if (const std::optional<Value> trace = trace_value(node, expr)) return *trace;
    const auto* name = std::get_if<syntax::NameUse>(&file_[node.base].node);
    const Symbol* symbol = name && !find_local(name->name) ? find_symbol(name->name) : nullptr;
    if (symbol) {
        if (symbol->kind == Symbol::Kind::coef) return coef_element(*symbol, node, where);
        if (symbol->kind == Symbol::Kind::series) return series_value(*symbol, node, where);
        const bool has_cells = symbol->kind == Symbol::Kind::field || symbol->kind == Symbol::Kind::let;
        if (!has_cells) {
            report(DiagnosticKind::misused_name, where,
                   fmt::format("`{}` is {} and has no neighbours", name->name, describe(symbol->kind)))
                .label(symbol->where, "declared here");
            return Value();
        }
    }
    return index_computed(node, expr, name ? name->name : "u");
}

// Whether the field has all axes along which it is read at a neighbour; reported otherwise.
bool Evaluator::has_axes(FieldId id, const Subscripts& at, SourceRange where) {
    const ir::Field& field = program_[id];
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        const bool is_here =
            at.offset[along] == 0 && (at.half & axis_bit(axis)) == 0 && at.map[along] == ir::AxisMap{};
        if (field.grid.has(axis) || is_here) continue;
        Subscripts own = at;
        own.offset = field.grid.offset(at.offset);
        report_missing_axis(field.name, field.grid, "neighbours along " + symbols_.axes()[along], where,
                            symbols_.axes(), sink_)
            .label(fields_[id.index].symbol->where, "declared here")
            .mend(where, access_text(field.name, own.time, own.offset, symbols_.axes()));
        return false;
    }
    return true;
}

// Offsets are from the point that is computed: at point P of the cell, u[x+o] is u's element whose point is
// P + o, if it has one there.
Value Evaluator::read_point(FieldId id, const Subscripts& at, SourceRange where) {
    if (at.iterate) return read_iterate(id, at, where);
    if (!has_axes(id, at, where)) return Value();
    const Halves stagger = fields_[id.index].stagger;
    const auto place = static_cast<Halves>(stagger ^ at.half);
    if (at.half != 0 && !is_staggered_) {
        ir::Offset next = at.offset;
        for (int axis = 0; axis < symbols_.rank(); ++axis)
            next[axis] += (at.half & axis_bit(axis)) != 0 ? 1 : 0;
        const std::string& name = program_[id].name;
        Diagnostic& diagnostic =
            report(DiagnosticKind::no_point_here, where,
                   fmt::format("`{}` has no points between the cells: it is not staggered", name));
        if (std::has_single_bit(at.half)) {
            diagnostic.mend(where,
                            fmt::format("({} + {})/2", access_text(name, at.time, at.offset, symbols_.axes()),
                                        access_text(name, at.time, next, symbols_.axes())));
        }
        return Value();
    }
    ir::Offset element = at.offset;
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        // Half a cell above a point that itself lies half a cell up is a point of the next cell.
        const bool carries = (at.half & place & axis_bit(axis)) != 0;
        if (carries) ++element[axis];
    }
    const bool is_moved = at.half != 0 || at.offset != ir::Offset{};
    if (is_staggered_ && is_moved && ((place ^ wanted_) & axes_of(id)) != 0) {
        refuse_no_point(id, at, where);
        return Value();
    }
    Value value = read_field(id, at.time, element, at.map, where);
    if (value.is_expr()) value.position = position_of(id, place);
    return value;
}

// p[k] is the level that the iteration began with, p[k+1] what it has written.
Value Evaluator::read_iterate(FieldId id, Subscripts at, SourceRange where) {
    const std::string& name = program_[id].name;
    const Iterates& iterates = *at.level;
    const std::string_view level = iterates.name;
    const int step = *std::exchange(at.iterate, std::nullopt);
    if (at.has_time) {
        report(DiagnosticKind::time_level, where,
               fmt::format("`{}` has a level of the step or of the iteration, not both", name));
        return Value();
    }
    if (iterates.unread.contains(id.index) && step == 1) return Value();
    if (!iterates.written.contains(id.index)) {
        if (!iterates.misread.contains(fields_[id.index].symbol->name) &&
            iterates.reported.insert(id.index).second)
            report(DiagnosticKind::time_level, where,
                   fmt::format("`{0}` has no level `{1}`: nothing in this `repeat` writes `{0}[{1}+1]`", name,
                               level));
        return Value();
    }
    if (step == 0) {
        at.time = program_[id].role == Role::state ? 1 : 0;
        return read_point(id, at, where);
    }
    const auto next = iterates.next.find(id.index);
    if (next == iterates.next.end()) {
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{0}[{1}+1]` is read before it is written", name, level))
            .note(fmt::format("`{}[{}]` is the value of the iteration before", name, level));
        return Value();
    }
    return read_point(next->second, at, where);
}

// Reports that the field has no point at these offsets from the points of the statement.
void Evaluator::refuse_no_point(FieldId id, const Subscripts& at, SourceRange where) {
    const std::string& name = program_[id].name;
    const Halves stagger = fields_[id.index].stagger;
    const Halves own = axes_of(id);
    const auto apart = static_cast<Halves>((stagger ^ at.half ^ wanted_) & own);
    std::string inside = at.time == 0 ? "" : fmt::format("t{:+}", at.time);
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        const bool is_half = ((stagger ^ wanted_) & own & axis_bit(axis)) != 0;
        const int halves = 2 * at.offset[axis] + (is_half ? 1 : 0);
        if (halves == 0) continue;
        const std::string distance =
            is_half ? fmt::format("{:+}/2", halves) : fmt::format("{:+}", halves / 2);
        inside += fmt::format("{}{}{}", inside.empty() ? "" : ", ", symbols_.axes()[axis], distance);
    }
    report(DiagnosticKind::no_point_here, where,
           fmt::format("`{}` lies at {} and has no point there: offsets are from {}, where this is computed",
                       name, names_at(stagger, apart), names_at(wanted_, apart)))
        .label(fields_[id.index].symbol->where, "declared here")
        .mend(where, inside.empty() ? name : fmt::format("{}[{}]", name, inside));
}

// Evaluates a let, a def's parameter or any other expression at an offset.
Value Evaluator::index_computed(const syntax::Index& node, const syntax::Expr& expr,
                                const std::string& name) {
    const SourceRange where = expr.where;
    const std::optional<Subscripts> at = subscripts(expr, name);
    const Halves half = at ? at->half : Halves{0};
    if (at && at->iterate) {
        report(DiagnosticKind::time_level, where,
               "only a field has levels of an iteration, and this is computed");
        return Value();
    }
    const Value base =
        half == 0 ? quantity(node.base) : evaluate_at(node.base, static_cast<Halves>(wanted_ ^ half));
    if (base.is_poison() || !at || !require_quantity(base, this->where(node.base))) return Value();
    return moved(at->time == 0 ? base : retime(base, at->time, where), *at, name, where);
}

Value Evaluator::moved(const Value& value, const Subscripts& at, const std::string& name, SourceRange where) {
    if (value.has_parts())
        return map_parts(value, [&](const Value& part) { return moved(part, at, name, where); });
    ir::Offset offset = at.offset;
    Position position = value.position;
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        if ((at.half & axis_bit(axis)) == 0) continue;
        if (!is_staggered_ || (value.position.fixed & axis_bit(axis)) == 0) {
            report(DiagnosticKind::no_point_here, where,
                   fmt::format("`{}` has no points between the cells", name));
            return Value();
        }
        const bool to_half = !value.position.is_half(axis);
        if (to_half) ++offset[axis];
        position = position.moved_to(axis, to_half);
    }
    Value result = arithmetic_.shift(
        value, offset, where,
        [this](const ir::Access& access, SourceRange range) { return accept(access, range); }, at.map);
    if (result.is_expr()) result.position = position;
    return result;
}

// Reads another time level of the argument that a def's parameter stands for.
Value Evaluator::retime(const Value& value, int time, SourceRange where) {
    if (value.has_parts())
        return map_parts(value, [&](const Value& part) { return retime(part, time, where); });
    const ir::Access* access = value.is_expr() ? std::get_if<ir::Access>(&program_[value.id].node) : nullptr;
    if (access && access->time == 0) {
        Value level = read_field(access->field, time, access->offset, access->map, where);
        if (level.is_expr()) level.position = value.position;
        return level;
    }
    report(DiagnosticKind::time_level, where, "only a field has time levels, and this is computed");
    return Value();
}

void Evaluator::define_let(const Symbol& symbol, Value value) {
    if (value.is_uniform() && !read_early_.empty()) early_lets_[symbol.index] = read_early_;
    let_grids_[symbol.index] = grid_;
    lets_[symbol.index] = std::move(value);
}

// A let that has one value per launch is inlined where it is read. Returns false, and reports it, where that
// would change its meaning: where a reduction has the last step's value at the let and this step's at the
// read.
bool Evaluator::check_early(const Symbol& symbol, SourceRange where) {
    const auto early = early_lets_.find(symbol.index);
    if (early == early_lets_.end()) return true;
    for (const Symbol& other : symbols_.all()) {
        if (other.kind != Symbol::Kind::reduction || !early->second.contains(other.index)) continue;
        read_early_.insert(other.index);
        if (!reduced_.contains(other.index)) continue;
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{0}` was made of the last step's `{1}`, and `{1}` has a new value by now",
                           symbol.name, other.name))
            .label(other.where, fmt::format("`{}` has this step's value from here on", other.name))
            .note(fmt::format("move `let {}` after it, or this statement before it", symbol.name));
        return false;
    }
    return true;
}

Value Evaluator::read_let(const Symbol& symbol, SourceRange where) {
    if (place_ != Place::step) {
        refuse_field(symbol, where);
        return Value();
    }
    if (const auto found = lets_.find(symbol.index); found != lets_.end()) {
        if (!check_early(symbol, where) || !check_let_grid(symbol, found->second, where)) return Value();
        return found->second;
    }
    if (symbol.let != nullptr && symbol.let->repeat) {
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{}` has no value here: its `let` is within a `repeat`", symbol.name))
            .label(symbol.where, "it has its value from here to the end of that `repeat`");
        return Value();
    }
    report(DiagnosticKind::read_before_written, where,
           symbol.is_in_loop ? fmt::format("`{}` has no value here: its `let` is within a `for`", symbol.name)
                             : fmt::format("`{}` is read before its `let`", symbol.name))
        .label(symbol.where, symbol.is_in_loop ? "it has its value from here to the end of that `for`"
                                               : "it has its value from here on");
    return Value();
}

// Reports where `time` is no level of the field, or one that is not written yet.
bool Evaluator::level_exists(FieldId id, int time, SourceRange where) {
    FieldInfo& info = fields_[id.index];
    const ir::Field& field = program_[id];
    if (are_targets_unknown_ || symbols_.is_unread(info.symbol->name))
        return true;  // the statement that says more could not be read
    if (time > 1) {
        report(DiagnosticKind::time_level, where,
               fmt::format("a step writes level t+1; there is no level t+{}", time));
        return false;
    }
    if (time < -kMaxHistory) {
        report(DiagnosticKind::out_of_range, where,
               fmt::format("`{}[t-{}]` is the oldest level that can be read", field.name, kMaxHistory));
        return false;
    }
    if (field.role == Role::state) {
        if (time != 1 || info.written) return true;
        if (std::exchange(info.reported_unwritten, true)) return false;
        if (target_ && target_->first == info.symbol) {
            report(DiagnosticKind::read_before_written, where,
                   fmt::format("this statement writes `{}[t+1]`, and reads it, too", field.name))
                .note(fmt::format(
                    "a statement is done for all cells at once; `sweep {} up {{ … }}` goes along an "
                    "axis cell after cell",
                    symbols_.axes().front()))
                .note(fmt::format("`{}` is the value before the step; cells of one colour can read those of "
                                  "another, by `where mod(idx({}), 2) == 0 {{ … }}`",
                                  field.name, symbols_.axes().front()));
            return false;
        }
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{}[t+1]` is read before it is written", field.name))
            .note("statements run in order; move this one after the one that writes the new level");
        return false;
    }
    if (field.role == Role::input) {
        if (time == 0) return true;
        report(DiagnosticKind::time_level, where,
               fmt::format("`{}` has no level t{:+}: no statement gives it a new value", field.name, time))
            .label(info.symbol->where, "an input: it stays as it is")
            .mend(where, field.name);
        return false;
    }
    if (time != 0) {
        Diagnostic& diagnostic =
            report(DiagnosticKind::time_level, where,
                   fmt::format("`{}` has its value within the step and no level t{:+}", field.name, time));
        if (info.symbol->field) {
            diagnostic.note(fmt::format("assign `{}[t+1]` to carry it from step to step", field.name));
        }
        return false;
    }
    if (info.written) return true;
    if (std::exchange(info.reported_unwritten, true)) return false;
    Diagnostic& diagnostic = report(DiagnosticKind::read_before_written, where,
                                    fmt::format("`{}` is read before it is written", field.name));
    diagnostic.label(info.written_where, "written here, within the step")
        .note(fmt::format("if `{0}` goes on from step to step, assign its new level: `{0}[t+1] = …`",
                          field.name));
    if (target_ && target_->first == info.symbol && !info.shape)
        diagnostic.mend(target_->second, field.name + "[t+1]");
    return false;
}

void Evaluator::refuse_field(const Symbol& symbol, SourceRange where) {
    if (place_ == Place::setting) {
        refuse_varying(fmt::format("`{}` is {} and", symbol.name, describe(symbol.kind)), where);
        return;
    }
    report(DiagnosticKind::misused_name, where,
           fmt::format("`{}` is {}, which cannot be read here", symbol.name, describe(symbol.kind)))
        .note(place_ == Place::init    ? "`init` computes from coordinates, params and consts"
              : place_ == Place::ghost ? "a boundary computes from coordinates, params and consts"
              : place_ == Place::row
                  ? "`init` of a table computes from `row`, the columns before, params and consts"
              : place_ == Place::column ? "a column is computed from the columns before it, params and consts"
                                        : "`until` compares reductions, params and consts");
}

Value Evaluator::read_field(FieldId id, int time, const ir::Offset& offset, const ir::GridMap& map,
                            SourceRange where) {
    if (equation_ && id == equation_->field && time == equation_->time) {
        const UnknownField unknown = *std::exchange(equation_, std::nullopt);
        Value value = read_field(unknown.in_its_place, unknown.time_there, offset, map, where);
        equation_ = unknown;
        return value;
    }
    if (!level_exists(id, time, where)) return Value();
    const ir::Access access{id, time, offset, map};
    if (!accept(access, where)) return Value();
    if (time < 0) program_.fields[id.index].history = std::max(program_.fields[id.index].history, -time);
    return arithmetic_.leaf(program_[id].type, access, false, where,
                            position_of(id, fields_[id.index].stagger));
}

// Checks a read past an edge: a halo whose width the spec gives must be wide enough, and a let must have a
// value there.
bool Evaluator::accept(const ir::Access& access, SourceRange where) {
    FieldInfo& info = fields_[access.field.index];
    const ir::Field& field = program_[access.field];
    for (int axis = 0; axis < symbols_.rank(); ++axis) {
        if (access.map[axis] != ir::AxisMap{}) {
            if (!accept_mapped(access, axis, where)) return false;
            continue;
        }
        const int distance = access.offset[axis];
        if (distance == 0) continue;
        if (std::abs(distance) > kMaxOffset) {
            report(DiagnosticKind::out_of_range, where,
                   fmt::format("this reaches {} cells along `{}`; {} is the most", std::abs(distance),
                               symbols_.axes()[axis], kMaxOffset));
            return false;
        }
        const int side = distance < 0 ? 0 : 1;
        const std::optional<FieldInfo::Contract>& contract = info.contract[axis][side];
        if (contract && std::abs(distance) > contract->width) {
            report(DiagnosticKind::past_halo, where,
                   fmt::format("this reads `{}`, past the halo of {}",
                               access_text(field.name, access.time, access.offset, symbols_.axes()),
                               contract->width))
                .label(contract->where,
                       fmt::format("`{}` is given {} here", field.name,
                                   contract->width == 1 ? "1 halo cell"
                                                        : fmt::format("{} halo cells", contract->width)))
                .note(fmt::format("`halo {}` would allow it; without `halo` it is found from the accesses",
                                  std::abs(distance)));
            return false;
        }
        if (!info.has_boundary[axis][side]) ask_for_boundary(info, axis, side, where);
    }
    return true;
}

// The same along an axis of a read of another grid.
bool Evaluator::accept_mapped(const ir::Access& access, int axis, SourceRange where) {
    FieldInfo& info = fields_[access.field.index];
    const std::array<int, 2> past = ir::past_faces(access, axis);
    for (int side = 0; side < 2; ++side) {
        const int distance = past[static_cast<std::size_t>(side)];
        if (distance == 0) continue;
        if (distance > kMaxOffset) {
            report(DiagnosticKind::out_of_range, where,
                   fmt::format("this reaches {} cells past a face of `{}`; {} is the most", distance,
                               symbols_.axes()[axis], kMaxOffset));
            return false;
        }
        const std::optional<FieldInfo::Contract>& contract = info.contract[axis][side];
        if (contract && distance > contract->width) {
            report(DiagnosticKind::past_halo, where,
                   fmt::format("this reads `{}` {} past the face {}.{} on some grids, and its halo is {}",
                               program_[access.field].name,
                               distance == 1 ? "1 cell" : fmt::format("{} cells", distance),
                               symbols_.axes()[axis], side_name(side), contract->width))
                .label(contract->where, "given here");
            return false;
        }
        if (!info.has_boundary[axis][side]) ask_for_boundary(info, axis, side, where);
    }
    return true;
}

void Evaluator::ask_for_boundary(FieldInfo& info, int axis, int side, SourceRange where) {
    if (info.asked_for_boundary) return;
    for (FieldInfo& other : fields_)  // a message for one of several components is enough
        other.asked_for_boundary = other.asked_for_boundary || other.symbol == info.symbol;
    const std::string& name = info.symbol->name;
    const Halves half = info.stagger;
    const std::string place = half == 0 ? "" : " at " + names_at(half, half);
    report(DiagnosticKind::boundary_needed, where,
           fmt::format("`{}` is read past the face {}.{}, where it needs a boundary of its own", name,
                       symbols_.axes()[axis], side_name(side)))
        .label(info.symbol->where, "what it reads is not periodic there")
        .note(fmt::format("say what it is there, as in `let {}{} {{ boundary clamp }} = …`", name, place));
}

Value Evaluator::coef_element(const Symbol& symbol, const syntax::Index& node, SourceRange where) {
    const auto found = coefs_.find(symbol.index);
    if (found == coefs_.end()) {
        report(DiagnosticKind::read_before_written, where,
               fmt::format("`{}` is used before its weights are known", symbol.name))
            .label(symbol.where, "declared here");
        return Value();
    }
    const Coef& coef = found->second;
    if (!coef.is_valid) return Value();
    if (node.subscripts.size() != coef.low.size()) {
        report(DiagnosticKind::coef_index, where,
               fmt::format("`{}` has {} {}, and this gives {}", symbol.name, coef.low.size(),
                           coef.low.size() == 1 ? "index" : "indices", node.subscripts.size()))
            .label(symbol.where, "declared here");
        return Value();
    }
    std::size_t element = 0;
    for (std::size_t i = 0; i < coef.low.size(); ++i) {
        const std::optional<Rational> exact = rational(node.subscripts[i], "the index of a coef");
        if (!exact) return Value();
        const std::optional<std::int64_t> value = exact->as_int64();
        if (!value || *value < coef.low[i] || *value > coef.high[i]) {
            report(DiagnosticKind::coef_index, this->where(node.subscripts[i]),
                   fmt::format("`{}` has no weight {}: its range is {}..{}", symbol.name, exact->to_string(),
                               coef.low[i], coef.high[i]))
                .label(symbol.where, "declared here");
            return Value();
        }
        element = element * static_cast<std::size_t>(coef.high[i] - coef.low[i] + 1) +
                  static_cast<std::size_t>(*value - coef.low[i]);
    }
    if (!symbol.coef->is_param) return coef.elements[element];
    if (place_ == Place::setting) {
        report(DiagnosticKind::not_uniform, where,
               fmt::format("weights of `param coef {}` are known on the device alone", symbol.name))
            .note(fmt::format("{} is computed on the host; use params for it", setting_what_));
        return Value();
    }
    const ir::CoefId id = launch_coefs_.at(symbol.index);
    return arithmetic_.leaf(program_[id].type, ir::CoefElement{id, static_cast<int>(element)}, false, where);
}

}  // namespace halo::sema
