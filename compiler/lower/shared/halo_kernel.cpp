#include "compiler/lower/shared/halo_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/images.h"
#include "compiler/lower/shared/strategy.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using Shows = rt::ImageMap::Shows;

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

// The kernel for one axis of a field.
class AxisFill {
public:
    AxisFill(Context& context, const Level& level, int axis, const std::vector<int>& filled, Machine machine)
        : context_(context),
          level_(level),
          field_(context.program()[level.field]),
          axis_(axis),
          machine_(machine) {
        for (int other = 0; other < context_.rank(); ++other) {
            if (other == axis) continue;
            others_.push_back(other);
            if (std::find(filled.begin(), filled.end(), other) != filled.end())
                widths_[other] = field_.halo[other];
        }
    }

    void lower(kernel::KernelFunction& function, rt::KernelPlan& plan) {
        plan.domain.kind = rt::Domain::Kind::shell;
        plan.domain.ranges[axis_] = {{false, 0}, {false, 1}};
        for (const int other : others_)
            plan.domain.ranges[other] = {{false, -widths_[other][0]}, {true, widths_[other][1]}};
        Block line, cells;
        for (const int other : others_)
            index_[other] = kernel::variable(Context::kIndexNames[other], Type::i32);
        declare_edges(line);
        for (int side = 0; side < 2; ++side)
            for (int distance = 1; distance <= field_.halo[axis_][side]; ++distance)
                ghost(side, distance, cells);
        if (!reads_last_) line.pop_back();  // compilers warn of a name that nothing uses
        append(line, std::move(cells));
        if (machine_ == Machine::cuda) {
            run_by_threads(std::move(line), function, plan);
        } else {
            run_by_loops(std::move(line), function, plan);
        }
    }

private:
    // Declares the places of the line's first and last cells; the last statement is that of the last cell.
    void declare_edges(Block& line) {
        const Expr length = axis_ == 1   ? kernel::convert(extent() - 1, Type::i64) * context_.pitch()
                            : axis_ == 2 ? (extent() - 1) * context_.slice()
                                         : extent() - 1;
        const Expr start = context_.element_offset(index_[0], index_[1], index_[2]);
        edge_[0] = start.has_value() ? declare("first", start, line) : Expr(0);
        edge_[1] = declare("last", edge_[0] + length, line);
    }
    static Expr declare(const char* name, const Expr& value, Block& line) {
        line.push_back(kernel::Declare{value.type(), name, value});
        return kernel::variable(name, value.type());
    }

    Type type() const { return storage_type(field_.storage); }
    Expr fixed_value(ir::ExprId value) {
        return stored(context_.scalar(value, kernel_type(field_.type)), field_);
    }
    Expr extent() { return context_.extent(axis_); }

    Expr stride() {
        if (axis_ == 0) return 1;
        return axis_ == 1 ? context_.pitch() : context_.slice();
    }
    Expr cell(const Expr& offset) { return context_.element(level_, offset); }

    // The cell `number` inside the face (0 is the edge cell, -1 the first ghost).
    Expr inside(int side, int number) {
        reads_last_ = reads_last_ || side == 1;
        const int steps = side == 0 ? number : -number;
        return cell(axis_ == 0 ? edge_[side] + steps : shifted(edge_[side], steps, stride()));
    }
    Expr ghost_index(int side, int distance) {
        return side == 0 ? Expr(-distance) : extent() + (distance - 1);
    }
    // The cell `number` along the axis, counted from the first; it may be any number of cells past the last.
    Expr counted(const Expr& number) {
        const Expr step = axis_ == 1 ? kernel::convert(number, Type::i64) * stride() : number * stride();
        return cell(edge_[0] + step);
    }
    void store(int side, int distance, const Expr& value, Block& body) {
        body.push_back(kernel::Assign{inside(side, -distance), value});
    }

