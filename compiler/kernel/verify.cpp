#include "compiler/kernel/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/kernel/build.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/type_word.h"
#include "compiler/kernel/walk.h"
#include "compiler/support/error.h"

namespace halo::kernel {
namespace {

// What a name stands for.
struct Entity {
    enum class Kind : std::uint8_t { scalar, pointer, array, lambda };
    Kind kind = Kind::scalar;
    Type type = Type::i32;
    bool writable = false;  // a mutable scalar; a pointer or array that is stored through
    std::size_t indices = 1;
    bool shared = false;
    bool varies = false;    // a scalar that may differ between a block's threads
    bool constant = false;  // known when the text is printed
};

struct FunctionShape {
    std::vector<Type> arguments;
    bool has_barrier = false;
    bool is_variadic = false;  // the last argument may come several times
};

// A value of `from` may be stored where a `to` is.
bool fits_in(Type from, Type to) {
    return from == to || (from == Type::i32 && to == Type::i64);
}

// What a vector load makes of an array's elements where it converts them.
Type value_of(Type storage) {
    switch (storage) {
        case Type::u8:
            return Type::i32;
        case Type::f16:
        case Type::bf16:
            return Type::f32;
        case Type::f32:
            return Type::f64;
        default:
            return storage;
    }
}

std::optional<std::int64_t> literal_of(const Expr& expr) {
    return expr.has_value() ? int_value(expr) : std::nullopt;
}

std::size_t argument_count(Function function) {
    switch (function) {
        case Function::fma:
            return 3;
        case Function::pow:
        case Function::atan2:
        case Function::min:
        case Function::max:
            return 2;
        default:
            return 1;
    }
}

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}

    std::vector<std::string> verify() {
        scopes_.emplace_back();
        where_ = "program";
        for (const char* face : {"kFixed", "kFree", "kClamp", "kMirror"})
            scopes_.back()[face].constant = true;
        for (const NamedConstant& constant : program_.constants)
            declare(constant.name, {Entity::Kind::scalar, constant.type, false, 1, false, false, true});
        for (const ConstantArray& array : program_.constant_arrays) {
            if (array.size < 1) fault("constant array `{}` has {} elements", array.name, array.size);
            declare(array.name, {Entity::Kind::array, array.type});
        }
        for (const KernelFunction& function : program_.functions)
            check(function);
        return std::move(faults_);
    }

private:
    template <class... Arguments>
    void fault(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        faults_.push_back(where_ + ": " + fmt::format(text, std::forward<Arguments>(arguments)...));
    }

    // ---- names
    // --------------------------------------------------------------------------------------------------

