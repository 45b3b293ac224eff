// Kernels whose threads share memory. The threads of one block are executed one after the other, from barrier
// to barrier, with their places in it as numbers; which block it is stays a symbol. So each element of shared
// memory is one of a known index, and what a thread has put into it is an expression of that thread's cell,
// which another thread sees as one of its own (execute_shared.cpp). All threads must compute the same of
// their cells: then that is what the kernel does for each cell.
#include "compiler/lift/execute_block.h"

#include <algorithm>

#include "compiler/lift/executor.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

using c::Number;
using ExprKind = c::Expr::Kind;
using StatementKind = c::Statement::Kind;

constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostOfBlock = 30'000'000;  // expressions
constexpr const char* kAxes[] = {"x", "y", "z"};

template <class Visit>
void for_threads(const ThreadPlace& size, const Visit& visit) {
    ThreadPlace at{};
    for (at[2] = 0; at[2] < size[2]; ++at[2])
        for (at[1] = 0; at[1] < size[1]; ++at[1])
            for (at[0] = 0; at[0] < size[0]; ++at[0])
                visit(at);
}

std::string place_text(const ThreadPlace& at) {
    return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

}  // namespace

bool Executor::shares_memory() const {
    return std::ranges::any_of(unit_.variables, &c::Variable::is_shared);
}

void Executor::run_block(const c::Function& function) {
    block_ = std::make_unique<BlockOfThreads>();
    const int barriers = barriers_in(function.body, "");
    try {
        find_block(function);
        block_->phases.resize(static_cast<std::size_t>(barriers) + 1);
        for (int phase = 0; phase <= barriers; ++phase) {
            for_threads(block_->size, [&](const ThreadPlace& at) {
                const bool is_waiting = run_thread(function, at, phase);
                if (is_waiting || phase == barriers) keep_written();
                if (!is_waiting && phase < barriers) check_left(function.where);
                if (phase == barriers) compare_thread();
                for (const Polynomial& each : model_.needs)
                    if (std::ranges::find(block_->needs, each) == block_->needs.end())
                        block_->needs.push_back(each);
                for (const std::string& each : model_.remarks)
                    if (std::ranges::find(block_->remarks, each) == block_->remarks.end())
                        block_->remarks.push_back(each);
            });
            check_races(phase);
        }
        check_loop_races();
        check_threads();
        run_thread(function, block_->first, barriers);
    } catch (const Flattened&) {
        throw Refusal(function.where,
                      "threads that share memory are numbered through here, and their number is divided");
    }
    for (const Store& each : state_.stores) {
        if (block_->loaded.count(each.object))
            throw Refusal(each.where, "`" + model_.object(each.object).name +
                                          "` is written here, and other threads read it into shared memory: "
                                          "which comes first is not known");
    }
    model_.needs = block_->needs;
    model_.remarks = block_->remarks;
    model_.block = block_->size;
    model_.block_stride = block_->stride;
    std::string size;
    for (std::size_t a = 0; a < 3; ++a)
        if (a == 0 || block_->size[a] > 1 || (a == 1 && block_->size[2] > 1))
            size += (a ? " x " : "") + std::to_string(block_->size[a]);
    model_.remarks.push_back("A block is taken to have " + size + " threads" +
                             (unit_.block == block_->size ? ", as where the kernel is launched." : "."));
}

// Finds how many threads a block has: as the user says, or where the file launches the kernel, or else as
// many as there are cells from one block to the next.
void Executor::find_block(const c::Function& function) {
    BlockOfThreads& block = *block_;
    ThreadPlace told{};
    for (std::size_t a = 0; a < 3; ++a) {
        if (unit_.block) told[a] = (*unit_.block)[a];
        const auto said = assumptions_.find(std::string("blockDim.") + kAxes[a]);
        if (said != assumptions_.end()) told[a] = said->second;
    }
    block.size = told;
    block.stride = {};
    block.is_probe = true;
    run_thread(function, {}, -1);
    block.is_probe = false;
    std::int64_t threads = 1;
    for (std::size_t a = 0; a < 3; ++a) {
        const bool is_used = symbols_.count(std::string("threadIdx.") + kAxes[a]) > 0;
        if (told[a] == 0) block.size[a] = block.stride[a] > 0 ? block.stride[a] : is_used ? 0 : 1;
        if (block.size[a] < 1)
            throw Refusal(function.where,
                          std::string("how many threads a block has along ") + kAxes[a] +
                              " is not said, and they share memory",
                          {std::string("say it by --assume blockDim.") + kAxes[a] +
                           "=16, or what it is; or launch the kernel in this file"});
        if (block.stride[a] < 1) block.stride[a] = block.size[a];
        threads *= block.size[a];
    }
    if (threads > kMostThreads)
        throw Refusal(function.where, "a block has " + std::to_string(threads) +
                                          " threads here, and a GPU's has " + std::to_string(kMostThreads) +
                                          " at most");
}

