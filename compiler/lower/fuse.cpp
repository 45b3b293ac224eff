#include "compiler/lower/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/kernel/build.h"
#include "compiler/kernel/helpers.h"
#include "compiler/kernel/part.h"
#include "compiler/kernel/rewrite.h"
#include "compiler/kernel/walk.h"
#include "compiler/lower/device_scalar_rules.h"
#include "compiler/lower/shared/names.h"
#include "compiler/lower/shared/strategy.h"
#include "runtime/core/plan_repeats.h"

namespace halo::lower {

namespace {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::KernelFunction;
using kernel::Parameter;
using kernel::Type;
using ArgumentKind = rt::Argument::Kind;

// Of one kernel: all of these are 8 bytes at most, and kernels take 4 kB.
constexpr std::size_t kMostArguments = 480;
// Compilers take more than twice the time for twice the text in one kernel.
constexpr std::size_t kMostKernels = 64;

bool same(const rt::HostScalar& a, const rt::HostScalar& b) {
    return std::ranges::equal(a.steps, b.steps, [](const auto& one, const auto& other) {
        return one.op == other.op && one.value == other.value && one.index == other.index;
    });
}

bool same(const rt::Argument& a, const rt::Argument& b) {
    return a.kind == b.kind && a.field == b.field && a.time == b.time && a.index == b.index &&
           a.part == b.part && a.factor == b.factor && a.type == b.type && same(a.scalar, b.scalar);
}

bool can_be_shared(const rt::Argument& argument) {
    switch (argument.kind) {
        case ArgumentKind::field:
        case ArgumentKind::scalar:
        case ArgumentKind::extent:
        case ArgumentKind::pitch:
        case ArgumentKind::slice:
        case ArgumentKind::iterations:
        case ArgumentKind::device_scalars:
            return true;
        default:
            return false;
    }
}

// Whether threads of a block have to do with each other, or know how many blocks there are.
bool is_of_blocks(const Block& body) {
    bool found = false;
    const auto note = [&](kernel::Helper helper) { found = found || kernel::shape_of(helper).has_barrier; };
    kernel::for_each_statement(body, [&](const kernel::Statement& statement) {
        const auto* array = std::get_if<kernel::DeclareArray>(&statement.kind);
        found = found || std::holds_alternative<kernel::Barrier>(statement.kind) ||
                (array != nullptr && array->memory != kernel::Memory::registers);
        if (const auto* run = std::get_if<kernel::RunHelper>(&statement.kind)) note(run->helper);
    });
    kernel::for_each_expr(body, [&](const Expr& expr) {
        const auto* index = std::get_if<kernel::BuiltinIndex>(&expr->kind);
        found = found || std::holds_alternative<kernel::Shuffle>(expr->kind) ||
                (index != nullptr &&
                 (index->builtin == Builtin::blocks_x || index->builtin == Builtin::blocks_y));
        if (const auto* call = std::get_if<kernel::CallHelper>(&expr->kind)) note(call->helper);
    });
    return found;
}

// The same in an iteration with the arrays exchanged; null: no arrays are.
rt::Argument exchanged(rt::Argument argument, const rt::RepeatPlan* repeat) {
    if (repeat == nullptr || argument.kind != ArgumentKind::field) return argument;
    for (const rt::RepeatPlan::Exchange& each : repeat->exchanges) {
        const bool is_level = argument.field == each.field && argument.time == each.time;
        if (!is_level && argument.field != each.other) continue;
        argument.field = is_level ? each.other : each.field;
        argument.time = is_level ? 0 : each.time;
        break;
    }
    return argument;
}

// What one kernel takes that does the work of several.
class SharedArguments {
public:
    explicit SharedArguments(const kernel::Program& program) {
        for (const kernel::ConstantArray& array : program.constant_arrays)
            names_.take(array.name);
        for (const KernelFunction& function : program.functions)
            names_.take(function.name);
    }
    // The parameter that has the argument. One that some kernel writes to is written to.
    std::size_t take(const Parameter& parameter, const rt::Argument& argument) {
        const std::size_t place = find(argument);
        if (place == arguments_.size()) {
            arguments_.push_back(argument);
            parameters_.push_back(parameter);
            parameters_.back().name = names_.take(parameter.name);
        }
        if (parameter.kind == Parameter::Kind::output) parameters_[place].kind = parameter.kind;
        // A barrier after another stage has stored to the array, its values are read again.
        parameters_[place].restricted = parameters_[place].kind != Parameter::Kind::output;
        return place;
    }
    std::size_t find(const rt::Argument& argument) const {
        return static_cast<std::size_t>(
            std::ranges::find_if(arguments_, [&](const rt::Argument& each) { return same(each, argument); }) -
            arguments_.begin());
    }
    Names& names() { return names_; }
    const std::vector<Parameter>& parameters() const { return parameters_; }
    const std::vector<rt::Argument>& arguments() const { return arguments_; }

private:
    Names names_;
    std::vector<Parameter> parameters_;
    std::vector<rt::Argument> arguments_;
};

// The kernel of one block.
class FusedKernel {
public:
    FusedKernel(const rt::LaunchPlan& plan, kernel::Program& program, int threads)
        : plan_(plan),
          program_(program),
          shared_(program),
          threads_(threads),
          thread_(shared_.names().take("thread")),
          block_(shared_.names().take("block")) {}

