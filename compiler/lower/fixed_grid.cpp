#include "compiler/lower/fixed_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/kernel/build.h"
#include "compiler/kernel/part.h"
#include "compiler/kernel/rewrite.h"
#include "compiler/kernel/simplify.h"
#include "compiler/kernel/verify.h"
#include "compiler/kernel/walk.h"
#include "compiler/support/error.h"
#include "runtime/core/geometry.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/text.h"

namespace halo::lower {

namespace {

using kernel::Builtin;
using kernel::Interval;
using kernel::KernelFunction;
using kernel::Parameter;
using kernel::Type;

// All that is named in a program's functions.
std::set<std::string> names_in(const kernel::Program& program) {
    std::set<std::string> names;
    for (const kernel::ConstantArray& array : program.constant_arrays)
        names.insert(array.name);
    for (const KernelFunction& function : program.functions) {
        names.insert(function.name);
        names.merge(kernel::names_in(function));
    }
    return names;
}

class GridFixer {
public:
    GridFixer(Lowered& lowered, const rt::Geometry& geometry, std::vector<rt::KernelPlan*> kernels)
        : program_(lowered.kernels),
          plan_(lowered.plan),
          geometry_(geometry),
          kernels_(std::move(kernels)),
          functions_(called_by(kernels_)) {}

    void run() {
        // What is a constant: by the parameters that hold it, everywhere by the same name.
        std::map<std::string, std::set<std::string>> names;  // in whichever function
        for (rt::KernelPlan* kernel : kernels_) {
            KernelFunction& function = function_of(*kernel);
            for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
                const std::optional<std::string> word = word_of(kernel->arguments[i]);
                if (word) names[*word].insert(function.parameters[i].name);
            }
        }
        choose_names(names);
        std::set<std::string> done;
        for (rt::KernelPlan* kernel : kernels_)
            take_from(*kernel, function_of(*kernel), done.insert(kernel->name).second);
        for (KernelFunction* function : functions_)
            if (function->kind == KernelFunction::Kind::helper) take_from_helper(*function);
        for (KernelFunction* function : functions_)
            kernel::simplify(*function, known_in(*function));
        keep_used();
    }

private:
    // The kernels' functions and the helpers that no others call, in the program's order.
    std::vector<KernelFunction*> called_by(const std::vector<rt::KernelPlan*>& kernels) {
        const auto is_fixed = [&](const KernelFunction& function) {
            return std::ranges::any_of(
                kernels, [&](const rt::KernelPlan* kernel) { return kernel->name == function.name; });
        };
        std::set<std::string> of_others;
        for (const KernelFunction& function : kernel::part_of(program_, std::not_fn(is_fixed)).functions)
            of_others.insert(function.name);
        std::vector<KernelFunction*> called;
        for (KernelFunction& function : program_.functions)
            if (of_others.count(function.name) == 0) called.push_back(&function);
        return called;
    }
    KernelFunction& function_of(const rt::KernelPlan& kernel) {
        return *std::ranges::find(program_.functions, kernel.name, &KernelFunction::name);
    }

    std::optional<std::string> word_of(const rt::Argument& argument) const {
        switch (argument.kind) {
            case rt::Argument::Kind::extent:
                return "n" + plan_.axes[static_cast<std::size_t>(argument.index)];
            case rt::Argument::Kind::pitch:
                return "pitch";
            case rt::Argument::Kind::slice:
                return "slice";
            case rt::Argument::Kind::volume:
                return "volume";
            default:
                return std::nullopt;
        }
    }

    kernel::NamedConstant constant(const std::string& word) const {
        if (word == "pitch") return {word, geometry_.pitch, "elements from one row to the next", Type::i32};
        if (word == "slice") return {word, geometry_.slice, "elements from one plane to the next", Type::i64};
        if (word == "volume")
            return {word, geometry_.volume, "elements from one volume to the next", Type::i64};
        for (int axis = 0; axis < plan_.rank; ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            if (word == "n" + plan_.axes[at])
                return {word, geometry_.extent[at], "cells along " + plan_.axes[at], Type::i32};
        }
        throw InternalError("no constant of a grid is called " + word);
    }

    // A constant has the parameters' name where that is one for all, and nothing else has it: neither in
    // these functions nor in others.
    void choose_names(const std::map<std::string, std::set<std::string>>& names) {
        std::vector<std::string> words;
        for (const std::string& axis : plan_.axes)
            words.push_back("n" + axis);
        words.insert(words.end(), {"pitch", "slice", "volume"});
        const std::set<std::string> taken = names_in(program_), of_others = names_of_others();
        for (const std::string& word : words) {
            const auto found = names.find(word);
            if (found == names.end()) continue;
            kernel::NamedConstant made = constant(word);
            const bool is_free =
                found->second.size() == 1 && *found->second.begin() == word && of_others.count(word) == 0;
            for (int number = 2; !is_free && taken.count(made.name) != 0; ++number)
                made.name = fmt::format("{}_{}", word, number);
            known_.variables[made.name] = {made.value, made.value};
            constants_[word] = std::move(made);
        }
    }

