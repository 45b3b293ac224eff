#include "compiler/ir/print.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "compiler/ir/analysis.h"

namespace halo::ir {

namespace {

// Binding strength, weakest first.
enum class Precedence {
    select,
    logical_or,
    logical_and,
    logical_not,
    comparison,
    sum,
    product,
    negation,
    primary
};

Precedence next(Precedence precedence) {
    return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

Precedence precedence_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::add:
        case BinaryOp::sub:
            return Precedence::sum;
        case BinaryOp::mul:
        case BinaryOp::div:
            return Precedence::product;
        case BinaryOp::min:
        case BinaryOp::max:
        case BinaryOp::floor_div:
        case BinaryOp::floor_mod:
            return Precedence::primary;
        case BinaryOp::less:
        case BinaryOp::less_equal:
        case BinaryOp::greater:
        case BinaryOp::greater_equal:
        case BinaryOp::equal:
        case BinaryOp::not_equal:
            return Precedence::comparison;
        case BinaryOp::logical_and:
            return Precedence::logical_and;
        case BinaryOp::logical_or:
            return Precedence::logical_or;
    }
    return Precedence::primary;
}

bool is_operation(const Expr& expr) {
    bool any = false;
    for_each_operand(expr, [&](ExprId) { any = true; });
    return any;
}

// A rounded leaf is short enough to repeat.
bool worth_a_number(const Program& program, ExprId id) {
    const Expr& expr = program[id];
    if (!is_operation(expr)) return false;
    const Unary* unary = std::get_if<Unary>(&expr.node);
    return !(unary && unary->op == UnaryOp::convert && !is_operation(program[unary->operand]));
}

class Printer {
public:
    explicit Printer(const Program& program, const PrintWords* words = nullptr)
        : program_(program), words_(words), number_(program.exprs.size(), 0) {}

    std::string expression(ExprId id) {
        write(id, Precedence::select);
        return std::move(text_);
    }

    std::string whole() {
        header();
        count_uses();
        for (const Statement& statement : program_.statements)
            std::visit([&](const auto& alternative) { write_statement(alternative); }, statement);
        for (const RepeatEnd& end : program_.repeat_ends) {
            write_shared(end.until);
            put("repeat {} until ", end.repeat);
            write(end.until, Precedence::select);
            text_ += '\n';
        }
        return std::move(text_);
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }

    // ---- expressions

    void write(ExprId id, Precedence at_least) {
        if (id.index >= program_.exprs.size()) return put("<no expression {}>", id.index);
        if (words_ != nullptr) {
            id = words_->stands_for(id);
            if (const std::optional<std::string> text = words_->text(id)) return put("{}", *text);
        }
        if (number_[id.index] != 0) return put("%{}", number_[id.index]);
        const Expr& expr = program_[id];
        std::visit([&](const auto& node) { write_node(expr, node, at_least); }, expr.node);
    }

    template <class Body>
    void bracketed(Precedence own, Precedence at_least, Body&& body) {
        const bool needed = own < at_least;
        if (needed) text_ += '(';
        body();
        if (needed) text_ += ')';
    }