    // Call it for all kernels before add(), with the repeat that is a loop of this kernel.
    void take_arguments(const rt::KernelPlan& kernel, const rt::RepeatPlan* loop) {
        const KernelFunction& function = function_of(kernel);
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            shared_.take(function.parameters[i], kernel.arguments[i]);
            shared_.take(function.parameters[i], exchanged(kernel.arguments[i], loop));
        }
        for (int axis = 0; axis < plan_.rank; ++axis)
            extent(kernel.domain, axis);
    }

    void add(const rt::KernelPlan& kernel) { add(kernel, nullptr, work_); }

    // All iterations of a repeat. Every second one is with the arrays exchanged, as where they are launched.
    void add(const rt::RepeatPlan& loop) {
        const auto is_copy = [&](int kernel) {
            return std::ranges::find(loop.exchanges, kernel, &rt::RepeatPlan::Exchange::kernel) !=
                   loop.exchanges.end();
        };
        const auto add_all = [&](bool copies, const rt::RepeatPlan* exchange, Block& work) {
            for (int kernel = loop.first; kernel < loop.past; ++kernel)
                if (is_copy(kernel) == copies)
                    add(plan_.kernels[static_cast<std::size_t>(kernel)], exchange, work);
        };
        const bool alternates = !loop.exchanges.empty();
        const std::int64_t stood_for = stands_for_;
        const std::int64_t turns = alternates ? loop.count / 2 : loop.count;
        Block turn;
        add_all(false, nullptr, turn);
        if (alternates) add_all(false, &loop, turn);
        stands_for_ += (turns - 1) * (stands_for_ - stood_for);
        work_.push_back(kernel::For{shared_.names().take("turn"), 0, kernel::int_literal(turns), 1,
                                    kernel::Unroll::none, std::move(turn)});
        if (!alternates || loop.count % 2 == 0) return;
        add_all(false, nullptr, work_);
        add_all(true, nullptr, work_);
    }

    void finish(KernelFunction& function, rt::KernelPlan& kernel) {
        if (std::holds_alternative<kernel::Barrier>(work_.back().kind)) work_.pop_back();
        function.comment = {
            "Stages of few cells, done in turn by one block: a barrier takes less time than the way to a "
            "kernel."};
        function.threads = threads_;
        function.min_blocks = 1;  // the only one: it may have all registers
        function.parameters = shared_.parameters();
        function.body.push_back(kernel::Declare{Type::i32, thread_, kernel::thread_index(0)});
        append(function.body, std::move(counts_));
        append(function.body, std::move(work_));
        kernel.threads = kernel.tile = {threads_, 1, 1};
        kernel.blocks = 1;
        kernel.stands_for = stands_for_;
        kernel.arguments = shared_.arguments();
    }

private:
    KernelFunction& function_of(const rt::KernelPlan& kernel) {
        return *std::ranges::find(program_.functions, kernel.name, &KernelFunction::name);
    }
    Expr parameter(std::size_t place) const {
        const Parameter& parameter = shared_.parameters()[place];
        return parameter.kind == Parameter::Kind::scalar
                   ? kernel::variable(parameter.name, parameter.type)
                   : kernel::address_of(parameter.name, 0, parameter.type);
    }
    Expr extent(const rt::Domain& domain, int axis) {
        rt::Argument argument;
        argument.kind = ArgumentKind::extent;
        argument.index = axis;
        argument.factor = domain.factor;
        const std::string& word = plan_.axes[static_cast<std::size_t>(axis)];
        return parameter(shared_.take({Type::i32, "n" + word}, argument));
    }

