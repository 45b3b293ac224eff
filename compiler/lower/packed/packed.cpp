#include "compiler/lower/packed/packed.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/ir/in_place.h"
#include "compiler/ir/uses.h"

namespace halo::lower {
namespace {

using kernel::Expr;
using kernel::Type;

// The largest number that a byte of the field holds.
double most_of(const ir::Field& field) {
    return field.storage == ir::Storage::u8 ? 255 : 1;
}

class PackedLowering {
public:
    PackedLowering(const PackedStage& stage, const PackedSources& sources, const PackedText& text,
                   kernel::Block& body)
        : stage_(stage), program_(*stage.program), sources_(sources), text_(text), body_(body) {
        uses_ = ir::count_uses(stage.roots(), [&](ir::ExprId id, const ir::UseOperand& use) {
            ir::for_each_operand(program_[id], use);
        });
    }

    std::optional<PackedValues> lower() {
        PackedValues values;
        for (const ir::Assign* assign : stage_.assigns) {
            const MaybeLanes value = assigned(*assign);
            if (!value) return std::nullopt;
            const bool is_number = value->is_constant();  // of a let alone: what is stored is in words
            values.assigned.push_back(is_number ? Expr() : value->words.front());
        }
        for (const ir::Reduce* reduce : stage_.reductions) {
            const MaybeLanes value = reduced(*reduce);
            if (!value) return std::nullopt;
            values.reduced.push_back(value->words.front());
        }
        return values;
    }

private:
    // ---- statements

    static bool is_for_all(const ir::Region& region, const ir::Margins& margins) {
        return region.is_whole() && margins == ir::Margins{};
    }
    static bool is_of_bytes(const ir::Field& field) {
        return field.storage == ir::Storage::u8 || field.storage == ir::Storage::boolean;
    }

    MaybeLanes assigned(const ir::Assign& assign) {
        const Level level{assign.target, assign.time};
        const ir::Field& field = program_[assign.target];
        const bool is_let = field.role == ir::Role::intermediate && !is_stored(level);
        const bool keeps = assign.condition.has_value();
        if (!is_for_all(assign.region, assign.margins) || (!is_let && !is_of_bytes(field)))
            return std::nullopt;
        if (keeps && field.role != ir::Role::state) return std::nullopt;
        text_.note(assign.where, body_);
        MaybeLanes value = lower_value(assign.value);
        if (value && keeps) {
            const MaybeLanes condition = lower_value(*assign.condition);
            const MaybeLanes before = loaded({assign.target, 0}, {});
            if (!condition || !before) return std::nullopt;
            value = select(*condition, *value, *before);
        }
        if (value && is_of_bytes(field)) value = clamped(*value, most_of(field));
        if (!value) return std::nullopt;
        return assigned_[level] = named(*value, field.name + (assign.time > 0 ? "_new" : "_value"));
    }

    bool is_stored(const Level& level) const {
        return std::ranges::find(stage_.stored, level) != stage_.stored.end();
    }

    // A sum of bytes, which is exact in whatever order it is added up.
    MaybeLanes reduced(const ir::Reduce& reduce) {
        if (reduce.op != ir::ReduceOp::sum || reduce.condition) return std::nullopt;
        if (!is_for_all(reduce.region, reduce.margins)) return std::nullopt;
        MaybeLanes value = lower_value(reduce.value);
        if (!value || value->range.low < 0 || value->range.high > 255) return std::nullopt;
        return in_lanes(*value, 8);
    }

    // ---- expressions

    Lanes named(Lanes lanes, const std::string& wanted) {
        static constexpr const char* kHalves[] = {"_even", "_odd"};
        for (std::size_t word = 0; word < lanes.words.size(); ++word) {
            Expr& value = lanes.words[word];
            if (std::holds_alternative<kernel::Variable>(value->kind)) continue;
            const std::string name = text_.name(lanes.words.size() > 1 ? wanted + kHalves[word] : wanted);
            body_.push_back(kernel::Declare{Type::u32, name, std::move(value)});
            value = kernel::variable(name, Type::u32);
        }
        return lanes;
    }

