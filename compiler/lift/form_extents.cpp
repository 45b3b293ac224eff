#include "compiler/lift/form_extents.h"

#include <algorithm>
#include <set>

#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

// Whether it grows with each parameter in it.
bool grows(const Polynomial& poly) {
    return std::all_of(poly.terms().begin(), poly.terms().end(),
                       [](const auto& term) { return term.first.empty() || term.second > 0; });
}

// Where no stride tells how many cells there are, the loops do: from 1 to n - 1 is what is left of n
// cells when one at each end is taken away.
// used: cells up to the last that is touched; low: those at the low edge that no statement is for.
Polynomial with_margin(const Polynomial& used, std::int64_t low) {
    const std::int64_t apart = used.of({});
    const bool is_less = apart < 0 && -apart <= low && used.terms().size() == 2;
    return is_less ? used - Polynomial(apart) : used;
}

}  // namespace

void ExtentFinder::find() {
    const std::size_t rank = form_.axes.size();
    std::vector<ByField> needed(rank);
    for (std::size_t i = 0; i < form_.statements.size(); ++i) {
        const Statement& each = form_.statements[i];
        for (const Touch& touch : touches_[i]) {
            for (std::size_t a = 0; a < rank; ++a)
                need_touched(needed[a], each, touch, a);
        }
    }
    for (const std::vector<Touch>& touches : touches_)
        for (const Touch& touch : touches)
            if (std::ranges::any_of(needed,
                                    [&](const ByField& along) { return !along.contains(touch.field); }))
                throw Refusal(
                    touch.where,
                    "`" + form_.fields[static_cast<std::size_t>(touch.field)].name +
                        "` is read in no cell: the condition in front of it holds nowhere in the loop",
                    {"leave out what is never done"});
    for (std::size_t a = 0; a < rank; ++a)
        settle(a, needed[a]);
    for (Field& each : form_.fields)
        keep_apart(each);
    std::set<std::string> said;
    for (const Polynomial& each : form_needs(model_, form_)) {
        // That there are cells is no assumption; where a parameter puts them is one.
        const bool is_bound = std::any_of(bounds_.begin(), bounds_.end(), [&](const auto& bound) {
            return bound.second == each && !(each - form_.grid[bound.first]).constant();
        });
        const bool is_apart = std::ranges::any_of(form_.fields, [&](const Field& of) {
            return std::ranges::find(of.apart, each) != of.apart.end();
        });
        const bool is_check = std::ranges::find(model_.checks, each) != model_.checks.end();
        if ((is_bound || is_apart || is_check) && said.insert(need_text(model_, each)).second)
            form_.assumptions.push_back(need_text(model_, each));
    }
}

void ExtentFinder::need_touched(ByField& needed, const Statement& each, const Touch& touch, std::size_t a) {
    if (touch.read < 0) {
        need(needed, each.region[a], touch, a);
        return;
    }
    for (const Range& cells : each.reads.at(touch.read).touched[a])
        if (!is_empty(cells)) need(needed, cells, touch, a);
}

void ExtentFinder::need(ByField& needed, const Range& cells, const Touch& touch, std::size_t a) {
    const Polynomial &low = cells.lower, &high = cells.upper;
    const auto first = low.constant();
    if (first && *first < 0)
        throw Refusal(
            touch.where,
            "this reads before the first cell: the loop begins " + std::to_string(-*first) +
                (*first == -1 ? " cell" : " cells") + " too early for it",
            {"where a row's first cell sees the end of the row before, no boundary of a spec is meant"});
    if (!first) bounds_.emplace_back(a, low + 1);
    const auto found = needed.find(touch.field);
    if (found == needed.end()) {
        needed[touch.field] = high;
        return;
    }
    // A box at a fixed distance from the low edge says nothing about the extent, nor does one from the
    // high.
    const std::optional<Polynomial> both = larger(found->second, high);
    if (!both)
        throw Refusal(touch.where, "how many cells there are is not clear: `" + model_.text(found->second) +
                                       "` or `" + model_.text(high) + "`");
    found->second = *both;
}