    // Blocks of the kernel along an axis. There may be more than have cells: those return.
    Expr count(const rt::KernelPlan& kernel, int axis) {
        const auto place = static_cast<std::size_t>(axis);
        if (axis >= plan_.rank || kernel.tile[place] == kWholeAxis) return 1;
        const rt::Range& range = kernel.domain.ranges[place];
        const Expr n = extent(kernel.domain, axis);
        const auto bound = [&](const rt::Bound& each) {
            return each.from_high ? n + each.offset : Expr(each.offset);
        };
        const Expr cells = range.begin.from_high && range.end.from_high
                               ? Expr(range.end.offset - range.begin.offset)
                               : bound(range.end) - bound(range.begin);
        const int tile = kernel.tile[place];
        const Expr blocks = tile == 1 ? cells : (cells + (tile - 1)) / Expr(tile);
        if (kernel::int_value(blocks)) return blocks;
        for (const auto& [known, name] : known_counts_)
            if (kernel::same(known, blocks)) return kernel::variable(name, Type::i32);
        const std::string name = shared_.names().take("blocks_" + plan_.axes[place]);
        counts_.push_back(kernel::Declare{Type::i32, name, blocks});
        known_counts_.emplace_back(blocks, name);
        return kernel::variable(name, Type::i32);
    }

    void add(const rt::KernelPlan& kernel, const rt::RepeatPlan* exchange, Block& work) {
        ++stands_for_;
        work.push_back(blocks_of(kernel, exchange));
        work.push_back(kernel::Barrier{});
    }

    // The loop over the kernel's blocks, of which the threads do several at once.
    kernel::Statement blocks_of(const rt::KernelPlan& kernel, const rt::RepeatPlan* exchange) {
        KernelFunction& function = function_of(kernel);
        std::vector<Expr> arguments;
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const std::size_t place = shared_.find(exchanged(kernel.arguments[i], exchange));
            arguments.push_back(parameter(place));
            Parameter& own = function.parameters[i];
            own.restricted = own.restricted && shared_.parameters()[place].restricted;
        }
        const int threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2];
        const Expr thread = kernel::variable(thread_, Type::i32), block = kernel::variable(block_, Type::i32);
        const Expr x = count(kernel, 0), y = count(kernel, 1), z = count(kernel, 2) * count(kernel, 3);
        const auto rest = [](const Expr& number, int of) { return of == 1 ? Expr(0) : number % Expr(of); };
        const auto quotient = [](const Expr& number, int by) { return by == 1 ? number : number / Expr(by); };
        const auto [columns, rows, planes] = kernel.threads.first_three();
        const std::map<Builtin, Expr> places{
            {Builtin::thread_x, rest(thread, columns)},
            {Builtin::thread_y, rest(quotient(thread, columns), rows)},
            {Builtin::thread_z, rest(quotient(thread, columns * rows), planes)},
            {Builtin::block_x, plan_.rank == 1 ? block : block % x},
            {Builtin::block_y, plan_.rank == 2 ? block / x : block / x % y},
            {Builtin::block_z, block / (x * y)}};
        for (const Builtin builtin : become_callable(function))
            arguments.push_back(places.at(builtin));
        kernel::For loop;
        loop.var = block_;
        loop.begin = threads == threads_ ? Expr(0) : thread / Expr(threads);
        loop.end = x * y * z;
        loop.step = threads_ / threads;
        loop.body.push_back(kernel::CallFunction{function.name, std::move(arguments)});
        return loop;
    }

    // The function computes one block. The caller says which one, and which of its threads calls, by the
    // arguments behind all others, which this gives.
    const std::vector<Builtin>& become_callable(KernelFunction& function) {
        const auto [places, is_new] = places_.try_emplace(function.name);
        if (!is_new) return places->second;
        static constexpr const char* kNames[] = {"thread_x", "thread_y", "thread_z",
                                                 "block_x",  "block_y",  "block_z"};
        Names names;
        for (const std::string& name : kernel::names_in(function))
            names.take(name);
        std::map<Builtin, Expr> known;
        function.body = kernel::with_builtins(function.body, [&](Builtin builtin) {
            Expr& parameter = known[builtin];
            if (!parameter.has_value())
                parameter =
                    kernel::variable(names.take(kNames[static_cast<std::size_t>(builtin)]), Type::i32);
            return parameter;
        });
        for (const auto& [builtin, parameter] : known) {
            function.parameters.push_back({Type::i32, std::get<kernel::Variable>(parameter->kind).name});
            places->second.push_back(builtin);
        }
        function.kind = KernelFunction::Kind::helper;
        function.threads = function.min_blocks = 0;
        return places->second;
    }

    const rt::LaunchPlan& plan_;
    kernel::Program& program_;
    SharedArguments shared_;
    int threads_;
    std::string thread_, block_;
    std::int64_t stands_for_ = 0;
    Block counts_, work_;
    std::vector<std::pair<Expr, std::string>> known_counts_;
    std::map<std::string, std::vector<Builtin>> places_;  // by function: what it takes of a thread's place
};