// What is not understood here is refused where all threads are executed.
void Executor::probe_statement(int id) {
    const std::vector<Rest> rest = rest_;
    const std::vector<int> loops = state_.loops, active = active_;
    const std::vector<std::set<int>> declared = declared_;
    const int open_loops = open_loops_;
    try {
        run_statement(id);
    } catch (const Refusal&) {
        rest_ = rest;
        state_.loops = loops;
        active_ = active;
        declared_ = declared;
        open_loops_ = open_loops;
    }
}

// Rewrites the part of a number that is the block's, as blockIdx.x * 16, in terms of the thread's cell.
Polynomial Executor::in_block(Polynomial poly) {
    for (std::size_t a = 0; a < 3; ++a) {
        const auto block = symbols_.find(std::string("blockIdx.") + kAxes[a]);
        if (block == symbols_.end() || !poly.has(block->second)) continue;
        const auto factor = poly.coefficient(block->second);
        if (block_->is_probe) {
            const auto thread = symbols_.find(std::string("threadIdx.") + kAxes[a]);
            const bool is_cell =
                factor && thread != symbols_.end() && poly.coefficient(thread->second) == Polynomial(1);
            if (is_cell && block_->stride[a] == 0) block_->stride[a] = factor->constant().value_or(0);
            continue;
        }
        const auto blocks = factor ? factor->divided_by(block_->stride[a]) : std::nullopt;
        if (blocks)
            poly = poly.without(block->second) + *blocks * (thread_index(kAxes[a]) - block_->thread[a]);
    }
    return poly;
}

// Of threadIdx and blockDim, what they are for the thread that runs; -1: a symbol.
int Executor::launch_number(const std::string& name, const std::string& axis) {
    const std::size_t a = axis == "x" ? 0 : axis == "y" ? 1 : 2;
    if (name == "blockDim" && block_->size[a] > 0) return whole(block_->size[a], Number::u32);
    if (name == "threadIdx" && !block_->is_probe) return whole(block_->thread[a], Number::u32);
    return -1;
}

// Executes the kernel for one thread, up to a barrier: whether it has come there.
bool Executor::run_thread(const c::Function& function, const ThreadPlace& at, int stop) {
    begin_again();
    block_->work += work_;
    if (block_->work > kMostOfBlock)
        throw Refusal(
            function.where,
            "the threads of a block are too many, and do too much, to be executed one after the other");
    work_ = iterations_ = 0;
    block_->thread = at;
    block_->passed = block_->visible = 0;
    block_->stop = stop;
    block_->is_rehearsal = false;
    block_->arrivals.clear();
    block_->loops_seen.clear();
    active_.push_back(unit_.function);
    bind_parameters();
    try {
        run_isolated(function.body, 0);
    } catch (const Waits&) {
        return true;
    }
    return false;
}

Value Executor::wait() {
    if (!block_ || block_->is_probe || block_->is_rehearsal) return Value::none("");
    if (block_->passed == block_->stop) throw Waits{};
    ++block_->passed;
    std::erase_if(state_.cells, [&](const auto& each) { return is_shared(each.first.first); });
    return Value::none("");
}

// Threads that leave the kernel in front of a barrier have written nothing that others might read.
void Executor::check_left(SourceRange where) const {
    if (std::ranges::any_of(state_.cells, [&](const auto& each) { return is_shared(each.first.first); }))
        throw Refusal(
            where,
            "some threads leave the kernel in front of a barrier, and have written to shared memory before");
}

