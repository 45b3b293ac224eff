#include "compiler/lower/shared/halo_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/kernel/walk.h"
#include "compiler/lower/shared/axis_fill.h"
#include "compiler/lower/shared/storage.h"
#include "compiler/lower/shared/strategy.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

constexpr int kThreads = 128;

// The order in which a field's axes are filled, without axes past whose faces nothing is read.
std::vector<int> fill_order(const ir::Program& program, const ir::Field& field) {
    std::vector<int> order;
    const auto take = [&](int axis, bool periodic) {
        const bool is_periodic = field.image(axis, 0).wraps();
        const bool is_read = field.halo[axis][0] > 0 || field.halo[axis][1] > 0;
        if (is_read && is_periodic == periodic) order.push_back(axis);
    };
    for (int axis = program.rank() - 1; axis >= 0; --axis)
        take(axis, false);
    for (int axis = program.rank() - 1; axis >= 0; --axis)
        take(axis, true);
    return order;
}

// ---- one axis

void run_by_threads(AxisFill& fill, kernel::KernelFunction& function, rt::KernelPlan& plan) {
    Expr outside;
    const auto cells_across = [&](int other) { return fill.past_end(other) - fill.first_cell(other); };
    for (const int other : fill.others()) {
        // Blocks along z count the planes of all volumes.
        const bool has_planes = fill.axis() != 2;
        Expr number = kernel::block_index(std::min(other, 2));
        if (other == 2 && fill.others().back() == 3) number = number % cells_across(2);
        if (other == 3 && has_planes) number = number / cells_across(2);
        if (other == fill.others().front()) {
            plan.threads[other] = plan.tile[other] = kThreads;
            number = number * named_constant(function, "kThreads", kThreads) + kernel::thread_index(other);
            outside = kernel::variable(Context::kIndexNames[other], Type::i32) >= fill.past_end(other);
        }
        function.body.push_back(
            kernel::Declare{Type::i32, Context::kIndexNames[other], number + fill.first_cell(other)});
    }
    function.threads = plan.threads[0] * plan.threads[1] * plan.threads[2];
    if (outside) function.body.push_back(kernel::If{outside, {kernel::Return{}}, {}});
    append(function.body, fill.line());
}

// Blocks divide the slowest other axis; there is one where only the contiguous axis is left.
void run_by_loops(AxisFill& fill, kernel::KernelFunction& function, rt::KernelPlan& plan) {
    plan.tile = {kWholeAxis, kWholeAxis, kWholeAxis};
    Block body = fill.line();
    const Expr begin = kernel::convert(kernel::variable("begin", Type::i64), Type::i32);
    const Expr end = kernel::convert(kernel::variable("end", Type::i64), Type::i32);
    for (const int other : fill.others()) {
        const bool split = other == fill.others().back() && other > 0;
        Expr first = fill.first_cell(other), last = fill.past_end(other);
        if (split) {
            if (other < 3) plan.tile[other] = 1;
            first = begin + fill.first_cell(other);
            last = end + fill.first_cell(other);
        }
        const auto unroll = other == 0 ? kernel::Unroll::vectorize : kernel::Unroll::leave;
        body = {kernel::For{Context::kIndexNames[other], first, last, 1, unroll, std::move(body)}};
    }
    function.body = std::move(body);
}

void lower_axis(AxisFill fill, Machine machine, kernel::KernelFunction& function, rt::KernelPlan& plan) {
    plan.domain.kind = rt::Domain::Kind::shell;
    plan.domain.ranges[fill.axis()] = {{false, 0}, {false, 1}};
    for (const int other : fill.others())
        plan.domain.ranges[other] = {{false, fill.first_cell(other)}, {true, fill.width_past(other)}};
    if (machine == Machine::cuda) {
        run_by_threads(fill, function, plan);
    } else {
        run_by_loops(fill, function, plan);
    }
}

// ---- all axes

constexpr const char* kAcross = "across";
constexpr const char* kInside = "inside";

std::string past(const ir::Program& program, int axis) {
    return "past_" + program.axes[axis].name;
}

std::set<std::string> called_functions(const Block& body) {
    std::set<std::string> names;
    kernel::for_each_expr(body, [&](const Expr& expr) {
        if (const auto* call = std::get_if<kernel::CallLambda>(&expr->kind)) names.insert(call->lambda);
    });
    return names;
}

