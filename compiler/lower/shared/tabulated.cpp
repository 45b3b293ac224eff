#include "compiler/lower/shared/tabulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "compiler/ir/analysis.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/names.h"
#include "compiler/lower/shared/operations.h"
#include "compiler/lower/shared/strategy.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

// Values of a number, at most: a table is filled by each block.
constexpr double kMostEntries = 1024;
// Cells of a block, at least, for each entry that it computes.
constexpr int kLeastCellsOfEntry = 1;
// Bytes of a block's tables. Copies of an entry lie in neighbouring banks of shared memory, and lanes of a
// warp read different ones: with four, lanes that look different numbers up wait for each other half as
// often.
constexpr int kMostBytes = 40 << 10;
constexpr int kMostCopies = 4;

// The one small number that a value follows from, with what is the same in all cells.
struct Origin {
    enum class Kind : std::uint8_t { uniform, number, several } kind = Kind::uniform;
    ir::ExprId number{};

    void add(const Origin& other) {
        if (other.kind == Kind::uniform || kind == Kind::several) return;
        if (kind == Kind::uniform) {
            *this = other;
        } else if (other.kind == Kind::several || !(other.number == number)) {
            kind = Kind::several;
        }
    }
};

class Origins {
public:
    Origins(const Context& context, const std::vector<bool>& reached)
        : context_(context),
          program_(context.program()),
          integers_(context.program()),
          found_(program_.exprs.size()) {
        for (std::uint32_t e = 0; e < found_.size(); ++e)
            if (reached[e] && !context.is_uniform({e})) found_[e] = find(ir::ExprId{e});
    }
    const Origin& of(ir::ExprId id) const { return found_[id.index]; }
    Range range(ir::ExprId number) { return integers_.range(number); }

private:
    Origin find(ir::ExprId id) {
        const ir::Expr& expr = program_[id];
        if (ir::is_integer(expr.type)) {
            const Range range = integers_.range(id);
            if (range.high - range.low < kMostEntries) return {Origin::Kind::number, id};
        }
        const auto& node = expr.node;
        Origin origin;
        const bool is_listed =
            std::holds_alternative<ir::Unary>(node) || std::holds_alternative<ir::Binary>(node) ||
            std::holds_alternative<ir::Fma>(node) || std::holds_alternative<ir::Select>(node) ||
            std::holds_alternative<ir::Call>(node);
        if (!is_listed) return {Origin::Kind::several, {}};
        ir::for_each_operand(expr, [&](ir::ExprId operand) { origin.add(of(operand)); });
        return origin;
    }

    const Context& context_;
    const ir::Program& program_;
    Integers integers_;
    std::vector<Origin> found_;  // by expression
};

// An operation that takes longer than looking its result up.
bool is_expensive(const ir::Expr& expr) {
    return ir::is_real(expr.type) && takes_long(expr);
}

// Whether each use of the number in the value squares it.
bool is_even(const ir::Program& program, ir::ExprId value, ir::ExprId number) {
    const auto squares = [&](const ir::Expr& expr, ir::ExprId operand) {
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        return binary && binary->op == ir::BinaryOp::mul && binary->left == operand &&
               binary->right == operand;
    };
    std::vector<ir::ExprId> roots{number};  // and what it is converted to
    const std::vector<std::uint32_t> reached = ir::reached_exprs(program, {value});
    for (std::size_t r = 0; r < roots.size(); ++r) {
        for (const std::uint32_t e : reached) {
            const ir::Expr& expr = program.exprs[e];
            bool uses = false;
            ir::for_each_operand(expr, [&](ir::ExprId operand) { uses = uses || operand == roots[r]; });
            if (!uses || squares(expr, roots[r])) continue;
            const auto* unary = std::get_if<ir::Unary>(&expr.node);
            if (!unary || unary->op != ir::UnaryOp::convert || !ir::is_real(expr.type)) return false;
            roots.push_back(ir::ExprId{e});
        }
    }
    return !(value == number);
}

}  // namespace

TabulatedFunctions::TabulatedFunctions(Context& context, const schedule::Schedule& schedule)
    : context_(context), program_(context.program()), schedule_(schedule) {
    find_uses();
    if (choose_copies()) return;
    tables_.clear();
    uses_.clear();
}

// The outermost expensive operations: what is within one of them is computed for the table alone.
void TabulatedFunctions::find_uses() {
    const std::vector<ir::ExprId> roots = context_.stage().roots();
    const std::vector<bool> reached = ir::reachable_exprs(program_, roots);
    Origins origins(context_, reached);
    std::vector<bool> wanted(program_.exprs.size());  // computed in a cell
    for (const ir::ExprId root : roots)
        wanted[root.index] = true;
    for (std::size_t e = wanted.size(); e-- > 0;) {
        const ir::ExprId id{static_cast<std::uint32_t>(e)};
        if (!wanted[e] || context_.is_uniform(id)) continue;
        const Origin& origin = origins.of(id);
        const bool is_function = origin.kind == Origin::Kind::number && is_expensive(program_[id]);
        if (!is_function) {
            ir::for_each_operand(program_[id], [&](ir::ExprId operand) { wanted[operand.index] = true; });
            continue;
        }
        wanted[origin.number.index] = true;
        Use use{table_of(id, origin.number, origins.range(origin.number)), origin.number, false};
        const auto* binary = std::get_if<ir::Binary>(&program_[origin.number].node);
        if (binary && binary->op == ir::BinaryOp::sub && is_even(program_, id, origin.number)) {
            const auto* left = std::get_if<ir::Access>(&program_[binary->left].node);
            const auto* right = std::get_if<ir::Access>(&program_[binary->right].node);
            const Range& range = tables_[use.table].range;
            use.is_reversed = left && right && left->field == right->field && range.low == -range.high &&
                              right->offset == ir::Offset{} && left->offset != ir::Offset{};
        }
        uses_.emplace(id.index, use);
    }
}