    std::set<std::string> names_of_others() const {
        std::set<std::string> names;
        for (const KernelFunction& function : program_.functions)
            if (std::ranges::find(functions_, &function) == functions_.end())
                names.merge(kernel::names_in(function));
        return names;
    }

    // The arguments and parameters go; what was a parameter is the constant.
    void take_from(rt::KernelPlan& kernel, KernelFunction& function, bool is_first) {
        std::vector<rt::Argument> arguments;
        std::vector<Parameter> parameters;
        std::map<std::string, std::string> renamed;
        for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
            const std::optional<std::string> word = word_of(kernel.arguments[i]);
            if (!word) arguments.push_back(kernel.arguments[i]);
            if (!is_first) continue;
            if (word) {
                renamed[function.parameters[i].name] = constants_.at(*word).name;
            } else {
                parameters.push_back(function.parameters[i]);
            }
        }
        kernel.arguments = std::move(arguments);
        note_launch(kernel, function);
        if (!is_first) return;
        function.parameters = std::move(parameters);
        rename(function, renamed);
    }

    static void rename(KernelFunction& function, const std::map<std::string, std::string>& renamed) {
        function.body =
            kernel::with_variables(function.body, [&](const kernel::Variable& variable, Type type) {
                const auto found = renamed.find(variable.name);
                return found == renamed.end() ? kernel::Expr() : kernel::variable(found->second, type);
            });
    }

    bool is_constant(const kernel::Expr& expr) const {
        const auto* variable = std::get_if<kernel::Variable>(&expr->kind);
        return variable != nullptr && known_.variables.count(variable->name) != 0;
    }

    // A helper's parameter that is the same constant in all calls goes, too.
    void take_from_helper(KernelFunction& helper) {
        std::vector<std::optional<std::string>> given(helper.parameters.size());
        std::vector<bool> is_same(helper.parameters.size(), true);
        for (const KernelFunction& function : program_.functions) {
            kernel::for_each_statement(function.body, [&](const kernel::Statement& statement) {
                const auto* call = std::get_if<kernel::CallFunction>(&statement.kind);
                if (call == nullptr || call->function != helper.name) return;
                for (std::size_t i = 0; i < given.size(); ++i) {
                    const bool fits = is_constant(call->arguments[i]);
                    const std::string name =
                        fits ? std::get<kernel::Variable>(call->arguments[i]->kind).name : "";
                    is_same[i] = is_same[i] && fits && (!given[i] || given[i] == name);
                    given[i] = name;
                }
            });
        }
        std::map<std::string, std::string> renamed;
        std::vector<Parameter> parameters;
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (given[i] && is_same[i]) {
                renamed[helper.parameters[i].name] = *given[i];
            } else {
                is_same[i] = false;
                parameters.push_back(helper.parameters[i]);
            }
        }
        helper.parameters = std::move(parameters);
        rename(helper, renamed);
        for (KernelFunction& function : program_.functions)
            function.body = without_arguments(function.body, helper.name, is_same);
    }

    static kernel::Block without_arguments(const kernel::Block& body, const std::string& helper,
                                           const std::vector<bool>& gone) {
        kernel::Block result;
        for (const kernel::Statement& each : body) {
            kernel::Statement kept = each;
            if (auto* call = std::get_if<kernel::CallFunction>(&kept.kind);
                call && call->function == helper) {
                std::size_t i = 0;
                std::erase_if(call->arguments, [&](const kernel::Expr&) { return gone[i++]; });
            }
            if (auto* loop = std::get_if<kernel::For>(&kept.kind))
                loop->body = without_arguments(loop->body, helper, gone);
            if (auto* lambda = std::get_if<kernel::DeclareLambda>(&kept.kind))
                lambda->body = without_arguments(lambda->body, helper, gone);
            if (auto* scope = std::get_if<kernel::Scope>(&kept.kind))
                scope->body = without_arguments(scope->body, helper, gone);
            if (auto* choice = std::get_if<kernel::If>(&kept.kind)) {
                choice->then = without_arguments(choice->then, helper, gone);
                choice->otherwise = without_arguments(choice->otherwise, helper, gone);
            }
            result.push_back(std::move(kept));
        }
        return result;
    }

    // Which blocks and threads there are; of a function that is launched in several ways, in all of them.
    void note_launch(const rt::KernelPlan& kernel, const KernelFunction& function) {
        static constexpr Builtin kThreads[] = {Builtin::thread_x, Builtin::thread_y, Builtin::thread_z};
        static constexpr Builtin kBlocks[] = {Builtin::block_x, Builtin::block_y, Builtin::block_z};
        std::map<Builtin, Interval>& known = launches_[function.name];
        const auto widen = [&](Builtin builtin, Interval now) {
            const auto [found, is_new] = known.try_emplace(builtin, now);
            if (is_new) return;
            found->second = {std::min(found->second.low, now.low), std::max(found->second.high, now.high)};
        };
        for (std::size_t axis = 0; axis < 3; ++axis) {
            widen(kThreads[axis], {0, kernel.threads[axis] - 1});
            const std::optional<std::int64_t> blocks = blocks_along(kernel, axis);
            constexpr std::int64_t kMost = std::int64_t{1} << 31;
            widen(kBlocks[axis], {0, blocks ? std::max<std::int64_t>(*blocks - 1, 0) : kMost});
            if (blocks && axis == 0) widen(Builtin::blocks_x, {*blocks, *blocks});
            if (blocks && axis == 1) widen(Builtin::blocks_y, {*blocks, *blocks});
            if (!blocks && axis == 0) widen(Builtin::blocks_x, {0, kMost});
            if (!blocks && axis == 1) widen(Builtin::blocks_y, {0, kMost});
        }
    }

    // nullopt where the grid does not tell.
    std::optional<std::int64_t> blocks_along(const rt::KernelPlan& kernel, std::size_t axis) const {
        using Kind = rt::Domain::Kind;
        if (kernel.blocks > 0) return axis == 0 ? kernel.blocks : 1;
        if (kernel.domain.kind != Kind::grid && !rt::is_halo(kernel.domain)) return std::nullopt;
        return rt::blocks_of(kernel, geometry_)[axis];
    }

    kernel::Known known_in(const KernelFunction& function) const {
        kernel::Known known = known_;
        const auto launches = launches_.find(function.name);
        if (launches != launches_.end()) known.builtins = launches->second;
        return known;
    }

    void keep_used() {
        std::set<std::string> used;
        for (const KernelFunction& function : program_.functions)
            used.merge(kernel::variables_in(function.body));
        for (const std::string& axis : plan_.axes)
            keep("n" + axis, used);
        keep("pitch", used);
        keep("slice", used);
        keep("volume", used);
    }
    void keep(const std::string& word, const std::set<std::string>& used) {
        const auto found = constants_.find(word);
        if (found != constants_.end() && used.count(found->second.name) != 0)
            program_.constants.push_back(found->second);
    }

    kernel::Program& program_;
    rt::LaunchPlan& plan_;
    const rt::Geometry& geometry_;
    std::vector<rt::KernelPlan*> kernels_;                         // that are for the grid alone
    std::vector<KernelFunction*> functions_;                       // of these
    std::map<std::string, kernel::NamedConstant> constants_;       // by word
    kernel::Known known_;                                          // the constants
    std::map<std::string, std::map<Builtin, Interval>> launches_;  // by function
};

