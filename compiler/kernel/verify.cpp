#include "compiler/kernel/verify.h"

#include <map>
#include <set>
#include <string>

#include "compiler/kernel/type_word.h"
#include "compiler/kernel/verify_expressions.h"
#include "compiler/kernel/walk.h"
#include "compiler/support/error.h"

namespace halo::kernel {
namespace {

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

class Verifier : ExpressionVerifier {
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
    void check(const KernelFunction& function) {
        where_ = function.name;
        if (!functions_.insert(function.name).second || find(function.name) ||
            is_prelude_name(function.name)) {
            fault("the name is given twice");
        }
        if (function.kind == KernelFunction::Kind::kernel && function.parameters.empty())
            fault("a kernel without parameters computes nothing");
        scopes_.emplace_back();
        has_returned_ = false;
        varying_ = 0;
        FunctionShape shape;
        for (const Parameter& parameter : function.parameters) {
            const bool scalar = parameter.kind == Parameter::Kind::scalar;
            // Another pointer may store what one that is not restricted reads.
            const bool varies = function.kind == KernelFunction::Kind::helper || !parameter.restricted;
            declare(parameter.name, {scalar ? Entity::Kind::scalar : Entity::Kind::pointer, parameter.type,
                                     parameter.kind == Parameter::Kind::output, 1, false, varies, false});
            shape.arguments.push_back(parameter.type);
        }
        if (function.kind == KernelFunction::Kind::kernel && function.threads == 0) {
            // The range of blocks that a kernel for CPUs is called with.
            declare("begin", {Entity::Kind::scalar, Type::i64});
            declare("end", {Entity::Kind::scalar, Type::i64});
            declare("planes", {Entity::Kind::scalar, Type::i64});
            declare("streams", {Entity::Kind::scalar, Type::boolean});
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

    void check(const Declare& node) {
        expect(node.value, node.type, "the value of `" + node.name + "`");
        declare(node.name, {Entity::Kind::scalar, node.type, node.mutable_value, 1, false,
                            node.mutable_value || varies(node.value), false});
    }

    void check(const DeclarePointer& node) {
        check_address(node.value, node.type, node.writable);
        declare(node.name, {Entity::Kind::pointer, node.type, node.writable, 1, false, true});
    }

    void check(const AdvancePointer& node) {
        expect_integer(node.by, "what `" + node.name + "` advances by");
        const Entity* const entity = find(node.name);
        if (entity == nullptr) return fault("`{}` advances, but is not declared", node.name);
        if (entity->kind != Entity::Kind::pointer || !entity->writable)
            fault("`{}` advances, but is no pointer that may change", node.name);
    }

    void check(const DeclareArray& node) {
        if (node.from) check_address(node.from, node.type, true);
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
        std::vector<Type> types;
        for (const LambdaParameter& parameter : node.parameters) {
            declare(parameter.name, {Entity::Kind::scalar, parameter.type, false, 1, false, true, false});
            types.push_back(parameter.type);
        }
        if (node.value.has_value() && !node.body.empty()) fault("`{}` has a value and a body", node.name);
        if (node.value.has_value()) {
            check_expression(node.value);
            if (node.inlined) fault("`{}` has a value, and is copied to where it is run", node.name);
        } else {
            check_lambda_body(node);
        }
        scopes_.pop_back();
        Entity made{node.value.has_value() ? Entity::Kind::lambda : Entity::Kind::routine,
                    node.value.has_value() ? node.value.type() : Type::i32, false, 1};
        made.parameters = std::move(types);
        if (node.inlined) made.inlined = &node;
        declare(node.name, std::move(made));
    }

    void check_lambda_body(const DeclareLambda& node) {
        if (node.body.empty()) fault("`{}` has neither a value nor a body", node.name);
        for_each_statement(node.body, [&](const Statement& statement) {
            if (std::holds_alternative<Return>(statement.kind)) fault("`{}` returns", node.name);
        });
        if (!node.inlined) check_scope(node.body, true);
    }

    void check(const Assign& node) {
        check_expression(node.target);
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
        const bool is_word = element.has_value() && element.type() == Type::u32;
        const bool is_byte = element.has_value() && size_of(element.type()) == 1 && in_shared;
        if (width != 2 && width != 4 && !((width == 8 || width == 16) && (is_word || is_byte)))
            fault("a vector is {} wide", width);
        check_expression(element);
        if (!element) return;
        // What is loaded to registers may be converted on its way; four bytes may be one word there.
        const bool packs =
            address.has_value() && !in_shared && is_word && width % 4 == 0 && size_of(address.type()) == 1;
        const bool converts = packs || (address.has_value() && !stores && !in_shared &&
                                        value_of(address.type()) == element.type());
        check_address(address, converts ? address.type() : element.type(), stores);
        if (packs && stores && std::holds_alternative<Variable>(element->kind)) return;
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
            check_expression(node.to);
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

    void check(const StoreLine& node) {
        check_cells(node.from, node.width);
        if (node.from) check_address(node.to, node.from.type(), true);
        expect(node.passes_caches, Type::boolean, "whether a line passes the caches");
    }
    void check(const Prefetch& node) {
        if (node.from) check_address(node.from, node.from.type(), false);
    }

    // An element of an array in registers, from which cells are counted.
    void check_cells(const Expr& element, const Expr& count) {
        check_expression(element);
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
        if (node.downwards && literal_of(node.step) != 1)
            fault("loop `{}` goes down by other steps than 1", node.var);
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
        if (node.of == Barrier::Of::block) expect_all_threads("a barrier");
    }
    void check(const Return&) { has_returned_ = has_returned_ || varying_ > 0; }
    void check(const Comment&) {}
    void check(const BlankLine&) {}

    void check(const RunHelper& node) {
        const HelperShape& helper = check_helper(node.helper, node.arguments);
        if (helper.result) fault("the value of `{}` is not used", helper.name);
    }
    void check(const RunLambda& node) {
        const Entity* lambda = find(node.lambda);
        if (!lambda || lambda->kind != Entity::Kind::routine)
            return fault("`{}` is no lambda with a body", node.lambda);
        check_call(node.lambda, {lambda->parameters}, node.arguments);
        if (lambda->inlined != nullptr) check_copied(*lambda->inlined, node.arguments);
    }

    // The body with its arguments, as if it stood where it is run.
    void check_copied(const DeclareLambda& lambda, const std::vector<Expr>& arguments) {
        if (arguments.size() != lambda.parameters.size()) return;
        scopes_.emplace_back();
        for (std::size_t a = 0; a < arguments.size(); ++a)
            declare(lambda.parameters[a].name, {Entity::Kind::scalar, lambda.parameters[a].type, false, 1,
                                                false, varies(arguments[a]), false});
        check(lambda.body);
        scopes_.pop_back();
    }

    void check(const CallFunction& node) {
        const auto known = callable_.find(node.function);
        if (known == callable_.end() || find(node.function))
            return fault("function `{}` is not defined above", node.function);
        check_call(node.function, known->second, node.arguments);
    }

    const Program& program_;
    std::map<std::string, FunctionShape> callable_;  // the functions above that are no kernels
    std::set<std::string> functions_;
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