    MaybeLanes lower_value(ir::ExprId id) {
        const auto known = lowered_.find(id.index);
        if (known != lowered_.end()) return known->second;
        const ir::Expr& expr = program_[id];
        MaybeLanes value = made(id);
        if (!value) return value;
        // A word of bytes that becomes two of halves would be computed for each of them.
        if (name_operands(expr, *value)) value = made(id);
        const bool is_choice =
            std::holds_alternative<ir::Select>(expr.node) || std::holds_alternative<ir::Call>(expr.node);
        if ((uses_[id.index] > 1 || is_choice) && is_computed(*value))
            value = named(*value, text_.word(expr));
        lowered_.insert_or_assign(id.index, *value);
        return value;
    }

    MaybeLanes made(ir::ExprId id) {
        const ir::Expr& expr = program_[id];
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        if (sources_.row_sum && binary && binary->op == ir::BinaryOp::add && ir::is_integer(expr.type)) {
            if (const MaybeLanes sum = sum_of_rows(id)) return sum;
        }
        return std::visit([&](const auto& node) { return make(expr, node); }, expr.node);
    }

    // Neither a name nor what was loaded.
    static bool is_computed(const Lanes& lanes) {
        return lanes.halves.empty() && std::ranges::any_of(lanes.words, [](const Expr& word) {
                   return !std::holds_alternative<kernel::Variable>(word->kind) &&
                          !std::holds_alternative<kernel::Element>(word->kind);
               });
    }

    // Names those operands that are used twice; false where there are none.
    bool name_operands(const ir::Expr& expr, const Lanes& value) {
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        bool is_wide = value.bits == 16 || std::holds_alternative<ir::Call>(expr.node) ||
                       (binary && (binary->op == ir::BinaryOp::min || binary->op == ir::BinaryOp::max));
        std::vector<ir::ExprId> operands;
        ir::for_each_operand(expr, [&](ir::ExprId each) {
            const auto known = lowered_.find(each.index);
            if (known == lowered_.end()) return;
            is_wide = is_wide || known->second.bits == 16;
            const bool is_twice = known->second.bits == 8 || std::holds_alternative<ir::Call>(expr.node);
            if (is_twice && is_computed(known->second)) operands.push_back(each);
        });
        if (!is_wide) return false;
        for (const ir::ExprId each : operands) {
            Lanes& operand = lowered_.at(each.index);
            operand = named(operand, text_.word(program_[each]));
        }
        return !operands.empty();
    }

    MaybeLanes loaded(const Level& level, const ir::Offset& shift) {
        const ir::Field& field = program_[level.field];
        const bool is_alone = ir::interleave(program_, level.field).count() == 1;
        if (!is_of_bytes(field) || !is_alone) return std::nullopt;
        return load_bytes(field, sources_.load(level, shift));
    }

    // ---- sums, of which cells below each other share the rows

    struct Term {
        Level level;
        ir::Offset shift{};
    };
    // A cell that is added as it is, or 1 where it is true.
    std::optional<Term> term(ir::ExprId id) const {
        if (const auto* choice = std::get_if<ir::Select>(&program_[id].node)) {
            return is_number(choice->then, 1) && is_number(choice->otherwise, 0) ? term(choice->condition)
                                                                                 : std::nullopt;
        }
        if (const auto* unary = std::get_if<ir::Unary>(&program_[id].node)) {
            const bool is_same = unary->op == ir::UnaryOp::convert && ir::is_integer(program_[id].type);
            return is_same ? term(unary->operand) : std::nullopt;
        }
        const auto* access = std::get_if<ir::Access>(&program_[id].node);
        if (access == nullptr || !program_[access->field].grid.is_whole() ||
            assigned_.contains({access->field, access->time}))
            return std::nullopt;
        return Term{{access->field, access->time}, access->offset};
    }
    bool is_number(ir::ExprId id, int number) const {
        const auto* unary = std::get_if<ir::Unary>(&program_[id].node);
        if (unary && unary->op == ir::UnaryOp::convert) return is_number(unary->operand, number);
        const auto* constant = std::get_if<ir::Constant>(&program_[id].node);
        return constant && constant->value == Rational(number);
    }

