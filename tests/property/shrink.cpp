// Smaller programs that still fail.
#include <algorithm>
#include <utility>

#include "random_chains.h"
#include "random_program.h"

namespace halo::test {

namespace {

using Kind = Node::Kind;

// Calls visit(node) for a node and all below it, outer ones first.
template <class Visit>
void for_each_node(Node& node, Visit&& visit) {
    visit(node);
    for (Node& operand : node.operands)
        for_each_node(operand, visit);
}

template <class Visit>
void for_each_node(RandomProgram& program, Visit&& visit) {
    for (StatementSpec& statement : program.statements)
        for_each_node(statement.value, visit);
}

Node one_half() {
    Node node;
    node.denominator = 2;
    return node;
}

}  // namespace

RandomProgram without_statement(RandomProgram program, std::size_t index) {
    const StatementSpec gone = program.statements[index];
    program.statements.erase(program.statements.begin() + static_cast<std::ptrdiff_t>(index));
    for_each_node(program, [&](Node& node) {
        if (node.name != gone.target) return;
        if (gone.kind == StatementSpec::Kind::state) {
            node.time = node.kind == Kind::access ? 0 : node.time;
        } else {
            node = one_half();
        }
    });
    return program;
}

namespace {

RandomProgram without_last_axis(RandomProgram program) {
    --program.rank;
    program.grid[program.rank] = 1;
    for_each_node(program, [&](Node& node) {
        node.offset[static_cast<std::size_t>(program.rank)] = 0;
        node.axis = std::min(node.axis, program.rank - 1);
    });
    return program;
}

class Shrinker {
public:
    Shrinker(RandomProgram failing, const std::function<bool(const RandomProgram&)>& still_fails,
             int attempts)
        : best_(std::move(failing)), still_fails_(still_fails), attempts_(attempts) {}

    RandomProgram run() {
        while (attempts_ > 0 && one_round()) {
        }
        return std::move(best_);
    }

private:
    bool attempt(RandomProgram candidate) {
        if (attempts_-- <= 0 || !still_fails_(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }

    bool one_round() {
        bool progress = false;
        for (std::size_t i = best_.statements.size(); i-- > 0;)
            if (best_.statements.size() > 1) progress = attempt(without_statement(best_, i)) || progress;
        if (best_.rank > 1) progress = attempt(without_last_axis(best_)) || progress;
        progress = shrink_grid() || progress;
        progress = shrink_declarations() || progress;
        progress = shrink_expressions() || progress;
        return progress;
    }

    bool shrink_grid() {
        bool progress = false;
        for (int axis = 0; axis < best_.rank; ++axis) {
            for (const std::int64_t size : {std::int64_t{1}, best_.grid[axis] / 2, best_.grid[axis] - 1}) {
                if (size < 1 || size >= best_.grid[axis]) continue;
                RandomProgram candidate = best_;
                candidate.grid[axis] = size;
                if (attempt(std::move(candidate))) {
                    progress = true;
                    break;
                }
            }
        }
        return progress;
    }

    template <class Change>
    bool attempt_change(Change&& change) {
        RandomProgram candidate = best_;
        if (!change(candidate)) return false;
        return attempt(std::move(candidate));
    }

    bool shrink_declarations() {
        bool progress = attempt_change([](RandomProgram& p) {
            const bool was_staggered = p.is_staggered();
            p.halves.clear();
            return was_staggered;
        });
        for (int axis = 0; axis < best_.rank; ++axis) {
            progress = attempt_change([&](RandomProgram& p) {
                           return std::exchange(p.spacing[static_cast<std::size_t>(axis)], "1") != "1";
                       }) ||
                       progress;
        }
        progress =
            attempt_change([](RandomProgram& p) { return std::exchange(p.interleaved, false); }) || progress;
        progress =
            attempt_change([](RandomProgram& p) { return std::exchange(p.own_faces, false); }) || progress;
        progress = attempt_change([](RandomProgram& p) { return std::exchange(p.has_components, false); }) ||
                   progress;
        for (std::size_t i = 0; i < best_.fields.size(); ++i) {
            progress =
                attempt_change([&](RandomProgram& p) { return std::exchange(p.fields[i].f64, false); }) ||
                progress;
            progress =
                shrink_faces([i](RandomProgram& p) -> Faces& { return p.fields[i].faces; }) || progress;
        }
        for (std::size_t i = 0; i < best_.statements.size(); ++i) {
            progress = attempt_change([&](RandomProgram& p) {
                           return std::exchange(p.statements[i].faces.written, false);
                       }) ||
                       progress;
            progress =
                shrink_faces([i](RandomProgram& p) -> Faces& { return p.statements[i].faces; }) || progress;
        }
        return progress;
    }

    template <class Select>
    bool shrink_faces(Select&& select) {
        bool progress = false;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(best_.rank); ++axis) {
            if (!select(best_).written || select(best_).kind[axis][0] == "periodic") continue;
            progress = attempt_change([&](RandomProgram& p) {
                           select(p).kind[axis] = {"periodic", "periodic"};
                           return true;
                       }) ||
                       progress;
        }
        return progress;
    }

    // Each node in turn, outer ones first, becomes one of its operands, a number, or reads nearer.
    bool shrink_expressions() {
        bool progress = false;
        for (std::size_t index = 0; index < node_count(); ++index) {
            const std::size_t operands = node_at(best_, index).operands.size();
            bool changed = attempt_change([&](RandomProgram& p) {
                Node& node = node_at(p, index);
                if (node.kind == Kind::number) return false;
                node = one_half();
                return true;
            });
            for (std::size_t i = 0; !changed && i < operands; ++i) {
                changed = attempt_change([&](RandomProgram& p) {
                    Node operand = node_at(p, index).operands[i];
                    node_at(p, index) = std::move(operand);
                    return true;
                });
            }
            changed = changed || shrink_reach(index);
            progress = progress || changed;
        }
        return progress;
    }

    bool shrink_reach(std::size_t index) {
        for (std::size_t axis = 0; axis < rt::kMaxRank; ++axis) {
            for (const bool to_zero : {true, false}) {
                const bool changed = attempt_change([&](RandomProgram& p) {
                    int& offset = node_at(p, index).offset[axis];
                    const int before = offset;
                    offset = to_zero ? 0 : offset / 2;
                    return offset != before;
                });
                if (changed) return true;
            }
        }
        return attempt_change([&](RandomProgram& p) {
            Node& node = node_at(p, index);
            const bool is_operator = node.kind == Kind::derivative || node.kind == Kind::second_derivative ||
                                     node.kind == Kind::laplacian;
            const int least = is_operator ? 2 : 1;
            if ((!is_operator && node.kind != Kind::weighted) || node.order <= least) return false;
            node.order = least;
            return true;
        });
    }

    std::size_t node_count() {
        std::size_t count = 0;
        for_each_node(best_, [&](Node&) { ++count; });
        return count;
    }

    static Node& node_at(RandomProgram& program, std::size_t index) {
        Node* found = nullptr;
        for_each_node(program, [&](Node& node) {
            if (index-- == 0) found = &node;
        });
        return *found;
    }

    RandomProgram best_;
    const std::function<bool(const RandomProgram&)>& still_fails_;
    int attempts_;
};

}  // namespace

RandomProgram shrink(RandomProgram failing, const std::function<bool(const RandomProgram&)>& still_fails,
                     int max_attempts) {
    return Shrinker(std::move(failing), still_fails, max_attempts).run();
}

}  // namespace halo::test