    void ghost(int side, int distance, Block& body) {
        const ir::Face& face = field_.boundary[axis_][side];
        const rt::ImageMap map = field_.image(axis_, side);
        switch (map.shows) {
            case Shows::cell: {
                if (map.wraps()) return period(side, distance, body);
                // Where the other face has a formula, Face::reach keeps a reflection within the domain.
                const bool may_leave =
                    map.reflects() && field_.image(axis_, 1 - side).shows != Shows::formula;
                if (may_leave) return mirror(side, distance, body);
                return store(side, distance, inside(side, map.inwards(distance)), body);
            }
            case Shows::value:
                return store(side, distance, fixed_value(face.value), body);
            case Shows::formula:
                return formula(side, distance, face.ghosts[static_cast<std::size_t>(distance - 1)], body);
            case Shows::nothing:
                return;
        }
    }

    void period(int side, int distance, Block& body) {
        if (distance == 1) return store(side, distance, inside(1 - side, 0), body);
        const Expr number = Expr(distance - 1) % extent();  // the halo may be wider than the grid
        store(side, distance, counted(side == 0 ? extent() - 1 - number : number), body);
    }

    // A reflection may pass the other face and be reflected again.
    void mirror(int side, int distance, Block& body) {
        const Expr source =
            kernel::call_helper(kernel::Helper::face_source,
                                {ghost_index(side, distance), extent(), face_constant(field_.image(axis_, 0)),
                                 face_constant(field_.image(axis_, 1))});
        Block scope;
        scope.push_back(kernel::Declare{Type::i32, "source", source});
        const Expr shown = kernel::variable("source", Type::i32);
        Block image, value;
        store(side, distance, counted(shown), image);
        const ir::Face& across = field_.boundary[axis_][1 - side];
        if (field_.image(axis_, 1 - side).shows_value())
            store(side, distance, fixed_value(across.value), value);
        scope.push_back(kernel::If{shown >= 0, std::move(image), std::move(value)});
        body.push_back(kernel::Scope{std::move(scope)});
    }

    void formula(int side, int distance, ir::ExprId root, Block& body) {
        CellSources sources;
        sources.coefs_as_parameters = machine_ == Machine::cpu;
        sources.index = index_;
        sources.index[axis_] = ghost_index(side, distance);
        sources.load = [&](const Level&, const ir::Offset& offset) {
            const int inward = side == 0 ? offset[axis_] : -offset[axis_];
            return loaded(inside(side, inward - distance), field_);
        };
        Block scope;
        const Expr value = lower_values(context_, sources, {root}, scope).front();
        const bool has_names = !scope.empty();
        store(side, distance, stored(value, field_), scope);
        if (has_names) {
            body.push_back(kernel::Scope{std::move(scope)});
        } else {
            append(body, std::move(scope));
        }
    }

    // ---- threads and blocks

    Expr past_end(int other) { return context_.extent(other) + widths_[other][1]; }

    void run_by_threads(Block line, kernel::KernelFunction& function, rt::KernelPlan& plan) {
        Expr outside;
        for (const int other : others_) {
            Expr number = kernel::block_index(other);
            if (other == others_.front()) {
                plan.threads[other] = plan.tile[other] = kThreads;
                number =
                    number * named_constant(function, "kThreads", kThreads) + kernel::thread_index(other);
                outside = index_[other] >= past_end(other);
            }
            function.body.push_back(
                kernel::Declare{Type::i32, Context::kIndexNames[other], number - widths_[other][0]});
        }
        function.threads = plan.threads[0] * plan.threads[1] * plan.threads[2];
        if (outside) function.body.push_back(kernel::If{outside, {kernel::Return{}}, {}});
        append(function.body, std::move(line));
    }

