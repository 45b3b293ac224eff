#include "compiler/sema/stencil.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/ir/analysis.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/fields.h"

namespace halo::sema {

using ir::BoundaryKind;
using ir::FieldId;
using ir::Role;

namespace {

class StencilAnalyzer {
public:
    StencilAnalyzer(const syntax::File& file, const Symbols& symbols, AnalyzedStencil& result,
                    DiagnosticSink& sink)
        : file_(file),
          symbols_(symbols),
          result_(result),
          program_(result.program),
          sink_(sink),
          evaluator_(file, symbols, Place::step, result.program, declared_compute_type(symbols.stencil()),
                     sink) {}

    void run() {
        program_.name = symbols_.stencil().name.text;
        result_.where = symbols_.stencil().where;
        evaluator_.declare_params();
        evaluator_.check_consts();
        evaluator_.declare_coefs();
        evaluator_.declare_axes();
        evaluator_.declare_accuracy();
        evaluator_.declare_fast();
        evaluator_.declare_tables();
        declare_fields(evaluator_);
        for (const syntax::StencilStatement& statement : symbols_.stencil().statements) {
            if (const auto* assignment = std::get_if<syntax::Assignment>(&statement))
                find_target(*assignment);
        }
        for (const syntax::StencilStatement& statement : symbols_.stencil().statements)
            read(statement);
        check_defs();
        if (!computes_) report_nothing_to_compute();
        ir::infer_halos(program_);
        make_ghosts(evaluator_);
        ir::infer_reaches(program_);
        ir::infer_margins(program_);
    }

private:
    struct Target {
        FieldId field;
        int time = 0;
    };

    // ---- what is assigned

    void find_target(const syntax::Assignment& assignment) {
        const std::optional<Target> target = resolve_target(file_[assignment.target]);
        targets_.push_back(target);
        if (!target) return;
        FieldInfo& info = evaluator_.fields()[target->field.index];
        ir::Field& field = program_.fields[target->field.index];
        const SourceRange where = evaluator_.where(assignment.target);
        const Role role = target->time == 1 ? Role::state : Role::output;
        if (info.assigned) {
            const bool same = field.role == role;
            sink_
                .report(same ? DiagnosticKind::written_twice : DiagnosticKind::invalid_assignment, where,
                        same ? fmt::format("`{}` is written twice in a step", field.name)
                             : fmt::format("`{}` is assigned both with and without `[t+1]`", field.name))
                .label(info.written_where, "written here before");
            targets_.back().reset();
            return;
        }
        info.assigned = true;
        info.written_where = where;
        field.role = role;
    }

    // The field and level that a target names; nullopt where that is reported.
    std::optional<Target> resolve_target(const syntax::Expr& expr) {
        const syntax::Expr* base = &expr;
        if (const auto* index = std::get_if<syntax::Index>(&expr.node)) base = &file_[index->base];
        if (std::holds_alternative<syntax::Member>(expr.node) ||
            std::holds_alternative<syntax::Member>(base->node)) {
            sink_.report(DiagnosticKind::not_built_yet, expr.where, "components of fields are not built yet")
                .note("declare one field for each component");
            return std::nullopt;
        }
        const auto* name = std::get_if<syntax::NameUse>(&base->node);
        if (!name) return std::nullopt;
        const Symbol* symbol = symbols_.find(name->name);
        if (!symbol) {
            evaluator_.report_unknown(
                DiagnosticKind::unknown_name, name->name, base->where,
                fmt::format("there is no field `{0}`; `field {0}: f32` declares one", name->name),
                evaluator_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::field; }));
            return std::nullopt;
        }
        if (symbol->kind != Symbol::Kind::field) {
            sink_
                .report(DiagnosticKind::invalid_assignment, expr.where,
                        fmt::format("`{}` is {}; a statement assigns a field", name->name,
                                    describe(symbol->kind)))
                .label(symbol->where, "declared here");
            return std::nullopt;
        }
        Target target{FieldId{static_cast<std::uint32_t>(symbol->index)}, 0};
        if (base == &expr) return target;
        const std::optional<Subscripts> at = evaluator_.subscripts(expr, name->name);
        if (!at) return std::nullopt;
        if (at->offset != ir::Offset{}) {
            sink_
                .report(DiagnosticKind::invalid_assignment, expr.where,
                        "a statement gives the value of each cell itself, not of its neighbour")
                .note("shift the right-hand side instead");
            return std::nullopt;
        }
        if (at->has_time && at->time != 1) {
            Diagnostic& diagnostic =
                sink_.report(DiagnosticKind::invalid_assignment, expr.where,
                             fmt::format("a step writes the level t+1 of `{}`", name->name));
            diagnostic.mend(expr.where, name->name + "[t+1]");
            return std::nullopt;
        }
        target.time = at->time;
        return target;
    }

