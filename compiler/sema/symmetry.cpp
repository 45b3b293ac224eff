#include "compiler/sema/symmetry.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/analysis.h"
#include "runtime/core/box.h"

namespace halo::sema {

namespace {

using Cell = std::array<std::int64_t, ir::kMaxRank>;
using ir::BinaryOp;
using ir::BoundaryKind;

// A number modulo a prime.
struct Residue {
    static constexpr std::uint64_t kPrime = 4'294'967'291;  // 2^32 - 5
    std::uint64_t value = 0;

    friend Residue operator+(Residue a, Residue b) { return {(a.value + b.value) % kPrime}; }
    friend Residue operator-(Residue a, Residue b) { return {(a.value + kPrime - b.value) % kPrime}; }
    friend Residue operator*(Residue a, Residue b) { return {a.value * b.value % kPrime}; }
    friend auto operator<=>(const Residue&, const Residue&) = default;

    static Residue of(std::int64_t number) {
        const auto prime = static_cast<std::int64_t>(kPrime);
        return {static_cast<std::uint64_t>((number % prime + prime) % prime)};
    }
    // 0 has none, and gives 0.
    Residue inverse() const {
        Residue result{1}, base = *this;
        for (std::uint64_t power = kPrime - 2; power > 0; power /= 2) {
            if (power % 2 == 1) result = result * base;
            base = base * base;
        }
        return result;
    }
};

// A number that looks random and depends on all of these.
Residue mixed(const std::vector<std::uint64_t>& parts) {
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (const std::uint64_t part : parts) {
        state ^= part + 0x9e3779b97f4a7c15 + (state << 6U) + (state >> 2U);
        state *= 0xbf58476d1ce4e5b9;
        state ^= state >> 29U;
        state *= 0x94d049bb133111eb;
        state ^= state >> 32U;
    }
    return {state % Residue::kPrime};
}

Residue residue_of_digits(const std::string& digits) {
    Residue result;
    for (const char digit : digits)
        if (digit != '-') result = result * Residue{10} + Residue{static_cast<std::uint64_t>(digit - '0')};
    return digits.starts_with('-') ? Residue{} - result : result;
}

Residue residue_of(const Rational& number) {
    const std::string text = number.to_string();
    const std::size_t slash = text.find('/');
    const Residue above = residue_of_digits(text.substr(0, slash));
    return slash == std::string::npos ? above : above * residue_of_digits(text.substr(slash + 1)).inverse();
}

class Matrix {
public:
    Matrix(Evaluator& evaluator, const LinearForm& form, ir::FieldId unknown)
        : evaluator_(evaluator), program_(evaluator.program()), form_(form), unknown_(unknown) {
        // So many that no cell reads past two faces of an axis, and that the faces' own cells are apart.
        extent_.fill(1);
        for (int axis = 0; axis < program_.rank(); ++axis) {
            std::int64_t reach = 1;
            for (const auto& [offset, factor] : form.factors)
                reach = std::max<std::int64_t>(reach, std::abs(offset[static_cast<std::size_t>(axis)]));
            for (int side = 0; side < 2; ++side)
                reach = std::max(reach, depth_of(axis, side, static_cast<int>(reach)));
            extent_[static_cast<std::size_t>(axis)] = 2 * reach + 2;
        }
    }

    std::optional<Asymmetry> find() {
        for_each_cell([&](const Cell& cell) { add_row(cell); });
        for (const auto& [place, entry] : entries_) {
            const auto other = entries_.find({place.second, place.first});
            const Residue across = other == entries_.end() ? Residue{} : other->second.value;
            if (across == entry.value) continue;
            return entry.face.axis >= 0 || other == entries_.end() ? entry.face : other->second.face;
        }
        return std::nullopt;
    }

private:
    struct Entry {
        Residue value;
        Asymmetry face;  // that a read has gone through
    };

    std::int64_t depth_of(int axis, int side, int reach) {
        const auto kind = program_[unknown_].boundary[axis][side].kind;
        if (kind == BoundaryKind::periodic || kind == BoundaryKind::free) return reach;
        std::int64_t depth = reach;
        for (int distance = 1; distance <= reach; ++distance)
            for (const GhostTerm& term : ghost_terms(evaluator_, unknown_, axis, side, distance))
                depth = std::max<std::int64_t>(depth, term.cell);
        return depth;
    }

