#include "compiler/lower/device_scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/build.h"
#include "compiler/kernel/part.h"
#include "compiler/kernel/walk.h"
#include "compiler/lower/device_scalar_rules.h"
#include "compiler/lower/shared/names.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/support/error.h"

namespace halo::lower {

namespace {

using kernel::Expr;
using kernel::KernelFunction;
using kernel::Parameter;
using kernel::Type;
using Op = rt::HostScalar::Op;

// One block combines what tens of thousands of blocks have found: as many loads at once as there can be.
constexpr int kScalarThreads = 1024;

rt::Argument argument_of(rt::Argument::Kind kind, int index = 0) {
    rt::Argument argument;
    argument.kind = kind;
    argument.index = index;
    return argument;
}

bool gives(const rt::KernelPlan& kernel, int reduction) {
    return std::ranges::any_of(kernel.arguments, [&](const rt::Argument& argument) {
        return argument.kind == rt::Argument::Kind::partials && argument.index == reduction;
    });
}

// A scalar, or what one is made of: equal ones have equal keys.
struct Value {
    rt::HostScalar::Step step;
    std::vector<std::string> operands;  // their keys
};

class Scalars {
public:
    // Its place among all, and its key.
    struct Place {
        int index = 0;
        std::string key;
    };
    Place place_of(const rt::HostScalar& scalar, const std::string& name) {
        const std::string key = add(scalar);
        const auto [found, is_new] = places_.try_emplace(key, static_cast<int>(places_.size()));
        if (is_new) names_[key] = name;
        return {found->second, key};
    }
    int count() const { return static_cast<int>(places_.size()); }
    const Value& value(const std::string& key) const { return values_.at(key); }
    const std::string& name(const std::string& key) const { return names_.at(key); }
    int index(const std::string& key) const { return places_.at(key); }
    bool reads(const std::string& key, const std::set<int>& reductions) const {
        const Value& own = value(key);
        if (own.step.op == Op::reduction) return reductions.count(own.step.index) != 0;
        return std::ranges::any_of(own.operands,
                                   [&](const std::string& each) { return reads(each, reductions); });
    }

private:
    std::string add(const rt::HostScalar& scalar) {
        std::vector<std::string> stack;
        for (const rt::HostScalar::Step& step : scalar.steps) {
            Value value{step, {}};
            const auto count = static_cast<std::size_t>(rt::operand_count(step.op));
            if (stack.size() < count) throw InternalError("a host scalar lacks an operand");
            value.operands.assign(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
            stack.resize(stack.size() - count);
            stack.push_back(fmt::format("{}:{}:{:a}({})", static_cast<int>(step.op), step.index, step.value,
                                        fmt::join(value.operands, ",")));
            values_.emplace(stack.back(), std::move(value));
        }
        if (stack.size() != 1) throw InternalError("a host scalar does not give one value");
        return stack.back();
    }

    std::map<std::string, Value> values_;
    std::map<std::string, int> places_;
    std::map<std::string, std::string> names_;  // of scalars, as the kernels have them
};

// A kernel that computes some of the scalars, for thread 0 of its block to store.
class ScalarKernel {
public:
    ScalarKernel(const rt::LaunchPlan& plan, const Scalars& scalars) : plan_(plan), scalars_(scalars) {}