    // ---- statements

    void read(const syntax::StencilStatement& statement) {
        if (const auto* assignment = std::get_if<syntax::Assignment>(&statement)) {
            read_assignment(*assignment);
        } else if (const auto* let = std::get_if<syntax::LetDecl>(&statement)) {
            read_let(*let);
        } else if (const auto* reduce = std::get_if<syntax::ReduceDecl>(&statement)) {
            read_reduction(*reduce);
        } else if (const auto* schedule = std::get_if<syntax::ScheduleBlock>(&statement)) {
            read_schedule(*schedule);
        }
    }

    void read_assignment(const syntax::Assignment& assignment) {
        const std::optional<Target> target = targets_[next_target_++];
        Halves place = 0;
        if (target) {
            evaluator_.set_target(target->field, evaluator_.where(assignment.target));
            place = evaluator_.fields()[target->field.index].stagger;
        }
        evaluator_.set_wanted(place);
        Value value = evaluator_.number(assignment.value);
        if (!target) return;
        evaluator_.fields()[target->field.index].written = true;
        computes_ = true;
        const std::string name = fmt::format("`{}`", program_[target->field].name);
        if (!evaluator_.require_position(value, place, name, assignment.value)) value = Value();
        if (value.is_poison()) {
            has_poison_ = true;
            return;
        }
        assign(target->field, target->time, value, evaluator_.where(assignment.value), assignment.where);
    }

    void assign(FieldId field, int time, const Value& value, SourceRange value_where, SourceRange where) {
        ir::Assign made;
        made.target = field;
        made.time = time;
        made.value = evaluator_.arithmetic().as(value, program_[field].type, value_where);
        made.where = where;
        program_.statements.emplace_back(made);
    }

    void read_let(const syntax::LetDecl& let) {
        const Symbol& symbol = *let_symbol(let);
        const Halves place = place_of(let);
        evaluator_.set_wanted(place);
        Value value = evaluator_.evaluate(let.value);
        if (!evaluator_.require_position(value, place, fmt::format("`{}`", symbol.name), let.value))
            value = Value();
        if (value.is_poison()) has_poison_ = true;
        const bool has_clauses = !let.boundaries.empty() || !let.halos.empty();
        // What has one value, is a condition, or comes of coordinates alone is known at every cell, past
        // edges too: a name for the expression.
        const bool is_name =
            value.is_poison() || value.is_boolean() || value.is_uniform() || !reads_field(value);
        if (is_name && has_clauses && !value.is_poison()) {
            const SourceRange where =
                let.boundaries.empty() ? let.halos.front().where : let.boundaries.front().where;
            sink_.report(
                DiagnosticKind::needless_boundary, where,
                fmt::format("`{}` reads no field, so it needs no boundary and no halo", symbol.name));
        }
        if (is_name) {
            evaluator_.define_let(symbol, value);
            return;
        }
        ir::Field field;
        field.name = symbol.name;
        field.type = value.type;
        field.role = Role::intermediate;
        field.where = symbol.where;
        FieldInfo info;
        info.symbol = &symbol;
        info.stagger = place;
        set_stagger(field, place);
        info.assigned = info.written = true;
        info.written_where = symbol.where;
        infer_boundary(value, field, info);
        apply_halos(let.halos, info, evaluator_);
        apply_boundaries(let.boundaries, field, info, evaluator_);
        const FieldId id{static_cast<std::uint32_t>(program_.fields.size())};
        program_.fields.push_back(std::move(field));
        evaluator_.fields().push_back(std::move(info));
        assign(id, 0, value, evaluator_.where(let.value), let.where);
        const ir::Access access{id, 0, {}};
        evaluator_.define_let(symbol, evaluator_.arithmetic().leaf(value.type, access, false, symbol.where,
                                                                   evaluator_.position_at(place)));
    }

