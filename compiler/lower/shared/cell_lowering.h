// The arithmetic of one cell as kernel expressions, for cell.cpp and cell_expressions.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/uses.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/cell_place.h"
#include "compiler/lower/shared/choices.h"
#include "compiler/lower/shared/names.h"
#include "compiler/lower/shared/operations.h"
#include "compiler/lower/shared/ranges.h"
#include "compiler/lower/shared/regions.h"
#include "compiler/lower/shared/repeated.h"
#include "compiler/lower/shared/storage.h"
#include "compiler/lower/shared/tabulated.h"
#include "compiler/support/error.h"

namespace halo::lower {

class CellLowering {
public:
    using Expr = kernel::Expr;
    using Type = kernel::Type;

    CellLowering(Context& context, const CellSources& sources, std::vector<ir::ExprId> roots,
                 kernel::Block& body)
        : context_(context), program_(context.program()), sources_(sources), body_(&body) {
        names_ = context.names();  // a scope inside the kernel's
        if (sources.is_alone) find_late_lets(roots);
        count_uses_of(roots);
        repeated_.emplace(program_, context.layout().shapes, uses_);
    }

    // is_chosen: the cell is one that all reductions count.
    CellValues lower(bool is_chosen = false) {
        CellValues values;
        for (const ir::Assign* assign : context_.stage().assigns)
            values.assigned.push_back(is_late(*assign) ? Expr() : lower_assign(*assign));
        for (const ir::Reduce* reduce : context_.stage().reductions) {
            values.reduced.push_back(lower(reduce->value));
            values.counted.push_back(is_chosen ? Expr() : inside(*reduce));
        }
        return values;
    }

    InPlaceCell lower_in_place(const ir::Assign& changing, const std::vector<const ir::Assign*>& lets) {
        for (const ir::Assign* let : lets)
            if (!is_late(*let)) lower_assign(*let);
        InPlaceCell cell;
        cell.inside = inside_launch(changing);
        // Neighbours that other threads change are loaded only where this statement reads them.
        body_ = &cell.body;
        context_.note(changing.where, cell.body);
        const ir::Field& field = program_[changing.target];
        cell.value = lower_named(changing.value, field.name + "_value");
        if (is_narrow(field)) cell.value = stored(cell.value, field);
        return cell;
    }

    BoxCell lower_in_box() {
        const StageView& stage = context_.stage();
        ir::Region open = stage.in_place->region;
        for (std::size_t axis = 0; axis < open.ranges.size(); ++axis)
            if (sources_.is_in_region[axis]) open.ranges[axis] = {};
        BoxCell cell{inside_cells(context_, open, {}, sources_.index), {}, {}};
        if (stage.in_place->condition) cell.inside = cell.inside && lower(*stage.in_place->condition);
        body_ = &cell.body;
        cell.values = lower(true);
        return cell;
    }

    // Statements for the same cell, one after the other: they share what they have in common.
    void lower_line_cell(const std::vector<const ir::Assign*>& statements,
                         const std::vector<const ir::Assign*>& lets,
                         const std::function<void(const ir::Assign&, Expr)>& store) {
        for (const ir::Assign* let : lets)
            lower_assign(*let);
        for (const ir::Assign* statement : statements) {
            const ir::Field& field = program_[statement->target];
            if (noted_ != statement->where) context_.note(statement->where, *body_);
            noted_ = statement->where;
            Expr value = lower_named(statement->value, field.name + "_value");
            if (is_narrow(field)) value = stored(value, field);
            store(*statement, value);
            forget({statement->target, statement->time});
        }
    }

    Expr lower_at_point(ir::ExprId value) {
        for (const ir::Assign* assign : context_.stage().assigns)
            lower_assign(*assign);
        return lower(value);
    }

    std::vector<Expr> lower_roots(const std::vector<ir::ExprId>& roots,
                                  const std::vector<const ir::Assign*>& lets = {}) {
        for (const ir::Assign* let : lets)
            lower_assign(*let);
        std::vector<Expr> values;
        for (const ir::ExprId root : roots)
            values.push_back(lower(root));
        return values;
    }

private:
    // A read of a level that the stage assigns counts as a use of the assigned value.
    void count_uses_of(const std::vector<ir::ExprId>& roots) {
        uses_ = ir::count_uses(roots, [&](ir::ExprId id, const ir::UseOperand& use) {
            if (context_.is_uniform(id) || given(id).has_value()) return;
            if (const TabulatedFunctions::Use* const tabulated = in_table(id)) return use(tabulated->number);
            for_each_operand(id, use);
        });
    }