    template <class Visit>
    void for_each_cell(Visit&& visit) {
        const rt::Box all = rt::whole_box(extent_);
        Cell cell{};
        do {
            visit(cell);
        } while (rt::advance(cell, all, 0));
    }

    void add_row(const Cell& cell) {
        known_.clear();
        for (const auto& [offset, factor] : form_.factors) {
            const Residue weight = evaluate(factor, cell);
            Cell read = cell;
            for (std::size_t axis = 0; axis < read.size(); ++axis)
                read[axis] += offset[axis];
            add_entry(cell, read, weight, Asymmetry{});
        }
    }

    // What is read past faces is made of cells: ir::Face's rule of corners, without what is given.
    void add_entry(const Cell& row, Cell read, Residue weight, Asymmetry face) {
        const auto& boundary = program_[unknown_].boundary;
        for (std::size_t axis = 0; axis < read.size(); ++axis)
            if (boundary[axis][0].kind == BoundaryKind::periodic)
                read[axis] = (read[axis] + extent_[axis]) % extent_[axis];
        for (std::size_t axis = 0; axis < read.size(); ++axis) {
            const std::int64_t n = extent_[axis];
            if (read[axis] >= 0 && read[axis] < n) continue;
            const int side = read[axis] < 0 ? 0 : 1;
            const auto distance = static_cast<int>(side == 0 ? -read[axis] : read[axis] - n + 1);
            Cell edge = row;
            edge[axis] = side == 0 ? 0 : n - 1;
            for (const GhostTerm& term :
                 ghost_terms(evaluator_, unknown_, static_cast<int>(axis), side, distance)) {
                Cell inside = read;
                inside[axis] = side == 0 ? term.cell : n - 1 - term.cell;
                std::swap(known_, known_at_edge_);
                known_.clear();
                const Residue own = evaluate(term.weight, edge);
                std::swap(known_, known_at_edge_);
                add_entry(row, inside, weight * own, Asymmetry{static_cast<int>(axis), side});
            }
            return;
        }
        Entry& entry = entries_[{row, read}];
        entry.value = entry.value + weight;
        if (face.axis >= 0) entry.face = face;
    }

    // ---- numbers at a cell

    Residue evaluate(const Value& value, const Cell& cell) {
        return value.is_number() ? residue_of(value.number) : evaluate(value.id, cell);
    }

    Residue evaluate(ir::ExprId root, const Cell& cell) {
        for (const std::uint32_t index : ir::reached_exprs(program_, {root}))
            if (!known_.contains(index)) known_[index] = at(program_.exprs[index], index, cell);
        return known_.at(root.index);
    }
    Residue known(ir::ExprId id) const { return known_.at(id.index); }