    void collect_terms(ir::ExprId id, bool is_root, std::vector<ir::ExprId>& terms) {
        const auto* binary = std::get_if<ir::Binary>(&program_[id].node);
        const bool is_sum = binary && binary->op == ir::BinaryOp::add && (is_root || uses_[id.index] == 1);
        if (!is_sum) return terms.push_back(id);
        collect_terms(binary->left, false, terms);
        collect_terms(binary->right, false, terms);
    }

    // Whole numbers may be added in any order: first the sums of rows, then what is left. Empty where no rows
    // are alike.
    MaybeLanes sum_of_rows(ir::ExprId id) {
        std::vector<ir::ExprId> terms, others;
        collect_terms(id, true, terms);
        // By level and plane, then by row: the shifts of the cells, and the terms.
        std::map<std::pair<Level, int>, std::pair<std::map<int, std::vector<int>>, std::vector<ir::ExprId>>>
            planes;
        for (const ir::ExprId each : terms) {
            const std::optional<Term> cell = term(each);
            if (!cell || !is_of_bytes(program_[cell->level.field])) {
                others.push_back(each);
                continue;
            }
            auto& [rows, cells] = planes[{cell->level, cell->shift[2]}];
            rows[cell->shift[1]].push_back(cell->shift[0]);
            cells.push_back(each);
        }
        MaybeLanes sum = constant_lanes(0);
        bool shares = false;
        for (auto& [plane, terms_of_plane] : planes) {
            auto& [rows, cells] = terms_of_plane;
            for (auto& [row, shifts] : rows)
                std::ranges::sort(shifts);
            const int low = rows.begin()->first, high = rows.rbegin()->first;
            const std::vector<int>& first = rows.begin()->second;
            const bool are_alike =
                std::ranges::all_of(rows, [&](const auto& each) { return each.second == first; });
            const bool has_all = static_cast<int>(rows.size()) == high - low + 1;
            if (!are_alike || !has_all || rows.size() < 2 || first.size() < 2) {
                others.insert(others.end(), cells.begin(), cells.end());
                continue;
            }
            shares = true;
            for (int row = low; row <= high && sum; ++row)
                sum = add(*sum, sources_.row_sum({plane.first, first, plane.second, low, high}, row));
        }
        if (!shares) return std::nullopt;
        for (const ir::ExprId each : others) {
            const MaybeLanes value = sum ? lower_value(each) : std::nullopt;
            sum = value ? add(*sum, *value) : std::nullopt;
        }
        return sum;
    }