    // Lets that take long, and of which neither each cell needs the value nor an array is made, are computed
    // where they are first read: in a branch.
    void find_late_lets(std::vector<ir::ExprId>& roots) {
        const StageView& stage = context_.stage();
        for (const ir::Assign* let : stage.assigns) {
            const ir::Field& field = program_[let->target];
            const bool is_stored =
                std::ranges::any_of(stage.writes, [&](const Write& write) { return write.assign == let; });
            if (field.role != ir::Role::intermediate || is_stored || is_narrow(field)) continue;
            const auto reached = ir::reached_exprs(program_, {let->value});
            const bool is_long = std::ranges::any_of(reached, [&](std::uint32_t each) {
                return takes_long(program_.exprs[each]) || late_let(ir::ExprId{each}) != nullptr;
            });
            const auto root = std::ranges::find(roots, let->value);
            if (!is_long || root == roots.end()) continue;
            late_[{let->target, let->time}] = let;
            roots.erase(root);
        }
        if (late_.empty()) return;
        std::map<Level, const ir::Assign*> late = late_;
        for (const ir::Assign* let :
             choices_.lets_surely_needed(roots, [&](ir::ExprId id) { return late_let(id); })) {
            late.erase({let->target, let->time});
            roots.push_back(let->value);
        }
        late_ = std::move(late);
    }
    const ir::Assign* late_let(ir::ExprId id) const {
        const auto* access = std::get_if<ir::Access>(&program_[id].node);
        const auto found = access == nullptr ? late_.end() : late_.find({access->field, access->time});
        return found == late_.end() ? nullptr : found->second;
    }
    bool is_late(const ir::Assign& let) const { return late_.contains({let.target, let.time}); }
    void for_each_operand(ir::ExprId id, const ir::UseOperand& use) const {
        if (const ir::Assign* const let = late_let(id)) return use(let->value);
        ir::for_each_operand(program_[id], use);
    }

    // Values made of what the level held at the cell before.
    void forget(const Level& level) {
        std::erase_if(named_, [&](const auto& named) {
            return std::ranges::any_of(
                ir::reached_exprs(program_, {ir::ExprId{named.first}}), [&](std::uint32_t e) {
                    const auto* access = std::get_if<ir::Access>(&program_.exprs[e].node);
                    return access != nullptr && Level{access->field, access->time} == level &&
                           access->offset == ir::Offset{};
                });
        });
    }

    Expr given(ir::ExprId id) const { return sources_.given ? sources_.given(id) : Expr(); }
    const TabulatedFunctions::Use* in_table(ir::ExprId id) const {
        return sources_.tabulated ? sources_.tabulated->find(id) : nullptr;
    }
    Expr look_up(const TabulatedFunctions::Use& use) {
        const auto* difference = std::get_if<ir::Binary>(&program_[use.number].node);
        if (!difference || difference->op != ir::BinaryOp::sub)
            return sources_.tabulated->look_up(use, lower(use.number), Expr());
        const Expr left = lower(difference->left), right = lower(difference->right);
        return use.is_reversed ? sources_.tabulated->look_up(use, right, left)
                               : sources_.tabulated->look_up(use, left, right);
    }

    Expr lower_assign(const ir::Assign& assign) {
        const Level level{assign.target, assign.time};
        const ir::Field& field = program_[assign.target];
        // The components of a vector are one statement.
        if (noted_ != assign.where) context_.note(assign.where, *body_);
        noted_ = assign.where;
        const std::string wanted = field.name + (assign.time > 0 ? "_new" : "_value");
        const bool keeps = ir::is_partial(assign) && field.role == ir::Role::state;
        if (const auto real = stored_as_byte(assign); real && !keeps)
            return declare(kernel::call_helper(kernel::Helper::float_to_u8, {lower(*real)}),
                           field.name + "_stored");
        Expr value = lower_named(assign.value, keeps ? field.name + "_inside" : wanted);
        if (keeps) {
            value = declare(kernel::select(has_value(assign), value, sources_.load({assign.target, 0}, {})),
                            wanted);
        }
        if (!is_narrow(field)) {
            assigned_[level] = value;
            return value;
        }
        // Values are rounded to the storage type, also for later reads.
        const Expr rounded = declare(stored(value, field), field.name + "_stored");
        if (is_read_here(level)) assigned_[level] = declare(loaded(rounded, field), field.name + "_rounded");
        return rounded;
    }