// The functions of those that `body` calls, and of those that these call.
Block called(std::vector<kernel::DeclareLambda> functions, const Block& body) {
    std::set<std::string> names = called_functions(body);
    Block kept;
    for (std::size_t at = functions.size(); at-- > 0;) {
        if (names.count(functions[at].name) == 0) continue;
        kept.insert(kept.begin(), kernel::Statement(std::move(functions[at])));
        names.merge(called_functions({kept.front()}));
    }
    return kept;
}

// Threads of an axis of their own fill the ghosts past each axis' faces. A line past other faces finds what
// these show from cells inside, as nothing tells when other threads have stored it.
class AllAxes {
public:
    AllAxes(Context& context, const Level& level, const std::vector<int>& order)
        : context_(context), level_(level), order_(order) {}

    // False where that takes more than expressions.
    bool lower(kernel::KernelFunction& function, rt::KernelPlan& plan) {
        std::vector<kernel::DeclareLambda> functions{inside()};
        std::vector<Block> lines;  // by place in the order
        std::vector<int> filled;
        for (const int axis : order_) {
            AxisFill fill(context_, level_, axis, filled, Machine::cuda);
            if (!filled.empty()) fill.read_by(functions.back().name);
            lines.push_back(line(fill));
            filled.push_back(axis);
            if (filled.size() == order_.size()) break;
            fill.read_by(functions.back().name);
            std::optional<kernel::DeclareLambda> made = fill.function(past(context_.program(), axis));
            if (!made) return false;
            functions.push_back(std::move(*made));
        }
        Block choice = std::move(lines.back());
        for (std::size_t at = lines.size() - 1; at-- > 0;)
            choice = {kernel::If{kernel::block_index(context_.rank() - 1) == Expr(static_cast<int>(at)),
                                 std::move(lines[at]), std::move(choice)}};
        declare_threads(function, plan);
        Block used = called(std::move(functions), choice);
        if (!used.empty())
            function.body.push_back(
                kernel::Comment{"The value of a cell, found from cells inside: each of these functions knows "
                                "what lies past one axis' faces more."});
        append(function.body, std::move(used));
        append(function.body, std::move(choice));
        return true;
    }

private:
    void declare_threads(kernel::KernelFunction& function, rt::KernelPlan& plan) {
        const ir::Field& field = context_.program()[level_.field];
        plan.domain.kind = rt::Domain::Kind::faces;
        plan.domain.index = static_cast<int>(order_.size());
        for (const int axis : order_)
            plan.domain.ranges[axis] = {{false, -field.halo[axis][0]}, {true, field.halo[axis][1]}};
        function.threads = plan.threads[0] = plan.tile[0] = kThreads;
        function.body.push_back(
            kernel::Declare{Type::i32, kAcross,
                            kernel::block_index(0) * named_constant(function, "kThreads", kThreads) +
                                kernel::thread_index(0)});
    }

    kernel::DeclareLambda inside() {
        const ir::Field& field = context_.program()[level_.field];
        kernel::DeclareLambda made{kInside, {}, {}, {}};
        CellIndex at;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            made.parameters.push_back({Context::kIndexNames[axis]});
            at[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
        }
        made.value = loaded(context_.element(level_, context_.element_offset(at)), field);
        return made;
    }

    // What a thread does for its line along an axis.
    Block line(AxisFill& fill) {
        Block body{kernel::Comment{fmt::format("Along {}.", context_.program().axes[fill.axis()].name)}};
        Expr outside;
        for (const int other : fill.others()) {
            const bool is_first = other == fill.others().front();
            const Expr number = is_first ? kernel::variable(kAcross, Type::i32) : kernel::block_index(1);
            body.push_back(
                kernel::Declare{Type::i32, Context::kIndexNames[other], number + fill.first_cell(other)});
            outside =
                outside || kernel::variable(Context::kIndexNames[other], Type::i32) >= fill.past_end(other);
        }
        body.push_back(kernel::If{outside, {kernel::Return{}}, {}});
        append(body, fill.line());
        return body;
    }

    Context& context_;
    Level level_;
    std::vector<int> order_;
};

}  // namespace