    const Entity* find(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto known = scope->find(name); known != scope->end()) return &known->second;
        }
        return nullptr;
    }

    void declare(const std::string& name, Entity entity) {
        if (find(name)) fault("`{}` is declared while another one is visible", name);
        scopes_.back()[name] = entity;
    }

    const Entity* need(const std::string& name) {
        const Entity* entity = find(name);
        if (!entity) fault("`{}` is not declared here", name);
        return entity;
    }

    // ---- functions
    // ----------------------------------------------------------------------------------------------

    void check(const KernelFunction& function) {
        where_ = function.name;
        if (!functions_.insert(function.name).second || find(function.name) ||
            is_prelude_name(function.name)) {
            fault("the name is given twice");
        }
        if (function.kind == KernelFunction::Kind::kernel && function.parameters.empty())
            fault("a kernel without parameters computes nothing");
        scopes_.emplace_back();
        left_ = false;
        varying_ = 0;
        FunctionShape shape;
        for (const Parameter& parameter : function.parameters) {
            const bool scalar = parameter.kind == Parameter::Kind::scalar;
            declare(parameter.name, {scalar ? Entity::Kind::scalar : Entity::Kind::pointer, parameter.type,
                                     parameter.kind == Parameter::Kind::output, 1, false,
                                     function.kind == KernelFunction::Kind::helper, false});
            shape.arguments.push_back(parameter.type);
        }
        if (function.kind == KernelFunction::Kind::kernel && function.threads == 0) {
            // The range of blocks that a kernel for CPUs is called with.
            declare("begin", {Entity::Kind::scalar, Type::i64});
            declare("end", {Entity::Kind::scalar, Type::i64});
        }
        for (const NamedConstant& constant : function.constants)
            declare(constant.name, {Entity::Kind::scalar, constant.type, false, 1, false, false, true});
        check(function.body);
        scopes_.pop_back();
        for_each_statement(function.body, [&](const Statement& statement) {
            const auto* barrier = std::get_if<Barrier>(&statement.kind);
            shape.has_barrier = shape.has_barrier || (barrier && barrier->of == Barrier::Of::block);
        });
        if (function.kind == KernelFunction::Kind::helper) callable_[function.name] = shape;
    }

    void check(const Block& block) {
        for (const Statement& statement : block)
            std::visit([&](const auto& node) { check(node); }, statement.kind);
    }

    void check_scope(const Block& block, bool varies) {
        scopes_.emplace_back();
        varying_ += varies;
        check(block);
        varying_ -= varies;
        scopes_.pop_back();
    }

    // ---- statements
    // ---------------------------------------------------------------------------------------------

    void check(const Declare& node) {
        expect(node.value, node.type, "the value of `" + node.name + "`");
        declare(node.name, {Entity::Kind::scalar, node.type, node.mutable_value, 1, false,
                            node.mutable_value || varies(node.value), false});
    }

    void check(const DeclarePointer& node) {
        check_address(node.value, node.type, node.writable);
        declare(node.name, {Entity::Kind::pointer, node.type, node.writable});
    }

    void check(const DeclareArray& node) {
        if (node.dims.empty()) fault("array `{}` has no dimensions", node.name);
        for (const Expr& dim : node.dims) {
            expect_integer(dim, "a dimension of `" + node.name + "`");
            if (!is_constant(dim)) fault("array `{}` has a dimension that is not constant", node.name);
            if (const auto size = literal_of(dim); size && *size < 1)
                fault("array `{}` has a dimension of {}", node.name, *size);
        }
        declare(node.name, {Entity::Kind::array, node.type, true, node.dims.size(),
                            node.memory != Memory::registers, false, false});
    }

    void check(const DeclareLambda& node) {
        scopes_.emplace_back();
        for (const std::string& parameter : node.parameters)
            declare(parameter, {Entity::Kind::scalar, Type::i32, false, 1, false, true, false});
        expect(node.value, Type::i32, "the value of `" + node.name + "`");
        scopes_.pop_back();
        declare(node.name, {Entity::Kind::lambda, Type::i32, false, node.parameters.size()});
    }

    void check(const Assign& node) {
        type_of(node.target);
        if (!node.target) return;
        check_stored(node.target);
        expect(node.value, node.target.type(), "an assigned value");
    }

    void check_stored(const Expr& target) {
        std::string name;
        if (const auto* variable = std::get_if<Variable>(&target->kind)) name = variable->name;
        if (const auto* element = std::get_if<Element>(&target->kind)) name = element->array;
        if (name.empty()) return fault("a value is stored to what is no place");
        const Entity* entity = find(name);
        if (entity && !entity->writable) fault("`{}` is stored to, but not declared for it", name);
    }

    void check_vector(const Expr& element, const Expr& address, int width, bool stores, bool in_shared) {
        if (width != 2 && width != 4) fault("a vector is {} wide", width);
        type_of(element);
        if (!element) return;
        // What is loaded to registers may be converted on its way.
        const bool converts =
            address.has_value() && !stores && !in_shared && value_of(address.type()) == element.type();
        check_address(address, converts ? address.type() : element.type(), stores);
        const auto* place = std::get_if<Element>(&element->kind);
        if (!place) return fault("a vector's end is no element of an array");
        const Entity* array = find(place->array);
        if (!array) return;
        if (array->kind != Entity::Kind::array || (!stores && !array->writable))
            fault("a vector's end `{}` is no local array", place->array);
        if (in_shared && !array->shared) fault("`{}` is no shared array", place->array);
    }
    void check(const LoadVector& node) { check_vector(node.to, node.from, node.width, false, false); }
    void check(const CopyVector& node) { check_vector(node.to, node.from, node.width, false, true); }
    void check(const CopyAsync& node) {
        const auto* place = node.to ? std::get_if<Element>(&node.to->kind) : nullptr;
        if (place == nullptr || place->indices.size() != 1)
            return fault("a copy in the background goes to no element of an array of one dimension");
        if (node.width == 1) {
            type_of(node.to);
            if (node.to) check_address(node.from, node.to.type(), false);
            return;
        }
        check_vector(node.to, node.from, node.width, false, true);
    }
    void check(const CommitCopies&) {}
    void check(const AwaitCopies& node) {
        if (node.pending < 0) fault("{} groups of copies are awaited", node.pending);
    }
    void check(const StoreVector& node) { check_vector(node.from, node.to, node.width, true, false); }

    // An element of an array in registers, from which cells are counted.
    void check_cells(const Expr& element, const Expr& count) {
        type_of(element);
        const auto* place = element ? std::get_if<Element>(&element->kind) : nullptr;
        if (!place) return fault("cells begin at what is no element of an array");
        const Entity* array = find(place->array);
        if (array && (array->kind != Entity::Kind::array || array->shared))
            fault("`{}` is no array in registers", place->array);
        expect_integer(count, "a number of cells");
        if (!count) return;
        if (!is_constant(count)) fault("a number of cells is not constant");
        if (const auto cells = literal_of(count); cells && *cells < 1) fault("{} cells are stored", *cells);
    }
    void check(const CopyCells& node) {
        check_cells(node.to, node.count);
        check_cells(node.from, node.count);
        if (node.to.has_value() && node.from.has_value() && node.to.type() != node.from.type())
            fault("cells are copied from {} to {}", word(node.from.type()), word(node.to.type()));
    }
    void check(const FillCells& node) {
        check_cells(node.to, node.count);
        if (node.to) expect(node.value, node.to.type(), "what cells are filled with");
        if (node.stride < 1) fault("cells are filled {} elements apart", node.stride);
    }

    void check(const For& node) {
        if (!is_integer(node.type)) fault("loop `{}` counts in {}", node.var, word(node.type));
        expect(node.begin, node.type, "the first value of loop `" + node.var + "`");
        expect_integer(node.end, "the end of loop `" + node.var + "`");
        expect(node.step, node.type, "the step of loop `" + node.var + "`");
        if (const auto step = literal_of(node.step); step && *step < 1)
            fault("loop `{}` steps by {}", node.var, *step);
        const bool differs = varies(node.begin) || varies(node.end) || varies(node.step);
        scopes_.emplace_back();
        declare(node.var, {Entity::Kind::scalar, node.type, false, 1, false, differs, false});
        check_scope(node.body, differs);
        scopes_.pop_back();
    }

    void check(const If& node) {
        expect(node.condition, Type::boolean, "a condition");
        const bool differs = varies(node.condition);
        check_scope(node.then, differs);
        check_scope(node.otherwise, differs);
    }

    void check(const Scope& node) { check_scope(node.body, false); }
    void check(const Barrier& node) {
        if (node.of == Barrier::Of::block) meet("a barrier");
    }
    void check(const Return&) { left_ = left_ || varying_ > 0; }
    void check(const Comment&) {}
    void check(const BlankLine&) {}

    void check(const RunHelper& node) {
        const HelperShape& helper = check_helper(node.helper, node.arguments);
        if (helper.result) fault("the value of `{}` is not used", helper.name);
    }
    void check(const CallFunction& node) {
        const auto known = callable_.find(node.function);
        if (known == callable_.end() || find(node.function))
            return fault("function `{}` is not defined above", node.function);
        check_call(node.function, known->second, node.arguments);
    }

    // Where all threads of the block must meet.
    void meet(const std::string& what) {
        if (varying_ > 0) fault("{} stands where not all threads come", what);
        if (left_) fault("{} comes after some threads may have returned", what);
    }

    // ---- expressions
    // --------------------------------------------------------------------------------------------

    void expect(const Expr& expr, Type type, const std::string& what) {
        if (!expr) return fault("{} is missing", what);
        type_of(expr);
        if (!fits_in(expr.type(), type)) fault("{} is {}, not {}", what, word(expr.type()), word(type));
    }

    void expect_integer(const Expr& expr, const std::string& what) {
        if (!expr) return fault("{} is missing", what);
        type_of(expr);
        if (!is_integer(expr.type())) fault("{} is {}, not an integer", what, word(expr.type()));
    }

    // local: into an array of the thread's own, too.
    void check_address(const Expr& expr, Type type, bool stores, bool local = false) {
        const auto* address = expr ? std::get_if<AddressOf>(&expr->kind) : nullptr;
        if (!address) return fault("an address is expected");
        expect_integer(address->index, "the place of an address into `" + address->array + "`");
        if (expr.type() != type) fault("an address is of {}, not {}", word(expr.type()), word(type));
        const Entity* entity = need(address->array);
        if (!entity) return;
        for (const Expr& row : address->rows)
            expect_integer(row, "an index of `" + address->array + "`");
        // All of a thread's own array may be handed over, whatever its dimensions.
        const bool is_all = local && address->rows.empty() && literal_of(address->index) == 0;
        const bool is_row = entity->kind == Entity::Kind::array && (entity->shared || local) &&
                            (entity->indices == address->rows.size() + 1 || is_all);
        if (entity->kind != Entity::Kind::pointer && !is_row)
            return fault("`{}` is no parameter's", address->array);
        if (entity->type != type)
            fault("`{}` holds {}, not {}", address->array, word(entity->type), word(type));
        if (stores && !entity->writable) fault("`{}` is stored to, but not declared for it", address->array);
    }

    const HelperShape& check_helper(Helper helper, const std::vector<Expr>& arguments) {
        const HelperShape& shape = shape_of(helper);
        if (find(shape.name)) fault("helper `{}` is hidden by another name", shape.name);
        check_call(shape.name, {shape.arguments, shape.has_barrier, shape.is_variadic}, arguments);
        return shape;
    }

    void check_call(const std::string& name, const FunctionShape& shape, const std::vector<Expr>& arguments) {
        const std::size_t least = shape.arguments.size();
        if (shape.is_variadic ? arguments.size() < least : arguments.size() != least)
            return fault("`{}` takes {} arguments, not {}", name, shape.arguments.size(), arguments.size());
        for (std::size_t a = 0; a < arguments.size(); ++a) {
            const bool address =
                arguments[a].has_value() && std::holds_alternative<AddressOf>(arguments[a]->kind);
            const Type type = shape.arguments[std::min(a, least - 1)];
            if (address)
                check_address(arguments[a], type, false, true);
            else
                expect(arguments[a], type, "an argument of `" + name + "`");
        }
        if (shape.has_barrier) meet("`" + name + "`");
    }

    // Checks an expression all through.
    void type_of(const Expr& expr) {
        if (!expr) return fault("an expression is missing");
        std::visit([&](const auto& node) { check(node, expr.type()); }, expr->kind);
    }

    void check(const IntLiteral&, Type type) {
        if (is_real(type)) fault("an integer literal is {}", word(type));
    }
    void check(const RealLiteral&, Type type) {
        if (!is_real(type)) fault("a real literal is {}", word(type));
    }
    void check(const BuiltinIndex&, Type type) {
        if (type != Type::i32) fault("a thread's index is {}", word(type));
    }
    void check(const Variable& node, Type type) {
        const Entity* entity = need(node.name);
        if (!entity) return;
        if (entity->kind != Entity::Kind::scalar) return fault("`{}` is no number", node.name);
        if (entity->type != type) fault("`{}` is {}, read as {}", node.name, word(entity->type), word(type));
    }
    void check(const Element& node, Type type) {
        for (const Expr& index : node.indices)
            expect_integer(index, "an index of `" + node.array + "`");
        const Entity* entity = need(node.array);
        if (!entity) return;
        if (entity->kind == Entity::Kind::scalar || entity->kind == Entity::Kind::lambda)
            return fault("`{}` has no elements", node.array);
        if (entity->type != type)
            fault("`{}` holds {}, read as {}", node.array, word(entity->type), word(type));
        if (entity->indices != node.indices.size())
            fault("`{}` takes {} indices, not {}", node.array, entity->indices, node.indices.size());
    }
    void check(const AddressOf& node, Type) {
        fault("the address into `{}` is used as a number", node.array);
    }
    void check(const Negate& node, Type type) {
        expect(node.operand, type, "what is negated");
        if (type == Type::boolean) fault("a boolean is negated as a number");
    }
    void check(const Not& node, Type type) {
        expect(node.operand, Type::boolean, "what `!` takes");
        if (type != Type::boolean) fault("`!` gives {}", word(type));
    }
    void check(const Convert& node, Type) { type_of(node.operand); }

    void check(const Binary& node, Type type) {
        if (!node.left || !node.right) return fault("an operand is missing");
        type_of(node.left);
        type_of(node.right);
        const Type left = node.left.type(), right = node.right.type();
        const bool logical = node.op == Operator::logical_and || node.op == Operator::logical_or;
        const bool compares = node.op >= Operator::less && node.op <= Operator::not_equal;
        if (left != right && !(is_integer(left) && is_integer(right)))
            fault("an operator stands between {} and {}", word(left), word(right));
        if ((left == Type::boolean) != logical) fault("an operator takes {}", word(left));
        if (node.op == Operator::mod && !is_integer(left)) fault("`%` takes {}", word(left));
        const Type wide = fits_in(left, right) ? right : left;
        const Type gives = compares || logical ? Type::boolean : wide;
        if (type != gives) fault("an operator gives {}, read as {}", word(gives), word(type));
    }
    void check(const Select& node, Type type) {
        expect(node.condition, Type::boolean, "a condition");
        expect(node.then, type, "a choice");
        expect(node.otherwise, type, "a choice");
    }
    void check(const Call& node, Type type) {
        if (node.arguments.size() != argument_count(node.function))
            fault("a function has {} arguments", node.arguments.size());
        const bool has_fast = node.function == Function::sin || node.function == Function::cos ||
                              node.function == Function::exp || node.function == Function::log ||
                              node.function == Function::rsqrt;
        if (node.fast && !(has_fast && type == Type::f32))
            fault("a function of {} has no fast form", word(type));
        const bool of_integers = node.function == Function::min || node.function == Function::max;
        if (!is_real(type) && !(of_integers && is_integer(type))) fault("a function gives {}", word(type));
        for (const Expr& argument : node.arguments)
            expect(argument, type, "a function's argument");
    }
    void check(const CallHelper& node, Type type) {
        const HelperShape& helper = check_helper(node.helper, node.arguments);
        if (!helper.result) return fault("`{}` has no value", helper.name);
        if (*helper.result != type) fault("`{}` is read as {}", helper.name, word(type));
    }
    void check(const CallLambda& node, Type type) {
        const Entity* entity = need(node.lambda);
        if (!entity) return;
        if (entity->kind != Entity::Kind::lambda) return fault("`{}` is no function", node.lambda);
        if (type != entity->type) fault("`{}` is read as {}", node.lambda, word(type));
        check_call(node.lambda, {std::vector<Type>(entity->indices, Type::i32)}, node.arguments);
    }
    void check(const Shuffle& node, Type type) {
        expect(node.operand, type, "what a shuffle moves");
        if (size_of(type) < 4) fault("a shuffle moves {}", word(type));
        expect(node.index, Type::i32, "a shuffle's lane");
    }

    // Whether the value may differ between a block's threads.
    bool varies(const Expr& expr) const {
        bool found = false;
        for_each_expr(expr, [&](const Expr& part) {
            if (const auto* index = std::get_if<BuiltinIndex>(&part->kind))
                found = found || index->builtin <= Builtin::thread_z;
            if (const auto* variable = std::get_if<Variable>(&part->kind)) {
                const Entity* entity = find(variable->name);
                found = found || (entity && entity->varies);
            }
            found = found || std::holds_alternative<Element>(part->kind) ||
                    std::holds_alternative<CallHelper>(part->kind) ||
                    std::holds_alternative<CallLambda>(part->kind) ||
                    std::holds_alternative<Shuffle>(part->kind);
        });
        return found;
    }

    bool is_constant(const Expr& expr) const {
        bool constant = true;
        for_each_expr(expr, [&](const Expr& part) {
            if (const auto* variable = std::get_if<Variable>(&part->kind)) {
                const Entity* entity = find(variable->name);
                constant = constant && (!entity || entity->constant);
            } else {
                constant = constant && (std::holds_alternative<IntLiteral>(part->kind) ||
                                        std::holds_alternative<Binary>(part->kind));
            }
        });
        return constant;
    }

    const Program& program_;
    std::string where_;
    std::vector<std::string> faults_;
    std::vector<std::map<std::string, Entity>> scopes_;
    std::map<std::string, FunctionShape> callable_;  // the functions above that are no kernels
    std::set<std::string> functions_;
    int varying_ = 0;    // conditions and loops around that may differ between threads
    bool left_ = false;  // some threads may have returned
};

}  // namespace

std::vector<std::string> verify(const Program& program) {
    return Verifier(program).verify();
}

void require_valid(const Program& program) {
    const std::vector<std::string> faults = verify(program);
    if (!faults.empty()) throw InternalError("the kernel program is not well formed: " + faults.front());
}

}  // namespace halo::kernel
