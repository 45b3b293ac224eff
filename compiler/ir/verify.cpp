#include "compiler/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/print.h"
#include "compiler/ir/row_arithmetic.h"

namespace halo::ir {

namespace {

bool is_number(Scalar type) {
    return type != Scalar::boolean;
}

// What a field's values may lie in.
bool holds(Storage storage, Scalar type) {
    switch (storage) {
        case Storage::boolean:
            return type == Scalar::boolean;
        case Storage::u8:
        case Storage::i32:
            return type == Scalar::i32;
        case Storage::i64:
            return type == Scalar::i64;
        case Storage::f16:
        case Storage::bf16:
            return type == Scalar::f32;
        case Storage::f32:
            return is_real(type);
        case Storage::f64:
            return type == Scalar::f64;
    }
    return false;
}

std::size_t arity_of(Function function) {
    return function == Function::pow || function == Function::atan2 ? 2 : 1;
}

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}

    std::vector<std::string> run() {
        check_header();
        for (std::uint32_t i = 0; i < program_.exprs.size(); ++i)
            check_expr(i);
        // What follows walks expressions, which is safe only in an arena that is in order.
        if (!broken_.empty()) return std::move(broken_);
        uniform_ = uniform_exprs(program_);
        for (const Axis& axis : program_.axes) {
            check_uniform(axis.spacing, "spacing of " + axis.name);
            check_uniform(axis.origin, "origin of " + axis.name);
        }
        for (const Field& field : program_.fields)
            check_field(field);
        check_groups();
        check_tables();
        check_statements();
        return std::move(broken_);
    }

private:
    template <class... Args>
    void broken(fmt::format_string<Args...> format, Args&&... args) {
        broken_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void check_groups() {
        for (const Group& group : program_.groups) {
            for (std::size_t i = 0; i < group.fields.size(); ++i) {
                if (group.fields[i].index >= program_.fields.size() ||
                    group.fields[i].index != group.fields.front().index + i)
                    return broken("the fields of {} do not stand one after the other", group.name);
                const Field& first = program_[group.fields.front()];
                const Field& field = program_[group.fields[i]];
                const bool fits = field.type == first.type && field.storage == first.storage &&
                                  field.role == first.role && field.role != Role::intermediate;
                if (group.interleaved && !fits)
                    broken("{} and {} cannot lie side by side", first.name, field.name);
            }
        }
    }

    // ---- arena

    void check_header() {
        if (program_.axes.empty() || program_.axes.size() > kMaxRank)
            broken("a program has one to {} axes, this one {}", kMaxRank, program_.axes.size());
        for (const Coef& coef : program_.coefs) {
            std::size_t elements = 1;
            if (coef.low.size() != coef.high.size() || coef.low.empty()) {
                broken("coef {} has no range", coef.name);
                continue;
            }
            for (std::size_t i = 0; i < coef.low.size(); ++i)
                elements *=
                    coef.high[i] < coef.low[i] ? 0 : static_cast<std::size_t>(coef.high[i] - coef.low[i] + 1);
            if (elements != coef.defaults.size())
                broken("coef {} has {} elements and {} defaults", coef.name, elements, coef.defaults.size());
        }
        for (const std::optional<Window::Along>& along : program_.window.axes) {
            if (along && std::max(along->first.index, along->length.index) >= program_.params.size())
                broken("the window has no params");
        }
    }

    void check_expr(std::uint32_t i) {
        const Expr& expr = program_.exprs[i];
        bool in_order = true;
        for_each_operand(expr, [&](ExprId operand) { in_order = in_order && operand.index < i; });
        if (!in_order) return broken("expression {} comes before its operand", i);
        std::visit([&](const auto& node) { check_node(i, expr.type, node); }, expr.node);
    }

    Scalar type_of(ExprId id) const { return program_[id].type; }

    void expect(std::uint32_t i, bool holds, const char* promise) {
        if (!holds) broken("expression {}: {}", i, promise);
    }

    void check_node(std::uint32_t i, Scalar type, const Constant& node) {
        expect(i, type != Scalar::boolean || node.value == Rational(0) || node.value == Rational(1),
               "a boolean constant is 0 or 1");
    }
    void check_node(std::uint32_t i, Scalar type, const ParamRef& node) {
        expect(i, node.param.index < program_.params.size(), "there is no such param");
        expect(i, type == Scalar::f64, "a param is f64");
    }
    void check_node(std::uint32_t i, Scalar type, const CoefElement& node) {
        if (node.coef.index >= program_.coefs.size())
            return broken("expression {}: there is no such coef", i);
        const Coef& coef = program_[node.coef];
        expect(i, node.element >= 0 && std::cmp_less(node.element, coef.defaults.size()),
               "there is no such element of the coef");
        expect(i, type == coef.type, "a coef's element has the coef's type");
    }
    void check_node(std::uint32_t i, Scalar type, const Access& node) {
        if (node.field.index >= program_.fields.size())
            return broken("expression {}: there is no such field", i);
        const Field& field = program_[node.field];
        expect(i, type == field.type, "an access has the field's type");
        expect(i, node.time <= 1 && node.time >= -field.history, "a read outside the levels that are kept");
        expect(i, node.time != 1 || field.role == Role::state, "only a state has a level t+1");
        for (std::size_t axis = program_.axes.size(); axis < kMaxRank; ++axis)
            expect(i, node.offset[axis] == 0, "an offset along an axis that is not there");
    }
    void check_node(std::uint32_t i, Scalar type, const Coordinate& node) {
        expect(i, node.axis >= 0 && node.axis < program_.rank(), "a coordinate of an axis that is not there");
        expect(i, is_real(type) || (is_integer(type) && node.kind == CoordinateKind::index),
               "a coordinate is a real number, or an index");
        if (node.kind == CoordinateKind::step)
            expect(i, type == Scalar::f64 && node.axis == 0, "the step is f64 and has no axis");
    }
    void check_node(std::uint32_t i, Scalar type, const Unary& node) {
        const Scalar operand = type_of(node.operand);
        switch (node.op) {
            case UnaryOp::negate:
                return expect(i, is_number(type) && operand == type, "negation keeps a number's type");
            case UnaryOp::logical_not:
                return expect(i, type == Scalar::boolean && operand == type, "not takes and gives a boolean");
            case UnaryOp::convert:
                return expect(i, operand != type, "a conversion changes the type");
        }
    }
    void check_node(std::uint32_t i, Scalar type, const Binary& node) {
        const Scalar left = type_of(node.left);
        expect(i, left == type_of(node.right), "operands of one type");
        expect(i, is_logical(node.op) == (left == Scalar::boolean),
               "numbers for arithmetic, booleans for logic");
        const bool floors = node.op == BinaryOp::floor_div || node.op == BinaryOp::floor_mod;
        expect(i, !floors || is_integer(left), "floor_div and floor_mod are of integers");
        expect(i, node.op != BinaryOp::div || is_real(left), "div is of reals");
        const bool boolean_result = is_logical(node.op) || is_comparison(node.op);
        expect(i, type == (boolean_result ? Scalar::boolean : left),
               "the result's type is the operands' or boolean");
    }
    void check_node(std::uint32_t i, Scalar type, const Fma& node) {
        expect(i,
               is_real(type) && type_of(node.a) == type && type_of(node.b) == type && type_of(node.c) == type,
               "fma has operands and result of one floating type");
    }
    void check_node(std::uint32_t i, Scalar type, const Select& node) {
        expect(i, type_of(node.condition) == Scalar::boolean, "a condition is boolean");
        expect(i, type_of(node.then) == type && type_of(node.otherwise) == type,
               "both branches have the result's type");
    }
    void check_node(std::uint32_t i, Scalar type, const Call& node) {
        expect(i, node.arguments.size() == arity_of(node.function), "a function has the arguments it takes");
        expect(i, is_real(type) || (is_integer(type) && node.function == Function::abs),
               "a function gives a real number");
        for (ExprId argument : node.arguments)
            expect(i, type_of(argument) == type, "a function's arguments have its result's type");
    }

    void check_node(std::uint32_t i, Scalar type, const TableSum& node) {
        expect(i, node.table.index < program_.tables.size(), "there is no such table");
        expect(
            i,
            is_real(type) && type_of(node.value) == type && (!node.factor || type_of(*node.factor) == type),
            "a sum has the type of what it adds");
    }
    void check_node(std::uint32_t i, Scalar type, const TableColumn& node) {
        if (node.table.index >= program_.tables.size())
            return broken("expression {}: there is no such table", i);
        const Table& table = program_[node.table];
        if (node.column < 0 || std::cmp_greater_equal(node.column, table.columns.size()))
            return broken("expression {}: table {} has no column {}", i, table.name, node.column);
        expect(i, type == table.columns[node.column].type, "a column is read in its type");
    }

    void check_node(std::uint32_t i, Scalar type, const ReductionRef& node) {
        const auto count = std::count_if(
            program_.statements.begin(), program_.statements.end(),
            [](const Statement& statement) { return std::holds_alternative<Reduce>(statement); });
        expect(i, std::cmp_less(node.reduction.index, count), "there is no such reduction");
        expect(i, type == Scalar::f64, "a reduction is f64");
    }

    void check_node(std::uint32_t i, Scalar type, const Noise& node) {
        expect(i, is_real(type), "noise is a number");
        expect(i, node.stream >= 0, "a stream's number is not negative");
    }

    void check_node(std::uint32_t i, Scalar type, const PointColumn& node) {
        if (node.points.index >= program_.points.size())
            return broken("expression {}: there are no such points", i);
        const Points& points = program_[node.points];
        const std::size_t count = points.columns.size() + points.traces.size();
        expect(i, node.column >= 0 && std::cmp_less(node.column, count), "points have no such column");
        expect(i, is_real(type), "a point's number is a real number");
    }

    // ---- declarations

    void check_uniform(ExprId id, const std::string& what) {
        if (id.index >= program_.exprs.size()) return broken("{} has no expression", what);
        if (!uniform_[id.index]) broken("{} is not uniform: {}", what, print(program_, id));
        if (!is_real(type_of(id))) broken("{} is no number", what);
    }

    void check_fixed(const Field& field, const Face& face) {
        if (face.value.index >= program_.exprs.size())
            return broken("fixed value of {} has no expression", field.name);
        if (!uniform_[face.value.index])
            broken("fixed value of {} is not uniform: {}", field.name, print(program_, face.value));
        const Scalar type = type_of(face.value);
        if (type != field.type && !(is_real(type) && is_real(field.type)))
            broken("fixed value of {} has another type", field.name);
    }

    void check_widths(const Margins& widths, const std::string& what) {
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
            for (int width : widths[axis]) {
                if (width < 0) broken("{} is negative", what);
                if (width != 0 && axis >= program_.axes.size())
                    broken("{} lies along an axis that is not there", what);
            }
        }
    }