    Residue at(const ir::Expr& expr, std::uint32_t index, const Cell& cell) {
        if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) return residue_of(constant->value);
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) return read(*access, cell);
        if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) return place(*coordinate, cell);
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
            const Residue operand = known(unary->operand);
            if (unary->op == ir::UnaryOp::negate) return Residue{} - operand;
            if (unary->op == ir::UnaryOp::convert && ir::is_real(expr.type)) return operand;
            return mixed({1, static_cast<std::uint64_t>(unary->op), operand.value});
        }
        if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) return of_two(*binary);
        if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
            const Residue chosen = known(select->condition);
            return chosen * known(select->then) + (Residue{1} - chosen) * known(select->otherwise);
        }
        std::vector<std::uint64_t> parts{2, expr.node.index()};
        if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
            parts.push_back(static_cast<std::uint64_t>(call->function));
            for (const ir::ExprId argument : call->arguments)
                parts.push_back(known(argument).value);
            return mixed(parts);
        }
        // Equal nodes are one, so that a node tells what is read.
        parts.push_back(index);
        const bool varies = !ir::is_uniform_leaf(expr) && !std::holds_alternative<ir::CoefElement>(expr.node);
        for (std::size_t axis = 0; axis < cell.size() && varies; ++axis)
            parts.push_back(static_cast<std::uint64_t>(cell[axis] + 1000));
        return mixed(parts);
    }

    Residue of_two(const ir::Binary& binary) const {
        Residue left = known(binary.left), right = known(binary.right);
        switch (binary.op) {
            case BinaryOp::add:
                return left + right;
            case BinaryOp::sub:
                return left - right;
            case BinaryOp::mul:
                return left * right;
            case BinaryOp::div:
                return left * right.inverse();
            case BinaryOp::min:
            case BinaryOp::max:
            case BinaryOp::equal:
            case BinaryOp::not_equal:
            case BinaryOp::logical_and:
            case BinaryOp::logical_or:
                if (right < left) std::swap(left, right);
                break;
            default:
                break;
        }
        return mixed({3, static_cast<std::uint64_t>(binary.op), left.value, right.value});
    }

    // Of a field that the factors read: past a face a number of its own, but for cells that are shown there.
    Residue read(const ir::Access& access, const Cell& cell) const {
        const ir::Field& field = program_[access.field];
        std::vector<std::uint64_t> parts{4, access.field.index,
                                         static_cast<std::uint64_t>(access.time + 100)};
        for (std::size_t axis = 0; axis < cell.size(); ++axis) {
            if (!field.grid.has(static_cast<int>(axis))) continue;
            std::int64_t at = cell[axis] + access.offset[axis];
            const std::int64_t n = extent_[axis];
            const auto& faces = field.boundary[axis];
            if (at < 0 || at >= n) {
                const rt::ImageMap image = field.image(static_cast<int>(axis), at < 0 ? 0 : 1);
                if (image.shows_cell()) at = rt::image_source(faces[0].kind, faces[1].kind, at, n).cell;
            }
            parts.push_back(static_cast<std::uint64_t>(at + 1000));
        }
        return mixed(parts);
    }

    Residue place(const ir::Coordinate& coordinate, const Cell& cell) {
        const auto axis = static_cast<std::size_t>(coordinate.axis);
        const std::uint64_t which = coordinate.axis < 0 ? 0 : static_cast<std::uint64_t>(coordinate.axis);
        const Residue first = mixed({5, which});  // as if the grid began anywhere
        switch (coordinate.kind) {
            case ir::CoordinateKind::index:
                return first + Residue::of(cell[axis]);
            case ir::CoordinateKind::position: {
                const auto& own = program_.axes[axis];
                return uniform(own.origin) + uniform(own.spacing) * (first + Residue::of(cell[axis]));
            }
            case ir::CoordinateKind::extent:
                return mixed({6, which});
            case ir::CoordinateKind::step:
                break;
        }
        return mixed({7});
    }

    Residue uniform(ir::ExprId root) {
        for (const std::uint32_t index : ir::reached_exprs(program_, {root}))
            if (!known_.contains(index)) known_.emplace(index, at(program_.exprs[index], index, {}));
        return known_.at(root.index);
    }

    Evaluator& evaluator_;
    ir::Program& program_;
    const LinearForm& form_;
    ir::FieldId unknown_;
    Cell extent_{};
    std::map<std::uint32_t, Residue> known_, known_at_edge_;  // at the cell of the row; by expression
    std::map<std::pair<Cell, Cell>, Entry> entries_;
};

}  // namespace

bool can_find_asymmetry(const LinearForm& form, int rank) {
    constexpr std::size_t kMostEntries = 1'000'000;
    std::size_t entries = form.factors.size();
    for (std::size_t axis = 0; std::cmp_less(axis, rank); ++axis) {
        int reach = ir::kMaxRank + 1;
        for (const auto& [offset, factor] : form.factors)
            reach = std::max(reach, std::abs(offset[axis]));
        entries *= static_cast<std::size_t>(2 * reach + 2);
    }
    return entries <= kMostEntries;
}

std::optional<Asymmetry> find_asymmetry(Evaluator& evaluator, const LinearForm& form, ir::FieldId unknown) {
    return Matrix(evaluator, form, unknown).find();
}

}  // namespace halo::sema