void add_kernels(rt::TimeBlock& block, std::vector<rt::KernelPlan*>& kernels) {
    for (rt::KernelPlan& kernel : block.earlier)
        kernels.push_back(&kernel);
    kernels.push_back(&block.kernel);
}

rt::FixedGrid fixed_grid_of(const rt::Geometry& geometry) {
    return {geometry.extent, geometry.pitch, geometry.slice, geometry.volume};
}

}  // namespace

void fix_grid(Lowered& lowered, const rt::Extent& extent) {
    if (rt::has_coarse_grids(lowered.plan))
        throw UnsupportedError("code for one grid alone is not built yet where fields lie on several grids");
    const rt::Geometry geometry = rt::make_geometry(lowered.plan.rank, extent, lowered.plan.halo);
    std::vector<rt::KernelPlan*> kernels;
    for (rt::KernelPlan& kernel : lowered.plan.kernels)
        kernels.push_back(&kernel);
    if (lowered.plan.time_block) add_kernels(*lowered.plan.time_block, kernels);
    GridFixer(lowered, geometry, std::move(kernels)).run();
    lowered.plan.fixed_grid = fixed_grid_of(geometry);
    lowered.kernels.header.push_back(
        fmt::format("For a grid of {} cells alone.", rt::extent_text(lowered.plan.rank, extent)));
#ifdef HALO_VERIFY
    kernel::require_valid(lowered.kernels);
#endif
}

void fix_time_block(Lowered& lowered, const rt::Extent& extent) {
    std::optional<rt::TimeBlock>& block = lowered.plan.time_block;
    if (!block || block->of_pieces() != nullptr) return;
    const rt::Geometry geometry = rt::make_geometry(lowered.plan.rank, extent, lowered.plan.halo);
    std::vector<rt::KernelPlan*> kernels;
    add_kernels(*block, kernels);
    GridFixer(lowered, geometry, std::move(kernels)).run();
    block->fixed_grid = fixed_grid_of(geometry);
#ifdef HALO_VERIFY
    kernel::require_valid(lowered.kernels);
#endif
}

}  // namespace halo::lower
