#include "compiler/lift/fortran/constructs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace halo::lift::fortran {

namespace {

using Kind = Construct::Kind;

constexpr int kNone = -1;

// Blocks are named by their place in the list. One that goes on in another and does nothing else is left out
// of the graph.
struct Node {
    std::vector<int> next;                   // each once
    std::vector<const mlir::Operation*> by;  // of each of these: what goes on there
    std::vector<int> before;                 // each once, of those that can be reached
    int dominator = kNone;                   // the last block that is always passed before it
    int order = kNone;                       // each block's is above those that come before it, but for loops
};

class Finder {
public:
    Finder(const mlir::Module& module, const std::vector<mlir::Block>& blocks)
        : module_(module), blocks_(blocks), nodes_(blocks.size()) {}

    std::optional<std::vector<Construct>> find() {
        if (!link()) return std::nullopt;
        number();
        find_dominators();
        if (!has_plain_loops()) return std::nullopt;
        find_epilogue();
        std::vector<Construct> all;
        sequence(0, epilogue_, all);
        if (epilogue_ != kNone) add_operations(epilogue_, size(epilogue_), all);
        const bool has_all = std::ranges::all_of(order_, [this](int each) { return made_.count(each) == 1; });
        return has_all ? std::optional(std::move(all)) : std::nullopt;
    }

private:
    const Node& node(int id) const { return nodes_[static_cast<std::size_t>(id)]; }
    Node& node(int id) { return nodes_[static_cast<std::size_t>(id)]; }
    const mlir::Block& block(int id) const { return blocks_[static_cast<std::size_t>(id)]; }
    std::size_t size(int id) const { return block(id).operations.size(); }
    const mlir::Operation& last(int id) const { return *block(id).operations.back(); }
    const mlir::Operation* maker(int value) const { return module_.value(value).made_by; }

    // ---- the graph