    template <class Node>
    MaybeLanes make(const ir::Expr&, const Node&) {
        return std::nullopt;
    }
    MaybeLanes make(const ir::Expr& expr, const ir::Constant& constant) {
        if (expr.type == ir::Scalar::boolean) return constant_lanes(constant.value.is_zero() ? 0 : 1);
        return ir::is_integer(expr.type) ? whole(constant.value) : std::nullopt;
    }
    static MaybeLanes whole(const Rational& number) {
        const double value = number.to_double();
        const bool is_whole =
            Rational(static_cast<std::int64_t>(std::clamp(value, -0x1p30, 0x1p30))) == number;
        return is_whole && lane_bits({value, value}) ? MaybeLanes(constant_lanes(value)) : std::nullopt;
    }
    MaybeLanes make(const ir::Expr&, const ir::Access& access) {
        const Level level{access.field, access.time};
        const auto here = assigned_.find(level);
        if (!program_[access.field].grid.is_whole()) return std::nullopt;
        return here != assigned_.end() ? MaybeLanes(here->second) : loaded(level, access.offset);
    }
    MaybeLanes make(const ir::Expr& expr, const ir::Unary& unary) {
        const ir::Scalar from = program_[unary.operand].type;
        const auto* number = std::get_if<ir::Constant>(&program_[unary.operand].node);
        if (number && unary.op == ir::UnaryOp::convert && ir::is_integer(expr.type))
            return whole(number->value);
        if (ir::is_real(from) || ir::is_real(expr.type)) return std::nullopt;
        const MaybeLanes operand = lower_value(unary.operand);
        if (!operand) return std::nullopt;
        switch (unary.op) {
            case ir::UnaryOp::negate:
                return subtract(constant_lanes(0), *operand);
            case ir::UnaryOp::logical_not:
                return negation(*operand);
            case ir::UnaryOp::convert:
                break;
        }
        if (expr.type != ir::Scalar::boolean || from == ir::Scalar::boolean) return operand;
        return compare(ir::BinaryOp::not_equal, *operand, constant_lanes(0));
    }
    MaybeLanes make(const ir::Expr&, const ir::Binary& binary) {
        if (ir::is_real(program_[binary.left].type)) return std::nullopt;
        const MaybeLanes left = lower_value(binary.left);
        const MaybeLanes right = left ? lower_value(binary.right) : std::nullopt;
        if (!right) return std::nullopt;
        switch (binary.op) {
            case ir::BinaryOp::add:
                return add(*left, *right);
            case ir::BinaryOp::sub:
                return subtract(*left, *right);
            case ir::BinaryOp::mul:
                return multiply(*left, *right);
            case ir::BinaryOp::div:
                return std::nullopt;
            case ir::BinaryOp::min:
            case ir::BinaryOp::max:
                return choose(*left, *right, binary.op == ir::BinaryOp::min);
            case ir::BinaryOp::floor_div:
                return divide_floored(*left, *right);
            case ir::BinaryOp::floor_mod:
                return modulo_floored(*left, *right);
            case ir::BinaryOp::less:
            case ir::BinaryOp::less_equal:
            case ir::BinaryOp::greater:
            case ir::BinaryOp::greater_equal:
            case ir::BinaryOp::equal:
            case ir::BinaryOp::not_equal:
                return compare(binary.op, *left, *right);
            case ir::BinaryOp::logical_and:
                return both(*left, *right);
            case ir::BinaryOp::logical_or:
                return either(*left, *right);
        }
        return std::nullopt;
    }
    MaybeLanes make(const ir::Expr& expr, const ir::Select& choice) {
        if (ir::is_real(expr.type)) return std::nullopt;
        const MaybeLanes condition = lower_value(choice.condition);
        const MaybeLanes then = condition ? lower_value(choice.then) : std::nullopt;
        const MaybeLanes otherwise = then ? lower_value(choice.otherwise) : std::nullopt;
        if (!otherwise) return std::nullopt;
        return select(*condition, *then, *otherwise);
    }
    MaybeLanes make(const ir::Expr& expr, const ir::Call& call) {
        if (call.function != ir::Function::abs || ir::is_real(expr.type)) return std::nullopt;
        const MaybeLanes operand = lower_value(call.arguments.front());
        return operand ? absolute(*operand) : std::nullopt;
    }