// Goes through the kernels of a step and fuses those that follow each other.
class Fusion {
public:
    Fusion(const FusedThreads& wanted, Lowered& lowered)
        : wanted_(wanted), plan_(lowered.plan), program_(lowered.kernels), lowered_(lowered) {
        for (const KernelFunction& function : program_.functions)
            names_.take(function.name);
    }

    void run() {
        moved_.resize(plan_.kernels.size());
        walk(0, plan_.kernels.size(), 0, nullptr);
        finish_group();
        for (rt::ReductionPlan& reduction : plan_.reductions)
            reduction.kernel = moved(reduction.kernel);
        for (rt::RepeatPlan& each : repeats_) {
            each.first = moved(each.first);
            each.past = moved(each.past - 1) + 1;
            if (each.until && each.until->kernel >= 0) each.until->kernel = moved(each.until->kernel);
            for (rt::RepeatPlan::Exchange& exchange : each.exchanges)
                exchange.kernel = moved(exchange.kernel);
        }
        for (rt::KernelPlan& kernel : step_)
            for (rt::Argument& argument : kernel.arguments)
                if (argument.kind == ArgumentKind::iterations) argument.index = numbers_.at(argument.index);
        if (const auto* of = plan_.time_block ? plan_.time_block->of_repeat() : nullptr)
            plan_.time_block->kind = rt::TimeBlock::OfRepeat{numbers_.at(of->repeat)};
        plan_.kernels = std::move(step_);
        plan_.repeats = std::move(repeats_);
        drop_unlaunched();
    }

private:
    // Of kernels that compute the same, a fused one calls one for all.
    void drop_unlaunched() {
        std::set<std::string> launched;
        for (const rt::KernelPlan& kernel : plan_.kernels)
            launched.insert(kernel.name);
        if (plan_.time_block)
            for (const rt::KernelPlan* const kernel : plan_.time_block->kernels())
                launched.insert(kernel->name);
        program_ = kernel::part_of(
            program_, [&](const KernelFunction& function) { return launched.count(function.name) != 0; });
    }

    // Kernels of the step: all of a repeat, or a single one.
    struct Part {
        std::size_t first, past;
        const rt::RepeatPlan* loop;
    };

    // The kernels of [k, past), of which the repeats from `index` on do some; `around` is the repeat that has
    // them.
    void walk(std::size_t k, std::size_t past, std::size_t index, const rt::RepeatPlan* around) {
        while (k < past) {
            if (index == plan_.repeats.size() || std::cmp_less(k, plan_.repeats[index].first)) {
                add({k, k + 1, nullptr}, around);
                ++k;
                continue;
            }
            const rt::RepeatPlan& repeat = plan_.repeats[index];
            const std::size_t next = rt::next_repeat(plan_, index);
            const auto end = static_cast<std::size_t>(repeat.past);
            if (around == nullptr && next == index + 1 && can_be_loop(repeat, index)) {
                add({k, end, &repeat}, nullptr);
            } else {
                finish_group();
                numbers_[static_cast<int>(index)] = static_cast<int>(repeats_.size());
                repeats_.push_back(repeat);
                walk(k, end, index + 1, &repeat);
                finish_group();
            }
            k = end;
            index = next;
        }
    }

    int moved(int kernel) const { return moved_[static_cast<std::size_t>(kernel)]; }

    // Threads of the block that the kernel may be done by; 0: it has a launch of its own.
    int threads_for(std::size_t index) const {
        const rt::KernelPlan& kernel = plan_.kernels[index];
        const auto found = wanted_.find(kernel.name);
        const int threads = kernel.threads[0] * kernel.threads[1] * kernel.threads[2];
        if (found == wanted_.end() || found->second % threads != 0) return 0;
        if (kernel.domain.kind != rt::Domain::Kind::grid || kernel.blocks > 0 || kernel.fills_halo ||
            kernel.dynamic_shared_bytes > 0 || !std::ranges::all_of(kernel.arguments, can_be_shared) ||
            is_of_blocks(kernel::kernel_named(program_, kernel.name).body))
            return 0;
        return found->second;
    }

