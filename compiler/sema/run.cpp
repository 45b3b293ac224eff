#include "compiler/sema/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "compiler/ir/analysis.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/types.h"

namespace halo::sema {

namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;

class RunAnalyzer {
public:
    RunAnalyzer(const syntax::File& file, const syntax::Run& run, const Symbols& symbols,
                const ir::Program& stencil, RunSpec& result, DiagnosticSink& sink)
        : file_(file),
          run_(run),
          symbols_(symbols),
          stencil_(stencil),
          result_(result),
          sink_(sink),
          settings_(file, symbols, Place::setting, scratch_, ir::Scalar::f64, sink) {}

    void run() {
        result_.stencil = symbols_.stencil().name.text;
        result_.where = run_.where;
        declare(settings_);
        settings_.declare_layouts();
        for (const syntax::RunStatement& statement : run_.statements) {
            std::visit([&](const auto& alternative) { read(alternative); }, statement);
        }
        check_cuts();
        for (auto& [name, fill] : fills_)
            finish(name, fill);
    }

private:
    // A table that the run fills row by row.
    struct Fill {
        std::optional<std::int64_t> rows;
        std::unique_ptr<TableFill> made;
        std::optional<Evaluator> evaluator;  // of made->init
        SourceRange where;
    };

    // The names that a run shares with its stencil. What is wrong with them has been said there.
    static void declare(Evaluator& evaluator) {
        evaluator.declare_params();
        evaluator.declare_coefs();
        evaluator.declare_axes();
    }

    bool is_first(const std::string& what, SourceRange where) {
        const auto [found, is_new] = seen_.emplace(what, where);
        if (!is_new) {
            sink_
                .report(DiagnosticKind::duplicate_setting, where,
                        fmt::format("this run gives {} twice", what))
                .label(found->second, "given here before");
        }
        return is_new;
    }

    void read(const syntax::GridStatement& grid) {
        if (!is_first("its grid", grid.where)) return;
        if (static_cast<int>(grid.extents.size()) != symbols_.rank()) {
            const SourceRange where{settings_.where(grid.extents.front()).begin,
                                    settings_.where(grid.extents.back()).end};
            sink_.report(DiagnosticKind::grid_shape, where,
                         fmt::format("`{}` has {} {} ({}), and this grid {}", result_.stencil,
                                     symbols_.rank(), symbols_.rank() == 1 ? "axis" : "axes",
                                     fmt::join(symbols_.axes(), ", "), grid.extents.size()));
            return;
        }
        std::array<std::int64_t, ir::kMaxRank> extents{1, 1, 1};
        bool valid = true;
        for (std::size_t i = 0; i < grid.extents.size(); ++i) {
            const std::string what = fmt::format("the number of cells along `{}`", symbols_.axes()[i]);
            const std::optional<std::int64_t> extent =
                settings_.integer(grid.extents[i], what, 1, std::numeric_limits<std::int32_t>::max());
            valid = valid && extent;
            if (extent) extents[i] = *extent;
        }
        if (valid) result_.grid = extents;
    }

    void read(const syntax::StepsStatement& steps) {
        if (!is_first("its steps", steps.where)) return;
        result_.steps = settings_.integer(steps.count, "the number of steps", 0, kMaxCount);
        if (!steps.until) return;
        Until until;
        until.where = settings_.where(*steps.until);
        until.host.name = result_.stencil;
        Evaluator evaluator(file_, symbols_, Place::until, until.host, ir::Scalar::f64, sink_);
        declare(evaluator);
        for (const Symbol& symbol : symbols_.all()) {
            if (symbol.kind != Symbol::Kind::reduction) continue;
            ir::Param param;
            param.name = symbol.name;
            param.where = symbol.where;
            until.host.params.push_back(std::move(param));
        }
        const Value condition = evaluator.condition(*steps.until);
        if (condition.is_poison()) return;
        until.condition = evaluator.arithmetic().as(condition, ir::Scalar::boolean, until.where);
        result_.until = std::move(until);
    }

    // The field, or part of one, that a statement of the run names; nullopt where that is reported.
    std::optional<Reference> field_of(syntax::ExprId id) {
        bool failed = false;
        if (std::optional<Reference> field = settings_.reference(file_[id], failed)) return field;
        if (failed) return std::nullopt;
        const syntax::Expr* base = &file_[id];
        while (const auto* member = std::get_if<syntax::Member>(&base->node))
            base = &file_[member->base];
        const auto* name = std::get_if<syntax::NameUse>(&base->node);
        if (name) report_no_field(name->name, base->where);
        return std::nullopt;
    }

