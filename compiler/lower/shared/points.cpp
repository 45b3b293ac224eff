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

// A thread by itself waits for the memory at each cell of its point. With so many cells and more, the threads
// of a block share those of one point.
constexpr int kLeastShared = 32;
constexpr int kTerms = 4 * kPointThreads;  // of a sum that a block has in shared memory at once
constexpr int kTermsUnrolled = 16;         // of the loop that adds them
constexpr int kBlockOfPoints = 256;        // of the CPU: cells or points of one block

constexpr PointsPart kCellIndex[] = {PointsPart::cell_x, PointsPart::cell_y, PointsPart::cell_z};
constexpr PointsPart kSampleIndex[] = {PointsPart::sample_x, PointsPart::sample_y, PointsPart::sample_z};
constexpr const char* kAxisWords[] = {"x", "y", "z"};

// Whether a block of a GPU samples one point, and not one for each of its threads.
bool shares_point(const StageView& stage) {
    if (stage.sample == nullptr) return false;
    const ir::Points& points = (*stage.program)[stage.sample->points];
    const int along = points.interpolation == ir::Interpolation::sinc ? 2 * points.radius : 2;
    int cells = 1;
    for (int axis = 0; axis < stage.rank(); ++axis)
        cells *= along;
    return cells >= kLeastShared;
}

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

    // Samples one point by the threads of a block: they compute the terms of the sum, and one of them adds
    // these in the order in which a thread by itself does, so that the sum has the same bits.
    Block sample_by_block(const Expr& threads, const Expr& terms) {
        const ir::Sample& sample = *stage_.sample;
        const Type type = kernel_type(context_.program()[sample.value].type);
        const Expr point = number("point"), first = number("first"), end = number("end");
        const Expr place = number("place"), count = number("count");
        const Expr thread = kernel::builtin(Builtin::thread_x);
        const Expr sum = kernel::variable("sum", type);
        const Expr term_at_place = kernel::element("terms", {place}, type);

        Block compute{kernel::Declare{Type::i32, "entry", first + place}};
        declare_cell(kSampleIndex, number("entry"), compute);
        const Expr made = term(PointsPart::sample_weight, sample.value, compute);
        compute.push_back(kernel::Assign{term_at_place, made});
        Block add{kernel::For{"place",
                              0,
                              count,
                              1,
                              kernel::Unroll::some,
                              {kernel::Assign{sum, sum + term_at_place}},
                              Type::i32,
                              kTermsUnrolled}};
        Block chunk{
            kernel::Declare{Type::i32, "count", kernel::select(end - first < terms, end - first, terms)},
            kernel::For{"place", thread, count, threads, kernel::Unroll::leave, std::move(compute)},
            kernel::Barrier{}, kernel::If{thread == 0, std::move(add), {}}, kernel::Barrier{}};

        Block body;
        context_.note(sample.where, body);
        body.push_back(kernel::DeclareArray{type, "terms", {terms}, kernel::Memory::shared});
        body.push_back(
            kernel::Declare{Type::i32, "end", entry(PointsPart::point_begin, "begin", Type::i32, point + 1)});
        body.push_back(kernel::Declare{type, "sum", kernel::real_literal(0, type), true});
        body.push_back(kernel::For{"first", entry(PointsPart::point_begin, "begin", Type::i32, point), end,
                                   terms, kernel::Unroll::leave, std::move(chunk)});
        body.push_back(kernel::If{thread == 0, {store_sample(sum)}, {}});
        return body;
    }

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
        CellIndex at;
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

    // weight * value, of the entry at hand
    Expr term(PointsPart weights, ir::ExprId value, Block& body) {
        Expr made = lower_at_point(context_, sources(), value, body);
        const Type type = made.type();
        const bool is_short = std::holds_alternative<kernel::Variable>(made->kind) ||
                              std::holds_alternative<kernel::Element>(made->kind);
        if (!is_short) {
            body.push_back(kernel::Declare{type, "value", made});
            made = kernel::variable("value", type);
        }
        return kernel::convert(entry(weights, "weight", Type::f64, number("entry")), type) * made;
    }

    // sum = sum + weight * value
    void add(PointsPart weights, ir::ExprId value, Block& body) {
        const Expr made = term(weights, value, body);
        const Expr sum = kernel::variable("sum", made.type());
        body.push_back(kernel::Assign{sum, sum + made});
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
        body.push_back(store_sample(kernel::variable("sum", type)));
        return body;
    }

    kernel::Statement store_sample(const Expr& sum) {
        const ir::Points& set = declared();
        const int trace = stage_.sample->trace;
        const int part =
            static_cast<int>(PointsPart::first_column) + static_cast<int>(set.columns.size()) + trace;
        const std::string array = context_.point_array(
            points(), part, set.traces[static_cast<std::size_t>(trace)].name, Type::f64, true);
        return kernel::Assign{kernel::element(array, {number("point")}, Type::f64),
                              kernel::convert(sum, Type::f64)};
    }

    Context& context_;
    const StageView& stage_;
    bool on_cpu_;
    CellIndex cell_;
    Expr at_;  // elements from cell (0, 0, 0) to the current cell
};

}  // namespace

bool is_at_points(const StageView& stage) {
    return stage.inject != nullptr || stage.sample != nullptr;
}

std::vector<std::string> point_roles() {
    return {"cell",  "point", "entry", "sum",   "value", "block",
            "begin", "end",   "first", "place", "count", "terms"};
}

StrategyResult lower_points_cuda(Context& context, Images& images) {
    StrategyResult result;
    PointWork work(context, false);
    const Expr threads = named_constant(result.function, "kThreads", kPointThreads);
    Block& body = result.function.body;
    if (shares_point(context.stage())) {
        result.tile[0] = 1;
        const Expr terms = named_constant(result.function, "kTerms", kTerms);
        body.push_back(kernel::Declare{Type::i32, work.counter(), kernel::builtin(Builtin::block_x)});
        append(body, work.sample_by_block(threads, terms));
        return result;
    }
    result.tile[0] = kPointThreads;
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
    return fmt::format("Samples {}.{}: a {} for each point.", points.name,
                       points.traces[static_cast<std::size_t>(stage.sample->trace)].name,
                       shares_point(stage) ? "block" : "thread");
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
