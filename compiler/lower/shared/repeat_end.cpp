#include "compiler/lower/shared/repeat_end.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/repeats.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/plan.h"
#include "compiler/lower/shared/reduce.h"

namespace halo::lower {

namespace {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;
using rt::RepeatWord;

constexpr int kEndThreads = 256;

Expr word_of(const std::string& words, RepeatWord which) {
    return kernel::element(words, {static_cast<int>(which)}, Type::i64);
}

Expr whole(std::int64_t value) {
    return kernel::int_literal(value, Type::i64);
}

// The kernel's text. Its stage has the repeat's own reductions that the condition reads.
class EndLowerer {
public:
    EndLowerer(Context& context, const ir::RepeatEnd& end, std::int64_t most,
               const std::vector<ir::ReductionId>& read)
        : context_(context), end_(end), most_(most), read_(read) {}

    void lower(kernel::KernelFunction& function) {
        words_ = context_.repeat_words(RepeatWord::done, "iterations", true);
        Block& body = function.body;
        // No thread returns before the others, which combine what they have with it.
        const std::string over = context_.local("over");
        body.push_back(kernel::Declare{Type::boolean, over, word_of(words_, RepeatWord::done) != whole(0)});
        over_ = kernel::variable(over, Type::boolean);
        const auto& reductions = context_.stage().reductions;
        for (std::size_t r = 0; r < reductions.size(); ++r)
            combine(r, body);
        Block by_one;
        for (std::size_t r = 0; r < reductions.size(); ++r)
            by_one.push_back(kernel::Assign{
                kernel::element(context_.partials(static_cast<int>(r)), {count(r)}, Type::f64), values_[r]});
        decide(by_one);
        body.push_back(kernel::BlankLine{});
        body.push_back(kernel::If{
            kernel::builtin(Builtin::thread_x) == 0 && kernel::logical_not(over_), std::move(by_one), {}});
    }

private:
    Expr count(std::size_t r) { return context_.partial_count(static_cast<int>(r)); }

    // All threads go through what the blocks have found, and then the block combines what they have.
    void combine(std::size_t r, Block& body) {
        const ir::Reduce& reduce = *context_.stage().reductions[r];
        const Expr parts = kernel::select(over_, 0, count(r));
        Expr value =
            combine_partials(reduce.op, {context_.partials(static_cast<int>(r)), parts, kEndThreads},
                             context_.local(reduce.name + "_of_thread"), context_.local("part"), body);
        if (reduce.square_root) value = kernel::call(kernel::Function::sqrt, {value});
        const std::string name = context_.local(reduce.name);
        body.push_back(kernel::Declare{Type::f64, name, value});
        values_.push_back(kernel::variable(name, Type::f64));
    }

    void decide(Block& body) {
        CellSources sources;
        sources.given = [&](ir::ExprId expr) {
            const auto* read = std::get_if<ir::ReductionRef>(&context_.program()[expr].node);
            if (read == nullptr) return Expr();
            const auto own = std::ranges::find(read_, read->reduction);
            return own == read_.end() ? Expr() : values_[static_cast<std::size_t>(own - read_.begin())];
        };
        context_.note(end_.where, body);
        const Expr holds = lower_value(context_, sources, end_.until, "holds", body);
        const std::string done = context_.local("number");
        body.push_back(kernel::Declare{Type::i64, done, word_of(words_, RepeatWord::iterations) + whole(1)});
        const Expr so_many = kernel::variable(done, Type::i64);
        const auto set = [&](RepeatWord which, const Expr& value) {
            return kernel::Assign{word_of(words_, which), value};
        };
        body.push_back(set(RepeatWord::iterations, so_many));
        body.push_back(
            set(RepeatWord::even, kernel::select(so_many % whole(2) == whole(0), whole(1), whole(0))));
        body.push_back(set(RepeatWord::total, word_of(words_, RepeatWord::total) + whole(1)));
        body.push_back(
            kernel::If{so_many > word_of(words_, RepeatWord::most), {set(RepeatWord::most, so_many)}, {}});
        Block last{set(RepeatWord::unfinished, word_of(words_, RepeatWord::unfinished) + whole(1))};
        body.push_back(
            kernel::If{holds,
                       {set(RepeatWord::done, whole(1))},
                       {kernel::If{so_many == kernel::int_literal(most_, Type::i64), std::move(last), {}}}});
    }