std::optional<Polynomial> ExtentFinder::told_extent(int field_id, std::size_t a) const {
    const Field& of = form_.fields[static_cast<std::size_t>(field_id)];
    const Geometry& geometry = axes_.geometry(of.object);
    return geometry.axes[geometry.axes.size() - 1 - of.own(a)].extent;
}

// A plane is as long as its rows, at least.
void ExtentFinder::keep_apart(Field& of) const {
    const std::vector<Geometry::Axis>& axes = axes_.geometry(of.object).axes;
    for (std::size_t a = 0; a + 1 < form_.axes.size(); ++a) {
        if (!of.lies_along(a)) continue;
        const std::size_t own = axes.size() - 1 - of.own(a);
        if (own == 0 || !axes[own - 1].is_apart || has(Mutation::drop_apart)) continue;
        of.apart.push_back(axes[own - 1].stride - axes[own].stride * of.extents[a] + 1);
    }
}

// Rotating arrays are of one size.
int ExtentFinder::group_of(int field_id) const {
    const Field& of = form_.fields[static_cast<std::size_t>(field_id)];
    if (model_.after_step.count(of.object)) return -1;
    return of.object;
}

// Of two numbers of cells. A fixed one lies within one that is not; of others that one which has more for
// each parameter.
std::optional<Polynomial> ExtentFinder::larger(const Polynomial& a, const Polynomial& b) const {
    const Polynomial apart = a - b;
    if (const auto fixed = apart.constant()) return *fixed > 0 ? a : b;
    if (a.constant()) return b;
    if (b.constant()) return a;
    if (grows(apart)) return a;
    if (grows(b - a)) return b;
    return std::nullopt;
}

Polynomial ExtentFinder::larger_grid(const Polynomial& a, const Polynomial& b, std::size_t axis,
                                     int field_id) const {
    if (const auto found = larger(a, b)) return *found;
    const Field& of = form_.fields[static_cast<std::size_t>(field_id)];
    throw Refusal(model_.object(of.object).where, "the arrays have no common grid: along " +
                                                      form_.axes[axis] + " there are " + model_.text(a) +
                                                      " cells and " + model_.text(b));
}

// Of a loop from h to n - h there are n cells, where no more are touched.
std::optional<Polynomial> ExtentFinder::symmetric_extent(std::size_t a, const ByField& needed) const {
    std::optional<Polynomial> best;
    for (const Statement& each : form_.statements) {
        const Polynomial offset = each.axes[a].offset;
        const Polynomial low = each.region[a].lower - offset, high = each.region[a].upper - offset;
        if (low.constant() || !offset.constant()) continue;
        const Polynomial all = low + high;
        const bool has_all = std::all_of(needed.begin(), needed.end(),
                                         [&](const auto& cells) { return grows(all - cells.second); });
        if (has_all && all.terms().size() < high.terms().size()) best = best ? larger(*best, all) : all;
    }
    return best;
}

