#include "compiler/lift/form_edges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halo::lift {

namespace {

using Past = Field::Past;

[[noreturn]] void refuse_edge(SourceRange where, const std::string& why,
                              std::vector<std::string> notes = {}) {
    Refusal refusal(where, why, std::move(notes));
    refusal.choosing_may_help = true;
    throw refusal;
}

std::optional<std::int64_t> width(const Range& cells) {
    return (cells.upper - cells.lower).constant();
}

// Whether two of the bounds leave no cell.
bool is_nowhere(const Bounds& bounds) {
    return std::any_of(bounds.lower.begin(), bounds.lower.end(), [&](const Polynomial& lower) {
        return std::any_of(bounds.upper.begin(), bounds.upper.end(), [&](const Polynomial& upper) {
            return (upper - lower).constant().value_or(1) < 1;
        });
    });
}

// The cells of the statement in which it is read, by the conditions around it.
Range cells_of(const Statement& each, const Read& read, std::size_t a) {
    Range cells = each.region[a];
    const AxisIndex& axis = each.axes[a];
    const auto found = read.bounds.find(axis.loop);
    if (found == read.bounds.end()) return cells;
    if (is_nowhere(found->second)) return {cells.lower, cells.lower};
    if (const auto only = only_cell(read, axis)) return {*only, *only + 1};
    for (const Polynomial& lower : found->second.lower) {
        const auto above = (lower + axis.offset - cells.lower).constant();
        if (above && *above > 0) cells.lower = lower + axis.offset;
    }
    for (const Polynomial& upper : found->second.upper) {
        const auto below = (cells.upper - upper - axis.offset).constant();
        if (below && *below > 0) cells.upper = upper + axis.offset;
    }
    return cells;
}

}  // namespace

std::optional<Polynomial> only_cell(const Read& read, const AxisIndex& to) {
    const auto found = read.bounds.find(to.loop);
    if (found == read.bounds.end() || is_nowhere(found->second)) return std::nullopt;
    for (const Polynomial& lower : found->second.lower) {
        for (const Polynomial& upper : found->second.upper) {
            if ((upper - lower).constant() == 1) return lower + to.offset;
        }
    }
    return std::nullopt;
}

namespace {

class TouchFinder {
public:
    TouchFinder(const Model& model, const AxisFinder& axes, Form& form)
        : model_(model), axes_(axes), form_(form) {}

    void find() {
        for (Statement& each : form_.statements) {
            for (auto& [id, read] : each.reads)
                find_in(each, model_.read(id), read);
        }
    }

private:
    void find_in(const Statement& each, const Read& from, ResolvedRead& read) {
        const std::size_t rank = form_.axes.size();
        for (std::size_t a = 0; a < rank; ++a)
            read.cells.push_back(cells_of(each, from, a));
        std::vector<Range> elsewhere = read.cells;
        for (const PathEntry& entry : from.path) {
            for (const Edge& edge : entry.edges)
                add_edge(each, from, entry, edge, read, elsewhere);
        }
        read.touched.resize(rank);
        const Field& of = form_.fields[static_cast<std::size_t>(read.field)];
        for (std::size_t a = 0; a < rank; ++a) {
            if (of.lies_along(a))
                read.touched[a].push_back(
                    {elsewhere[a].lower + read.offset[a], elsewhere[a].upper + read.offset[a]});
            else
                read.touched[a].push_back({0, is_empty(elsewhere[a]) ? 0 : 1});
        }
        for (const ReadEdge& edge : read.edges) {
            const Range there = edge.fixed
                                    ? Range{*edge.fixed, *edge.fixed + 1}
                                    : Range{edge.cells.lower + edge.apart, edge.cells.upper + edge.apart};
            read.touched[edge.axis].push_back(there);
        }
    }

    void add_edge(const Statement& each, const Read& from, const PathEntry& entry, const Edge& edge,
                  ResolvedRead& read, std::vector<Range>& elsewhere) {
        const auto axis = std::find_if(each.axes.begin(), each.axes.end(),
                                       [&](const AxisIndex& one) { return one.loop == edge.loop; });
        const auto refuse = [&](const std::string& why) { refuse_edge(from.where, why); };
        if (axis == each.axes.end())
            refuse("this index differs by `" + model_.loop(edge.loop).name +
                   "`, along which nothing is written");
        const auto a = static_cast<std::size_t>(axis - each.axes.begin());
        ReadEdge made;
        made.axis = a;
        made.is_low = edge.is_low;
        const Polynomial bound = edge.bound + axis->offset;
        Range& rest = elsewhere[a];
        made.cells = edge.is_low ? Range{rest.lower, bound} : Range{bound, rest.upper};
        const auto count = width(made.cells),
                   others = width({edge.is_low ? bound : rest.lower, edge.is_low ? rest.upper : bound});
        if (count && *count <= 0) return;  // in no cell
        if (others && *others <= 0) refuse("this index has a condition that holds in all cells");
        (edge.is_low ? rest.lower : rest.upper) = bound;
        for (const ReadEdge& known : read.edges) {
            if (known.axis == a) refuse("this index differs at both edges");
        }
        const std::vector<Geometry::Axis>& all = axes_.geometry(from.object).axes;
        const Field& of = form_.fields[static_cast<std::size_t>(read.field)];
        if (!of.lies_along(a))
            refuse("this index differs by `" + model_.loop(edge.loop).name +
                   "`, along which the array has one value");
        const Geometry::Axis& along = all[all.size() - 1 - of.own(a)];
        const auto by =
            along.level == entry.level ? (edge.more * entry.stride).divided_by(along.stride) : std::nullopt;
        if (!by) refuse("at an edge this index moves along another axis than that of the edge");
        const int symbol = model_.loop(edge.loop).symbol;
        const Polynomial cell = Polynomial::symbol(symbol) + axis->offset;
        const Polynomial there = cell + read.offset[a] + *by;
        const auto factor = there.coefficient(symbol);
        if (factor && factor->is_zero())
            made.fixed = there;
        else
            made.apart = there - cell;
        const Polynomial& known = made.fixed ? *made.fixed : made.apart;
        for (const Loop& loop : model_.loops) {
            if (known.has(loop.symbol)) refuse("which cell this is at an edge differs from cell to cell");
        }
        read.edges.push_back(made);
    }

