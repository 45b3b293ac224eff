// Threads that are numbered through: of a thread's index that is divided by the length of a row, quotient
// and remainder are two axes. What the function does is executed again once that is found.
#include <algorithm>

#include "compiler/lift/executor.h"

namespace halo::lift {

using c::Number;

namespace {

constexpr char kRow[] = "/", kInRow[] = "%";  // after the name of what is divided: quotient and remainder

}  // namespace

// An axis of threads, or what it was divided into: in all, as its loops say.
Polynomial Executor::thread_index(const std::string& key) {
    const auto split = rows_.find(key);
    if (split == rows_.end()) return Polynomial::symbol(model_.loop(thread_loop(key)).symbol);
    const auto all = limits_.find(key);
    limits_[key + kInRow] = split->second;
    if (all != limits_.end()) {
        if (const auto rows = all->second.divided_by(split->second)) limits_[key + kRow] = *rows;
    }
    return thread_index(key + kRow) * split->second + thread_index(key + kInRow);
}

// The quotient or remainder of a thread's index, where the loops show that it is one.
std::optional<Polynomial> Executor::divided_index(const std::string& op, const Polynomial& whole,
                                                  const Polynomial& by) const {
    Polynomial quotient, rest;
    for (const auto& [monomial, factor] : whole.terms()) {
        Polynomial one;
        one.add(monomial, factor);
        if (const auto part = one.divided_by(by))
            quotient = quotient + *part;
        else
            rest = rest + one;
    }
    if (!varies(quotient) && !varies(rest)) return std::nullopt;
    // From 0 to before `by`: each index of a thread is largest at its limit.
    Polynomial most = rest;
    for (const auto& [monomial, factor] : rest.terms()) {
        if (factor < 0) return std::nullopt;
    }
    for (const auto& [key, id] : threads_) {
        const Loop& loop = model_.loop(id);
        const auto factor = most.coefficient(loop.symbol);
        if (!factor) return std::nullopt;
        if (factor->is_zero()) continue;
        if (loop.upper.is_zero()) return std::nullopt;
        most = most.without(loop.symbol) + *factor * (loop.upper - 1);
    }
    if (varies(most) || (by - most).constant().value_or(0) < 1) return std::nullopt;
    return op == "/" ? quotient : rest;
}

std::optional<int> Executor::flat_division(const std::string& op, int left, int right, Number type,
                                           SourceRange where) {
    const Term a = model_.term(left), b = model_.term(right);
    if (!unit_.is_cuda || a.kind != Term::Kind::integer || b.kind != Term::Kind::integer || varies(b.poly))
        return std::nullopt;
    if (!rows_.empty()) {
        if (const auto found = divided_index(op, a.poly, b.poly)) return computed(*found, type, {}, where);
    }
    const auto fixed = b.poly.constant();
    if (fixed && (op != "/" || *fixed < 2)) return std::nullopt;
    for (const auto& [key, id] : threads_) {
        if (!(a.poly == Polynomial::symbol(model_.loop(id).symbol)) || striding_.count(id)) continue;
        constexpr std::size_t kMostRows = 4;
        if (rows_.size() < kMostRows) throw Flattened{key, b.poly};
    }
    return std::nullopt;
}

// Of a comparison of a thread's whole index with a multiple of its rows: that of the row.
std::optional<Polynomial> Executor::compared_rows(const std::string& key, const Polynomial& bound,
                                                  std::string& row) {
    const auto split = rows_.find(key);
    if (split == rows_.end()) {
        row = key;
        return bound;
    }
    const auto rows = bound.divided_by(split->second);
    return rows ? compared_rows(key + kRow, *rows, row) : std::nullopt;
}

// j * n + i < n * m, where i is below n: j < m.
std::optional<Executor::Side> Executor::flat_side(const std::string& op, const Polynomial& apart) {
    for (const auto& [key, row] : std::map(rows_)) {
        if (key.find_first_of("/%") != std::string::npos) continue;
        const Polynomial index = thread_index(key);
        for (const std::int64_t sign : {1, -1}) {
            const Polynomial at = index - apart * Polynomial(sign);  // sign * apart is index - at
            if (varies(at)) continue;
            const bool is_less = (op == "<" || op == "<=") == (sign == 1);
            const bool is_strict = op == "<" || op == ">";
            const Polynomial bound = is_less == is_strict ? at : at + 1;
            std::string leaf;
            const auto rows = compared_rows(key, bound, leaf);
            if (!rows) return std::nullopt;
            return Side{thread_loop(leaf), is_less, *rows};
        }
    }
    return std::nullopt;
}

// ---- threads that nothing holds back

// Whether each thread that stores something is held back by a condition.
bool Executor::has_end() const {
    return std::ranges::all_of(state_.stores, [&](const Store& store) {
        return std::ranges::all_of(store.bounds, [&](const auto& each) {
            return !model_.loop(each.first).parallel || !each.second.upper.empty();
        });
    });
}

// Begins again with as many threads as where the file launches the kernel. False: it does not say it, or that
// has been done.
bool Executor::takes_launch() {
    const bool is_said = std::ranges::any_of(unit_.thread_counts, [](int id) { return id >= 0; });
    if (is_launched_ || !is_said || !rows_.empty()) return false;
    is_launched_ = true;
    begin_again();
    for (std::size_t a = 0; a < 3; ++a) {
        const int id = unit_.thread_counts[a];
        const Value count = id >= 0 ? given_value(id, variable(id).where) : Value{};
        const bool is_number =
            count.kind == Value::Kind::term && model_.term(count.term).kind == Term::Kind::integer;
        if (is_number) model_.launched[a] = model_.term(count.term).poly;
    }
    limit_threads();
    return true;
}

void Executor::limit_threads() {
    for (std::size_t a = 0; a < 3; ++a)
        if (model_.launched[a]) limits_[std::string(1, "xyz"[a])] = *model_.launched[a];
}

void Executor::note_launch() {
    std::string said;
    for (std::size_t a = 0; a < 3; ++a) {
        if (!model_.launched[a]) continue;
        said += (said.empty() ? "" : ", ") + model_.text(*model_.launched[a]) + " along " + "xyz"[a];
    }
    if (!said.empty())
        model_.remarks.push_back("As many threads are taken to run as where the kernel is launched: " + said +
                                 ".");
}

}  // namespace halo::lift