// In front of a barrier all threads leave for which the condition of a branch holds, and no others: those
// that go on have one way to the barrier.
void Executor::check_leaving(const c::Statement& branch) const {
    check_left(branch.where);
    const int other = branch.statements.size() > 1 ? branch.statements[1] : -1;
    if (always_leaves(branch.statements[0]) && !may_leave(other)) return;
    throw Refusal(
        branch.where,
        "some threads leave the kernel here in front of a barrier, and others for which the condition "
        "holds, too, or does not, go on in another way",
        {"`if (i >= n) return;` is lifted"});
}

bool Executor::always_leaves(int id) const {
    const c::Statement& each = statement(id);
    return each.kind == StatementKind::return_statement ||
           (each.kind == StatementKind::block &&
            std::ranges::any_of(each.statements, [this](int part) { return always_leaves(part); }));
}

// The symbol of a loop's index, which is the same for all threads of a block.
int Executor::index_symbol(const std::string& name, SourceRange where) {
    if (!block_) return symbol(Symbol::Kind::index, name);
    const std::string loop = name + "@" + std::to_string(where.begin);
    const std::string key = loop + "#" + std::to_string(block_->loops_seen[loop]++);
    const auto known = block_->loop_symbols.find(key);
    if (known != block_->loop_symbols.end()) return known->second;
    return block_->loop_symbols[key] = symbol(Symbol::Kind::index, name);
}

// Keeps what the thread has written since the barrier before.
void Executor::keep_written() {
    BlockOfThreads& block = *block_;
    std::map<int, int> known;
    const std::size_t reads = block.kept.reads.size();
    for (const auto& [slot, held] : state_.cells) {
        if (!is_shared(slot.first)) continue;
        int value = held.term;
        for (const int arrival : block.arrivals) {
            Term made;
            made.kind = Term::Kind::select;
            made.type = model_.term(value).type;
            made.operands = {arrival, value, unwritten(made.type)};
            made.where = model_.term(value).where;
            value = add(made);
        }
        block.phases[static_cast<std::size_t>(block.passed)].written[slot].push_back(
            {block.thread, keep(value, known), model_.term(held.term).where});
    }
    for (std::size_t i = reads; i < block.kept.reads.size(); ++i)
        block.loaded.insert(block.kept.reads[i].object);
}

void Executor::check_races(int phase) const {
    const BlockOfThreads::Phase& of = block_->phases[static_cast<std::size_t>(phase)];
    if (has(Mutation::drop_race)) return;
    for (const auto& [slot, readers] : of.read) {
        const auto written = of.written.find(slot);
        if (written == of.written.end()) continue;
        for (const auto& [reader, where] : readers) {
            for (const BlockOfThreads::Written& writer : written->second) {
                if (writer.thread == reader) continue;
                throw Refusal(where,
                              "thread " + place_text(writer.thread) + " of a block writes the element of `" +
                                  variable(slot.first).name + "` that thread " + place_text(reader) +
                                  " reads here, with no barrier between: which comes first is not known")
                    .label(writer.where, "what is written");
            }
        }
    }
}

// Where an iteration of a loop with barriers ends, the next one begins with no barrier between, and so do the
// loop and what is around it: what a thread writes on one side no other one uses on the other.
void Executor::check_loop_races() const {
    const auto check = [&](int one, int other) {
        const BlockOfThreads::Phase &from = block_->phases[static_cast<std::size_t>(one)],
                                    &to = block_->phases[static_cast<std::size_t>(other)];
        const auto refuse = [&](const BlockOfThreads::Slot& slot, const BlockOfThreads::Written& writer,
                                const ThreadPlace& user, SourceRange where) {
            if (writer.thread == user || has(Mutation::drop_race)) return;
            throw Refusal(writer.where, "thread " + place_text(writer.thread) +
                                            " of a block writes an element of `" + variable(slot.first).name +
                                            "` here that thread " + place_text(user) +
                                            " uses in the iteration before or after, or around the loop, "
                                            "with no barrier between: which comes first is not known")
                .label(where, "where it is used");
        };
        for (const auto& [slot, writers] : from.written) {
            const auto readers = to.read.find(slot);
            const auto others = to.written.find(slot);
            for (const BlockOfThreads::Written& writer : writers) {
                if (readers != to.read.end())
                    for (const auto& [thread, where] : readers->second)
                        refuse(slot, writer, thread, where);
                if (others != to.written.end())
                    for (const BlockOfThreads::Written& each : others->second)
                        refuse(slot, writer, each.thread, each.where);
            }
        }
    };
    for (const auto& [first, last] : block_->loops) {
        for (const auto& [one, other] : {std::pair(first - 1, first), std::pair(last, first),
                                         std::pair(last, last + 1), std::pair(first - 1, last + 1)}) {
            check(one, other);
            check(other, one);
        }
    }
}