    void check_field(const Field& field) {
        if (!holds(field.storage, field.type))
            broken("field {} is stored in what is not its own", field.name);
        if (field.history < 0) broken("field {} has a negative history", field.name);
        if (field.history > 0 && field.role != Role::state)
            broken("field {} is no state, yet has a past", field.name);
        check_widths(field.halo, "halo of " + field.name);
        for (std::size_t axis = 0; axis < program_.axes.size(); ++axis) {
            const auto& [low, high] = field.boundary[axis];
            if ((low.kind == BoundaryKind::periodic) != (high.kind == BoundaryKind::periodic))
                broken("field {} is periodic at one face of an axis alone", field.name);
            for (const Face& face : {low, high})
                if (face.kind == BoundaryKind::fixed) check_fixed(field, face);
            for (int side = 0; side < 2; ++side)
                check_ghosts(field, static_cast<int>(axis), side);
        }
    }

    // A ghost reads its own field, along its axis alone, and inside the domain where that is as long as the
    // face's reach.
    void check_ghosts(const Field& field, int axis, int side) {
        const Face& face = field.boundary[axis][side];
        if (face.kind != BoundaryKind::formula) return;
        if (std::cmp_less(face.ghosts.size(), field.halo[axis][side]))
            broken("field {} has a halo of {} and {} ghosts", field.name, field.halo[axis][side],
                   face.ghosts.size());
        for (std::size_t ghost = 0; ghost < face.ghosts.size(); ++ghost) {
            const ExprId root = face.ghosts[ghost];
            if (root.index >= program_.exprs.size())
                return broken("a ghost of {} has no expression", field.name);
            if (type_of(root) != field.type) broken("a ghost of {} is of another type", field.name);
            const std::vector<bool> reached = reachable_exprs(program_, {root});
            for (std::size_t i = 0; i < reached.size(); ++i)
                if (reached[i]) check_in_ghost(field, axis, side, static_cast<int>(ghost) + 1, i);
        }
    }