    // Where a let is computed: where it says, else where its fields are.
    Halves place_of(const syntax::LetDecl& let) {
        if (let.at.empty()) return evaluator_.own_place(let.value);
        const Halves place = evaluator_.stagger(let.at).value_or(0);
        if (place != 0) evaluator_.set_staggered();
        return place;
    }

    const Symbol* let_symbol(const syntax::LetDecl& let) {
        if (let_symbols_.empty()) {
            for (const Symbol& symbol : symbols_.all()) {
                if (symbol.let) let_symbols_.emplace(symbol.let, &symbol);
            }
        }
        return let_symbols_.at(&let);
    }

    void read_reduction(const syntax::ReduceDecl& reduce) {
        ir::Reduce made;
        made.name = reduce.name.text;
        made.where = reduce.where;
        const std::string& operation = reduce.operation.text;
        const bool is_norm = operation == "norm2";
        made.op = operation == "min"   ? ir::ReduceOp::min
                  : operation == "max" ? ir::ReduceOp::max
                                       : ir::ReduceOp::sum;
        made.square_root = is_norm;
        if (operation != "sum" && operation != "min" && operation != "max" && !is_norm &&
            !operation.empty()) {
            evaluator_.report_unknown(
                DiagnosticKind::unknown_reduction, operation, reduce.operation.where,
                fmt::format("there is no reduction `{}`; there are sum, min, max, norm2", operation),
                {"sum", "min", "max", "norm2"});
        }
        evaluator_.set_wanted(evaluator_.own_place(reduce.value));
        Value value = evaluator_.number(reduce.value);
        if (value.is_poison()) {
            has_poison_ = true;
            return;
        }
        const SourceRange where = evaluator_.where(reduce.value);
        Arithmetic& arithmetic = evaluator_.arithmetic();
        // Squares are taken in f64, as their sum is, so that a norm does not overflow before its root.
        if (is_norm || value.is_uniform()) value = arithmetic.convert(value, ir::Scalar::f64, where);
        if (is_norm) value = arithmetic.binary(ir::BinaryOp::mul, value, value, where);
        if (value.is_poison()) return;
        made.value = arithmetic.as(value, value.is_expr() ? value.type : ir::Scalar::f64, where);
        program_.statements.emplace_back(std::move(made));
        computes_ = true;
    }

    void read_schedule(const syntax::ScheduleBlock& block) {
        if (result_.schedule) {
            sink_
                .report(DiagnosticKind::duplicate_setting, block.where, "this stencil has a schedule already")
                .label(result_.schedule->where, "given here before");
            return;
        }
        result_.schedule = ScheduleText{block.text, block.where};
    }

    // ---- lets past edges

    // Calls visit(expr) for each access and coordinate that the value needs.
    template <class Visit>
    void for_each_leaf(const Value& value, Visit&& visit) {
        seen_.resize(program_.exprs.size(), 0);
        ++turn_;
        std::vector<ir::ExprId> pending{value.id};
        while (!pending.empty()) {
            const ir::ExprId id = pending.back();
            pending.pop_back();
            if (seen_[id.index] == turn_) continue;
            seen_[id.index] = turn_;
            const ir::Expr& expr = program_[id];
            visit(expr);
            ir::for_each_operand(expr, [&](ir::ExprId operand) { pending.push_back(operand); });
        }
    }