std::size_t TabulatedFunctions::table_of(ir::ExprId value, ir::ExprId number, const Range& range) {
    const std::string key = fmt::format("{} {} {}", key_of(value, number), range.low, range.high);
    const auto known = std::ranges::find(tables_, key, &Table::key);
    if (known != tables_.end()) return static_cast<std::size_t>(known - tables_.begin());
    tables_.push_back(
        {key, value, number, range, context_.names().take(word_for(program_[value]) + "_table")});
    return tables_.size() - 1;
}

// The same for values that are the same function of different numbers.
std::string TabulatedFunctions::key_of(ir::ExprId value, ir::ExprId number) const {
    if (value == number) return "#";
    if (context_.is_uniform(value)) return fmt::format("u{}", value.index);
    const ir::Expr& expr = program_[value];
    std::string key = fmt::format("({}", static_cast<int>(expr.type));
    if (const auto* unary = std::get_if<ir::Unary>(&expr.node))
        key += fmt::format(" unary {}", static_cast<int>(unary->op));
    if (const auto* binary = std::get_if<ir::Binary>(&expr.node))
        key += fmt::format(" binary {}", static_cast<int>(binary->op));
    if (std::holds_alternative<ir::Fma>(expr.node)) key += " fma";
    if (std::holds_alternative<ir::Select>(expr.node)) key += " select";
    if (const auto* call = std::get_if<ir::Call>(&expr.node))
        key += fmt::format(" call {} {}", static_cast<int>(call->function), call->fast);
    ir::for_each_operand(expr, [&](ir::ExprId operand) { key += " " + key_of(operand, number); });
    return key + ")";
}

// Whether tables are there that fit, and whose filling is little beside the cells of a block.
bool TabulatedFunctions::choose_copies() {
    int bytes = 0, entries = 0;
    for (const Table& table : tables_) {
        entries += table.entries();
        bytes += table.entries() * kernel::size_of(kernel_type(program_[table.value].type));
    }
    int cells = 1;
    for (int axis = 0; axis < context_.rank(); ++axis)
        cells *= schedule_.tile(axis);
    if (bytes == 0 || bytes > kMostBytes || cells < kLeastCellsOfEntry * entries) return false;
    copies_ =
        std::min(kMostCopies, static_cast<int>(std::bit_floor(static_cast<unsigned>(kMostBytes / bytes))));
    return true;
}

void TabulatedFunctions::declare(Block& body) const {
    Expr thread = thread_along(schedule_, 0);
    int threads = schedule_.threads[0];
    for (int axis = 1; axis < context_.rank(); ++axis) {
        thread = thread + threads * thread_along(schedule_, axis);
        threads *= schedule_.threads[static_cast<std::size_t>(axis)];
    }
    const std::string entry = context_.local("entry"), copy = context_.local("copy");
    const Expr at = kernel::variable(entry, Type::i32);
    body.push_back(kernel::BlankLine{});
    body.push_back(kernel::Comment{"Functions of small whole numbers, for each number there can be."});
    for (const Table& table : tables_) {
        const Type type = kernel_type(program_[table.value].type);
        body.push_back(
            kernel::DeclareArray{type, table.name, {table.entries() * copies_}, kernel::Memory::shared});
        CellSources sources;
        sources.given = [&](ir::ExprId id) {
            return id == table.number ? at + static_cast<int>(table.range.low) : Expr();
        };
        Block fill;
        const std::string name = context_.local("result");  // before its operands take names
        const Expr value = lower_values(context_, sources, {table.value}, fill).front();
        fill.push_back(kernel::Declare{type, name, value});
        for (int each = 0; each < copies_; ++each)
            fill.push_back(kernel::Assign{kernel::element(table.name, {at * copies_ + each}, type),
                                          kernel::variable(name, type)});
        body.push_back(
            kernel::For{entry, thread, table.entries(), threads, kernel::Unroll::leave, std::move(fill)});
    }
    body.push_back(kernel::Barrier{});
    if (copies_ > 1)
        body.push_back(
            kernel::Declare{Type::i32, copy, kernel::builtin(kernel::Builtin::thread_x) % copies_});
}

const TabulatedFunctions::Use* TabulatedFunctions::find(ir::ExprId value) const {
    const auto found = uses_.find(value.index);
    return found == uses_.end() ? nullptr : &found->second;
}

// An addition a number, as the bytes of each are known before.
Expr TabulatedFunctions::look_up(const Use& use, const Expr& first, const Expr& second) const {
    const Table& table = tables_[use.table];
    const Type type = kernel_type(program_[table.value].type);
    const int size = kernel::size_of(type), entry = copies_ * size;
    const auto bytes_of = [&](const Expr& number) {
        return kernel::call_helper(kernel::Helper::bytes_of, {number, entry});
    };
    Expr own = -static_cast<int>(table.range.low) * entry;
    if (copies_ > 1) own = kernel::variable(context_.local("copy"), Type::i32) * size + own;
    Expr place = bytes_of(first);
    if (second) place = place - bytes_of(second);
    return kernel::call_helper(type == Type::f64 ? kernel::Helper::entry_f64 : kernel::Helper::entry_f32,
                               {kernel::address_of(table.name, 0, type), place + own});
}

}  // namespace halo::lower