bool HaloKernels::make(const Level& level, const std::vector<int>& axes, const std::vector<int>& filled,
                       std::vector<rt::KernelPlan>& plans) {
    StageView stage;
    stage.program = &program_;
    stage.writes.push_back({level, nullptr});
    stage.factor = program_[level.field].grid.factor;
    std::vector<std::string> roles{"first", "last", "source"};
    if (machine_ == Machine::cpu) roles.insert(roles.end(), kCpuCallNames.begin(), kCpuCallNames.end());
    if (axes.size() > 1) roles.insert(roles.end(), {kAcross, kInside});
    for (std::size_t at = 0; at + 1 < axes.size(); ++at)
        roles.push_back(past(program_, axes[at]));
    Context context(stage, layout_, roles);
    const std::string& field = program_[level.field].name;
    std::string name = fmt::format("{}_halo_{}", program_.name, field);
    kernel::KernelFunction function;
    rt::KernelPlan plan;
    if (axes.size() > 1) {
        if (!AllAxes(context, level, axes).lower(function, plan)) return false;
        function.comment = {
            fmt::format("Fills what lies past the faces of {} along all axes in one launch: what lies past "
                        "several faces is found from cells inside, and no axis waits for another.",
                        field)};
    } else {
        const std::string& axis = program_.axes[axes.front()].name;
        lower_axis(AxisFill(context, level, axes.front(), filled, machine_), machine_, function, plan);
        function.comment = {fmt::format("Fills what lies past the faces of {} along {}.", field, axis)};
        name += "_" + axis;
    }
    function.name = kernel_names_.take(name);
    const std::string note = layout_.notes ? layout_.notes(program_[level.field].where) : "";
    if (!note.empty()) function.comment.push_back(note);
    function.parameters = context.parameters();
    plan.name = function.name;
    plan.domain.factor = stage.factor;
    plan.arguments = context.arguments({});
    plan.fills_halo = rt::KernelPlan::Written{layout_.plan_field[level.field.index], level.time};
    plans.push_back(std::move(plan));
    kernels_.functions.push_back(std::move(function));
    return true;
}

const std::vector<rt::KernelPlan>& HaloKernels::kernels_of(const Level& level) {
    const auto made = made_.find(level);
    if (made != made_.end()) return made->second;
    std::vector<rt::KernelPlan> plans;
    const std::vector<int> order = fill_order(program_, program_[level.field]);
    std::vector<int> filled;
    // On a CPU the lines of an axis are loops, which would ask in each turn where they are.
    const bool at_once = machine_ == Machine::cuda && program_.rank() <= 3 && order.size() > 1 &&
                         make(level, order, {}, plans);
    for (std::size_t at = 0; !at_once && at < order.size(); ++at) {
        make(level, {order[at]}, filled, plans);
        filled.push_back(order[at]);
    }
    return made_.emplace(level, std::move(plans)).first->second;
}

void HaloKernels::append(const Level& level, rt::Steps steps, const rt::StepRange& within,
                         rt::LaunchPlan& plan) {
    if (!layout_.halo_kernels[level.field.index]) return;
    for (rt::KernelPlan kernel : kernels_of(level)) {
        kernel.steps = steps;
        kernel.within = within;
        plan.kernels.push_back(std::move(kernel));
    }
}

void HaloKernels::append_before(const StageView& sweep, const StageView& unread, rt::LaunchPlan& plan) {
    for (const Read& read : sweep.reads)
        if (sweep.sweeps_level(read.level) && read.at_offsets())
            append(read.level, steps_writing(unread, read.level), sweep.within, plan);
}

void HaloKernels::append_inputs(rt::LaunchPlan& plan) {
    for (std::uint32_t f = 0; f < program_.fields.size(); ++f) {
        if (program_.fields[f].role == ir::Role::input && layout_.plan_field[f] >= 0)
            append({ir::FieldId{f}, 0}, rt::Steps::all, {}, plan);
    }
}

void HaloKernels::append_states(rt::LaunchPlan& plan) {
    for (std::uint32_t f = 0; f < program_.fields.size(); ++f) {
        const ir::Field& field = program_.fields[f];
        if (field.role != ir::Role::state || layout_.halo_kernels[f] || layout_.plan_field[f] < 0 ||
            !ir::has_formula(field))
            continue;
        for (rt::KernelPlan kernel : kernels_of({ir::FieldId{f}, 0})) {
            kernel.fills_after_uploads = true;
            plan.kernels.push_back(std::move(kernel));
        }
    }
}

}  // namespace halo::lower