    void write(const std::vector<std::string>& keys, KernelFunction& function, rt::KernelPlan& kernel) {
        for (const std::string& key : keys)
            count_uses(key);
        const std::string stored = names_.take("scalars");
        for (const std::string& key : keys)
            combine_reductions(key);
        kernel::Block by_one;
        for (const std::string& key : keys) {
            declare(key, scalars_.name(key), by_one);
            by_one.push_back(
                kernel::Assign{kernel::element(stored, {kernel::int_literal(scalars_.index(key))}, Type::f64),
                               known_.at(key)});
        }
        body_.push_back(kernel::BlankLine{});
        body_.push_back(kernel::If{
            kernel::builtin(kernel::Builtin::thread_x) == kernel::int_literal(0), std::move(by_one), {}});
        take({Type::f64, stored, Parameter::Kind::output}, argument_of(rt::Argument::Kind::device_scalars));
        function.body = std::move(body_);
        function.parameters = std::move(parameters_);
        function.threads = kScalarThreads;
        function.comment = {
            "Scalars of the kernels that follow in the step, of what the blocks have found before."};
        kernel.threads = kernel.tile = {kScalarThreads, 1, 1};
        kernel.blocks = 1;
        kernel.arguments = std::move(arguments_);
    }

private:
    void take(Parameter parameter, rt::Argument argument) {
        parameters_.push_back(std::move(parameter));
        arguments_.push_back(std::move(argument));
    }

    void count_uses(const std::string& key) {
        if (++uses_[key] > 1) return;
        for (const std::string& operand : scalars_.value(key).operands)
            count_uses(operand);
    }

    void combine_reductions(const std::string& key) {
        const Value& value = scalars_.value(key);
        if (value.step.op == Op::reduction && known_.count(key) == 0) combine(key, value.step.index);
        for (const std::string& operand : value.operands)
            combine_reductions(operand);
    }

    // All threads go through what the blocks have found, and then the block combines what they have.
    void combine(const std::string& key, int index) {
        const rt::ReductionPlan& reduction = plan_.reductions[static_cast<std::size_t>(index)];
        const ir::ReduceOp op = reduction.op == rt::ReductionPlan::Op::sum   ? ir::ReduceOp::sum
                                : reduction.op == rt::ReductionPlan::Op::min ? ir::ReduceOp::min
                                                                             : ir::ReduceOp::max;
        const std::string partials = names_.take(reduction.name + "_partials");
        take({Type::f64, partials, Parameter::Kind::input}, argument_of(rt::Argument::Kind::partials, index));
        const std::string count = names_.take("n_" + reduction.name);
        take({Type::i32, count}, argument_of(rt::Argument::Kind::partial_count, index));

        const std::string of_thread = names_.take(reduction.name + "_of_thread");
        if (part_.empty()) part_ = names_.take("part");
        const Expr of_block = combine_partials(
            op, {partials, kernel::variable(count, Type::i32), kScalarThreads}, of_thread, part_, body_);
        const std::string name = names_.take(reduction.name);
        body_.push_back(kernel::Declare{
            Type::f64, name,
            reduction.square_root ? kernel::call(kernel::Function::sqrt, {of_block}) : of_block});
        known_[key] = kernel::variable(name, Type::f64);
    }

    // What is used more than once has a name.
    Expr of(const std::string& key, kernel::Block& body) {
        const auto found = known_.find(key);
        if (found != known_.end()) return found->second;
        if (uses_[key] > 1 && !scalars_.value(key).operands.empty()) {
            declare(key, "value", body);
            return known_.at(key);
        }
        return computed(scalars_.value(key), body);
    }

    void declare(const std::string& key, const std::string& wanted, kernel::Block& body) {
        if (known_.count(key) != 0) return;
        const Expr value = number(computed(scalars_.value(key), body));
        const std::string name = names_.take(wanted);
        body.push_back(kernel::Declare{Type::f64, name, value});
        known_[key] = kernel::variable(name, Type::f64);
    }

    // Truth is 0 or 1 where it is a number, and what is not 0 is true.
    static Expr number(const Expr& value) {
        if (value->type != Type::boolean) return value;
        return kernel::select(value, kernel::real_literal(1, Type::f64), kernel::real_literal(0, Type::f64));
    }
    static Expr truth(const Expr& value) {
        return value->type == Type::boolean ? value : value != kernel::real_literal(0, Type::f64);
    }