    void check_in_ghost(const Field& field, int axis, int side, int distance, std::size_t i) {
        const Expr& expr = program_.exprs[i];
        const bool is_of_statements =
            std::holds_alternative<TableSum>(expr.node) || std::holds_alternative<PointColumn>(expr.node);
        if (is_of_statements) broken("a ghost of {} reads a table or points", field.name);
        const Access* access = std::get_if<Access>(&expr.node);
        if (!access) return;
        if (&program_[access->field] != &field) broken("a ghost of {} reads another field", field.name);
        if (access->time != 0) broken("a ghost of {} reads another level", field.name);
        for (int other = 0; other < kMaxRank; ++other)
            if (other != axis && access->offset[other] != 0)
                broken("a ghost of {} reads along another axis", field.name);
        const int inward = side == 0 ? access->offset[axis] : -access->offset[axis];
        if (inward < distance || inward - distance >= face_reach(field, axis, side))
            broken("a ghost of {} reads past an edge", field.name);
    }
    static int face_reach(const Field& field, int axis, int side) { return field.boundary[axis][side].reach; }

    // Which table's row each expression depends on, if any; a sum is over its own row alone, and gives none.
    void check_tables() {
        row_of_.assign(program_.exprs.size(), -1);
        sums_.assign(program_.exprs.size(), false);
        for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
            const Expr& expr = program_.exprs[i];
            int row = -1;
            bool sums = false;
            for_each_operand(expr, [&](ExprId operand) {
                const int of_operand = row_of_[operand.index];
                if (row >= 0 && of_operand >= 0 && row != of_operand)
                    broken("expression {} reads rows of two tables", i);
                row = std::max(row, of_operand);
                sums = sums || sums_[operand.index];
            });
            if (const auto* column = std::get_if<TableColumn>(&expr.node))
                row = static_cast<int>(column->table.index);
            if (const auto* sum = std::get_if<TableSum>(&expr.node)) {
                if (sums) broken("expression {} is a sum over a table within another", i);
                if (row >= 0 && row != static_cast<int>(sum->table.index))
                    broken("expression {} sums over one table and reads another's row", i);
                row = -1;
                sums = true;
            }
            row_of_[i] = row;
            sums_[i] = sums;
        }
        for (std::size_t t = 0; t < program_.tables.size(); ++t)
            check_table(program_.tables[t], static_cast<int>(t));
    }

    void check_table(const Table& table, int index) {
        if (table.columns.empty()) broken("table {} has no columns", table.name);
        bool computed = false;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const Table::Column& column = table.columns[c];
            if (!is_real(column.type)) broken("column {}.{} holds no numbers", table.name, column.name);
            if (computed && !column.value)
                broken("column {}.{} is given and comes after a computed one", table.name, column.name);
            if (!column.value) continue;
            computed = true;
            if (column.value->index >= program_.exprs.size()) {
                broken("column {}.{} has no expression", table.name, column.name);
                continue;
            }
            if (type_of(*column.value) != column.type)
                broken("column {}.{} is given a value of another type", table.name, column.name);
            const std::vector<bool> needed = reachable_exprs(program_, {*column.value});
            for (std::uint32_t i = 0; i < needed.size(); ++i) {
                if (!needed[i]) continue;
                const auto* read = std::get_if<TableColumn>(&program_.exprs[i].node);
                const bool is_before =
                    read && static_cast<int>(read->table.index) == index && std::cmp_less(read->column, c);
                if (!is_before && !uniform_[i] && is_leaf(program_.exprs[i]))
                    broken("column {}.{} is made of more than params and columns before it", table.name,
                           column.name);
            }
        }
    }

    static bool is_leaf(const Expr& expr) {
        bool leaf = true;
        for_each_operand(expr, [&](ExprId) { leaf = false; });
        return leaf || std::holds_alternative<TableSum>(expr.node);
    }

    // ---- the step

    void check_statements() {
        written_.assign(program_.fields.size(), false);
        for (const Statement& statement : program_.statements)
            std::visit([&](const auto& alternative) { check_statement(alternative); }, statement);
        for (std::size_t i = 0; i < program_.fields.size(); ++i) {
            const Field& field = program_.fields[i];
            if (!written_[i] && field.role != Role::input)
                broken("{} {} is never written", name_of(field.role), field.name);
        }
    }

    // A statement costs what it reaches and no more, so programs of many statements stay linear.
    void check_reads(ExprId root, const std::string& statement) {
        reached_by_.resize(program_.exprs.size(), 0);
        ++turn_;
        std::vector<ExprId> pending{root};
        while (!pending.empty()) {
            const ExprId id = pending.back();
            pending.pop_back();
            if (std::exchange(reached_by_[id.index], turn_) == turn_) continue;
            const Expr& expr = program_[id];
            for_each_operand(expr, [&](ExprId operand) { pending.push_back(operand); });
            const Access* access = std::get_if<Access>(&expr.node);
            if (!access || written_[access->field.index]) continue;
            const Field& field = program_[access->field];
            const bool made_in_step = field.role == Role::output || field.role == Role::intermediate;
            if (access->time == 1 || (access->time == 0 && made_in_step))
                broken("{} reads {} before it is written", statement, field.name);
        }
    }

    void check_condition(const std::optional<ExprId>& condition, const std::string& statement) {
        if (!condition) return;
        if (condition->index >= program_.exprs.size())
            return broken("{} has a condition without expression", statement);
        check_reads(*condition, statement);
        if (type_of(*condition) != Scalar::boolean) broken("the condition of {} is no truth", statement);
    }

    void check_statement(const Assign& assign) {
        if (assign.target.index >= program_.fields.size()) return broken("an assignment to no field");
        const Field& field = program_[assign.target];
        if (assign.value.index >= program_.exprs.size())
            return broken("{} is given no expression", field.name);
        check_reads(assign.value, "the statement for " + field.name);
        if (row_of_[assign.value.index] >= 0)
            broken("the statement for {} reads a table's row outside of a sum", field.name);
        if (field.role == Role::input) broken("input {} is written", field.name);
        if (assign.time != (field.role == Role::state ? 1 : 0))
            broken("{} {} is written at time {:+}", name_of(field.role), field.name, assign.time);
        if (type_of(assign.value) != field.type) broken("{} is given a value of another type", field.name);
        check_condition(assign.condition, "the statement for " + field.name);
        const bool chooses = !assign.region.is_whole() || assign.condition.has_value();
        if (field.role == Role::intermediate && (written_[assign.target.index] || chooses))
            broken("let {} is not given all its cells at once", field.name);
        const bool in_place = written_[assign.target.index] || (chooses && field.role == Role::output);
        if (in_place && read_of_written(program_, assign))
            broken("{} is changed in place, and may read cells that are written", field.name);
        written_[assign.target.index] = true;
        check_widths(assign.margins, "a margin of the statement for " + field.name);
    }

    void check_statement(const Reduce& reduce) {
        if (reduce.value.index >= program_.exprs.size())
            return broken("reduction {} has no expression", reduce.name);
        check_reads(reduce.value, "reduction " + reduce.name);
        if (row_of_[reduce.value.index] >= 0)
            broken("reduction {} reads a table's row outside of a sum", reduce.name);
        check_condition(reduce.condition, "reduction " + reduce.name);
        if (!is_number(type_of(reduce.value))) broken("reduction {} is not over numbers", reduce.name);
        if (reduce.square_root && reduce.op != ReduceOp::sum)
            broken("reduction {} takes the root of no sum", reduce.name);
        check_widths(reduce.margins, "a margin of reduction " + reduce.name);
        if (std::count(reductions_.begin(), reductions_.end(), reduce.name) != 0)
            broken("reduction {} is there twice", reduce.name);
        reductions_.push_back(reduce.name);
    }

    // What is read at points is read at the cell itself, is of no other points than those of `inject`, and is
    // not what that adds to.
    void check_at_points(ExprId value, const std::string& what, const Inject* inject) {
        check_reads(value, what);
        const std::vector<bool> reached = reachable_exprs(program_, {value});
        for (std::size_t i = 0; i < reached.size(); ++i) {
            if (!reached[i]) continue;
            const Expr& expr = program_.exprs[i];
            const auto* access = std::get_if<Access>(&expr.node);
            if (access && access->offset != Offset{}) broken("{} reads beside its cell", what);
            if (access && inject && access->field == inject->target && access->time == inject->time)
                broken("{} reads what it adds to", what);
            if (std::holds_alternative<TableSum>(expr.node)) broken("{} sums over a table", what);
            const auto* column = std::get_if<PointColumn>(&expr.node);
            if (column && (!inject || column->points != inject->points))
                broken("{} reads numbers of other points", what);
        }
    }

    void check_statement(const Inject& inject) {
        if (inject.target.index >= program_.fields.size() || inject.points.index >= program_.points.size() ||
            inject.value.index >= program_.exprs.size())
            return broken("an injection of nothing, into no field or at no points");
        const Field& field = program_[inject.target];
        const std::string what = "the injection into " + field.name;
        check_at_points(inject.value, what, &inject);
        if (!written_[inject.target.index]) broken("{} is injected into before it is written", field.name);
        if (inject.time != (field.role == Role::state ? 1 : 0) || field.role == Role::input)
            broken("{} is injected into at time {:+}", field.name, inject.time);
        if (type_of(inject.value) != field.type || !is_real(field.type))
            broken("{} is added a value of another type", field.name);
    }

    void check_statement(const Sample& sample) {
        if (sample.points.index >= program_.points.size() || sample.value.index >= program_.exprs.size())
            return broken("a sample of nothing or at no points");
        const Points& points = program_[sample.points];
        check_at_points(sample.value, "a sample of " + points.name, nullptr);
        const bool exists = sample.trace >= 0 && std::cmp_less(sample.trace, points.traces.size());
        if (!exists || !points.traces[static_cast<std::size_t>(sample.trace)].sampled)
            broken("a sample of {} goes into no sampled trace", points.name);
        if (!is_real(type_of(sample.value))) broken("a sample of {} is no real number", points.name);
    }

    const Program& program_;
    std::vector<std::string> broken_;
    std::vector<bool> uniform_;
    std::vector<bool> written_;
    std::vector<int> row_of_;                // by expression: the table whose row it depends on, or -1
    std::vector<bool> sums_;                 // by expression: there is a sum over a table in it
    std::vector<std::uint32_t> reached_by_;  // by expression: the last statement that reached it
    std::uint32_t turn_ = 0;
    std::vector<std::string> reductions_;
};

}  // namespace

std::vector<std::string> verify(const Program& program) {
    return Verifier(program).run();
}

}  // namespace halo::ir