    bool reads_field(const Value& value) {
        bool result = false;
        for_each_leaf(value, [&](const ir::Expr& expr) {
            result = result || std::holds_alternative<ir::Access>(expr.node) ||
                     std::holds_alternative<ir::CoefElement>(expr.node) ||
                     std::holds_alternative<ir::TableSum>(expr.node);
        });
        return result;
    }

    // At a face where all it reads is periodic, a let is periodic; where all is free, it is free; else it has
    // no boundary until the user says one. A coordinate is not periodic along its axis, and is not free.
    void infer_boundary(const Value& value, ir::Field& field, FieldInfo& info) {
        for (int axis = 0; axis < symbols_.rank(); ++axis) {
            for (int side = 0; side < 2; ++side) {
                bool all_periodic = true, all_free = true;
                for_each_leaf(value, [&](const ir::Expr& expr) {
                    if (const auto* access = std::get_if<ir::Access>(&expr.node)) {
                        const bool known = evaluator_.fields()[access->field.index].has_boundary[axis][side];
                        const BoundaryKind kind = program_[access->field].boundary[axis][side].kind;
                        all_periodic = all_periodic && known && kind == BoundaryKind::periodic;
                        all_free = all_free && known && kind == BoundaryKind::free;
                    } else if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) {
                        const bool varies = !ir::is_uniform_leaf(expr) && coordinate->axis == axis;
                        if (varies) all_periodic = all_free = false;
                    }
                });
                field.boundary[axis][side].kind = all_periodic ? BoundaryKind::periodic : BoundaryKind::free;
                info.has_boundary[axis][side] = all_periodic || all_free;
            }
        }
    }

    // ---- the end

    // Parameters of a def that would hide what they cannot: `f[x+1]` means the axis, whatever `x` is.
    void check_defs() {
        for (const Symbol& symbol : symbols_.all()) {
            if (!symbol.function) continue;
            std::vector<std::string_view> seen;
            for (const syntax::Name& parameter : symbol.function->parameters) {
                const Symbol* other = symbols_.find(parameter.text);
                const bool is_axis = other && other->kind == Symbol::Kind::axis;
                if (is_axis || parameter.text == "t") {
                    sink_.report(DiagnosticKind::reserved_name, parameter.where,
                                 fmt::format("a parameter cannot be called `{}`, like {}", parameter.text,
                                             is_axis ? "the axis" : "the time level"));
                } else if (std::find(seen.begin(), seen.end(), parameter.text) != seen.end()) {
                    sink_.report(
                        DiagnosticKind::duplicate_name, parameter.where,
                        fmt::format("`{}` has two parameters called `{}`", symbol.name, parameter.text));
                }
                seen.push_back(parameter.text);
            }
        }
    }

    void report_nothing_to_compute() {
        const syntax::Stencil& stencil = symbols_.stencil();
        const bool reads_all =
            stencil.unread_names.empty() && !has_poison_ &&
            std::none_of(targets_.begin(), targets_.end(), [](const auto& target) { return !target; });
        if (!reads_all) return;
        sink_
            .report(DiagnosticKind::nothing_to_compute, stencil.name.where,
                    fmt::format("`{}` assigns no field, so it computes nothing", stencil.name.text))
            .note("a step assigns a field, as in `u[t+1] = …` or `df = …`");
    }

    const syntax::File& file_;
    const Symbols& symbols_;
    AnalyzedStencil& result_;
    ir::Program& program_;
    DiagnosticSink& sink_;
    Evaluator evaluator_;

    std::vector<std::optional<Target>> targets_;  // of the assignments, in order
    std::size_t next_target_ = 0;
    std::map<const syntax::LetDecl*, const Symbol*> let_symbols_;
    bool has_poison_ = false;
    bool computes_ = false;  // something that outlives the step
    std::vector<std::uint32_t> seen_;
    std::uint32_t turn_ = 0;
};

}  // namespace

AnalyzedStencil analyze_stencil(const syntax::File& file, const Symbols& symbols, DiagnosticSink& sink) {
    AnalyzedStencil result;
    StencilAnalyzer(file, symbols, result, sink).run();
    return result;
}

}  // namespace halo::sema
