#include "compiler/lower/shared/points.h"

#include <fmt/format.h>

#include "compiler/lower/shared/cell.h"
#include "runtime/core/points.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;
using rt::PointsPart;

constexpr int kPointThreads = 128;
constexpr int kBlockOfPoints = 256;  // of the CPU: cells or points of one block

constexpr PointsPart kCellIndex[] = {PointsPart::cell_x, PointsPart::cell_y, PointsPart::cell_z};
constexpr PointsPart kSampleIndex[] = {PointsPart::sample_x, PointsPart::sample_y, PointsPart::sample_z};
constexpr const char* kAxisWords[] = {"x", "y", "z"};

Expr number(const char* name) {
    return kernel::variable(name, Type::i32);
}

// The work for one touched cell, or for one point.
class PointWork {
public:
    PointWork(Context& context, bool on_cpu) : context_(context), stage_(context.stage()), on_cpu_(on_cpu) {}

    // The loop variable of the work, and its number of iterations.
    const char* counter() const { return stage_.inject != nullptr ? "cell" : "point"; }
    Expr count() {
        const auto which = stage_.inject != nullptr ? rt::PointsCount::touched : rt::PointsCount::points;
        return context_.point_count(points(), static_cast<int>(which));
    }

    Block make(Images* images) { return stage_.inject != nullptr ? inject(images) : sample(); }

private:
    ir::PointsId points() const {
        return stage_.inject != nullptr ? stage_.inject->points : stage_.sample->points;
    }
    const ir::Points& declared() const { return context_.program()[points()]; }

    Expr entry(PointsPart part, const char* word, Type type, const Expr& index) {
        return kernel::element(context_.point_array(points(), static_cast<int>(part), word, type), {index},
                               type);
    }

    // Declares the cell number `index` of a list: i, j, k, and its place.
    void declare_cell(const PointsPart (&parts)[3], const Expr& index, Block& body) {
        std::array<Expr, 3> at;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const char* name = Context::kIndexNames[axis];
            body.push_back(
                kernel::Declare{Type::i32, name, entry(parts[axis], kAxisWords[axis], Type::i32, index)});
            at[axis] = cell_[axis] = number(name);
        }
        at_ = declare_place(context_, at, body);
    }

    CellSources sources() {
        CellSources result = sources_at(context_, cell_, at_);
        result.coefs_as_parameters = on_cpu_;
        result.fast_functions = !on_cpu_;
        result.given = [this](ir::ExprId id) {
            const auto* column = std::get_if<ir::PointColumn>(&context_.program()[id].node);
            return column ? point_value(*column, kernel_type(context_.program()[id].type)) : Expr();
        };
        return result;
    }

    Expr point_value(const ir::PointColumn& column, Type type) {
        const ir::Points& set = declared();
        const auto columns = static_cast<int>(set.columns.size());
        const auto place = static_cast<std::size_t>(column.column);
        const std::string& name =
            column.column < columns ? set.columns[place] : set.traces[place - set.columns.size()].name;
        const int part = static_cast<int>(PointsPart::first_column) + column.column;
        const std::string array = context_.point_array(points(), part, name, Type::f64);
        return kernel::convert(kernel::element(array, {number("point")}, Type::f64), type);
    }

    // sum = sum + weight * value
    void add(PointsPart weights, ir::ExprId value, Block& body) {
        Expr made = lower_at_point(context_, sources(), value, body);
        const Type type = made.type();
        const bool is_short = std::holds_alternative<kernel::Variable>(made->kind) ||
                              std::holds_alternative<kernel::Element>(made->kind);
        if (!is_short) {
            body.push_back(kernel::Declare{type, "value", made});
            made = kernel::variable("value", type);
        }
        const Expr weight = kernel::convert(entry(weights, "weight", Type::f64, number("entry")), type);
        const Expr sum = kernel::variable("sum", type);
        body.push_back(kernel::Assign{sum, sum + weight * made});
    }

    kernel::Statement over_entries(PointsPart begin, Block body) {
        const Expr item = number(counter());
        return kernel::For{"entry",
                           entry(begin, "begin", Type::i32, item),
                           entry(begin, "begin", Type::i32, item + 1),
                           1,
                           kernel::Unroll::leave,
                           std::move(body)};
    }

    Block inject(Images* images) {
        const Level& level = stage_.writes.front().level;
        const ir::Field& field = stage_.field(level);
        Block body, each;
        context_.note(stage_.inject->where, body);
        declare_cell(kCellIndex, number("cell"), body);
        body.push_back(kernel::Declare{kernel_type(field.type), "sum",
                                       loaded(context_.element(level, at_), field), true});
        each.push_back(kernel::Declare{Type::i32, "point",
                                       entry(PointsPart::entry_point, "point", Type::i32, number("entry"))});
        add(PointsPart::entry_weight, stage_.inject->value, each);
        if (!reads_numbers()) each.erase(each.begin());
        body.push_back(over_entries(PointsPart::cell_begin, std::move(each)));
        const Expr sum = kernel::variable("sum", kernel_type(field.type));
        body.push_back(kernel::Assign{context_.element(level, at_), stored(sum, field)});
        if (images != nullptr) images->append(context_, cell_, {1, 1, 1}, {1, 1, 1}, body);
        return body;
    }

    bool reads_numbers() const {
        const std::vector<bool> reached = ir::reachable_exprs(context_.program(), {stage_.inject->value});
        for (std::size_t i = 0; i < reached.size(); ++i)
            if (reached[i] && std::holds_alternative<ir::PointColumn>(context_.program().exprs[i].node))
                return true;
        return false;
    }

    Block sample() {
        const ir::Sample& sample = *stage_.sample;
        const Type type = kernel_type(context_.program()[sample.value].type);
        Block body, each;
        context_.note(sample.where, body);
        body.push_back(kernel::Declare{type, "sum", kernel::real_literal(0, type), true});
        declare_cell(kSampleIndex, number("entry"), each);
        add(PointsPart::sample_weight, sample.value, each);
        body.push_back(over_entries(PointsPart::point_begin, std::move(each)));
        const ir::Points& set = declared();
        const auto trace = static_cast<std::size_t>(sample.trace);
        const int part =
            static_cast<int>(PointsPart::first_column) + static_cast<int>(set.columns.size()) + sample.trace;
        const std::string array =
            context_.point_array(points(), part, set.traces[trace].name, Type::f64, true);
        body.push_back(kernel::Assign{kernel::element(array, {number("point")}, Type::f64),
                                      kernel::convert(kernel::variable("sum", type), Type::f64)});
        return body;
    }

    Context& context_;
    const StageView& stage_;
    bool on_cpu_;
    std::array<Expr, 3> cell_;
    Expr at_;  // elements from cell (0, 0, 0) to the current cell
};

}  // namespace

