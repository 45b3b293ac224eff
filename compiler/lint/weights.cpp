// Weights that are written by hand: do they sum as those of a derivative do?
//
// A sum of products is taken apart into weights of one field's cells, for each factor that they share (1/dx,
// dt/h^2 …). Only sums over five cells or more of one axis, odd or even about a cell, are looked at: those
// are derivatives, and nothing else has weights whose moments are nearly 0, 1 or 2 and not quite.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/lint/parts.h"

namespace halo::lint {

namespace {

using ir::ExprId;

struct Term {  // weight * product of factors * read
    double weight = 1;
    std::vector<std::pair<std::uint32_t, int>> factors;  // uniform nodes and their powers, sorted
    ExprId read;
};

// What a group of terms has in common: field, time, place off the axis, and the factors.
struct GroupKey {
    ir::FieldId field;
    int time = 0;
    int axis = 0;
    std::vector<std::pair<std::uint32_t, int>> factors;
    friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};
using Weights = std::map<int, double>;  // by offset along the axis

class OddWeights {
public:
    OddWeights(const ir::Program& program, DiagnosticSink& sink)
        : program_(program), sink_(sink), uniform_(ir::uniform_exprs(program)) {}

    void run() {
        // Sums are looked at from their outermost + or -, once each.
        std::vector<bool> inner(program_.exprs.size());
        for (std::uint32_t i = 0; i < program_.exprs.size(); ++i) {
            if (!continues(ExprId{i})) continue;
            ir::for_each_operand(program_.exprs[i], [&](ExprId operand) { inner[operand.index] = true; });
        }
        for (std::uint32_t i = 0; i < program_.exprs.size(); ++i)
            if (continues(ExprId{i}) && !inner[i]) look_at(ExprId{i});
    }

private:
    static constexpr double kExact = 1e-6;       // below it is rounding, as of decimals in f32
    static constexpr double kNearly = 0.1;       // above it something else is meant
    static constexpr double kNearlyNone = 0.03;  // of the sum of sizes
    static constexpr std::size_t kMaxTerms = 4096;

    bool continues(ExprId id) const {
        const ir::Expr& expr = program_[id];
        if (uniform_[id.index] || !ir::is_real(expr.type)) return false;
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node))
            return unary->op != ir::UnaryOp::logical_not;
        const auto* binary = std::get_if<ir::Binary>(&expr.node);
        if (binary == nullptr) return false;
        switch (binary->op) {
            case ir::BinaryOp::add:
            case ir::BinaryOp::sub:
                return true;
            case ir::BinaryOp::mul:
                return is_weight(binary->left) || is_weight(binary->right);
            case ir::BinaryOp::div:
                return is_weight(binary->right);
            default:
                return false;
        }
    }