    const PackedStage& stage_;
    const ir::Program& program_;
    const PackedSources& sources_;
    const PackedText& text_;
    kernel::Block& body_;
    ir::Uses uses_;
    std::map<std::uint32_t, Lanes> lowered_;
    std::map<Level, Lanes> assigned_;
};

}  // namespace

Lanes load_bytes(const ir::Field& field, const PackedSource& source) {
    return loaded_lanes(source.first, source.second, source.before, most_of(field));
}

std::vector<ir::ExprId> PackedStage::roots() const {
    std::vector<ir::ExprId> roots;
    for (const ir::Assign* assign : assigns) {
        roots.push_back(assign->value);
        if (assign->condition) roots.push_back(*assign->condition);
    }
    for (const ir::Reduce* reduce : reductions) {
        roots.push_back(reduce->value);
        if (reduce->condition) roots.push_back(*reduce->condition);
    }
    return roots;
}

std::optional<PackedValues> lower_packed(const PackedStage& stage, const PackedSources& sources,
                                         const PackedText& text, kernel::Block& body) {
    return PackedLowering(stage, sources, text, body).lower();
}

Lanes sum_in_row(const ir::Program& program, const RowSum& sum, int row, const PackedSources& sources) {
    const auto at_shift = [&](int shift) {
        return load_bytes(program[sum.level.field], sources.load(sum.level, {shift, row, sum.plane}));
    };
    Lanes lanes = at_shift(sum.shifts.front());
    for (std::size_t s = 1; s < sum.shifts.size(); ++s)
        lanes = *add(lanes, at_shift(sum.shifts[s]));
    return lanes;
}

namespace {

// Words by which level, row and number they are.
PackedSource named_words(const Level& level, const ir::Offset& shift) {
    const int before = (shift[0] % kPackedCells + kPackedCells) % kPackedCells;
    const auto word = [&](int number) {
        std::string name = "word";
        for (const int part : {static_cast<int>(level.field.index), level.time, shift[1], shift[2], number})
            name += "_" + std::to_string(part);
        return kernel::variable(name, Type::u32);
    };
    const int first = (shift[0] - before) / kPackedCells;
    return {word(first), word(first + 1), before};
}

// Counts what computes values of a word, each value once: GPUs' compilers see where two are the same.
class InstructionCount {
public:
    void add(const Expr& expr) { text_of(expr); }
    int instructions() const { return instructions_; }

private:
    std::string text_of(const Expr& expr) {
        if (const auto number = kernel::int_value(expr)) return std::to_string(*number);
        if (const auto* variable = std::get_if<kernel::Variable>(&expr->kind)) return variable->name;
        std::string text;
        int own = 0;
        if (const auto* binary = std::get_if<kernel::Binary>(&expr->kind)) {
            text = std::to_string(static_cast<int>(binary->op)) + "(" + text_of(binary->left) + "," +
                   text_of(binary->right) + ")";
            own = 1;
        } else if (const auto* call = std::get_if<kernel::CallHelper>(&expr->kind)) {
            text = "h" + std::to_string(static_cast<int>(call->helper)) + "(";
            for (const Expr& argument : call->arguments)
                text += text_of(argument) + ",";
            own = instructions_of(call->helper);
        }
        if (counted_.insert(text).second) instructions_ += own;
        return text;
    }

    std::set<std::string> counted_;
    int instructions_ = 0;
};

}  // namespace

int words_of_sum(const ir::Program& program, const RowSum& sum) {
    return static_cast<int>(sum_in_row(program, sum, 0, {named_words, {}}).words.size());
}

std::optional<PackedWork> packed_work(const PackedStage& stage) {
    PackedWork work;
    PackedSources sources;
    sources.load = [&](const Level& level, const ir::Offset& shift) {
        work.reads.push_back({level, shift});
        return named_words(level, shift);
    };
    sources.row_sum = [&](const RowSum& sum, int row) {
        if (std::ranges::find(work.row_sums, sum) == work.row_sums.end()) work.row_sums.push_back(sum);
        Lanes lanes = sum_in_row(*stage.program, sum, row, {named_words, {}});
        if (row != sum.high)  // it is found once
            for (Expr& word : lanes.words)
                word = kernel::variable("sum_" + std::to_string(row), Type::u32);
        return lanes;
    };
    int names = 0;
    const PackedText text{[&](const std::string& wanted) { return wanted + std::to_string(++names); },
                          [](const ir::Expr&) { return std::string("value"); },
                          [](SourceRange, kernel::Block&) {}};
    kernel::Block body;
    const std::optional<PackedValues> values = lower_packed(stage, sources, text, body);
    if (!values) return std::nullopt;
    InstructionCount count;
    for (const kernel::Statement& statement : body)
        if (const auto* declared = std::get_if<kernel::Declare>(&statement.kind)) count.add(declared->value);
    for (const auto* list : {&values->assigned, &values->reduced})
        for (const Expr& value : *list)
            if (value.has_value()) count.add(value);
    work.instructions = count.instructions();
    return work;
}

}  // namespace halo::lower
