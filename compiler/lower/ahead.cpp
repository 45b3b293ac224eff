#include "compiler/lower/ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/ir/in_place.h"
#include "compiler/ir/rewrite.h"
#include "compiler/kernel/build.h"
#include "compiler/lower/shared/reduce.h"

namespace halo::lower {

namespace {

constexpr int kFirstValueThreads = 1024;

class AheadFinder {
public:
    explicit AheadFinder(const ir::Program& program)
        : program_(program), stages_(ir::form_stages(program)), walk_(program) {
        for (std::size_t i = 0; i < program.statements.size(); ++i)
            if (std::holds_alternative<ir::Reduce>(program.statements[i]))
                statement_of_.push_back(static_cast<int>(i));
    }

    std::optional<Ahead> find() {
        for (std::size_t s = 0; s < stages_.size(); ++s)
            if (std::optional<std::vector<Ahead::Carried>> all = all_of(s))
                carried_.insert(carried_.end(), all->begin(), all->end());
        // What a step finds for the next one is not found before the first step of a statement's own.
        const bool is_for_all_steps = std::ranges::all_of(
            stages_, [&](const ir::Stage& stage) { return ir::steps_of(program_, stage).is_all(); });
        if (carried_.empty() || !is_for_all_steps) return std::nullopt;
        return made();
    }

private:
    const ir::Reduce& reduce_of(ir::ReductionId id) const {
        return std::get<ir::Reduce>(program_.statements[static_cast<std::size_t>(statement_of_[id.index])]);
    }

    // A stage that only reduces, all of whose reductions can be found ahead.
    std::optional<std::vector<Ahead::Carried>> all_of(std::size_t stage) {
        std::vector<Ahead::Carried> all;
        for (const int statement : stages_[stage].statements) {
            const auto found = std::ranges::find(statement_of_, statement);
            if (found == statement_of_.end()) return std::nullopt;
            const ir::ReductionId id{static_cast<std::uint32_t>(found - statement_of_.begin())};
            const std::optional<std::size_t> by = found_by(id, stage);
            if (!by || !is_read_after_alone(id)) return std::nullopt;
            all.push_back({id, {}, stage, *by});
        }
        return all;
    }

    // The stage that computes the next level of all states which the reduction reads, each at the cell
    // itself.
    std::optional<std::size_t> found_by(ir::ReductionId id, std::size_t stage) {
        const ir::Reduce& reduce = reduce_of(id);
        const bool is_plain = reduce.op != ir::ReduceOp::sum && !reduce.square_root && !reduce.condition &&
                              reduce.repeats.empty() && reduce.region.is_whole() &&
                              reduce.margins == ir::Margins{};
        if (!is_plain) return std::nullopt;
        std::set<std::uint32_t> read;
        for (const std::uint32_t e : walk_.from({reduce.value})) {
            const auto& node = program_.exprs[e].node;
            if (const auto* access = std::get_if<ir::Access>(&node)) {
                if (access->time != 0 || !access->is_at_cell() ||
                    program_[access->field].role != ir::Role::state)
                    return std::nullopt;
                read.insert(access->field.index);
                continue;
            }
            const auto* coordinate = std::get_if<ir::Coordinate>(&node);
            const bool is_known =
                std::holds_alternative<ir::Constant>(node) || std::holds_alternative<ir::ParamRef>(node) ||
                std::holds_alternative<ir::Unary>(node) || std::holds_alternative<ir::Binary>(node) ||
                std::holds_alternative<ir::Fma>(node) || std::holds_alternative<ir::Select>(node) ||
                std::holds_alternative<ir::Call>(node) ||
                (coordinate != nullptr && coordinate->kind != ir::CoordinateKind::step);
            if (!is_known) return std::nullopt;
        }
        std::set<std::size_t> by;
        for (const std::uint32_t field : read) {
            const std::optional<std::size_t> writer = only_writer(ir::FieldId{field});
            if (!writer || *writer <= stage) return std::nullopt;
            by.insert(*writer);
        }
        if (by.size() != 1) return std::nullopt;
        return *by.begin();
    }

    // The stage of the one statement that writes the state, if it writes all cells.
    std::optional<std::size_t> only_writer(ir::FieldId field) const {
        std::optional<std::size_t> stage;
        for (std::size_t s = 0; s < stages_.size(); ++s)
            for (const int statement : stages_[s].statements) {
                const ir::Statement& each = program_.statements[static_cast<std::size_t>(statement)];
                if (const auto* inject = std::get_if<ir::Inject>(&each); inject && inject->target == field)
                    return std::nullopt;
                const auto* assign = std::get_if<ir::Assign>(&each);
                if (assign == nullptr || assign->target != field) continue;
                if (stage || assign->time != 1 || assign->sweep || !assign->repeats.empty() ||
                    ir::is_partial(*assign))
                    return std::nullopt;
                stage = s;
            }
        return stage;
    }

    // Whether only statements after it read it, and no face: those before have its value of the step before.
    bool is_read_after_alone(ir::ReductionId id) {
        const auto reads = [&](const std::vector<ir::ExprId>& roots) {
            return std::ranges::any_of(walk_.from(roots), [&](std::uint32_t e) {
                const auto* read = std::get_if<ir::ReductionRef>(&program_.exprs[e].node);
                return read != nullptr && read->reduction == id;
            });
        };
        bool is_read = false;
        for (std::size_t i = 0; i < program_.statements.size(); ++i) {
            if (!reads(ir::roots_of(program_.statements[i]))) continue;
            if (static_cast<int>(i) <= statement_of_[id.index]) return false;
            is_read = true;
        }
        for (const ir::Field& field : program_.fields)
            for (const auto& faces : field.boundary)
                for (const ir::Face& face : faces)
                    if ((face.kind == ir::BoundaryKind::fixed && reads({face.value})) || reads(face.ghosts))
                        return false;
        return is_read;
    }