    bool is_weight(ExprId id) const {
        const ir::Expr& expr = program_[id];
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node);
            unary && unary->op == ir::UnaryOp::convert)
            return is_weight(unary->operand);
        return uniform_[id.index] || std::holds_alternative<ir::CoefElement>(expr.node);
    }

    // Numbers that are known when compiled (weights of a `param coef` by their defaults) go into the weight,
    // the rest is a factor.
    void scale(Term& term, ExprId id, int power) const {
        const ir::Expr& expr = program_[id];
        if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) {
            term.weight *= std::pow(constant->value.to_double(), power);
            return;
        }
        if (const auto* coef = std::get_if<ir::CoefElement>(&expr.node)) {
            term.weight *=
                std::pow(program_[coef->coef].defaults[static_cast<std::size_t>(coef->element)], power);
            return;
        }
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node);
            unary && unary->op != ir::UnaryOp::logical_not) {
            if (unary->op == ir::UnaryOp::negate) term.weight = -term.weight;
            return scale(term, unary->operand, power);
        }
        if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
            const bool divides = binary->op == ir::BinaryOp::div;
            if (divides || binary->op == ir::BinaryOp::mul) {
                scale(term, binary->left, power);
                return scale(term, binary->right, divides ? -power : power);
            }
        }
        for (auto& [node, exponent] : term.factors) {
            if (node != id.index) continue;
            exponent += power;
            return;
        }
        term.factors.emplace_back(id.index, power);
        std::sort(term.factors.begin(), term.factors.end());
    }

    void collect(ExprId id, Term term) {
        if (terms_.size() >= kMaxTerms) return;
        const ir::Expr& expr = program_[id];
        if (std::holds_alternative<ir::Access>(expr.node)) {
            term.read = id;
            terms_.push_back(std::move(term));
            return;
        }
        if (!continues(id)) return;
        if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
            if (unary->op == ir::UnaryOp::negate) term.weight = -term.weight;
            collect(unary->operand, std::move(term));
            return;
        }
        const auto& binary = std::get<ir::Binary>(expr.node);
        if (binary.op == ir::BinaryOp::mul) {
            const bool left = is_weight(binary.left);
            scale(term, left ? binary.left : binary.right, 1);
            collect(left ? binary.right : binary.left, std::move(term));
        } else if (binary.op == ir::BinaryOp::div) {
            scale(term, binary.right, -1);
            collect(binary.left, std::move(term));
        } else {
            Term right = term;
            if (binary.op == ir::BinaryOp::sub) right.weight = -right.weight;
            collect(binary.left, std::move(term));
            collect(binary.right, std::move(right));
        }
    }

    void look_at(ExprId root) {
        terms_.clear();
        collect(root, {});
        if (terms_.size() >= kMaxTerms) return;
        std::map<GroupKey, Weights> groups;
        for (const Term& term : terms_) {
            const auto& access = std::get<ir::Access>(program_[term.read].node);
            if (access.is_mapped()) continue;  // restriction and prolongation are no derivatives
            for (int axis = 0; axis < program_.rank(); ++axis) {
                ir::Offset rest = access.offset;
                rest[static_cast<std::size_t>(axis)] = 0;
                if (rest != ir::Offset{}) continue;
                groups[{access.field, access.time, axis, term.factors}]
                      [access.offset[static_cast<std::size_t>(axis)]] += term.weight;
            }
        }
        for (const auto& [key, weights] : groups)
            judge(key, weights, program_[root].where, groups);
    }

    void judge(const GroupKey& key, const Weights& weights, SourceRange where,
               const std::map<GroupKey, Weights>& groups) {
        // The centre of a Laplacian belongs to all its axes.
        for (const auto& [other, others] : groups) {
            if (other.axis != key.axis && other.field == key.field && other.time == key.time &&
                other.factors == key.factors && others.size() > 1)
                return;
        }
        double size = 0, sum = 0, first = 0, second = 0;
        bool is_odd = true, is_even = true;
        std::size_t off_centre = 0;
        for (const auto& [offset, weight] : weights) {
            if (weight != 0 && offset != 0) ++off_centre;
            const auto opposite = weights.find(-offset);
            const double there = opposite == weights.end() ? 0 : opposite->second;
            size += std::abs(weight);
            sum += weight;
            first += weight * offset;
            second += weight * offset * offset;
            const double tolerance = 1e-12 * std::abs(weight);
            is_odd = is_odd && std::abs(weight + there) <= tolerance;
            is_even = is_even && std::abs(weight - there) <= tolerance;
        }
        if (off_centre < 4 || size == 0) return;
        const std::string& field = program_[key.field].name;
        const std::string& axis = program_.axes[static_cast<std::size_t>(key.axis)].name;
        if (is_odd) {
            const double off = std::abs(std::abs(first) - 1);
            if (off > kExact && off < kNearly)
                report(where, field, axis, "first", "their sum with the offsets is", first,
                       first < 0 ? -1 : 1);
        } else if (is_even) {
            const bool is_sharp = weights.contains(0) &&
                                  weights.at(0) * sum <= std::abs(weights.at(0)) * size &&
                                  std::abs(sum) < kNearlyNone * size;
            if (!is_sharp) return;
            if (std::abs(sum) > kExact * size) {
                report(where, field, axis, "second", "their sum is", sum, 0);
            } else if (const double off = std::abs(std::abs(second) - 2); off > kExact && off < 2 * kNearly) {
                report(where, field, axis, "second", "their sum with the squares of the offsets is", second,
                       second < 0 ? -2 : 2);
            }
        }
    }

    void report(SourceRange where, const std::string& field, const std::string& axis, const char* which,
                const char* what, double found, int expected) {
        sink_
            .report(
                DiagnosticKind::odd_weights, where,
                fmt::format(
                    "these weights of `{}` look like a {} derivative along `{}`, but {} {:.6g} and not {}",
                    field, which, axis, what, found, expected))
            .note("the difference does not shrink with the spacing; fractions as 1/12 are exact here")
            .note(fmt::format("`{}({}, {})` has the weights of any order",
                              std::string(which) == "first" ? "d" : "d2", field, axis));
    }

    const ir::Program& program_;
    DiagnosticSink& sink_;
    std::vector<bool> uniform_;
    std::vector<Term> terms_;
};

}  // namespace

void find_odd_weights(const ir::Program& program, DiagnosticSink& sink) {
    OddWeights(program, sink).run();
}

}  // namespace halo::lint
