// What expressions of a well-formed kernel promise, and the names that they may use: the part of verify()
// that its statements build on. Not for other rooms.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/build.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/program.h"

namespace halo::kernel {

class ExpressionVerifier {
protected:
    // What a name stands for.
    struct Entity {
        enum class Kind : std::uint8_t {
            scalar,
            pointer,
            array,
            lambda,
            routine
        };  // routine: a lambda with a body
        Kind kind = Kind::scalar;
        Type type = Type::i32;
        bool writable = false;  // a mutable scalar; a pointer or array that is stored through
        std::size_t indices = 1;
        bool shared = false;
        bool varies = false;  // it may differ between a block's threads: a scalar, or where a pointer points
        bool constant = false;                   // known when the text is printed
        std::vector<Type> parameters{};          // of a lambda
        const DeclareLambda* inlined = nullptr;  // of a routine whose body is checked where it is run
    };

    struct FunctionShape {
        std::vector<Type> arguments;
        bool has_barrier = false;
        bool is_variadic = false;  // the last argument may come several times
    };

    template <class... Arguments>
    void fault(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        faults_.push_back(where_ + ": " + fmt::format(text, std::forward<Arguments>(arguments)...));
    }

    const Entity* find(const std::string& name) const;     // null where no open scope declares it
    const Entity* find_declared(const std::string& name);  // a fault where it is not
    void declare(const std::string& name, Entity entity);

    void check_expression(const Expr& expr);  // with all its operands
    void expect(const Expr& expr, Type type, const std::string& what);
    void expect_integer(const Expr& expr, const std::string& what);
    // local: an address into an array of the thread's own is right, too.
    void check_address(const Expr& expr, Type type, bool stores, bool local = false);
    const HelperShape& check_helper(Helper helper, const std::vector<Expr>& arguments);
    void check_call(const std::string& name, const FunctionShape& shape, const std::vector<Expr>& arguments);
    // A fault where some threads of the block may not come, as they must to a barrier.
    void expect_all_threads(const std::string& what);

    bool varies(const Expr& expr) const;       // whether the value may differ between a block's threads
    bool is_constant(const Expr& expr) const;  // whether it is known when the text is printed
    static std::optional<std::int64_t> literal_of(const Expr& expr) {
        return expr.has_value() ? int_value(expr) : std::nullopt;
    }

    std::string where_;  // the function that is checked
    std::vector<std::string> faults_;
    std::vector<std::map<std::string, Entity>> scopes_;
    int varying_ = 0;            // conditions and loops around that may differ between threads
    bool has_returned_ = false;  // some threads may have

private:
    void check_node(const IntLiteral&, Type type);
    void check_node(const RealLiteral&, Type type);
    void check_node(const BuiltinIndex&, Type type);
    void check_node(const Variable& node, Type type);
    void check_node(const Element& node, Type type);
    void check_node(const AddressOf& node, Type);
    void check_node(const Negate& node, Type type);
    void check_node(const Not& node, Type type);
    void check_node(const Convert& node, Type);
    void check_node(const Binary& node, Type type);
    void check_node(const Select& node, Type type);
    void check_node(const Call& node, Type type);
    void check_node(const CallHelper& node, Type type);
    void check_node(const CallLambda& node, Type type);
    void check_node(const Shuffle& node, Type type);
};

}  // namespace halo::kernel