    void report_no_field(const std::string& name, SourceRange where) {
        if (const Symbol* symbol = symbols_.find(name)) {
            Diagnostic& diagnostic = sink_.report(
                DiagnosticKind::misused_name, where,
                fmt::format("`{}` is {}; a field is expected here", name, describe(symbol->kind)));
            if (symbol->kind == Symbol::Kind::let)
                diagnostic.note("a field that is assigned keeps its values");
            return;
        }
        const std::vector<std::string> fields =
            settings_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::field; });
        Diagnostic* diagnostic =
            settings_.report_unknown(DiagnosticKind::unknown_name, name, where,
                                     fmt::format("`{}` has no field `{}`", result_.stencil, name), fields);
        constexpr std::size_t kListed = 8;
        if (diagnostic && !fields.empty() && fields.size() <= kListed)
            diagnostic->note(fmt::format("it has {}", fmt::join(fields, ", ")));
    }

    // That no other statement fills any part of it.
    bool is_first_start(const Reference& field, SourceRange where) {
        bool result = true;
        for (std::uint32_t i = 0; i < field.shape->leaves() && result; ++i)
            result = is_first(fmt::format("the start of `{}`", stencil_.fields[field.first + i].name), where);
        return result;
    }

    void read(const syntax::InitLoop& loop) {
        settings_.repeat(loop.indices, loop.indices.front().name.where, [&] {
            for (const syntax::InitStatement& init : loop.body)
                read(init);
            return true;
        });
    }

    // ---- tables

    bool is_table(const syntax::Name& name) const {
        const Symbol* symbol = symbols_.find(name.text);
        return symbol && symbol->kind == Symbol::Kind::table;
    }

    // nullptr where there is no such table; that is reported.
    const Symbol* table_of(const syntax::Name& name) {
        if (is_table(name)) return symbols_.find(name.text);
        if (const Symbol* symbol = symbols_.find(name.text)) {
            sink_.report(
                DiagnosticKind::misused_name, name.where,
                fmt::format("`{}` is {}; a table is expected here", name.text, describe(symbol->kind)));
        } else {
            settings_.report_unknown(
                DiagnosticKind::unknown_name, name.text, name.where,
                fmt::format("`{}` has no table `{}`", result_.stencil, name.text),
                settings_.candidates([](Symbol::Kind kind) { return kind == Symbol::Kind::table; }));
        }
        return nullptr;
    }

    Fill& fill_of(const std::string& table, SourceRange where) {
        Fill& fill = fills_[table];
        if (fill.made) return fill;
        fill.where = where;
        fill.made = std::make_unique<TableFill>();
        fill.made->table = table;
        ir::Program& program = fill.made->init;
        program.name = result_.stencil + "_" + table;
        fill.evaluator.emplace(file_, symbols_, Place::row, program, ir::Scalar::f64, sink_);
        fill.evaluator->declare_params();
        fill.evaluator->declare_coefs();
        Arithmetic& arithmetic = fill.evaluator->arithmetic();
        program.axes.push_back({"row", arithmetic.as_uniform(Value::of(Rational(1)), where),
                                arithmetic.as_uniform(Value::of(Rational(0)), where)});
        fill.evaluator->define_local(
            "row",
            arithmetic.leaf(ir::Scalar::f64, ir::Coordinate{ir::CoordinateKind::index, 0}, false, where));
        return fill;
    }

    void read(const syntax::RowsStatement& rows) {
        const Symbol* symbol = table_of(rows.table);
        const auto count =
            settings_.integer(rows.count, "the number of rows", 0, std::numeric_limits<std::int32_t>::max());
        if (!symbol || !is_first(fmt::format("the rows of `{}`", symbol->name), rows.where)) return;
        Fill& fill = fill_of(symbol->name, rows.where);
        fill.rows = count.value_or(0);
    }

    struct Target {  // `atoms.q`, taken apart
        syntax::Name name;
        const syntax::Name* member = nullptr;  // in the tree, which names of columns outlive
    };
    Target target_of(syntax::ExprId id) const {
        Target target;
        const syntax::Expr* base = &file_[id];
        while (const auto* member = std::get_if<syntax::Member>(&base->node)) {
            target.member = &member->member;
            base = &file_[member->base];
        }
        if (const auto* name = std::get_if<syntax::NameUse>(&base->node))
            target.name = {name->name, base->where};
        return target;
    }

    void read_column(const syntax::InitStatement& init, const Target& target) {
        const Symbol* symbol = table_of(target.name);
        if (!symbol) return;
        const ir::Table& table = stencil_.tables[static_cast<std::size_t>(symbol->index)];
        const std::size_t given = ir::given_columns(table);
        if (!target.member) {
            sink_
                .report(DiagnosticKind::misused_name, target.name.where,
                        fmt::format("`{}` is a table; `init` fills its columns one by one", table.name))
                .note(fmt::format("as in `init {}.{} = …`", table.name, table.columns.front().name));
            return;
        }
        const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                         [&](const auto& each) { return each.name == target.member->text; });
        if (column == table.columns.end() ||
            static_cast<std::size_t>(column - table.columns.begin()) >= given) {
            std::vector<std::string> names;
            for (std::size_t i = 0; i < given; ++i)
                names.push_back(table.columns[i].name);
            const bool computed = column != table.columns.end();
            sink_
                .report(
                    DiagnosticKind::unknown_column, target.member->where,
                    computed
                        ? fmt::format("the column `{}` of `{}` is computed", target.member->text, table.name)
                        : fmt::format("the table `{}` has no column `{}`", table.name, target.member->text))
                .note(fmt::format("these are given: {}", fmt::join(names, ", ")));
            return;
        }
        const std::string what = fmt::format("the column `{}` of `{}`", column->name, table.name);
        if (!is_first(what, target.name.where)) return;
        Fill& fill = fill_of(table.name, init.where);
        const Value value = fill.evaluator->number(init.value);
        fill.evaluator->define_local(target.member->text, value);  // columns after it can use it
        if (value.is_poison()) return;
        ir::Program& program = fill.made->init;
        ir::Field field;
        field.name = column->name;
        field.type = column->type;
        field.storage = ir::natural_storage(column->type);
        field.role = ir::Role::output;
        field.where = target.name.where;
        ir::Assign assign;
        assign.target = ir::FieldId{static_cast<std::uint32_t>(program.fields.size())};
        assign.value = fill.evaluator->arithmetic().as(value, field.type, settings_.where(init.value));
        assign.where = init.where;
        program.fields.push_back(std::move(field));
        program.statements.emplace_back(assign);
    }

    void finish(const std::string& name, Fill& fill) {
        if (!fill.rows) {
            sink_
                .report(DiagnosticKind::rows_needed, fill.where, fmt::format("how many rows has `{}`?", name))
                .note(fmt::format("`rows {} = 1000` says so", name));
            return;
        }
        for (const Load& load : result_.table_loads) {
            if (load.field != name) continue;
            sink_
                .report(DiagnosticKind::duplicate_setting, load.where,
                        fmt::format("`{}` is both loaded and filled by `init`", name))
                .label(fill.where, "filled here");
        }
        fill.evaluator.reset();
        fill.made->rows = *fill.rows;
        fill.made->where = fill.where;
        result_.tables.push_back(std::move(*fill.made));
    }

    void read(const syntax::InitStatement& init) {
        const Target target = target_of(init.field);
        if (is_table(target.name)) return read_column(init, target);
        const std::optional<Reference> reference = field_of(init.field);
        const bool is_new = !reference || is_first_start(*reference, settings_.where(init.field));
        if (!init_) {
            result_.init.emplace();
            result_.init->name = result_.stencil + "_init";
            init_.emplace(file_, symbols_, Place::init, *result_.init, ir::Scalar::f64, sink_);
            declare(*init_);
        }
        init_->set_loop_indices(settings_.loop_indices());
        if (reference) {
            const auto& staggered = stencil_.fields[reference->first].staggered;
            Halves place = 0;
            for (int axis = 0; axis < symbols_.rank(); ++axis)
                place = static_cast<Halves>(place | (staggered[axis] ? axis_bit(axis) : Halves{0}));
            init_->set_wanted(place);  // coordinates are those of the field's points
        }
        const bool is_condition = reference && reference->shape->leaves() == 1 &&
                                  stencil_.fields[reference->first].type == ir::Scalar::boolean;
        const Value value = is_condition ? init_->condition(init.value) : init_->quantity(init.value);
        if (!reference || !is_new || value.is_poison()) return;
        const std::optional<std::vector<Value>> leaves = fit(value, *reference->shape);
        if (!leaves) {
            sink_.report(DiagnosticKind::component_mismatch, init_->where(init.value),
                         fmt::format("this is {}, and `{}` is {}", describe(value), reference->name,
                                     describe(*reference->shape)));
            return;
        }
        for (std::uint32_t i = 0; i < leaves->size(); ++i)
            fill(stencil_.fields[reference->first + i], (*leaves)[i], init);
    }

    void fill(const ir::Field& target, const Value& value, const syntax::InitStatement& init) {
        ir::Program& program = *result_.init;
        ir::Field field;
        field.name = target.name;
        field.type = target.type;
        field.storage = target.storage;
        if (value.is_number() &&
            !check_number(value.number, field.type, field.storage, init_->where(init.value), sink_))
            return;
        field.role = ir::Role::output;
        field.where = init_->where(init.field);
        ir::Assign assign;
        assign.target = ir::FieldId{static_cast<std::uint32_t>(program.fields.size())};
        assign.value = init_->arithmetic().as(value, field.type, init_->where(init.value));
        assign.where = init.where;
        program.fields.push_back(std::move(field));
        program.statements.emplace_back(assign);
    }

    // Refuses a file that is not of the one format there is.
    bool check_path(const syntax::FilePath& path, const std::string& extension) {
        if (path.text.size() > extension.size() && path.text.ends_with(extension)) return true;
        sink_.report(DiagnosticKind::file_format, path.where,
                     fmt::format("the name of this file must end in {}", extension));
        return false;
    }

    std::int64_t read_every(const std::optional<syntax::ExprId>& every) {
        if (!every) return 0;
        return settings_.integer(*every, "the number of steps between files", 1, kMaxCount).value_or(0);
    }

    void read(const syntax::LoadStatement& load) {
        const syntax::Name table = target_of(load.field).name;
        if (is_table(table)) {
            const bool is_csv = load.path.text.ends_with(".csv");
            if ((is_csv || check_path(load.path, ".npy")) &&
                is_first(fmt::format("the rows of `{}`", table.text), load.where))
                result_.table_loads.push_back({table.text, load.path.text, load.where});
            return;
        }
        const std::optional<Reference> field = field_of(load.field);
        const bool valid = check_path(load.path, ".npy");
        if (!field || !is_first_start(*field, settings_.where(load.field)) || !valid) return;
        result_.loads.push_back({field->name, load.path.text, load.where});
    }

    void read(const syntax::SaveStatement& save) {
        const std::optional<Reference> field = field_of(save.field);
        const bool valid = check_path(save.path, ".npy");
        const std::int64_t every = read_every(save.every);
        if (field && valid) result_.saves.push_back({field->name, save.path.text, every, save.where});
    }

    void read(const syntax::PlotStatement& plot) {
        const std::optional<Reference> field = field_of(plot.field);
        const bool valid = check_path(plot.path, ".png");
        Plot made;
        made.path = plot.path.text;
        made.every = read_every(plot.every);
        made.where = plot.where;
        if (plot.cut) {
            made.cut = read_cut(*plot.cut);
            if (!made.cut) return;
        }
        if (!field || !valid || !check_plotted(*field, settings_.where(plot.field))) return;
        made.field = field->name;
        result_.plots.push_back(std::move(made));
        cut_where_.push_back(plot.cut ? settings_.where(plot.cut->value) : plot.where);
    }

    bool check_plotted(const Reference& field, SourceRange where) {
        if (field.shape->kind == Shape::Kind::scalar) return true;
        sink_
            .report(DiagnosticKind::component_mismatch, where,
                    fmt::format("a picture shows one number in each cell, and `{}` is {}", field.name,
                                describe(*field.shape)))
            .note(fmt::format("draw a component, as in `plot {}.{}`, or an output that is made of them",
                              field.name, part_name(*field.shape, 0)));
        return false;
    }

    std::optional<Cut> read_cut(const syntax::Cut& cut) {
        const Symbol* symbol = symbols_.find(cut.axis.text);
        if (!symbol || symbol->kind != Symbol::Kind::axis) {
            settings_.report_unknown_axis(cut.axis.text, cut.axis.where);
            return std::nullopt;
        }
        if (symbols_.rank() == 1) {
            sink_.report(
                DiagnosticKind::invalid_cut, cut.axis.where,
                fmt::format("`{}` has one axis: a cut through it leaves nothing to draw", result_.stencil));
            return std::nullopt;
        }
        Cut made;
        made.axis = symbol->index;
        if (cut.kind == syntax::CutKind::position) {
            made.at_position = true;
            const std::optional<double> position = settings_.known(cut.value, "the place of a cut");
            if (!position) return std::nullopt;
            made.position = *position;
            return made;
        }
        const std::optional<std::int64_t> index =
            settings_.integer(cut.value, "the cell of a cut", 0, std::numeric_limits<std::int32_t>::max());
        if (!index) return std::nullopt;
        made.index = *index;
        return made;
    }

    // The grid may come after the plots.
    void check_cuts() {
        for (std::size_t i = 0; i < result_.plots.size(); ++i) {
            const std::optional<Cut>& cut = result_.plots[i].cut;
            if (!cut || cut->at_position || !result_.grid || cut->index < (*result_.grid)[cut->axis])
                continue;
            const std::string& axis = symbols_.axes()[cut->axis];
            sink_
                .report(
                    DiagnosticKind::invalid_cut, cut_where_[i],
                    fmt::format("the grid has {0} cells along `{1}`, and this is cell {2}; the last is {3}",
                                (*result_.grid)[cut->axis], axis, cut->index, (*result_.grid)[cut->axis] - 1))
                .note(fmt::format("`at pos({0}) = …` names a coordinate", axis));
        }
    }

    void read(const syntax::OverrideStatement& override) {
        const Symbol* symbol = symbols_.find(override.name.text);
        if (!symbol) {
            const auto can_be_given = [](Symbol::Kind kind) {
                return kind == Symbol::Kind::param || kind == Symbol::Kind::coef;
            };
            settings_.report_unknown(
                DiagnosticKind::unknown_name, override.name.text, override.name.where,
                fmt::format("`{}` has no param `{}`", result_.stencil, override.name.text),
                settings_.candidates(can_be_given));
            return;
        }
        const bool is_weights = symbol->kind == Symbol::Kind::coef && symbol->coef->is_param;
        if (symbol->kind != Symbol::Kind::param && !is_weights) {
            Diagnostic& diagnostic = sink_.report(
                DiagnosticKind::invalid_override, override.name.where,
                fmt::format("`{}` is {}; a run can set params", override.name.text, describe(symbol->kind)));
            diagnostic.label(symbol->where, "declared here");
            if (symbol->kind == Symbol::Kind::field)
                diagnostic.note(fmt::format("`init {} = …` fills it", symbol->name));
            if (symbol->kind == Symbol::Kind::constant || symbol->kind == Symbol::Kind::coef) {
                diagnostic.note("declared with `param` it could be set");
            }
            return;
        }
        if (!is_first(fmt::format("`{}`", symbol->name), override.name.where)) return;
        if (is_weights) {
            if (auto values = settings_.coef_values(*symbol, override.value)) {
                result_.coefs.push_back({symbol->name, std::move(*values), override.where});
            }
        } else if (names_integer(symbol->definition->type)) {
            constexpr std::int64_t kExact = std::int64_t{1} << 53;
            const std::int64_t most = symbol->definition->type->storage.text == "i32" ? 2147483647 : kExact;
            const std::string what = fmt::format("`{}`", symbol->name);
            if (const auto value = settings_.integer(override.value, what, -most, most))
                result_.params.push_back({symbol->name, static_cast<double>(*value), override.where});
        } else if (const auto value = settings_.known(override.value, fmt::format("`{}`", symbol->name))) {
            result_.params.push_back({symbol->name, *value, override.where});
        }
    }

    const syntax::File& file_;
    const syntax::Run& run_;
    const Symbols& symbols_;
    const ir::Program& stencil_;
    RunSpec& result_;
    DiagnosticSink& sink_;
    ir::Program scratch_;  // of settings_: its expressions are known before launch and kept nowhere
    Evaluator settings_;
    std::optional<Evaluator> init_;      // fills result_.init
    std::map<std::string, Fill> fills_;  // by table
    std::map<std::string, SourceRange> seen_;
    std::vector<SourceRange> cut_where_;  // of result_.plots
};

}  // namespace

RunSpec analyze_run(const syntax::File& file, const syntax::Run& run, const Symbols& symbols,
                    const ir::Program& stencil, DiagnosticSink& sink) {
    RunSpec result;
    RunAnalyzer(file, run, symbols, stencil, result, sink).run();
    return result;
}

}  // namespace halo::sema