    void write_node(const Expr& expr, const Constant& node, Precedence at_least) {
        if (expr.type == Scalar::boolean) return put("{}", node.value.is_zero() ? "false" : "true");
        const Precedence own = node.value.is_negative()   ? Precedence::negation
                               : !node.value.is_integer() ? Precedence::product
                                                          : Precedence::primary;
        bracketed(own, at_least, [&] { text_ += node.value.to_string(); });
    }
    void write_node(const Expr&, const ParamRef& node, Precedence) {
        if (node.param.index >= program_.params.size()) return put("<no param {}>", node.param.index);
        text_ += program_[node.param].name;
    }
    void write_node(const Expr&, const CoefElement& node, Precedence) {
        if (node.coef.index >= program_.coefs.size()) return put("<no coef {}>", node.coef.index);
        put("{}#{}", program_[node.coef].name, node.element);
    }
    void write_node(const Expr&, const Access& node, Precedence) {
        if (node.field.index >= program_.fields.size()) return put("<no field {}>", node.field.index);
        text_ += program_[node.field].name;
        std::string inside;
        if (node.time != 0) inside = fmt::format("t{:+}", node.time);
        for (std::size_t axis = 0; axis < program_.axes.size() && axis < kMaxRank; ++axis) {
            const std::string& name = program_.axes[axis].name;
            const auto [times, over] = node.map[axis];
            if (node.offset[axis] == 0 && times == over) continue;
            if (!inside.empty()) inside += ", ";
            const std::string offset = node.offset[axis] == 0 ? "" : fmt::format("{:+}", node.offset[axis]);
            if (times > 1) {
                inside += fmt::format("{}*{}{}", times, name, offset);
            } else if (over > 1) {
                inside += offset.empty() ? fmt::format("{}/{}", name, over)
                                         : fmt::format("({}{})/{}", name, offset, over);
            } else {
                inside += name + offset;
            }
        }
        if (!inside.empty()) put("[{}]", inside);
    }
    void write_node(const Expr&, const Coordinate& node, Precedence) {
        if (node.kind == CoordinateKind::step) return put("step");
        static constexpr const char* kNames[] = {"idx", "pos", "len"};
        const bool known = node.axis >= 0 && node.axis < program_.rank();
        put("{}({})", kNames[static_cast<int>(node.kind)],
            known ? program_.axes[node.axis].name : "<no axis>");
    }
    void write_node(const Expr& expr, const Unary& node, Precedence at_least) {
        switch (node.op) {
            case UnaryOp::convert:
                put("{}(", name_of(expr.type));
                write(node.operand, Precedence::select);
                text_ += ')';
                return;
            case UnaryOp::negate:
                return bracketed(Precedence::negation, at_least, [&] {
                    text_ += '-';
                    write(node.operand, Precedence::primary);
                });
            case UnaryOp::logical_not:
                return bracketed(Precedence::logical_not, at_least, [&] {
                    text_ += "not ";
                    write(node.operand, Precedence::logical_not);
                });
        }
    }
    void write_node(const Expr&, const Binary& node, Precedence at_least) {
        if (precedence_of(node.op) == Precedence::primary) {
            return write_call(name_of(node.op), {node.left, node.right});
        }
        const Precedence own = precedence_of(node.op);
        const bool chains = own != Precedence::comparison;  // a < b < c is nothing
        bracketed(own, at_least, [&] {
            write(node.left, chains ? own : next(own));
            put(" {} ", name_of(node.op));
            write(node.right, next(own));
        });
    }
    void write_node(const Expr&, const Fma& node, Precedence) { write_call("fma", {node.a, node.b, node.c}); }
    void write_node(const Expr&, const Select& node, Precedence at_least) {
        bracketed(Precedence::select, at_least, [&] {
            text_ += "if ";
            write(node.condition, next(Precedence::select));
            text_ += " then ";
            write(node.then, next(Precedence::select));
            text_ += " else ";
            write(node.otherwise, Precedence::select);
        });
    }
    void write_node(const Expr&, const Call& node, Precedence) {
        write_call(fmt::format("{}{}", node.fast ? "fast " : "", name_of(node.function)), node.arguments);
    }
    void write_node(const Expr&, const ReductionRef& node, Precedence) {
        put("reduction#{}", node.reduction.index);
    }
    void write_node(const Expr&, const TableSum& node, Precedence) {
        const bool known = node.table.index < program_.tables.size();
        put("{}sum(row in {}) (", node.factor ? "fused " : "",
            known ? program_[node.table].name : "<no table>");
        write(node.value, node.factor ? Precedence::product : Precedence::select);
        if (node.factor) {
            text_ += " * ";
            write(*node.factor, Precedence::negation);
        }
        text_ += ')';
    }
    void write_node(const Expr&, const TableColumn& node, Precedence) {
        const bool known = node.table.index < program_.tables.size() && node.column >= 0 &&
                           std::cmp_less(node.column, program_[node.table].columns.size());
        put("row.{}", known ? program_[node.table].columns[node.column].name : "<no column>");
    }
    void write_node(const Expr&, const SeriesValue& node, Precedence) {
        put("{}[", node.series.index < program_.tables.size() ? program_[node.series].name : "<no series>");
        write(node.at, Precedence::select);
        text_ += ']';
    }
    void write_node(const Expr&, const Noise& node, Precedence) {
        put("{}#{}()", node.kind == NoiseKind::uniform ? "random" : "normal", node.stream);
    }
    void write_node(const Expr&, const PointColumn& node, Precedence) {
        if (node.points.index >= program_.points.size()) return put("<no points>.{}", node.column);
        const Points& points = program_[node.points];
        const std::size_t columns = points.columns.size(), column = static_cast<std::size_t>(node.column);
        if (node.column >= 0 && column < columns) return put("{}.{}", points.name, points.columns[column]);
        const bool known = node.column >= 0 && column - columns < points.traces.size();
        put("{}.{}", points.name, known ? points.traces[column - columns].name + "[t]" : "<no number>");
    }
    void write_call(std::string_view name, const std::vector<ExprId>& arguments) {
        put("{}(", name);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (i != 0) text_ += ", ";
            write(arguments[i], Precedence::select);
        }
        text_ += ')';
    }

    // ---- declarations