    bool link() {
        std::map<std::string, int> named;
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const bool is_plain = !blocks_[i].operations.empty() && (i == 0 || blocks_[i].arguments.empty());
            if (!is_plain) return false;
            named[blocks_[i].name] = static_cast<int>(i);
        }
        const auto follow = [&](const std::string& name, const mlir::Operation*& by) {
            int at = named.at(name);
            for (std::set<int> seen; size(at) == 1 && last(at).name == "cf.br" && seen.insert(at).second;) {
                by = &last(at);
                at = named.at(last(at).successors.front());
            }
            return at;
        };
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const mlir::Operation& end = *blocks_[i].operations.back();
            const std::size_t given = end.name == "cf.br" ? 0 : 1;
            const bool is_known =
                end.name == "func.return" || end.name == "fir.unreachable" || end.name == "fir.select_case" ||
                ((end.name == "cf.br" || end.name == "cf.cond_br") && end.operands.size() == given);
            if (!is_known) return false;
            for (const std::string& name : end.successors) {
                if (!named.count(name)) return false;
            }
        }
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const mlir::Operation& end = *blocks_[i].operations.back();
            for (const std::string& name : end.successors) {
                const mlir::Operation* by = &end;
                const int to = follow(name, by);
                targets_[&end].push_back(to);
                if (std::ranges::find(nodes_[i].next, to) != nodes_[i].next.end()) continue;
                nodes_[i].next.push_back(to);
                nodes_[i].by.push_back(by);
            }
        }
        return true;
    }
    // Behind all that comes before, but for loops.
    void number() {
        std::set<int> seen;
        const auto visit = [&](const auto& self, int id) -> void {
            if (!seen.insert(id).second) return;
            for (auto each = node(id).next.rbegin(); each != node(id).next.rend(); ++each)
                self(self, *each);
            order_.push_back(id);
        };
        visit(visit, 0);
        std::ranges::reverse(order_);
        for (std::size_t i = 0; i < order_.size(); ++i)
            node(order_[i]).order = static_cast<int>(i);
        for (const int id : order_) {
            for (const int to : node(id).next)
                node(to).before.push_back(id);
        }
    }
    void find_dominators() {
        const auto common = [this](int a, int b) {
            while (a != b)
                (node(a).order > node(b).order ? a : b) =
                    node(node(a).order > node(b).order ? a : b).dominator;
            return a;
        };
        for (bool changes = true; changes;) {
            changes = false;
            for (const int id : order_) {
                if (id == 0) continue;
                int made = kNone;
                for (const int from : node(id).before) {
                    if (from != 0 && node(from).dominator == kNone) continue;
                    made = made == kNone ? from : common(made, from);
                }
                changes = changes || made != node(id).dominator;
                node(id).dominator = made;
            }
        }
    }
    bool dominates(int first, int then) const {
        while (then != kNone && then != first)
            then = node(then).dominator;
        return then == first;
    }
    bool goes_back(int from, int to) const { return node(to).order <= node(from).order; }
    // Whether each loop is entered at one block, and what goes on in each.
    bool has_plain_loops() {
        for (const int from : order_) {
            for (const int to : node(from).next) {
                if (!goes_back(from, to)) continue;
                if (!dominates(to, from)) return false;
                std::set<int>& inside = loops_[to];
                inside.insert(to);
                for (std::vector<int> waiting{from}; !waiting.empty();) {
                    const int id = waiting.back();
                    waiting.pop_back();
                    if (inside.insert(id).second)
                        waiting.insert(waiting.end(), node(id).before.begin(), node(id).before.end());
                }
            }
        }
        return true;
    }
    // Where RETURN goes: a block that reads the result, if there is one, and nothing else.
    void find_epilogue() {
        for (const int id : order_) {
            const auto& all = block(id).operations;
            const bool is_it =
                last(id).name == "func.return" && std::ranges::all_of(all, [](const auto& each) {
                    return each->name == "func.return" || each->name == "fir.load" ||
                           each->name == "fir.convert";
                });
            if (is_it && id != 0) epilogue_ = id;
        }
    }
    // Blocks before it that no loop goes back from.
    std::size_t ways_into(int id) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(node(id).before, [&](int from) { return !goes_back(from, id); }));
    }

    // ---- constructs

    struct Around {
        int next = kNone, leave = kNone;
    };
    // A DO counts how often it still goes round in a variable that has no name:
    //     before: … trips = (upper - lower + step) / step; counter = lower
    //     head:   if (trips > 0) body else past
    //     end:    … trips = trips - 1; counter = counter + step
    static constexpr std::size_t kStart = 3, kHead = 4, kEnd = 9;  // operations
    struct Counted {
        Construct::Counted loop;
        int end = kNone;
    };

    void add_operations(int id, std::size_t count, std::vector<Construct>& into) {
        made_.insert(id);
        Construct made;
        made.block = &block(id);
        made.count = count;
        into.push_back(std::move(made));
    }
    void add_jump(Kind kind, const mlir::Operation* from, std::vector<Construct>& into) {
        Construct made;
        made.kind = kind;
        made.from = from;
        if (kind == Kind::end && from->name != "fir.unreachable") made.block = &block(epilogue_);
        into.push_back(std::move(made));
    }

    // The block and all that it always comes before, up to `follow`.
    void sequence(int id, int follow, std::vector<Construct>& into) {
        if (loops_.count(id) && !open_.count(id)) {
            loop(id, std::nullopt, follow, into);
            return;
        }
        // Where several ways meet behind it.
        std::vector<int> meets;
        for (const int each : order_) {
            const bool is_meeting =
                node(each).dominator == id && ways_into(each) > 1 && each != epilogue_ && each != follow;
            if (is_meeting && placed_.insert(each).second) meets.push_back(each);
        }
        simple(id, meets.empty() ? follow : meets.front(), into);
        for (std::size_t i = 0; i < meets.size(); ++i)
            sequence(meets[i], i + 1 < meets.size() ? meets[i + 1] : follow, into);
    }
    void simple(int id, int follow, std::vector<Construct>& into) {
        const mlir::Operation& end = last(id);
        if (end.name == "cf.br") {
            const int to = node(id).next.front();
            const bool may_count = loops_.count(to) && !open_.count(to) && ways_into(to) == 1;
            const std::optional<Counted> counted = may_count ? counted_loop(id, to) : std::nullopt;
            const std::size_t counts = ends_.count(id) ? kEnd : counted ? kStart : 1;
            add_operations(id, size(id) - counts, into);
            if (counted)
                loop(to, counted, follow, into);
            else
                go(to, node(id).by.front(), follow, into);
            return;
        }
        const bool is_choice = end.name == "cf.cond_br" || end.name == "fir.select_case";
        add_operations(id, size(id) - (end.name == "func.return" ? 0 : 1), into);
        if (end.name == "fir.unreachable") add_jump(Kind::end, &end, into);
        if (!is_choice) return;
        const std::vector<int>& next = node(id).next;
        if (next.size() == 1) {  // all ways lead to one block
            go(next.front(), node(id).by.front(), follow, into);
            return;
        }
        Construct made;
        made.kind = end.name == "cf.cond_br" ? Kind::branch : Kind::choice;
        made.from = &end;
        for (const int to : targets_.at(&end))
            made.ways.push_back(static_cast<std::size_t>(std::ranges::find(next, to) - next.begin()));
        for (std::size_t i = 0; i < next.size(); ++i) {
            made.parts.emplace_back();
            go(next[i], node(id).by[i], follow, made.parts.back());
        }
        into.push_back(std::move(made));
    }
    void go(int to, const mlir::Operation* from, int follow, std::vector<Construct>& into) {
        const Around around = around_.empty() ? Around{} : around_.back();
        if (to == follow) return;
        if (to == around.next)
            add_jump(Kind::next, from, into);
        else if (to == around.leave)
            add_jump(Kind::leave, from, into);
        else if (to == epilogue_)
            add_jump(Kind::end, from, into);
        else if (ways_into(to) == 1 && !open_.count(to) && placed_.insert(to).second)
            sequence(to, follow, into);
        else
            add_jump(Kind::jump, from, into);
    }

    void loop(int head, const std::optional<Counted>& counted, int follow, std::vector<Construct>& into) {
        const int past = counted ? targets_.at(&last(head))[1] : leaves_to(head);
        const bool is_behind = past != kNone && past != follow && past != epilogue_ &&
                               dominates(head, past) && placed_.insert(past).second;
        Construct made;
        made.kind = counted ? Kind::counted_loop : Kind::other_loop;
        made.from = &last(head);
        made.parts.emplace_back();
        open_.insert(head);
        if (counted) {
            made.loop = counted->loop;
            // CYCLE goes to where the loop counts, if nothing else is done there.
            const bool is_end_alone = size(counted->end) == kEnd;
            const int next = is_end_alone ? counted->end : head;
            made_.insert(head);
            if (is_end_alone) {
                made_.insert(next);
                placed_.insert(next);
            } else {
                ends_.insert(counted->end);
            }
            around_.push_back({next, past});
            go(targets_.at(&last(head))[0], made.from, next, made.parts.back());
        } else {
            around_.push_back({head, past});
            sequence(head, head, made.parts.back());
        }
        around_.pop_back();
        into.push_back(std::move(made));
        if (is_behind)
            sequence(past, follow, into);
        else if (past != kNone)
            go(past, &last(head), follow, into);
    }
    // Where all that leave the loop go, but for those that leave the procedure.
    int leaves_to(int head) const {
        std::set<int> all;
        for (const int from : loops_.at(head)) {
            for (const int to : node(from).next) {
                if (!loops_.at(head).count(to) && to != epilogue_) all.insert(to);
            }
        }
        return all.size() == 1 ? *all.begin() : kNone;
    }

    static bool is(const mlir::Operation* each, const char* name) {
        return each != nullptr && each->name == name;
    }
    bool is_constant(int value, const std::string& wanted) const {
        return is(maker(value), "arith.constant") && maker(value)->attribute("value").rfind(wanted, 0) == 0;
    }
    bool reads(const mlir::Operation& from, int memory) const {
        return from.name == "fir.load" && from.operands[0] == memory;
    }
    std::optional<Counted> counted_loop(int before, int head) const {
        const auto& start = block(before).operations;
        const auto& test = block(head).operations;
        if (start.size() < kStart || test.size() != kHead) return std::nullopt;
        const mlir::Operation &trips = *start[start.size() - 3], &first = *start[start.size() - 2];
        if (trips.name != "fir.store" || first.name != "fir.store") return std::nullopt;
        const int memory = trips.operands[1];
        const bool is_head = is(maker(memory), "fir.alloca") && reads(*test[0], memory) &&
                             test[2]->name == "arith.cmpi" && test[2]->operands[0] == test[0]->results[0] &&
                             is_constant(test[2]->operands[1], "0 ") &&
                             test[2]->attribute("predicate").rfind("4 ", 0) == 0 &&  // >
                             test[3]->name == "cf.cond_br" && test[3]->operands[0] == test[2]->results[0] &&
                             node(head).next.size() == 2;
        if (!is_head) return std::nullopt;
        Counted made;
        made.loop.counter = first.operands[1];
        made.loop.lower = first.operands[0];
        const mlir::Operation* divided = maker(trips.operands[0]);
        const mlir::Operation* added = is(divided, "arith.divsi") ? maker(divided->operands[0]) : nullptr;
        const mlir::Operation* apart = is(added, "arith.addi") ? maker(added->operands[0]) : nullptr;
        const bool is_count = is(apart, "arith.subi") && apart->operands[1] == made.loop.lower &&
                              added->operands[1] == divided->operands[1];
        if (!is_count) return std::nullopt;
        made.loop.upper = apart->operands[0];
        made.loop.step = divided->operands[1];
        for (const int from : node(head).before) {
            if (from == before) continue;
            if (made.end != kNone || !counts(from, memory, made.loop)) return std::nullopt;
            made.end = from;
            made.loop.last = &last(from);
        }
        return made;
    }
    bool counts(int id, int memory, const Construct::Counted& loop) const {
        if (size(id) < kEnd || last(id).name != "cf.br") return false;
        const auto operation = [&](std::size_t i) -> const mlir::Operation& {
            return *block(id).operations[size(id) - kEnd + i];
        };
        const auto adds = [&](std::size_t i, const char* name, int to) {
            return reads(operation(i), to) && operation(i + 1).name == "arith.constant" &&
                   operation(i + 2).name == name &&
                   operation(i + 2).operands ==
                       std::vector{operation(i).results[0], operation(i + 1).results[0]} &&
                   operation(i + 3).name == "fir.store" &&
                   operation(i + 3).operands == std::vector{operation(i + 2).results[0], to};
        };
        const mlir::Operation* step = maker(loop.step);
        return adds(0, "arith.subi", memory) && is_constant(operation(1).results[0], "1 ") &&
               adds(4, "arith.addi", loop.counter) && is(step, "arith.constant") &&
               step->attribute("value") == operation(5).attribute("value");
    }

    const mlir::Module& module_;
    const std::vector<mlir::Block>& blocks_;
    std::vector<Node> nodes_;
    std::vector<int> order_;  // of blocks that can be reached
    std::map<const mlir::Operation*, std::vector<int>> targets_;
    std::map<int, std::set<int>> loops_;  // by the block that they go back to
    int epilogue_ = kNone;
    std::multiset<int> made_;
    std::set<int> placed_;  // it is said where these come
    std::set<int> open_;    // loops that are being made, or have been
    std::set<int> ends_;    // blocks that end in counting
    std::vector<Around> around_;
};

}  // namespace

std::optional<std::vector<Construct>> find_constructs(const mlir::Module& module,
                                                      const std::vector<mlir::Block>& blocks) {
    return Finder(module, blocks).find();
}

}  // namespace halo::lift::fortran