bool Executor::writes_shared(const State& before) const {
    return block_ && std::ranges::any_of(state_.cells, [&](const auto& each) {
               const auto old = before.cells.find(each.first);
               return is_shared(each.first.first) &&
                      (old == before.cells.end() || !(old->second == each.second));
           });
}

// Whether a loop names shared memory: where the threads fill it together, each has iterations of its own.
bool Executor::fills_shared(const c::Statement& loop) const {
    return block_ && has_expr(loop.statements[1], [&](const c::Expr& each) {
               return each.kind == ExprKind::variable && is_shared(each.variable);
           });
}

// All elements are one after the other: of a variable that is no array, there is one.
Place Executor::shared_place(int id) const {
    Place made;
    made.kind = Place::Kind::cell;
    made.variable = id;
    made.pointer.type = variable(id).type;
    return made;
}

std::int64_t Executor::shared_index(const Place& at, SourceRange where) const {
    if (block_->is_probe) return 0;
    const c::Variable& named = variable(at.variable);
    std::int64_t count = 1;
    int of = named.type;
    for (; type(of).kind == c::Type::Kind::array; of = type(of).element) {
        if (!type(of).count)
            throw Refusal(where, "how many elements `" + named.name +
                                     "` has is said where the kernel is launched, and is not known here");
        count *= *type(of).count;
    }
    Polynomial sum;
    for (const PathEntry& entry : at.pointer.path) {
        if (!entry.edges.empty() || entry.modulus)
            throw Refusal(where,
                          "which element of `" + named.name + "` this is differs at an edge of the grid");
        sum = sum + entry.index * entry.stride;
    }
    const auto index = sum.constant();
    if (!index) {
        Refusal refusal(
            where, "which element of `" + named.name +
                       "` this is depends on more than the thread's place in its block: " + model_.text(sum));
        refusal.unrolling_may_help = true;
        throw refusal;
    }
    if (*index < 0 || *index >= count)
        throw Refusal(where, "`" + named.name + "` has " + std::to_string(count) + " elements, and thread " +
                                 place_text(block_->thread) + " of a block uses number " +
                                 std::to_string(*index) + " here");
    return *index;
}

Value Executor::load_shared(const Place& from, SourceRange where) {
    const c::Type& of = type(from.pointer.type);
    if (of.kind != c::Type::Kind::number) return Value::none("an array is used as a whole here");
    BlockOfThreads& block = *block_;
    if (block.is_probe) return Value::of(number(0, of.number, where));
    if (block.is_rehearsal) return Value::of(unwritten(of.number));
    const BlockOfThreads::Slot slot{from.variable, from.index};
    if (block.passed == block.stop)
        block.phases[static_cast<std::size_t>(block.passed)].read[slot].emplace(block.thread, where);
    const auto before = [&] { return shared_before(slot, block.passed - 1, where); };
    if (const auto own = state_.cells.find(slot); own != state_.cells.end())
        return Value::of(filled(own->second.term, before));
    return Value::of(before());
}