    // The real number that a byte of an array is rounded from, where nothing else needs that byte.
    std::optional<ir::ExprId> stored_as_byte(const ir::Assign& assign) const {
        const auto* convert = std::get_if<ir::Unary>(&program_[assign.value].node);
        if (program_[assign.target].storage != ir::Storage::u8 || !convert ||
            convert->op != ir::UnaryOp::convert || program_[convert->operand].type != ir::Scalar::f32)
            return std::nullopt;
        if (context_.is_uniform(assign.value) || has_name(assign.value) || given(assign.value).has_value() ||
            in_table(assign.value) || is_read_here({assign.target, assign.time}))
            return std::nullopt;
        return convert->operand;
    }

    // Under a name; statements for the same cells share it.
    Expr has_value(const ir::Assign& assign) {
        for (const auto& [other, known] : inside_) {
            if (other->region == assign.region && other->margins == assign.margins &&
                other->condition == assign.condition)
                return known;
        }
        const bool chooses = !assign.region.is_whole() || assign.condition;
        const Expr made =
            declare(inside(assign), chooses ? program_[assign.target].name + "_has_value" : "inside");
        inside_.emplace_back(&assign, made);
        return made;
    }

    // Whether another expression of this stage reads the level.
    bool is_read_here(const Level& level) const {
        for (std::size_t e = 0; e < program_.exprs.size(); ++e) {
            const auto* access = std::get_if<ir::Access>(&program_.exprs[e].node);
            const auto used = uses_.find(static_cast<std::uint32_t>(e));
            if (access && used != uses_.end() && Level{access->field, access->time} == level) return true;
        }
        return false;
    }

    // Whether a statement is for this cell; empty where it is for all cells.
    template <class Statement>
    Expr inside(const Statement& statement) {
        Expr result = inside_cells(context_, statement.region, statement.margins, sources_.index);
        if (result.has_value() && sources_.far_from_faces.has_value() && statement.region.is_whole())
            result = sources_.far_from_faces || result;
        if (statement.condition) result = result && lower(*statement.condition);
        return result;
    }

    // The same for launches that cover the statement's region alone.
    Expr inside_launch(const ir::Assign& assign) {
        const ir::Margins margins = ir::margins_within(assign.region, assign.margins);
        Expr result = inside_cells(context_, {}, margins, sources_.index);
        if (assign.condition) result = result && lower(*assign.condition);
        return result;
    }

    Expr declare(Expr value, const std::string& wanted) {
        const Type type = value.type();
        const std::string name = names_.take(wanted);
        body_->push_back(kernel::Declare{type, name, std::move(value)});
        return kernel::variable(name, type);
    }

    bool is_leaf(ir::ExprId id) const {
        const ir::Expr& expr = program_[id];
        const auto* access = std::get_if<ir::Access>(&expr.node);
        return context_.is_uniform(id) ||
               (access && context_.stage().is_of_its_grid(program_[access->field])) ||
               std::holds_alternative<ir::CoefElement>(expr.node);
    }

    bool is_loaded(ir::ExprId id) const {
        const auto* access = std::get_if<ir::Access>(&program_[id].node);
        return access != nullptr && is_leaf(id) && !context_.is_uniform(id) && !given(id).has_value() &&
               !assigned_.contains({access->field, access->time}) && late_let(id) == nullptr;
    }

    // A real number of f32 that is made of a whole one, which is not negative.
    bool is_whole(ir::ExprId id) {
        const auto* convert = std::get_if<ir::Unary>(&program_[id].node);
        if (!convert || convert->op != ir::UnaryOp::convert || program_[id].type != ir::Scalar::f32 ||
            !ir::is_integer(program_[convert->operand].type))
            return false;
        return integers_.range(convert->operand).low >= 0;
    }

    bool is_byte(ir::ExprId id) const {
        const auto* access = std::get_if<ir::Access>(&program_[id].node);
        return access != nullptr && program_[access->field].storage == ir::Storage::u8;
    }

    // The value under a name, unless it has one already or is a literal or a load.
    Expr lower_named(ir::ExprId id, const std::string& wanted) {
        if (Expr there = given(id); there.has_value()) return there;
        const auto known = named_.find(id.index);
        if (known != named_.end()) return known->second;
        Expr value = lower_node(id, wanted);
        const bool has_name = std::holds_alternative<kernel::Variable>(value->kind);
        if (!has_name) value = declare(std::move(value), wanted);
        return named_[id.index] = value;
    }