    Context& context_;
    const ir::RepeatEnd& end_;
    std::int64_t most_;
    const std::vector<ir::ReductionId>& read_;  // as the stage's reductions
    std::string words_;
    Expr over_;
    std::vector<Expr> values_;  // by the stage's reductions
};

// What needs a reduction of the repeat has its value on the device.
ProgramLayout with_values_of_device(const ir::Program& program, const ProgramLayout& layout,
                                    const std::vector<ir::ReductionId>& read) {
    ProgramLayout own = layout;
    for (std::size_t e = 0; e < program.exprs.size(); ++e) {
        const auto* reference = std::get_if<ir::ReductionRef>(&program.exprs[e].node);
        bool is_of_device =
            reference != nullptr && std::ranges::find(read, reference->reduction) != read.end();
        ir::for_each_operand(program.exprs[e], [&](ir::ExprId operand) {
            is_of_device = is_of_device || (layout.uniform[e] && !own.uniform[operand.index]);
        });
        if (is_of_device) own.uniform[e] = false;
    }
    return own;
}

}  // namespace

bool is_in_ended_repeat(const Context& context) {
    const StageView& stage = context.stage();
    return std::ranges::any_of(stage.repeats(), [&](const ir::Repeat& repeat) {
        return ir::may_end_on_device(*stage.program, repeat);
    });
}

void take_repeat_word(Context& context) {
    if (is_in_ended_repeat(context)) context.repeat_words(RepeatWord::done, "over", false);
}

void return_when_done(Context& context, kernel::KernelFunction& function) {
    if (!is_in_ended_repeat(context)) return;
    const Expr over = word_of(context.repeat_words(RepeatWord::done, "over", false), RepeatWord::done);
    function.body.insert(function.body.begin(), kernel::If{over != whole(0), {kernel::Return{}}, {}});
}

void add_repeat_end(const ir::Program& program, const ir::RepeatEnd& end, std::size_t index,
                    const ProgramLayout& layout, Names& kernel_names, kernel::Program& kernels,
                    rt::LaunchPlan& plan) {
    rt::RepeatPlan& repeat = plan.repeats[index];
    std::vector<const ir::Reduce*> all;
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement)) all.push_back(reduce);
    StageView stage;
    stage.program = &program;
    std::vector<ir::ReductionId> read;
    for (const int reduction : repeat.until->reductions) {
        read.push_back({static_cast<std::uint32_t>(reduction)});
        stage.reductions.push_back(all[static_cast<std::size_t>(reduction)]);
    }
    const ProgramLayout own = with_values_of_device(program, layout, read);
    Context context(stage, own);
    kernel::KernelFunction function;
    EndLowerer(context, end, repeat.count, read).lower(function);
    function.name =
        kernel_names.take(fmt::format("{}_until_{}", program.name, stage.reductions.front()->name));
    function.comment = {
        fmt::format("Ends the iterations where {}, and counts them.", end.text),
        "Words of `iterations`: whether they are over, whether their number is even, their number",
        "in this step and in all, the most of a step, and steps that ended without the condition."};
    function.threads = kEndThreads;
    function.parameters = context.parameters();
    rt::KernelPlan kernel;
    kernel.name = function.name;
    kernel.threads = kernel.tile = {kEndThreads, 1, 1};
    kernel.blocks = 1;
    kernel.arguments = context.arguments(repeat.until->reductions);
    repeat.until->kernel = repeat.past++;
    for (std::size_t outer = 0; outer < index; ++outer)
        if (plan.repeats[outer].past > repeat.first) plan.repeats[outer].past = repeat.past;
    plan.kernels.push_back(std::move(kernel));
    kernels.functions.push_back(std::move(function));
    for (int k = repeat.first; k < repeat.past; ++k) {
        const bool copies = std::ranges::find(repeat.exchanges, k, &rt::RepeatPlan::Exchange::kernel) !=
                            repeat.exchanges.end();
        for (rt::Argument& argument : plan.kernels[static_cast<std::size_t>(k)].arguments) {
            const bool is_of_inner = argument.index != kUnknownRepeat;
            if (argument.kind != rt::Argument::Kind::iterations || is_of_inner) continue;
            argument.index = static_cast<int>(index);
            argument.part = static_cast<int>(copies ? RepeatWord::even : RepeatWord::done);
        }
    }
}

}  // namespace halo::lower