    void header() {
        put("stencil {}(", program_.name);
        for (std::size_t i = 0; i < program_.axes.size(); ++i)
            put("{}{}", i == 0 ? "" : ", ", program_.axes[i].name);
        text_ += ")\n";
        for (const Axis& axis : program_.axes) {
            put("axis {} spacing ", axis.name);
            write(axis.spacing, Precedence::select);
            text_ += " origin ";
            write(axis.origin, Precedence::select);
            text_ += '\n';
        }
        for (const StretchedAxis& axis : program_.stretched)
            put("cells along {} by {}", program_.axes[static_cast<std::size_t>(axis.axis)].name, print(axis));
        for (const Param& param : program_.params) {
            put("param {}", param.name);
            if (param.default_value) put(" = {}", *param.default_value);
            text_ += '\n';
        }
        for (const Coef& coef : program_.coefs)
            write_coef(coef);
        for (const Field& field : program_.fields)
            write_field(field);
        for (const Table& table : program_.tables)
            write_table(table);
        for (const Points& points : program_.points)
            put("points {}: {} {}\n", points.name,
                points.interpolation == Interpolation::sinc ? "sinc" : "linear", points.radius);
        text_ += '\n';
    }

    void write_table(const Table& table) {
        put("table {}", table.name);
        for (const Table::Column& column : table.columns) {
            put("{}{}: {}", &column == table.columns.data() ? " " : ", ", column.name, name_of(column.type));
            if (!column.value) continue;
            text_ += " = ";
            write(*column.value, Precedence::select);
        }
        text_ += '\n';
    }

    void write_coef(const Coef& coef) {
        put("param coef {}: {}[", coef.name, name_of(coef.type));
        for (std::size_t i = 0; i < coef.low.size() && i < coef.high.size(); ++i)
            put("{}{}..{}", i == 0 ? "" : ", ", coef.low[i], coef.high[i]);
        text_ += "] =";
        for (double value : coef.defaults)
            put(" {}", value);
        text_ += '\n';
    }

    void write_field(const Field& field) {
        const bool natural = field.storage == natural_storage(field.type);
        put("field {}: {}{} {}", field.name, natural ? "" : std::string(name_of(field.storage)) + " as ",
            name_of(field.type), name_of(field.role));
        if (field.grid.factor != 1) put(", on coarse({})", field.grid.factor);
        if (!field.grid.has_all_axes()) {
            text_ += ", over";
            for (std::size_t axis = 0; axis < program_.axes.size() && axis < kMaxRank; ++axis)
                if (field.grid.along[axis]) put(" {}", program_.axes[axis].name);
        }
        if (field.history != 0) put(", history {}", field.history);
        write_widths(", halo", field.halo);
        text_ += ", boundary";
        for (std::size_t axis = 0; axis < program_.axes.size() && axis < kMaxRank; ++axis) {
            put(" {}", program_.axes[axis].name);
            for (const Face& face : field.boundary[axis]) {
                put(" {}", name_of(face.kind));
                if (face.kind == BoundaryKind::fixed) {
                    text_ += '(';
                    write(face.value, Precedence::select);
                    text_ += ')';
                }
                for (std::size_t ghost = 0; ghost < face.ghosts.size(); ++ghost) {
                    put("{}{}: ", ghost == 0 ? "(" : "; ", ghost + 1);
                    write(face.ghosts[ghost], Precedence::select);
                    if (ghost + 1 == face.ghosts.size()) text_ += ')';
                }
            }
        }
        text_ += '\n';
    }

    void write_widths(std::string_view label, const Margins& widths) {
        std::string inside;
        for (std::size_t axis = 0; axis < program_.axes.size() && axis < kMaxRank; ++axis) {
            if (widths[axis][0] == 0 && widths[axis][1] == 0) continue;
            inside += fmt::format(" {} {} {}", program_.axes[axis].name, widths[axis][0], widths[axis][1]);
        }
        if (!inside.empty()) put("{}{}", label, inside);
    }

    // ---- statements

    void count_uses() {
        const std::size_t n = program_.exprs.size();
        uses_.assign(n, 0);
        reached_.assign(n, false);
        for (const Statement& statement : program_.statements) {
            for (const ExprId root : roots_of(statement))
                if (root.index < n) reached_[root.index] = true, ++uses_[root.index];
        }
        for (const RepeatEnd& end : program_.repeat_ends)
            if (end.until.index < n) reached_[end.until.index] = true, ++uses_[end.until.index];
        for (std::size_t i = n; i-- > 0;) {
            if (!reached_[i]) continue;
            for_each_operand(program_.exprs[i], [&](ExprId operand) {
                if (operand.index < n) reached_[operand.index] = true, ++uses_[operand.index];
            });
        }
    }