    Expr param(int index) {
        rt::Argument argument = argument_of(rt::Argument::Kind::scalar);
        argument.type = rt::ElementType::f64;
        argument.scalar.steps = {{Op::param, 0, index}};
        const std::string name = names_.take(plan_.params[static_cast<std::size_t>(index)].name);
        take({Type::f64, name}, argument);
        return kernel::variable(name, Type::f64);
    }
    Expr extent(int index) {
        const std::string name = names_.take("n" + plan_.axes[static_cast<std::size_t>(index)]);
        take({Type::i32, name}, argument_of(rt::Argument::Kind::extent, index));
        return kernel::convert(kernel::variable(name, Type::i32), Type::f64);
    }

    Expr computed(const Value& value, kernel::Block& body) {
        std::vector<Expr> of_operands;
        for (const std::string& operand : value.operands)
            of_operands.push_back(of(operand, body));
        const auto at = [&](std::size_t i) { return number(of_operands[i]); };
        switch (value.step.op) {
            case Op::constant:
                return kernel::real_literal(value.step.value, Type::f64);
            case Op::param:
                return named(params_, value.step.index, [&] { return param(value.step.index); });
            case Op::extent:
                return named(extents_, value.step.index, [&] { return extent(value.step.index); });
            case Op::negate:
                return -at(0);
            case Op::logical_not:
                return kernel::logical_not(truth(of_operands[0]));
            case Op::sqrt:
                return kernel::call(kernel::Function::sqrt, {at(0)});
            case Op::abs:
                return kernel::call(kernel::Function::abs, {at(0)});
            case Op::floor:
                return kernel::call(kernel::Function::floor, {at(0)});
            case Op::ceil:
                return kernel::call(kernel::Function::ceil, {at(0)});
            case Op::round:
                return kernel::call(kernel::Function::round, {at(0)});
            case Op::trunc:
                return kernel::call(kernel::Function::trunc, {at(0)});
            case Op::round_f32:
                return kernel::convert(kernel::convert(at(0), Type::f32), Type::f64);
            case Op::fma:
                return kernel::call(kernel::Function::fma, {at(0), at(1), at(2)});
            case Op::select:
                return kernel::select(truth(of_operands[0]), at(1), at(2));
            case Op::min:
                return kernel::min(at(0), at(1));
            case Op::max:
                return kernel::max(at(0), at(1));
            case Op::logical_and:
                return truth(of_operands[0]) && truth(of_operands[1]);
            case Op::logical_or:
                return truth(of_operands[0]) || truth(of_operands[1]);
            default:
                return binary(value.step.op, at(0), at(1));
        }
    }

    static Expr binary(Op op, const Expr& left, const Expr& right) {
        switch (op) {
            case Op::add:
                return left + right;
            case Op::sub:
                return left - right;
            case Op::mul:
                return left * right;
            case Op::div:
                return left / right;
            case Op::less:
                return left < right;
            case Op::less_equal:
                return left <= right;
            case Op::greater:
                return left > right;
            case Op::greater_equal:
                return left >= right;
            case Op::equal:
                return left == right;
            case Op::not_equal:
                return left != right;
            default:
                throw InternalError("a scalar of the device has an operation that is not exact");
        }
    }

    template <class Make>
    static Expr named(std::map<int, Expr>& known, int index, Make&& make) {
        const auto found = known.find(index);
        return found != known.end() ? found->second : known.emplace(index, make()).first->second;
    }

    const rt::LaunchPlan& plan_;
    const Scalars& scalars_;
    Names names_;
    std::string part_;  // the loops' variable
    kernel::Block body_;
    std::vector<Parameter> parameters_;
    std::vector<rt::Argument> arguments_;
    std::map<std::string, int> uses_;
    std::map<std::string, Expr> known_;  // those with a name
    std::map<int, Expr> params_, extents_;
};

// Which scalars are computed: those of all kernels, or what is_computed_beside_repeats() says.
class DeviceScalars {
public:
    DeviceScalars(Lowered& lowered, bool of_all)
        : plan_(lowered.plan), kernels_(lowered.kernels), of_all_(of_all) {}