    Ahead made() {
        Ahead result{program_, stages_, carried_};
        std::set<std::string> names;
        for (const ir::Field& field : program_.fields)
            names.insert(field.name);
        for (const ir::Param& param : program_.params)
            names.insert(param.name);
        for (std::uint32_t r = 0; r < statement_of_.size(); ++r)
            names.insert(reduce_of({r}).name);
        auto next = static_cast<std::uint32_t>(statement_of_.size());
        for (Ahead::Carried& each : result.carried) {
            each.ahead = {next++};
            ir::Reduce ahead = reduce_of(each.own);
            ir::Statement moved(ahead);
            for (const ir::Field& field : program_.fields) {
                const ir::FieldId id{static_cast<std::uint32_t>(&field - program_.fields.data())};
                ir::ExprBuilder builder(result.program);
                ir::replace_reads(result.program, builder, moved, id, 0, [&](const ir::Access& access) {
                    return builder.access(access.field, 1, access.offset);
                });
            }
            ahead = std::get<ir::Reduce>(moved);
            ahead.name += "_ahead";
            while (!names.insert(ahead.name).second)
                ahead.name += "_";
            result.stages[each.found_by].statements.push_back(
                static_cast<int>(result.program.statements.size()));
            result.program.statements.emplace_back(ahead);
        }
        for (ir::Expr& expr : result.program.exprs)
            if (auto* read = std::get_if<ir::ReductionRef>(&expr.node))
                for (const Ahead::Carried& each : result.carried)
                    if (read->reduction == each.own) {
                        read->reduction = each.ahead;
                        break;
                    }
        return result;
    }

    const ir::Program& program_;
    std::vector<ir::Stage> stages_;
    ir::ReachWalk walk_;
    std::vector<int> statement_of_;  // by ReductionId
    std::vector<Ahead::Carried> carried_;
};

}  // namespace

std::optional<Ahead> find_ahead(const ir::Program& program) {
    if (program.window.is_part() || !program.repeat_ends.empty()) return std::nullopt;
    return AheadFinder(program).find();
}

void add_first_value(const Ahead& ahead, const Ahead::Carried& carried, Names& kernel_names,
                     kernel::Program& kernels, rt::LaunchPlan& plan) {
    using kernel::Expr;
    using kernel::Type;
    const auto own = static_cast<int>(carried.own.index), next = static_cast<int>(carried.ahead.index);
    const rt::ReductionPlan& reduction = plan.reductions[carried.own.index];
    const std::string& next_name = plan.reductions[carried.ahead.index].name;
    const ir::ReduceOp op =
        reduction.op == rt::ReductionPlan::Op::min ? ir::ReduceOp::min : ir::ReduceOp::max;
    const std::string partials = reduction.name + "_partials", count = "n_" + reduction.name;
    const std::string next_partials = next_name + "_partials", next_count = "n_" + next_name;
    const Expr part = kernel::variable("part", Type::i32);
    kernel::KernelFunction function;
    function.name = kernel_names.take(fmt::format("{}_first_{}", ahead.program.name, reduction.name));
    function.comment = {
        fmt::format("Stores {} of the first step as if the step before had found it.", reduction.name)};
    function.threads = kFirstValueThreads;
    function.parameters = {{Type::f64, partials, kernel::Parameter::Kind::input},
                           {Type::i32, count},
                           {Type::f64, next_partials, kernel::Parameter::Kind::output},
                           {Type::i32, next_count}};
    const std::string of_thread = reduction.name + "_of_thread", value = reduction.name + "_of_block";
    const Expr of_threads =
        combine_partials(op, {partials, kernel::variable(count, Type::i32), kFirstValueThreads}, of_thread,
                         "part", function.body);
    // block_max() gives the block's value to its first warp alone.
    kernel::DeclareArray shared;
    shared.type = Type::f64;
    shared.name = value;
    shared.dims = {kernel::int_literal(1)};
    shared.memory = kernel::Memory::shared;
    function.body.push_back(shared);
    const Expr found = kernel::variable("found", Type::f64);
    function.body.push_back(kernel::Declare{Type::f64, "found", of_threads});
    const Expr of_block = kernel::element(value, {kernel::int_literal(0)}, Type::f64);
    function.body.push_back(kernel::If{kernel::builtin(kernel::Builtin::thread_x) == kernel::int_literal(0),
                                       {kernel::Assign{of_block, found}},
                                       {}});
    function.body.push_back(kernel::Barrier{});
    kernel::For store;
    store.var = "part";
    store.begin = kernel::builtin(kernel::Builtin::thread_x);
    store.end = kernel::variable(next_count, Type::i32);
    store.step = kFirstValueThreads;
    store.body.push_back(kernel::Assign{kernel::element(next_partials, {part}, Type::f64), of_block});
    function.body.push_back(std::move(store));

    rt::KernelPlan kernel;
    kernel.name = function.name;
    kernel.steps = rt::Steps::first;
    kernel.threads = kernel.tile = {kFirstValueThreads, 1, 1};
    kernel.blocks = 1;
    for (const auto& [kind, index] : {std::pair{rt::Argument::Kind::partials, own},
                                      {rt::Argument::Kind::partial_count, own},
                                      {rt::Argument::Kind::partials, next},
                                      {rt::Argument::Kind::partial_count, next}}) {
        rt::Argument argument;
        argument.kind = kind;
        argument.index = index;
        kernel.arguments.push_back(std::move(argument));
    }
    plan.kernels.push_back(std::move(kernel));
    kernels.functions.push_back(std::move(function));
}

}  // namespace halo::lower