    Expr lower(ir::ExprId id) {
        if (Expr there = given(id); there.has_value()) return there;
        if (is_leaf(id)) return lower_node(id, "");
        if (has_name(id)) return lower_named(id, name_for(id));
        return lower_node(id, name_for(id));
    }

    bool has_name(ir::ExprId id) const {
        const auto uses = uses_.find(id.index);
        return (uses != uses_.end() && uses->second > 1) || repeated_->has(id);
    }

    std::string name_for(ir::ExprId id) const {
        const std::string word = word_for(program_[id]);
        return repeated_->has(id) ? word + repeated_->place(id) : word;
    }

    Expr lower_node(ir::ExprId id, const std::string& wanted) {
        const ir::Expr& expr = program_[id];
        if (context_.is_uniform(id) && expr.type != ir::Scalar::boolean) {
            return context_.scalar(id, kernel_type(expr.type));
        }
        if (ir::is_integer(expr.type)) {
            if (Expr whole = make_whole(id)) return whole;
        }
        if (const TabulatedFunctions::Use* const use = in_table(id)) return look_up(*use);
        return std::visit([&](const auto& node) { return make(expr, node, wanted); }, expr.node);
    }

    // Arithmetic of integers, which wraps around; empty where the node is something else.
    Expr make_whole(ir::ExprId id) {
        const ir::Expr& expr = program_[id];
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node); unary && unary->op == ir::UnaryOp::negate)
            return integers_.negate(id, lower(unary->operand));
        if (const auto* call = std::get_if<ir::Call>(&expr.node))
            return integers_.absolute(id, name_operand(lower(call->arguments.front())));
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        const bool chooses = binary && (binary->op == ir::BinaryOp::min || binary->op == ir::BinaryOp::max);
        if (!binary || chooses) return Expr();
        const Expr left = lower(binary->left);
        return integers_.binary(id, left, lower(binary->right));
    }

    Expr make(const ir::Expr& expr, const ir::Constant& constant, const std::string&) {
        if (expr.type != ir::Scalar::boolean) throw InternalError("a constant is uniform");
        return kernel::int_literal(!constant.value.is_zero(), Type::boolean);
    }
    Expr make(const ir::Expr&, const ir::ParamRef&, const std::string&) {
        throw InternalError("a param is uniform");
    }
    Expr make(const ir::Expr&, const ir::CoefElement& element, const std::string&) {
        return context_.coef(element, sources_.coefs_as_parameters);
    }
    Expr make(const ir::Expr&, const ir::Access& access, const std::string&) {
        const Level level{access.field, access.time};
        const auto assigned = assigned_.find(level);
        if (assigned != assigned_.end()) return assigned->second;
        if (const auto late = late_.find(level); late != late_.end()) {
            if (!named_.contains(late->second->value.index)) context_.note(late->second->where, *body_);
            return lower_named(late->second->value, program_[access.field].name + "_value");
        }
        if (!context_.stage().is_of_its_grid(program_[access.field])) return load_elsewhere(level, access);
        return sources_.load(level, access.offset);
    }
    Expr make(const ir::Expr& expr, const ir::Coordinate& coordinate, const std::string&) {
        return coordinate_of(context_, coordinate, sources_.index, kernel_type(expr.type));
    }
    Expr make(const ir::Expr& expr, const ir::Unary& unary, const std::string&) {
        const Expr operand = lower(unary.operand);
        switch (unary.op) {
            case ir::UnaryOp::negate:
                return -operand;
            case ir::UnaryOp::logical_not:
                return kernel::logical_not(operand);
            case ir::UnaryOp::convert:
                if (expr.type == ir::Scalar::f32 && is_byte(unary.operand))
                    return kernel::call_helper(kernel::Helper::byte_to_float, {operand});
                return converted(operand, kernel_type(expr.type));
        }
        throw InternalError("unknown unary operation");
    }
    Expr make(const ir::Expr&, const ir::Binary& binary, const std::string&) {
        const Expr left = lower(binary.left);
        const Expr right = lower(binary.right);
        if (binary.op == ir::BinaryOp::min || binary.op == ir::BinaryOp::max)
            return choose(left, right, binary.op == ir::BinaryOp::min);
        return applied(binary.op, left, right);
    }
    // By a comparison: fmin and fmax differ from the interpreter where an operand is NaN.
    Expr choose(Expr left, Expr right, bool smaller) {
        left = name_operand(std::move(left));
        right = name_operand(std::move(right));
        return kernel::select(smaller ? left < right : left > right, left, right);
    }
    Expr name_operand(Expr operand) {
        const bool is_simple = std::holds_alternative<kernel::Variable>(operand->kind) ||
                               std::holds_alternative<kernel::RealLiteral>(operand->kind) ||
                               std::holds_alternative<kernel::IntLiteral>(operand->kind) ||
                               std::holds_alternative<kernel::Element>(operand->kind);
        return is_simple ? operand : declare(std::move(operand), "operand");
    }
    Expr make(const ir::Expr& expr, const ir::Call& call, const std::string&) {
        std::vector<Expr> arguments;
        for (ir::ExprId argument : call.arguments)
            arguments.push_back(lower(argument));
        if (call.fast && sources_.fast_functions) {
            const bool is_root = call.function == ir::Function::rsqrt;
            return kernel::call(is_root ? kernel::Function::rsqrt : function_of(call.function),
                                std::move(arguments), true);
        }
        if (call.function == ir::Function::sqrt && is_whole(call.arguments.front()))
            return kernel::call_helper(kernel::Helper::whole_root, std::move(arguments));
        const Expr value = kernel::call(function_of(call.function), std::move(arguments));
        if (call.function != ir::Function::rsqrt) return value;
        return kernel::real_literal(1, kernel_type(expr.type)) / value;
    }
    Expr make(const ir::Expr&, const ir::TableSum&, const std::string&) {
        throw UnsupportedError("a sum over a table needs the direct strategy");
    }
    Expr make(const ir::Expr& expr, const ir::Noise& noise, const std::string&) {
        return noise_of(context_, noise, sources_.index, kernel_type(expr.type));
    }
    template <class Given>
        requires std::is_same_v<Given, ir::ReductionRef> || std::is_same_v<Given, ir::SeriesValue> ||
                 std::is_same_v<Given, ir::TableColumn> || std::is_same_v<Given, ir::PointColumn>
    Expr make(const ir::Expr&, const Given&, const std::string&) {
        throw InternalError("the host, a sum over a table or an injection gives this value");
    }
    Expr make(const ir::Expr& expr, const ir::Select& select, const std::string& wanted);
    Expr lower_loaded(ir::ExprId id);
    Expr branch(Type type, const Expr& condition, const ir::Select& select, const std::string& wanted);
    struct Condition {  // that is `or` or `and` of some: those that cost little, and the others
        ir::BinaryOp op;
        std::vector<ir::ExprId> cheap, costly;
    };
    std::optional<Condition> parts_of(ir::ExprId id) const;
    void add_parts(ir::ExprId id, Condition& parts) const;
    Expr lower_all(ir::BinaryOp op, const std::vector<ir::ExprId>& parts);
    Expr branch(Type type, const Condition& condition, const ir::Select& select, const std::string& wanted);
    kernel::Block in_block(const std::function<void()>& lower_inside);
    Expr lower_side(ir::ExprId id);
    Expr load_elsewhere(const Level& level, const ir::Access& access);
    Expr make(const ir::Expr& expr, const ir::Fma& fma, const std::string& wanted);
    Expr multiply_add(const ir::Fma& fma, const Expr& c);

    Context& context_;
    const ir::Program& program_;
    const CellSources& sources_;
    kernel::Block* body_;
    Names names_;
    Integers integers_{program_};
    ir::Uses uses_;
    std::optional<RepeatedValues> repeated_;
    std::map<std::uint32_t, Expr> named_;
    std::map<Level, Expr> assigned_;
    std::map<Level, const ir::Assign*> late_;
    Choices choices_{program_, uses_, [this](ir::ExprId id) { return is_loaded(id); },
                     [this](ir::ExprId id) {
                         const bool is_known = is_leaf(id) && late_let(id) == nullptr;
                         return named_.contains(id.index) || is_known || given(id).has_value();
                     },
                     [this](ir::ExprId id, const ir::UseOperand& use) { for_each_operand(id, use); }};
    SourceRange noted_{};  // the statement that a comment names already
    std::vector<std::pair<const ir::Assign*, Expr>> inside_;
};

}  // namespace halo::lower