    const Model& model_;
    const AxisFinder& axes_;
    Form& form_;
};

class BoundaryFinder {
public:
    BoundaryFinder(const Model& model, Form& form) : model_(model), form_(form) {}

    void find() {
        for (Field& each : form_.fields)
            each.past.resize(form_.axes.size(), {Past::nothing, Past::nothing});
        for (const Statement& each : form_.statements) {
            for (const auto& [id, read] : each.reads)
                find_in(each, model_.read(id), read);
        }
        for (Field& each : form_.fields) {
            for (std::array<Past, 2>& faces : each.past)
                settle(each, faces);
        }
    }

private:
    void find_in(const Statement& each, const Read& from, const ResolvedRead& read) {
        // What a step has written is called like the field that holds it after the step.
        int id = read.field;
        for (std::size_t i = 0; read.is_new && i < form_.fields.size(); ++i) {
            if (form_.fields[i].after_step == read.field) id = static_cast<int>(i);
        }
        Field& field = form_.fields[static_cast<std::size_t>(id)];
        const bool is_never = is_never_done(read);
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            if (!field.lies_along(a)) continue;
            const Range& region = each.region[a];
            // Where it is read in some cells alone, or in none, what it is in the others does not matter.
            const auto low = (region.lower + read.offset[a]).constant();
            const auto high = (form_.grid[a] - region.upper - read.offset[a]).constant();
            if ((is_never || !(region.lower == read.cells[a].lower)) && (!low || *low < 0))
                add(field, a, 0, Past::anything, from);
            if ((is_never || !(region.upper == read.cells[a].upper)) && (!high || *high < 0))
                add(field, a, 1, Past::anything, from);
        }
        for (const ReadEdge& edge : read.edges) {
            const auto found = boundary(edge, read);
            if (!found)
                refuse_edge(
                    from.where,
                    "at an edge this is neither the cell at the edge nor the one at the other edge of "
                    "the grid, which has " +
                        model_.text(form_.grid[edge.axis]) + " cells along " + form_.axes[edge.axis],
                    {"indices that are clamped, or that go around, become a spec's boundary"});
            add(field, edge.axis, edge.is_low ? 0 : 1, *found, from);
        }
    }

    // In cells of an axis: the edge's cells read cell `fixed`, or their own plus `apart`; others their own
    // plus the offset, which is beyond the edge in the edge's cells.
    std::optional<Past> boundary(const ReadEdge& edge, const ResolvedRead& read) const {
        const Polynomial& n = form_.grid[edge.axis];
        const Polynomial offset = read.offset[edge.axis];
        const bool is_one = width(edge.cells) == 1;
        // The last cell that reads beyond the edge, seen from the edge: -1 is the first one beyond it.
        const auto last = edge.is_low ? (edge.cells.upper - 1 + offset).constant()
                                      : (n - 1 - edge.cells.lower - offset).constant();
        if (!last) return std::nullopt;
        const auto reads = [&](const Polynomial& cell) {  // in each of the edge's cells
            if (edge.fixed) return *edge.fixed == cell;
            return is_one && edge.cells.lower + edge.apart == cell;
        };
        const Polynomial at_edge = edge.is_low ? Polynomial(0) : n - 1;
        if ((*last == -1 || *last == 0) && reads(at_edge)) return Past::clamp;
        if (*last != -1) return std::nullopt;
        const Polynomial around = edge.is_low ? n : n * Polynomial(-1);
        const bool goes_around = edge.fixed ? is_one && *edge.fixed == edge.cells.lower + offset + around
                                            : edge.apart == offset + around;
        return goes_around ? std::optional(Past::periodic) : std::nullopt;
    }

    void add(Field& field, std::size_t a, std::size_t face, Past wanted, const Read& from) const {
        Past& known = field.past[a][face];
        if (known == Past::nothing || known == Past::anything) {
            known = wanted;
        } else if (wanted != Past::anything && wanted != known) {
            refuse_edge(from.where,
                        "`" + field.name +
                            "` is clamped in one place and goes around in another, and a field has "
                            "one boundary");
        }
    }
    // Both faces are periodic or none.
    void settle(const Field& field, std::array<Past, 2>& faces) const {
        if (faces[0] != Past::periodic && faces[1] != Past::periodic) return;
        for (Past& each : faces) {
            if (each == Past::clamp)
                refuse_edge(model_.object(field.object).where,
                            "`" + field.name +
                                "` is clamped at one face and goes around at the other, and a spec's axis is "
                                "periodic at both or at none");
            each = Past::periodic;
        }
    }

    const Model& model_;
    Form& form_;
};

}  // namespace

bool is_empty(const Range& cells) {
    const auto count = (cells.upper - cells.lower).constant();
    return count && *count <= 0;
}

bool is_never_done(const ResolvedRead& read) {
    return std::ranges::any_of(
        read.touched, [](const std::vector<Range>& along) { return std::ranges::all_of(along, is_empty); });
}

void find_touched(const Model& model, const AxisFinder& axes, Form& form) {
    TouchFinder(model, axes, form).find();
}

void find_boundaries(const Model& model, Form& form) {
    BoundaryFinder(model, form).find();
}

}  // namespace halo::lift