    void run() {
        for (const KernelFunction& function : kernels_.functions)
            kernel_names_.take(function.name);
        std::vector<rt::KernelPlan> step;
        std::vector<int> moved;  // by the old index
        for (std::size_t first = 0; first < plan_.kernels.size();) {
            const std::size_t past = past_of_alternatives(first);
            for (const rt::RepeatPlan& repeat : plan_.repeats)
                if (std::cmp_equal(repeat.first, first)) add_scalars_of(repeat, step);
            // What others have computed is not there in all of these steps.
            if (first > 0 && plan_.kernels[first].within != plan_.kernels[first - 1].within) known_.clear();
            add_scalars(first, past, step);
            for (; first < past; ++first) {
                moved.push_back(static_cast<int>(step.size()));
                step.push_back(with_loads(first));
                forget_what_changes(first);
            }
        }
        plan_.kernels = std::move(step);
        for (rt::ReductionPlan& reduction : plan_.reductions)
            reduction.kernel = moved[static_cast<std::size_t>(reduction.kernel)];
        // A kernel before the first of a repeat is before the repeat, as what it reads was found there.
        for (rt::RepeatPlan& repeat : plan_.repeats) {
            repeat.past = moved[static_cast<std::size_t>(repeat.past - 1)] + 1;
            repeat.first = moved[static_cast<std::size_t>(repeat.first)];
            if (repeat.until && repeat.until->kernel >= 0) repeat.until->kernel = repeat.past - 1;
            for (rt::RepeatPlan::Exchange& each : repeat.exchanges)
                each.kernel = moved[static_cast<std::size_t>(each.kernel)];
        }
        plan_.device_scalars = scalars_.count();
    }

private:
    bool moves(std::size_t kernel, const rt::Argument& argument) const {
        return of_all_ ? changes(argument) : is_computed_beside_repeats(plan_, kernel, argument);
    }

    // One that runs in steps without results stands after that in whose place it does.
    std::size_t past_of_alternatives(std::size_t first) const {
        const std::size_t next = first + 1;
        const bool has_other = next < plan_.kernels.size() &&
                               plan_.kernels[first].steps == rt::Steps::with_results &&
                               plan_.kernels[next].steps == rt::Steps::without_results;
        return has_other ? next + 1 : next;
    }

    using Reductions = std::set<int>;

    // The scalars of these kernels that are not known yet in the step, but for those that read one of the
    // reductions.
    void collect(std::size_t first, std::size_t past, const Reductions& without,
                 std::vector<std::string>& wanted) {
        for (std::size_t k = first; k < past; ++k) {
            const rt::KernelPlan& kernel = plan_.kernels[k];
            const KernelFunction& function = kernel::kernel_named(kernels_, kernel.name);
            for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
                if (!moves(k, kernel.arguments[i])) continue;
                const auto [index, key] =
                    scalars_.place_of(kernel.arguments[i].scalar, function.parameters[i].name);
                if (!scalars_.reads(key, without) && known_.insert(key).second) wanted.push_back(key);
            }
        }
    }

    // Before a repeat: the scalars of its kernels that are the same in each iteration.
    void add_scalars_of(const rt::RepeatPlan& repeat, std::vector<rt::KernelPlan>& step) {
        const auto first = static_cast<std::size_t>(repeat.first),
                   past = static_cast<std::size_t>(repeat.past);
        std::vector<std::string> wanted;
        collect(first, past, given_by(first, past), wanted);
        add_kernel(wanted, first, step);
    }

    // Before kernels that need scalars: these, and with them what kernels that follow take of the same
    // reductions.
    void add_scalars(std::size_t first, std::size_t past, std::vector<rt::KernelPlan>& step) {
        std::vector<std::string> wanted;
        collect(first, past, {}, wanted);
        if (wanted.empty()) return;
        const rt::RepeatPlan* const repeat = repeat_of(plan_, first);
        const std::size_t end =
            repeat != nullptr ? static_cast<std::size_t>(repeat->past) : plan_.kernels.size();
        Reductions given = given_by(first, past);
        for (std::size_t next = past; next < end; ++next) {
            if (plan_.kernels[next].within == plan_.kernels[first].within)
                collect(next, next + 1, given, wanted);
            given.merge(given_by(next, next + 1));
        }
        add_kernel(wanted, first, step);
    }