    // Blocks divide the slowest other axis; there is one where only the contiguous axis is left.
    void run_by_loops(Block line, kernel::KernelFunction& function, rt::KernelPlan& plan) {
        plan.tile.fill(kWholeAxis);
        Block body = std::move(line);
        for (const int other : others_) {
            const bool split = other == others_.back() && other > 0;
            Expr first = -widths_[other][0], last = past_end(other);
            if (split) {
                plan.tile[other] = 1;
                first = kernel::convert(kernel::variable("begin", Type::i64), Type::i32) - widths_[other][0];
                last = kernel::convert(kernel::variable("end", Type::i64), Type::i32) - widths_[other][0];
            }
            const auto unroll = other == 0 ? kernel::Unroll::vectorize : kernel::Unroll::leave;
            body = {kernel::For{Context::kIndexNames[other], first, last, 1, unroll, std::move(body)}};
        }
        function.body = std::move(body);
    }

    Context& context_;
    Level level_;
    const ir::Field& field_;
    int axis_;
    Machine machine_;
    std::vector<int> others_;                                // axes, the contiguous first
    std::array<std::array<int, 2>, ir::kMaxRank> widths_{};  // past their faces
    std::array<Expr, 3> index_;
    Expr edge_[2];  // elements from cell (0, 0, 0) to the line's first and last cell
    bool reads_last_ = false;
};

}  // namespace

void HaloKernels::make(const Level& level, int axis, const std::vector<int>& filled,
                       std::vector<rt::KernelPlan>& plans) {
    StageView stage;
    stage.program = &program_;
    stage.writes.push_back({level, nullptr});
    stage.factor = program_[level.field].grid.factor;
    std::vector<std::string> roles{"first", "last", "source"};
    if (machine_ == Machine::cpu) roles.insert(roles.end(), {"begin", "end"});
    Context context(stage, layout_, roles);
    const std::string& field = program_[level.field].name;
    const std::string& axis_name = program_.axes[axis].name;
    kernel::KernelFunction function;
    rt::KernelPlan plan;
    AxisFill(context, level, axis, filled, machine_).lower(function, plan);
    function.name = kernel_names_.take(fmt::format("{}_halo_{}_{}", program_.name, field, axis_name));
    function.comment = {fmt::format("Fills what lies past the faces of {} along {}.", field, axis_name)};
    const std::string note = layout_.notes ? layout_.notes(program_[level.field].where) : "";
    if (!note.empty()) function.comment.push_back(note);
    function.parameters = context.parameters();
    plan.name = function.name;
    plan.domain.factor = stage.factor;
    plan.arguments = context.arguments({});
    plan.fills_halo = rt::KernelPlan::Written{layout_.plan_field[level.field.index], level.time};
    plans.push_back(std::move(plan));
    kernels_.functions.push_back(std::move(function));
}

void HaloKernels::append(const Level& level, rt::Steps steps, rt::LaunchPlan& plan) {
    const ir::Field& field = program_[level.field];
    if (!layout_.halo_kernels[level.field.index]) return;
    auto made = made_.find(level);
    if (made == made_.end()) {
        std::vector<rt::KernelPlan> plans;
        std::vector<int> filled;
        for (const int axis : fill_order(program_, field)) {
            make(level, axis, filled, plans);
            filled.push_back(axis);
        }
        made = made_.emplace(level, std::move(plans)).first;
    }
    for (rt::KernelPlan kernel : made->second) {
        kernel.steps = steps;
        plan.kernels.push_back(std::move(kernel));
    }
}

void HaloKernels::append_before(const StageView& sweep, const StageView& unread, rt::LaunchPlan& plan) {
    for (const Read& read : sweep.reads)
        if (sweep.sweeps_level(read.level) && read.at_offsets())
            append(read.level, steps_writing(unread, read.level), plan);
}

void HaloKernels::append_inputs(rt::LaunchPlan& plan) {
    for (std::uint32_t f = 0; f < program_.fields.size(); ++f) {
        if (program_.fields[f].role == ir::Role::input && layout_.plan_field[f] >= 0)
            append({ir::FieldId{f}, 0}, rt::Steps::all, plan);
    }
}

}  // namespace halo::lower