bool is_at_points(const StageView& stage) {
    return stage.inject != nullptr || stage.sample != nullptr;
}

std::vector<std::string> point_roles() {
    return {"cell", "point", "entry", "sum", "value", "block", "begin", "end"};
}

StrategyResult lower_points_cuda(Context& context, Images& images) {
    StrategyResult result;
    result.tile[0] = kPointThreads;
    PointWork work(context, false);
    const Expr threads = named_constant(result.function, "kThreads", kPointThreads);
    Block& body = result.function.body;
    body.push_back(
        kernel::Declare{Type::i32, work.counter(),
                        kernel::builtin(Builtin::block_x) * threads + kernel::builtin(Builtin::thread_x)});
    body.push_back(kernel::If{number(work.counter()) >= work.count(), {kernel::Return{}}, {}});
    body.push_back(kernel::BlankLine{});
    append(body, work.make(&images));
    return result;
}

StrategyResult lower_points_cpu(Context& context) {
    StrategyResult result;
    result.tile[0] = kBlockOfPoints;
    PointWork work(context, true);
    const Expr first = number("block") * kBlockOfPoints, past = first + kBlockOfPoints, count = work.count();
    Block items{kernel::For{work.counter(), first, kernel::select(count < past, count, past), 1,
                            kernel::Unroll::leave, work.make(nullptr)}};
    result.function.body.push_back(
        kernel::For{"block", kernel::convert(kernel::variable("begin", Type::i64), Type::i32),
                    kernel::convert(kernel::variable("end", Type::i64), Type::i32), 1, kernel::Unroll::leave,
                    std::move(items)});
    return result;
}

rt::Domain point_domain(const StageView& stage) {
    rt::Domain domain;
    const bool injects = stage.inject != nullptr;
    domain.kind = injects ? rt::Domain::Kind::cells : rt::Domain::Kind::samples;
    domain.index = static_cast<int>(injects ? stage.inject->points.index : stage.sample->points.index);
    return domain;
}

std::string point_words(const StageView& stage) {
    const ir::Program& program = *stage.program;
    if (stage.inject != nullptr)
        return fmt::format("Adds what is injected at {} to {}: a thread for each cell that they touch.",
                           program[stage.inject->points].name, program[stage.inject->target].name);
    const ir::Points& points = program[stage.sample->points];
    return fmt::format("Samples {}.{}: a thread for each point.", points.name,
                       points.traces[static_cast<std::size_t>(stage.sample->trace)].name);
}

std::vector<rt::PointsPlan> point_plans(const ir::Program& program) {
    std::vector<rt::PointsPlan> plans;
    for (const ir::Points& points : program.points) {
        rt::PointsPlan plan;
        plan.name = points.name;
        plan.columns = points.columns;
        for (const ir::Points::Trace& trace : points.traces)
            plan.traces.push_back({trace.name, trace.sampled});
        plan.interpolation = points.interpolation == ir::Interpolation::sinc
                                 ? rt::PointsPlan::Interpolation::sinc
                                 : rt::PointsPlan::Interpolation::linear;
        plan.radius = points.radius;
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace halo::lower