// What an element of shared memory holds behind a barrier, for the thread that runs.
int Executor::shared_before(const BlockOfThreads::Slot& slot, int phase, SourceRange where) {
    const BlockOfThreads::Written* partial = nullptr;
    for (; phase >= block_->visible; --phase) {
        const auto& all = block_->phases[static_cast<std::size_t>(phase)].written;
        const auto found = all.find(slot);
        if (found == all.end()) continue;
        int value = -1;
        for (const BlockOfThreads::Written& each : found->second)
            value = value < 0 ? seen(each) : overlaid(value, each, slot.first, where);
        if (!has_unwritten(value)) return value;
        if (has(Mutation::drop_unwritten))
            return filled(value, [&] { return number(0, Number::f32, where); });
        partial = &found->second.front();
        if (phase > block_->visible && model_.term(value).kind != Term::Kind::unwritten)
            return filled(value, [&] { return shared_before(slot, phase - 1, where); });
    }
    Refusal refusal(where, "thread " + place_text(block_->thread) + " of a block reads an element of `" +
                               variable(slot.first).name +
                               "` here that no thread has written in front of a barrier" +
                               (partial ? " in some cells" : ""));
    if (partial) refusal.label(partial->where, "this is written under a condition alone");
    throw refusal;
}

int Executor::seen(const BlockOfThreads::Written& from) {
    std::map<int, int> known;
    ThreadPlace apart = from.thread;
    for (std::size_t a = 0; a < 3; ++a)
        apart[a] -= block_->thread[a];
    if (has(Mutation::shift_tile)) ++apart[0];
    return copied(from.value, apart, known);
}

// What two threads have written to one element, of which one at most has for each cell, or both the same.
int Executor::overlaid(int value, const BlockOfThreads::Written& other, int variable_id, SourceRange where) {
    const Term from = model_.term(value);
    if (from.kind == Term::Kind::unwritten) return seen(other);
    if (from.kind == Term::Kind::select && has_unwritten(value))
        return chosen(from, [&](int operand, bool is_condition) {
            return is_condition ? operand : overlaid(operand, other, variable_id, where);
        });
    const int second = seen(other);
    std::map<int, int> known;
    const bool is_alone = model_.term(second).kind == Term::Kind::unwritten;
    if (is_alone || same_as(value, known) == same_as(second, known)) return value;
    throw Refusal(where, "two threads of a block write the element of `" + variable(variable_id).name +
                             "` that is read here, and not the same: which comes last is not known")
        .label(from.where, "one of them")
        .label(model_.term(second).where, "the other one");
}

// Where one branch of a condition alone has written an element, the other one has left what was there.
void Executor::complete_shared(const State& from, State& into) {
    for (const auto& [slot, held] : from.cells) {
        if (is_shared(slot.first) && !into.cells.count(slot))
            into.cells[slot] = Value::of(unwritten(model_.term(held.term).type));
    }
}

int Executor::unwritten(Number type) {
    Term made;
    made.kind = Term::Kind::unwritten;
    made.type = type;
    return add(made);
}

bool Executor::has_unwritten(int id) const {
    const Term& each = model_.term(id);
    return each.kind == Term::Kind::unwritten ||
           std::ranges::any_of(each.operands, [this](int operand) { return has_unwritten(operand); });
}

// Each cell of a block has one thread: those that store something are as many as the block has cells, side by
// side.
void Executor::check_threads() const {
    const BlockOfThreads& block = *block_;
    for_threads(block.size, [&](const ThreadPlace& at) {
        bool is_of_cell = true;
        for (std::size_t a = 0; a < 3; ++a)
            is_of_cell = is_of_cell && at[a] >= block.first[a] && at[a] < block.first[a] + block.stride[a];
        const bool has_cells = block.storing.count(at) > 0;
        if (block.storing.empty() || is_of_cell == has_cells) return;
        throw Refusal(unit_.functions[static_cast<std::size_t>(unit_.function)].where,
                      "thread " + place_text(at) + " of a block " +
                          (has_cells ? "computes a cell, which is one of the next block's, too"
                                     : "computes no cell, and thread " + place_text(block.first) + " does"));
    });
    for (std::size_t a = 0; a < 3; ++a) {
        if (block.storing.empty() || block.first[a] + block.stride[a] <= block.size[a]) continue;
        throw Refusal(unit_.functions[static_cast<std::size_t>(unit_.function)].where,
                      "a block has " + std::to_string(block.size[a]) + " threads along " + kAxes[a] +
                          ", and the next one is " + std::to_string(block.stride[a]) +
                          " cells away: some cells have no thread");
    }
}

}  // namespace halo::lift