    Reductions given_by(std::size_t first, std::size_t past) const {
        Reductions given;
        for (int reduction = 0; std::cmp_less(reduction, plan_.reductions.size()); ++reduction)
            for (std::size_t k = first; k < past; ++k)
                if (gives(plan_.kernels[k], reduction)) given.insert(reduction);
        return given;
    }

    void add_kernel(const std::vector<std::string>& keys, std::size_t user,
                    std::vector<rt::KernelPlan>& step) {
        if (keys.empty()) return;
        KernelFunction function;
        rt::KernelPlan kernel;
        ScalarKernel(plan_, scalars_).write(keys, function, kernel);
        function.name = kernel.name = kernel_names_.take(plan_.name + "_scalars");
        kernel.within = plan_.kernels[user].within;
        step.push_back(std::move(kernel));
        const auto before =
            std::ranges::find(kernels_.functions, plan_.kernels[user].name, &KernelFunction::name);
        kernels_.functions.insert(before, std::move(function));
    }

    // The parameters that change are variables of the kernel instead. It stands in the step once, as only
    // kernels that fill halos do so more often.
    rt::KernelPlan with_loads(std::size_t index) {
        const rt::KernelPlan& kernel = plan_.kernels[index];
        const auto is_moved = [&](const rt::Argument& argument) { return moves(index, argument); };
        if (std::ranges::none_of(kernel.arguments, is_moved)) return kernel;
        rt::KernelPlan result = kernel;
        result.arguments.clear();
        KernelFunction& function = *std::ranges::find(kernels_.functions, kernel.name, &KernelFunction::name);
        std::vector<Parameter> parameters;
        kernel::Block loads;
        Names names;
        for (const std::string& name : kernel::names_in(function))
            names.take(name);
        const std::string stored = names.take("scalars");
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const rt::Argument& argument = kernel.arguments[i];
            if (!is_moved(argument)) {
                result.arguments.push_back(argument);
                parameters.push_back(function.parameters[i]);
                continue;
            }
            if (loads.empty()) {
                result.arguments.push_back(argument_of(rt::Argument::Kind::device_scalars));
                parameters.push_back({Type::f64, stored, Parameter::Kind::input});
            }
            const Parameter& parameter = function.parameters[i];
            const int place = scalars_.place_of(argument.scalar, parameter.name).index;
            const Expr value = kernel::element(stored, {kernel::int_literal(place)}, Type::f64);
            loads.push_back(
                kernel::Declare{parameter.type, parameter.name, kernel::convert(value, parameter.type)});
        }
        function.parameters = std::move(parameters);
        loads.insert(loads.end(), std::make_move_iterator(function.body.begin()),
                     std::make_move_iterator(function.body.end()));
        function.body = std::move(loads);
        return result;
    }

    void forget_what_changes(std::size_t kernel) {
        const Reductions given = given_by(kernel, kernel + 1);
        std::erase_if(known_, [&](const std::string& key) { return scalars_.reads(key, given); });
    }

    rt::LaunchPlan& plan_;
    kernel::Program& kernels_;
    bool of_all_;
    Names kernel_names_;
    Scalars scalars_;
    std::set<std::string> known_;  // at this place of the step
};

}  // namespace

void compute_scalars_on_device(Lowered& lowered) {
    if (are_all_computed(lowered.plan)) return DeviceScalars(lowered, true).run();
    if (!is_part_of_grid(lowered.plan) && !lowered.plan.repeats.empty()) DeviceScalars(lowered, false).run();
}

}  // namespace halo::lower