void ExtentFinder::settle(std::size_t a, const ByField& needed) {
    std::map<int, Polynomial> of_group;
    std::optional<std::int64_t> low;  // cells that no statement is for
    for (const auto& [id, cells] : needed) {
        const auto found = of_group.emplace(group_of(id), cells).first;
        found->second = larger_grid(found->second, cells, a, id);
    }
    for (const Statement& each : form_.statements) {
        const std::int64_t begin = each.region[a].lower.constant().value_or(0);
        low = std::min(low.value_or(begin), begin);
    }
    const std::optional<Polynomial> whole = symmetric_extent(a, needed);
    std::optional<Polynomial> grid, untold;
    for (const auto& [id, own] : needed) {
        Field& of = form_.fields[static_cast<std::size_t>(id)];
        of.extents.resize(form_.axes.size());
        of.pitch.resize(form_.axes.size());
        if (!of.lies_along(a)) {
            of.extents[a] = of.pitch[a] = 1;
            continue;
        }
        const Polynomial cells = of_group.at(group_of(id));
        const std::optional<Polynomial> told = told_extent(id, a);
        const auto spare = told ? (*told - cells).constant() : std::optional<std::int64_t>();
        if (spare && *spare < 0)
            throw Refusal(model_.object(of.object).where,
                          "`" + of.name + "` has " + model_.text(*told) + " cells along " + form_.axes[a] +
                              ", and the loops go up to " + model_.text(cells),
                          {"where a row's last cell sees the row after, no boundary of a spec is meant"});
        const bool is_thin = told && !spare && cells.constant();  // a box at the low edge
        const bool is_within = told && !spare && !is_thin && grows(*told - cells) &&
                               told->terms().size() < cells.terms().size();  // n of which h are left out
        const bool is_moved = !of.first.empty() && !of.first[a].is_zero();
        const bool is_told = !is_moved && (spare || is_thin || is_within);
        if (is_within && is_told) bounds_.emplace_back(a, *told - cells + 1);
        const bool is_symmetric = whole && whole->terms().size() < cells.terms().size();
        of.extents[a] = is_told ? *told : is_moved ? cells : is_symmetric ? *whole : with_margin(cells, *low);
        of.pitch[a] = told.value_or(of.extents[a]);
        if (told && is_moved && !(*told - of.extents[a]).constant())
            form_.assumptions.push_back(need_text(model_, *told - of.extents[a] + 1));
        if (told && !is_told && !is_moved) {
            untold = untold ? larger_grid(*untold, of.extents[a], a, id) : of.extents[a];
            wide_ = of.pitch[a];
        }
        grid = grid ? larger_grid(*grid, of.extents[a], a, id) : of.extents[a];
    }
    if (untold) form_.assumptions.push_back(model_.text(*untold) + " <= " + model_.text(wide_));
    form_.grid.push_back(*grid);
}

std::vector<Polynomial> form_needs(const Model& model, const Form& form) {
    std::vector<Polynomial> needs;
    const auto need = [&](const Polynomial& poly) {
        if (poly.constant() && *poly.constant() >= 1) return;
        for (Polynomial& each : needs) {
            const auto apart = (poly - each).constant();
            if (!apart) continue;
            if (*apart < 0) each = poly;
            return;
        }
        needs.push_back(poly);
    };
    for (std::size_t s = 0; s < model.symbols.size(); ++s) {
        if (!model.symbols[s].assumed || has(Mutation::drop_assumption)) continue;
        const Polynomial apart = Polynomial::symbol(static_cast<int>(s)) - *model.symbols[s].assumed;
        need(apart + 1);
        need(Polynomial(1) - apart);
    }
    for (const auto* list : {&model.needs, &model.checks})
        for (const Polynomial& each : *list)
            need(each);
    for (const Polynomial& each : form.grid)
        need(each);
    for (const Field& each : form.fields) {
        for (std::size_t a = 0; a < each.extents.size(); ++a) {
            need(each.extents[a]);
            need(each.pitch[a] - each.extents[a] + 1);
            need(form.grid[a] - each.extents[a] + 1);
        }
        for (const Polynomial& apart : each.apart)
            need(apart);
    }
    for (const Statement& each : form.statements) {
        for (std::size_t a = 0; a < each.region.size(); ++a) {
            const Range& region = each.region[a];
            need(region.upper - region.lower);
            need(region.lower + 1);
            need(form.grid[a] - region.upper + 1);
            if (each.field >= 0)
                need(form.fields[static_cast<std::size_t>(each.field)].extents[a] - region.upper + 1);
            for (const auto& [id, read] : each.reads) {
                const Field& of = form.fields[static_cast<std::size_t>(read.field)];
                for (const Range& cells : read.touched[a]) {
                    const auto count = (cells.upper - cells.lower).constant();
                    if (count && *count <= 0) continue;
                    if (!has(Mutation::drop_need)) need(cells.lower + 1);
                    need(of.extents[a] - cells.upper + 1);
                }
            }
        }
    }
    return needs;
}

std::string need_text(const Model& model, const Polynomial& need) {
    Polynomial less, more;  // need - 1 is more - less
    const Polynomial apart = need - 1;
    for (const auto& [monomial, factor] : apart.terms())
        (factor < 0 ? less : more).add(monomial, factor < 0 ? -factor : factor);
    return model.text(less) + " <= " + model.text(more);
}

}  // namespace halo::lift