    // Gives the shared operations under `root` that have no number yet one, each on a line of its own.
    void write_shared(ExprId root) {
        const std::size_t n = program_.exprs.size();
        if (root.index >= n) return;
        std::vector<bool> needed(n, false);
        needed[root.index] = true;
        for (std::size_t i = root.index + 1; i-- > 0;) {
            if (!needed[i] || number_[i] != 0) continue;
            for_each_operand(program_.exprs[i], [&](ExprId operand) {
                if (operand.index < n) needed[operand.index] = true;
            });
        }
        for (std::uint32_t i = 0; i <= root.index; ++i) {
            if (!needed[i] || number_[i] != 0 || uses_[i] < 2 || !worth_a_number(program_, {i})) continue;
            const int number = ++last_number_;
            put("%{} = ", number);
            write({i}, Precedence::select);
            text_ += '\n';
            number_[i] = number;
        }
    }

    // The cells that a statement is for, as bounds that count from the low face, or from n past the high one.
    void write_cells(const Region& region, const std::optional<ExprId>& condition) {
        const auto bound = [](const Region::Bound& each) {
            return each.from_high ? fmt::format("n{:+}", each.offset) : fmt::format("{}", each.offset);
        };
        for (std::size_t axis = 0; axis < program_.axes.size() && axis < kMaxRank; ++axis) {
            const Region::Range& range = region.ranges[axis];
            if (range == Region::Range{}) continue;
            put("    on {} [{}, {})", program_.axes[axis].name, bound(range.begin), bound(range.end));
        }
        if (!condition) return;
        text_ += "    where ";
        write(*condition, Precedence::select);
    }

    void write_sweep(const LineSweep& sweep) {
        put("    sweep {} along {} {}", sweep.number,
            program_.axes[static_cast<std::size_t>(sweep.axis)].name, sweep.upwards ? "up" : "down");
        if (sweep.inner)
            put(", {} {} within it", program_.axes[static_cast<std::size_t>(sweep.inner->axis)].name,
                sweep.inner->upwards ? "up" : "down");
        if (sweep.in_parts) text_ += " in parts";
    }

    void write_times(const std::vector<Repeat>& repeats, const rt::StepRange& within) {
        for (const Repeat& repeat : repeats)
            put("    repeat {}, {} times", repeat.number, repeat.count);
        if (!within.is_all()) put("    within steps {} to {}", within.first, within.past);
    }

    void write_statement(const Assign& assign) {
        write_shared(assign.value);
        if (assign.condition) write_shared(*assign.condition);
        const bool known = assign.target.index < program_.fields.size();
        text_ += known ? program_[assign.target].name : "<no field>";
        if (assign.time != 0) put("[t{:+}]", assign.time);
        text_ += " = ";
        write(assign.value, Precedence::select);
        write_cells(assign.region, assign.condition);
        write_widths("    margins", assign.margins);
        if (assign.sweep) write_sweep(*assign.sweep);
        write_times(assign.repeats, assign.within);
        text_ += '\n';
    }

    void write_statement(const Reduce& reduce) {
        write_shared(reduce.value);
        if (reduce.condition) write_shared(*reduce.condition);
        put("reduce {} = {}{}(", reduce.name, reduce.square_root ? "sqrt of " : "", name_of(reduce.op));
        write(reduce.value, Precedence::select);
        text_ += ')';
        write_cells(reduce.region, reduce.condition);
        write_widths("    margins", reduce.margins);
        write_times(reduce.repeats, reduce.within);
        text_ += '\n';
    }

    void write_statement(const Inject& inject) {
        write_shared(inject.value);
        const bool known = inject.target.index < program_.fields.size();
        put("inject {}", known ? program_[inject.target].name : "<no field>");
        if (inject.time != 0) put("[t{:+}]", inject.time);
        put(" at {} += ", points_name(inject.points));
        write(inject.value, Precedence::select);
        text_ += '\n';
    }

    void write_statement(const Sample& sample) {
        write_shared(sample.value);
        put("sample ");
        write(sample.value, Precedence::select);
        const std::string points = points_name(sample.points);
        const bool known = sample.points.index < program_.points.size() && sample.trace >= 0 &&
                           std::cmp_less(sample.trace, program_[sample.points].traces.size());
        put(" at {} into {}.{}[t]\n", points, points,
            known ? program_[sample.points].traces[static_cast<std::size_t>(sample.trace)].name
                  : "<no trace>");
    }

    std::string points_name(PointsId points) const {
        return points.index < program_.points.size() ? program_[points].name : "<no points>";
    }

    const Program& program_;
    const PrintWords* words_;
    std::string text_;
    std::vector<int> number_;  // 0: written out in place
    int last_number_ = 0;
    std::vector<int> uses_;
    std::vector<bool> reached_;
};

}  // namespace

std::string print(const Program& program) {
    return Printer(program).whole();
}

std::string print(const Program& program, ExprId expr) {
    return Printer(program).expression(expr);
}

std::string print(const Program& program, ExprId expr, const PrintWords& words) {
    return Printer(program, &words).expression(expr);
}

}  // namespace halo::ir