    bool can_be_loop(const rt::RepeatPlan& repeat, std::size_t index) const {
        const auto first = static_cast<std::size_t>(repeat.first);
        if (repeat.until || repeat.count == 1 || !repeat.ghosts_due.empty() ||
            rt::block_of_repeat(plan_, index) != nullptr)
            return false;
        for (auto k = first; std::cmp_less(k, repeat.past); ++k)
            if (threads_for(k) == 0 || threads_for(k) != threads_for(first) ||
                !run_in_same_steps(plan_.kernels[k], plan_.kernels[first]))
                return false;
        return static_cast<std::size_t>(repeat.past) - first <= kMostKernels;
    }

    static bool run_in_same_steps(const rt::KernelPlan& a, const rt::KernelPlan& b) {
        return a.steps == b.steps && a.within == b.within;
    }

    static bool is_exchanged(const rt::RepeatPlan* repeat, std::size_t kernel) {
        return repeat != nullptr && std::ranges::any_of(repeat->exchanges, [&](const auto& each) {
                   return std::cmp_equal(each.kernel, kernel);
               });
    }

    // repeat: the one that the part is within, and that stays.
    void add(const Part& part, const rt::RepeatPlan* repeat) {
        const int threads = is_exchanged(repeat, part.first) ? 0 : threads_for(part.first);
        if (threads == 0) {
            finish_group();
            return keep(part.first);
        }
        if (!group_.empty() && !fits(part, threads)) finish_group();
        group_.push_back(part);
        group_threads_ = threads;
    }

    bool fits(const Part& part, int threads) const {
        std::size_t kernels = part.past - part.first, arguments = 0;
        const auto count = [&](const Part& each) {
            for (std::size_t k = each.first; k < each.past; ++k)
                arguments += plan_.kernels[k].arguments.size();
        };
        count(part);
        for (const Part& each : group_) {
            kernels += each.past - each.first;
            count(each);
        }
        return threads == group_threads_ &&
               run_in_same_steps(plan_.kernels[part.first], plan_.kernels[group_.front().first]) &&
               kernels <= kMostKernels && arguments <= kMostArguments;
    }

    void keep(std::size_t kernel) {
        moved_[kernel] = static_cast<int>(step_.size());
        step_.push_back(plan_.kernels[kernel]);
    }

    void finish_group() {
        const std::vector<Part> group = std::exchange(group_, {});
        if (group.empty()) return;
        if (group.size() == 1 && group.front().loop == nullptr) return keep(group.front().first);
        FusedKernel fused(plan_, program_, group_threads_);
        for (const Part& part : group)
            for (std::size_t k = part.first; k < part.past; ++k)
                fused.take_arguments(plan_.kernels[k], part.loop);
        std::set<std::string> names;
        for (const Part& part : group) {
            for (std::size_t k = part.first; k < part.past; ++k) {
                names.insert(plan_.kernels[k].name);
                moved_[k] = static_cast<int>(step_.size());
            }
            part.loop != nullptr ? fused.add(*part.loop) : fused.add(plan_.kernels[part.first]);
        }
        KernelFunction function;
        rt::KernelPlan kernel;
        fused.finish(function, kernel);
        function.name = kernel.name = names_.take(plan_.name + "_fused");
        kernel.steps = plan_.kernels[group.front().first].steps;
        kernel.within = plan_.kernels[group.front().first].within;
        step_.push_back(std::move(kernel));
        for (std::string& each : lowered_.kernels_of_stages)
            if (names.contains(each)) each = function.name;
        // Behind the functions that it calls.
        const auto last = std::find_if(program_.functions.rbegin(), program_.functions.rend(),
                                       [&](const KernelFunction& each) { return names.contains(each.name); });
        program_.functions.insert(last.base(), std::move(function));
    }

    const FusedThreads& wanted_;
    rt::LaunchPlan& plan_;
    kernel::Program& program_;
    Lowered& lowered_;
    Names names_;
    std::vector<rt::KernelPlan> step_;
    std::vector<int> moved_;               // by the old index
    std::vector<rt::RepeatPlan> repeats_;  // that stay
    std::map<int, int> numbers_;           // of these, by the old one
    std::vector<Part> group_;
    int group_threads_ = 0;
};

}  // namespace

void fuse_kernels(const FusedThreads& wanted, Lowered& lowered) {
    if (!wanted.empty() && !is_part_of_grid(lowered.plan)) Fusion(wanted, lowered).run();
}

}  // namespace halo::lower
