// A sweep in parts: the threads of a block along the axis have a few cells each of a stretch of the line, one
// stretch after the other. A statement's new value is a function of the value before (ir::Recurrence), which
// each thread composes over its cells. A thread for each line then carries the value from part to part, and
// with what comes to it each thread computes its cells. Along the first axis these are loaded and stored as
// one vector.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compiler/ir/analysis.h"
#include "compiler/ir/recurrences.h"
#include "compiler/lower/direct/direct.h"
#include "compiler/lower/direct/part_function.h"
#include "compiler/lower/shared/register_array.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

class Parts {
public:
    Parts(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          schedule_(schedule),
          images_(images),
          sweep_(*context.stage().in_place->sweep),
          along_(sweep_.axis),
          across_(along_ == 0 ? 1 : 0),
          threads_(schedule.threads[along_]),
          lines_(context.rank() == 1 ? 1 : schedule.threads[across_]),
          cells_(schedule.cells[along_]),
          has_vectors_(along_ == 0 && cells_ > 1 &&
                       context.stage().in_place->region.ranges[0] == ir::Region::Range{}) {
        before_[along_] = sweep_.upwards ? -1 : 1;
        for (int axis = 0; axis < context.rank(); ++axis)
            bounds_.push_back(region_bounds(context, context.stage().in_place->region, axis));
    }

    StrategyResult lower() {
        CellIndex begin{0, 0, 0};
        for (int axis = 0; axis < context_.rank(); ++axis) {
            result_.tile[axis] = axis == along_ ? kWholeAxis : schedule_.threads[axis];
            begin[axis] = bounds_[axis].begin;
        }
        part_count_ = named_constant(result_.function, "kParts", threads_, "of a stretch of the line");
        cell_count_ = named_constant(result_.function, "kPartCells", cells_);
        cell_ = declare_first_cell(context_, schedule_, {1, 1, 1}, result_.function, begin, along_);
        for (int axis = 0; axis < context_.rank(); ++axis)
            if (axis != along_) has_line_ = has_line_ && cell_[axis] < bounds_[axis].end;
        declare_walker();
        for (const ir::Assign* statement : context_.stage().swept)
            declare_level(*statement);
        body().push_back(kernel::BlankLine{});

        const Expr stretch = part_count_ * cell_count_;
        kernel::For stretches{local("done"), 0, length(), stretch, kernel::Unroll::none, {}};
        declare_fetch();
        declare_part(variable("done"), stretches.body);
        take_fetched(stretch, stretches.body);
        for (const ir::Assign* statement : context_.stage().swept)
            add(*statement, stretches.body);
        store(stretches.body);
        body().push_back(std::move(stretches));
        return std::move(result_);
    }

private:
    // What the threads keep of a level that the sweep writes.
    struct Swept {
        std::string name;  // of the level, for names made of it
        Type type = Type::f64;
        RegisterArray cells;  // the thread's, new
        Expr carried;         // at the cell before the stretch; of the thread that goes along the line
        Expr before;          // in loops over the thread's cells: at the cell before
        // Each part's function, in shared memory. Of quotients it is in f64: products of divisors may be past
        // what f32 can hold.
        std::vector<std::string> map;
        Type map_type = Type::f64;
    };

    // The thread's cells of a level that memory has: of the stretch, and of the next.
    struct Loaded {
        RegisterArray fetched, here;
    };

    Block& body() { return result_.function.body; }
    std::string local(const std::string& wanted) const { return context_.local(wanted); }
    Expr variable(const std::string& wanted) const { return kernel::variable(local(wanted), Type::i32); }
    Expr length() const { return bounds_[along_].end - bounds_[along_].begin; }
    static Expr real(double value, Type type) { return kernel::real_literal(value, type); }
    Level level_of(const ir::Assign& statement) const { return {statement.target, statement.time}; }
    // ---- before the first stretch

    // The thread that goes along a line, from part to part. Those of neighbouring lines are of one warp.
    void declare_walker() {
        walker_line_ = thread_along(schedule_, across_);
        is_walker_ = thread_along(schedule_, along_) == 0;
        walker_cell_ = cell_;
        if (along_ != 0 || lines_ == 1) return;
        body().push_back(
            kernel::Declare{Type::i32, local("walked"),
                            kernel::thread_index(across_) * part_count_ + kernel::thread_index(along_)});
        walker_line_ = variable("walked");
        is_walker_ = walker_line_ < kernel::variable("kThreadsY", Type::i32);
        walker_cell_[across_] = cell_[across_] - kernel::thread_index(across_) + walker_line_;
    }

    void declare_level(const ir::Assign& statement) {
        const Level level = level_of(statement);
        Swept swept;
        swept.name = context_.label(level);
        swept.type = storage_type(context_.stage().field(level).storage);
        swept.cells = RegisterArray(local(swept.name + "_cells"), swept.type, {cells_});
        if (!statement.recurrence->divides()) swept.map_type = swept.type;
        if (is_read_before(level)) {
            swept.before = kernel::variable(local(swept.name + "_before"), swept.type);
            swept.carried = kernel::variable(local(swept.name + "_carried"), swept.map_type);
            CellIndex first = walker_cell_;
            first[along_] = sweep_.upwards ? bounds_[along_].begin : bounds_[along_].end - 1;
            Expr value = element_beside(context_, context_.element_offset(first), level, before_);
            Expr is_there = is_walker_;
            for (int axis = 0; axis < context_.rank(); ++axis)
                if (axis != along_) is_there = is_there && first[axis] < bounds_[axis].end;
            value = kernel::select(is_there, value, real(0, swept.type));
            body().push_back(kernel::Declare{swept.map_type, local(swept.name + "_carried"),
                                             kernel::convert(std::move(value), swept.map_type), true});
            for (int part = 0; part < size_of_map(*statement.recurrence); ++part) {
                kernel::DeclareArray array{swept.map_type,
                                           local(swept.name + "_part_" + kPartTerms[part]),
                                           {threads_ * line_pitch()}};
                array.memory = kernel::Memory::shared;
                swept.map.push_back(array.name);
                body().push_back(std::move(array));
            }
        }
        swept_[level] = std::move(swept);
    }

    // What of a part's function the next ones need: a to d, a and b, or the value of its last cell alone.
    static int size_of_map(const ir::Recurrence& recurrence) {
        if (!recurrence.reads_before()) return 1;
        return recurrence.divides() ? 4 : 2;
    }

    bool is_read_before(const Level& level) const {
        return std::ranges::any_of(context_.stage().reads, [&](const Read& read) {
            return read.level == level && std::ranges::find(read.offsets, before_) != read.offsets.end();
        });
    }

    // A part's place in arrays of the block. An odd distance of parts, whose threads lie side by side along
    // the first axis, keeps these in banks of their own.
    int line_pitch() const { return along_ == 0 && lines_ > 1 ? lines_ | 1 : lines_; }
    Expr place(const Expr& part, const Expr& line) const { return part * line_pitch() + line; }

    // ---- a stretch

    // The place of the thread's first cell among those of the line, in the sweep's order; with vectors, the
    // lowest cell's index, and lines count as whole numbers of vectors.
    void declare_part(const Expr& stretch, Block& block) {
        const Expr done = stretch + thread_along(schedule_, along_) * cell_count_;
        const Expr whole = (length() + (cells_ - 1)) / cell_count_ * cell_count_;
        const bool is_from_above = has_vectors_ && !sweep_.upwards;
        block.push_back(kernel::Declare{Type::i32, local(part_begin_),
                                        is_from_above ? whole - cell_count_ - done : done});
    }

    Expr part_begin() const { return variable(part_begin_); }

    // Which of the thread's cells the n-th in the sweep's order is, in memory's order.
    Expr own_cell() const {
        return has_vectors_ && !sweep_.upwards ? Expr(cells_ - 1) - variable("n") : variable("n");
    }

    // Over the thread's cells, in the sweep's order; `cell` appends what is done at one.
    kernel::Statement over_cells(const std::function<void(Block&)>& cell) {
        const Expr place = part_begin() + own_cell();
        const bool is_from_above = !has_vectors_ && !sweep_.upwards;
        Block at_cell{
            kernel::Declare{Type::i32, Context::kIndexNames[along_],
                            is_from_above ? bounds_[along_].end - 1 - place : bounds_[along_].begin + place}};
        cell(at_cell);
        Expr is_in_line = place < length();
        if (has_vectors_ && !sweep_.upwards) is_in_line = part_begin() >= 0 && is_in_line;
        Block turn{kernel::If{has_line_ && is_in_line, std::move(at_cell), {}}};
        if (cells_ == 1) turn.insert(turn.begin(), kernel::Declare{Type::i32, local("n"), 0});
        return kernel::Scope{loop_over(local("n"), cell_count_, std::move(turn))};
    }

    // ---- what is read at the cells themselves, and is on its way while the stretch before is computed

    // Declares what loads the cells of a stretch, and loads those of the first.
    void declare_fetch() {
        for (const Read& read : context_.stage().reads) {
            if (!is_fetched(read)) continue;
            const std::string name = context_.label(read.level);
            const Type type = storage_type(context_.stage().field(read.level).storage);
            loaded_[read.level] = {RegisterArray(local(name + "_fetched"), type, {cells_}),
                                   RegisterArray(local(name + "_here"), type, {cells_})};
            body().push_back(loaded_.at(read.level).fetched.declaration(false));
        }
        if (loaded_.empty()) return;
        kernel::DeclareLambda fetch{local("fetch"), {{local("at_stretch")}}, {}, {}, true};
        part_begin_ = "fetch_begin";  // it stands within a stretch, whose name is taken
        declare_part(variable("at_stretch"), fetch.body);
        if (has_vectors_) {
            Block loads;
            for (const auto& [level, cells] : loaded_)
                loads.push_back(kernel::LoadVector{cells.fetched.at({0}),
                                                   context_.address(level, first_place()), cells_});
            fetch.body.push_back(kernel::If{has_line_ && has_first_cell(), std::move(loads), {}});
        } else {
            fetch.body.push_back(over_cells([&](Block& at_cell) {
                const Expr at = declare_place(context_, cell_, at_cell);
                for (const auto& [level, cells] : loaded_)
                    at_cell.push_back(
                        kernel::Assign{cells.fetched.at({own_cell()}), context_.element(level, at)});
            }));
        }
        part_begin_ = "part_begin";
        body().push_back(kernel::Comment{"Loads the thread's cells of a stretch."});
        body().push_back(std::move(fetch));
        body().push_back(kernel::RunLambda{local("fetch"), {0}});
    }

    void take_fetched(const Expr& stretch, Block& block) {
        if (loaded_.empty()) return;
        for (const auto& [level, cells] : loaded_) {
            block.push_back(cells.here.declaration(false));
            block.push_back(kernel::CopyCells{cells.here.at({0}), cells.fetched.at({0}), cells_});
        }
        block.push_back(kernel::RunLambda{local("fetch"), {variable("done") + stretch}});
    }

    // Reals that are not computed before they are read.
    bool is_fetched(const Read& read) const {
        const ir::Field& field = context_.stage().field(read.level);
        const bool is_at_cell = std::ranges::find(read.offsets, ir::Offset{}) != read.offsets.end();
        const bool is_computed = std::ranges::any_of(context_.stage().swept, [&](const ir::Assign* each) {
            return level_of(*each) == read.level && !reads_old(*each);
        });
        return is_at_cell && !is_computed && kernel::is_real(storage_type(field.storage)) &&
               !is_narrow(field) &&
               (!has_vectors_ || ir::interleave(context_.program(), read.level.field).count() == 1);
    }

    Expr first_place() { return context_.element_offset({part_begin(), cell_[1], cell_[2]}); }
    Expr has_first_cell() const {
        const Expr is_below = part_begin() < length();
        return sweep_.upwards ? is_below : part_begin() >= 0 && is_below;
    }

    // Whether a statement reads what its level holds at the cell before it.
    bool reads_old(const ir::Assign& statement) const {
        return std::ranges::any_of(
            ir::reached_exprs(context_.program(), {statement.value}), [&](std::uint32_t e) {
                const auto* access = std::get_if<ir::Access>(&context_.program().exprs[e].node);
                return access != nullptr && access->is_at_cell() && access->field == statement.target &&
                       access->time == statement.time;
            });
    }

    // Where a cell's operands are: what the sweep has done by now is in registers.
    CellSources sources(Block& block) {
        const Expr at = declare_place(context_, cell_, block);
        CellSources sources = sources_at(context_, cell_, at);
        sources.load = [this, memory = sources.load](const Level& level, const ir::Offset& offset) {
            const auto swept = swept_.find(level);
            if (swept != swept_.end() && offset == before_) return swept->second.before;
            if (offset != ir::Offset{}) return memory(level, offset);
            if (is_done_.contains(level)) return swept->second.cells.at({own_cell()});
            const auto loaded = loaded_.find(level);
            return loaded == loaded_.end() ? memory(level, offset) : loaded->second.here.at({own_cell()});
        };
        return sources;
    }

    // Each loop over cells begins with what comes to the part: of levels that are done, and of the one that
    // is computed.
    void declare_before(const Swept& swept, Block& block) {
        const Expr start = kernel::variable(local(swept.name + "_start"), swept.type);
        block.push_back(kernel::Declare{swept.type, local(swept.name + "_before"), start, true});
    }
    void declare_before(Block& block) {
        for (const auto& [level, swept] : swept_)
            if (is_done_.contains(level) && swept.before.has_value()) declare_before(swept, block);
    }
    void go_on(Block& block) {
        for (const auto& [level, swept] : swept_)
            if (is_done_.contains(level) && swept.before.has_value())
                block.push_back(kernel::Assign{swept.before, swept.cells.at({own_cell()})});
    }

    void add(const ir::Assign& statement, Block& block) {
        const Level level = level_of(statement);
        Swept& swept = swept_.at(level);
        block.push_back(kernel::BlankLine{});
        context_.note(statement.where, block);
        block.push_back(swept.cells.declaration(false));
        const bool is_made_of_itself = statement.recurrence->reads_before();
        if (is_made_of_itself) carry(compose_part(*statement.recurrence, swept, block), swept, block);
        const bool is_handed_on = swept.before.has_value() && !is_made_of_itself;
        const Expr last = kernel::variable(local(swept.name + "_last"), swept.type);
        if (is_handed_on)
            block.push_back(
                kernel::Declare{swept.type, local(swept.name + "_last"), real(0, swept.type), true});
        Block values;
        declare_before(values);
        if (is_made_of_itself) declare_before(swept, values);
        values.push_back(over_cells([&](Block& at_cell) {
            const CellSources operands = sources(at_cell);
            const Expr value = lower_with_lets(context_, operands, {statement.value}, at_cell).front();
            const Expr here = swept.cells.at({own_cell()});
            at_cell.push_back(kernel::Assign{here, value});
            if (is_made_of_itself) at_cell.push_back(kernel::Assign{swept.before, here});
            if (is_handed_on) at_cell.push_back(kernel::Assign{last, here});
            go_on(at_cell);
        }));
        block.push_back(kernel::Scope{std::move(values)});
        if (is_handed_on) carry({last}, swept, block);
        is_done_.insert(level);
    }

    // ---- from part to part

    // The function of the thread's cells.
    std::vector<Expr> compose_part(const ir::Recurrence& recurrence, const Swept& swept, Block& block) {
        PartFunction whole{swept.name, swept.map_type, {}};
        block.push_back(kernel::Comment{
            recurrence.divides()
                ? "What the thread's cells make of the value v before them: (a*v + b) / (c*v + d)."
                : "What the thread's cells make of the value v before them: a*v + b."});
        for (int term = 0; term < size_of_map(recurrence); ++term) {
            const std::string name = local(swept.name + "_" + kPartTerms[term]);
            whole.terms.push_back(kernel::variable(name, swept.map_type));
            block.push_back(kernel::Declare{swept.map_type, name, real(term % 3 == 0, swept.map_type), true});
        }
        Block cells;
        declare_before(cells);
        cells.push_back(over_cells([&](Block& at_cell) {
            compose(context_, whole, terms_at_cell(recurrence, swept, at_cell), at_cell);
            go_on(at_cell);
        }));
        block.push_back(kernel::Scope{std::move(cells)});
        if (whole.divides()) scale(context_, whole, block);
        return whole.terms;
    }

    std::array<Expr, 4> terms_at_cell(const ir::Recurrence& recurrence, const Swept& swept, Block& at_cell) {
        const CellSources operands = sources(at_cell);
        const std::array<std::optional<ir::ExprId>, 4> wanted{recurrence.a, recurrence.b, recurrence.c,
                                                              recurrence.d};
        std::vector<ir::ExprId> roots;
        for (const auto& term : wanted)
            if (term) roots.push_back(*term);
        const std::vector<Expr> values = lower_with_lets(context_, operands, roots, at_cell);
        std::array<Expr, 4> terms;
        std::size_t next = 0;
        for (std::size_t term = 0; term < wanted.size(); ++term) {
            if (!wanted[term]) continue;
            terms[term] = kernel::convert(values[next++], swept.map_type);
            if (!std::holds_alternative<kernel::Variable>(terms[term]->kind))
                terms[term] =
                    declared(context_, terms[term], swept.name + "_cell_" + kPartTerms[term], at_cell);
        }
        return terms;
    }

    // Declares the value before the thread's first cell, once all parts have handed on their functions.
    void carry(const std::vector<Expr>& function, const Swept& swept, Block& block) {
        const Expr mine = place(thread_along(schedule_, along_), thread_along(schedule_, across_));
        for (std::size_t part = 0; part < function.size(); ++part)
            block.push_back(
                kernel::Assign{kernel::element(swept.map[part], {mine}, swept.map_type), function[part]});
        block.push_back(kernel::Barrier{});
        block.push_back(kernel::If{is_walker_, go_along(swept), {}});
        block.push_back(kernel::Barrier{});
        block.push_back(
            kernel::Comment{"From what comes to the part each cell is computed by the statement itself."});
        Expr start = kernel::element(swept.map[0], {mine}, swept.map_type);
        if (swept.map.size() == 4) start = start / kernel::element(swept.map[2], {mine}, swept.map_type);
        block.push_back(kernel::Declare{swept.type, local(swept.name + "_start"),
                                        kernel::convert(std::move(start), swept.type)});
    }

    // Leaves in each part's place the value that comes to it; of quotients, as two numbers of which it is the
    // quotient, so that no division waits for another. Once in a few parts they are divided, which keeps them
    // in range.
    Block go_along(const Swept& swept) {
        int together = std::min(threads_, kPartsTogether);
        while (threads_ % together != 0)
            --together;
        const bool divides = swept.map.size() == 4;
        const Expr at = place(variable("p") + (together > 1 ? variable("q") : Expr(0)), walker_line_);
        std::vector<Expr> map;
        for (const std::string& name : swept.map)
            map.push_back(kernel::element(name, {at}, swept.map_type));
        Block turn, walk{kernel::Comment{"Goes along the line, and leaves each part what comes to it."}};
        const Expr over = kernel::variable(local(swept.name + "_over"), swept.map_type);
        if (divides)
            walk.push_back(
                kernel::Declare{swept.map_type, local(swept.name + "_over"), real(1, swept.map_type), true});
        const Expr came = declared(context_, swept.carried, swept.name + "_came", turn);
        if (divides) {
            const Expr came_over = declared(context_, over, swept.name + "_came_over", turn);
            turn.push_back(kernel::Assign{swept.carried, times_plus(map[0], came, map[1] * came_over)});
            turn.push_back(kernel::Assign{over, times_plus(map[2], came, map[3] * came_over)});
            turn.push_back(kernel::Assign{map[2], came_over});
        } else {
            turn.push_back(
                kernel::Assign{swept.carried, map.size() == 1 ? map[0] : times_plus(map[0], came, map[1])});
        }
        turn.push_back(kernel::Assign{map[0], came});
        Block parts = loop_over(local("q"), together, std::move(turn));
        if (divides) {
            parts.push_back(kernel::Assign{swept.carried, swept.carried / over});
            parts.push_back(kernel::Assign{over, real(1, swept.map_type)});
        }
        // The last stretch need not fill its parts.
        const Expr filled = (length() - variable("done") + (cells_ - 1)) / cell_count_;
        walk.push_back(kernel::For{local("p"), 0, kernel::min(part_count_, filled), together,
                                   kernel::Unroll::none, std::move(parts)});
        return walk;
    }

    // ---- at the end of a stretch

    void store(Block& block) {
        block.push_back(kernel::BlankLine{});
        Block one_by_one{over_cells([&](Block& at_cell) {
            const Expr at = declare_place(context_, cell_, at_cell);
            for (const auto& [level, swept] : swept_)
                at_cell.push_back(kernel::Assign{context_.element(level, at), swept.cells.at({own_cell()})});
            images_.append(context_, cell_, {1, 1, 1}, {1, 1, 1}, at_cell);
        })};
        const bool can_be_vectors = std::ranges::none_of(swept_, [&](const auto& each) {
            return ir::interleave(context_.program(), each.first.field).count() > 1;
        });
        if (!has_vectors_ || !can_be_vectors) return append(block, std::move(one_by_one));
        Block vectors;
        for (const auto& [level, swept] : swept_)
            vectors.push_back(
                kernel::StoreVector{context_.address(level, first_place()), swept.cells.at({0}), cells_});
        CellIndex first = cell_;
        first[0] = part_begin();
        images_.append(context_, first, {cells_, 1, 1}, {1, 1, 1}, vectors);
        const Expr begin = part_begin();
        Expr is_whole = begin + cell_count_ <= length();
        if (!sweep_.upwards) is_whole = begin >= 0 && is_whole;
        block.push_back(kernel::If{has_line_ && is_whole, std::move(vectors), std::move(one_by_one)});
    }

    static constexpr int kPartsTogether = 8;

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    const ir::LineSweep& sweep_;
    const int along_, across_;   // the axis, and the one of which a block has several lines
    const int threads_, lines_;  // of a block: the parts of a line, and the lines
    const int cells_;            // of a part
    const bool has_vectors_;     // a part is loaded and stored whole
    ir::Offset before_{};        // from a cell to the one before it
    std::vector<Bounds> bounds_;
    StrategyResult result_;
    CellIndex cell_;
    Expr has_line_;  // the thread's; empty where all have
    std::string part_begin_ = "part_begin";
    Expr is_walker_, walker_line_;
    CellIndex walker_cell_;  // of its line
    Expr part_count_, cell_count_;
    std::map<Level, Swept> swept_;
    std::map<Level, Loaded> loaded_;
    std::set<Level> is_done_;
};

}  // namespace

StrategyResult lower_parts(Context& context, const schedule::Schedule& schedule, Images& images) {
    return Parts(context, schedule, images).lower();
}

}  // namespace halo::lower
