#include "compiler/lift/form_axes.h"

#include <algorithm>

#include "compiler/lift/form_aliases.h"

namespace halo::lift {

AxisFinder::Split AxisFinder::split(const PathEntry& entry, SourceRange where) const {
    Split result;
    result.rest = entry.index;
    for (std::size_t i = 0; i < model_.loops.size(); ++i) {
        const Loop& loop = model_.loops[i];
        if (!entry.index.has(loop.symbol)) continue;
        if (loop.is_time)
            throw Refusal(where, "which cell this is changes from step to step with `" + loop.name + "`");
        const auto factor = entry.index.coefficient(loop.symbol);
        bool is_plain = factor.has_value();
        for (const Loop& other : model_.loops)
            is_plain = is_plain && !factor->has(other.symbol);
        if (!is_plain) throw Refusal(where, "this subscript multiplies loop indices with each other");
        result.loops.emplace_back(static_cast<int>(i), *factor);
        result.rest = result.rest.without(loop.symbol);
    }
    for (const Symbol& symbol : model_.symbols) {
        const bool is_thread = symbol.kind == Symbol::Kind::builtin &&
                               result.rest.has(static_cast<int>(&symbol - model_.symbols.data()));
        if (is_thread)
            throw Refusal(
                where,
                "this subscript has `" + symbol.name + "` in it other than as blockIdx*blockDim + threadIdx",
                {"kernels with one thread for each cell are lifted"});
    }
    return result;
}

void AxisFinder::add(int object, const std::vector<PathEntry>& path, SourceRange where) {
    const bool is_new = first_.emplace(object, where).second;
    Geometry& geometry = geometries_[object];
    const auto note = [&](int level, const Polynomial& stride, int loop) {
        for (Geometry::Axis& axis : geometry.axes) {
            if (axis.level != level || !(axis.stride == stride)) continue;
            if (axis.loop < 0 || (loop >= 0 && loop < axis.loop)) axis.loop = loop;
            return;
        }
        geometry.axes.push_back({level, stride, loop, std::nullopt, false});
    };
    for (const Model::WrittenOut& each : model_.written_out)
        if (is_new && each.object == object) note(each.level, each.stride, -1);
    for (const PathEntry& entry : path) {
        if (entry.modulus) continue;
        note(entry.level, entry.stride, -1);
        for (const auto& [loop, factor] : split(entry, where).loops)
            note(entry.level, entry.stride * factor, loop);
    }
}

void AxisFinder::settle() {
    for (auto& [object, geometry] : geometries_) {
        const auto divides = [](const Polynomial& small, const Polynomial& large) {
            return !(small == large) && large.divided_by(small).has_value();
        };
        std::vector<Geometry::Axis>& axes = geometry.axes;
        std::stable_sort(axes.begin(), axes.end(), [&](const auto& a, const auto& b) {
            if (a.level != b.level) return a.level < b.level;
            return divides(b.stride, a.stride);
        });
        const std::string& name = model_.object(object).name;
        for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
            if (axes[i].level != axes[i + 1].level) continue;
            const auto ratio = axes[i].stride.divided_by(axes[i + 1].stride);
            const auto fixed = ratio ? ratio->constant() : std::nullopt;
            if (!ratio && are_apart(axes, i)) {
                axes[i].is_apart = true;
                continue;
            }
            if (!ratio || (fixed && *fixed < 1)) {
                check_mirrored(axes[i], axes[i + 1], object);
                throw Refusal(first_.at(object), "the strides of `" + name + "` are ambiguous: `" +
                                                     model_.text(axes[i].stride) + "` and `" +
                                                     model_.text(axes[i + 1].stride) +
                                                     "`, of which none is a multiple of the other");
            }
            axes[i + 1].extent = *ratio;
        }
        if (std::ranges::any_of(axes, &Geometry::Axis::is_apart) && axes.back().loop < 0)
            throw Refusal(first_.at(object),
                          "the strides of `" + name + "` are ambiguous: `" +
                              model_.text(axes[axes.size() - 3].stride) + "` and `" +
                              model_.text(axes[axes.size() - 2].stride) +
                              "` are parameters, and no loop goes from one cell to the next");
        if (axes.empty()) throw Refusal(first_.at(object), "`" + name + "` is no array over cells");
        if (axes.size() > 3)
            throw Refusal(first_.at(object), "`" + name + "` has " + std::to_string(axes.size()) +
                                                 " axes, and a grid has three at most");
    }
}

// A loop that copies cells to the other side of an edge goes up the array and down again.
void AxisFinder::check_mirrored(const Geometry::Axis& one, const Geometry::Axis& other, int object) const {
    if (one.loop < 0 || one.loop != other.loop || !(one.stride + other.stride).is_zero()) return;
    const Loop& loop = model_.loop(one.loop);
    std::vector<std::string> notes;
    const Polynomial count = loop.upper - loop.lower;
    for (const Scalar& each : model_.scalars) {
        if (each.symbol < 0 || !count.has(each.symbol)) continue;
        notes.push_back("mirrored cells are lifted for one number of them: --assume " + each.access +
                        "=2, or what it is");
        break;
    }
    throw Refusal(first_.at(object),
                  "the loop over `" + loop.name + "` goes up `" + model_.object(object).name +
                      "` in one place and down in another, and how many cells it mirrors is not known before",
                  notes);
}

// Whether two strides are parameters of their own, as in i + j*row + k*plane: then the loops tell which one
// is assumed to be the larger, and a call makes sure of it.
bool AxisFinder::are_apart(std::vector<Geometry::Axis>& axes, std::size_t i) const {
    const auto is_parameter = [](const Polynomial& stride) {
        return stride.terms().size() == 1 && stride.terms().begin()->first.size() == 1 &&
               stride.terms().begin()->second == 1;
    };
    Geometry::Axis &one = axes[i], &other = axes[i + 1];
    const bool is_last = axes.size() == i + 3 && axes.back().stride == Polynomial(1);
    if (!is_last || one.loop < 0 || other.loop < 0 || one.loop == other.loop) return false;
    if (!is_parameter(one.stride) || !is_parameter(other.stride)) return false;
    if (one.loop > other.loop) std::swap(one, other);
    return true;
}

int AxisFinder::find_axis(int object, int level, const Polynomial& stride) const {
    const std::vector<Geometry::Axis>& axes = geometries_.at(object).axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].level == level && axes[i].stride == stride) return static_cast<int>(i);
    }
    return -1;
}

// Whether each subscript is one axis: a[k][j][i].
bool AxisFinder::is_direct(int object, const std::vector<PathEntry>& path) const {
    std::size_t entries = 0;
    for (const PathEntry& entry : path) {
        if (entry.modulus) continue;
        ++entries;
        if (find_axis(object, entry.level, entry.stride) < 0) return false;
    }
    return entries == geometries_.at(object).axes.size();
}

// Of a buffer that is filled from its first element on: where all loops begin, the subscript is zero.
bool AxisFinder::begins_at_zero(const std::vector<PathEntry>& path, const Polynomial& rest) const {
    if (path.size() != 1 || rest.constant()) return false;
    Polynomial at = path[0].index * path[0].stride;
    for (const Loop& loop : model_.loops) {
        if (const auto factor = at.coefficient(loop.symbol))
            at = at.without(loop.symbol) + *factor * loop.lower;
    }
    return at.is_zero();
}

std::vector<AxisIndex> AxisFinder::resolve(int object, const std::vector<PathEntry>& path,
                                           SourceRange where) const {
    const std::vector<Geometry::Axis>& axes = geometries_.at(object).axes;
    std::vector<AxisIndex> result(axes.size());
    const bool direct = is_direct(object, path);
    for (const PathEntry& entry : path) {
        if (entry.modulus) continue;
        const Split parts = split(entry, where);
        for (const auto& [loop, factor] : parts.loops) {
            AxisIndex& axis =
                result[static_cast<std::size_t>(find_axis(object, entry.level, entry.stride * factor))];
            if (axis.loop >= 0)
                throw Refusal(where, "the strides of `" + model_.object(object).name + "` are ambiguous: `" +
                                         model_.loop(axis.loop).name + "` and `" + model_.loop(loop).name +
                                         "` go along the same axis");
            axis.loop = loop;
        }
    }
    for (const PathEntry& entry : path) {
        if (entry.modulus) continue;
        Polynomial rest = split(entry, where).rest;
        if (direct) {
            AxisIndex& axis = result[static_cast<std::size_t>(find_axis(object, entry.level, entry.stride))];
            axis.offset = axis.offset + rest;
            continue;
        }
        rest = rest * entry.stride;
        if (begins_at_zero(path, rest)) {
            for (AxisIndex& axis : result) {
                if (axis.loop >= 0) axis.offset = axis.offset - model_.loop(axis.loop).lower;
            }
            continue;
        }
        for (std::size_t i = 0; i < axes.size(); ++i) {  // larger strides first
            if (axes[i].level != entry.level) continue;
            auto [quotient, remainder] = rest.divide(axes[i].stride);
            // The remainder belongs to the next axis; an axis without a loop has no negative index.
            const bool is_last = i + 1 == axes.size() || axes[i + 1].level != entry.level;
            if (!is_last && result[i + 1].loop < 0 && remainder.is_below_zero()) {
                quotient = quotient - 1;
                remainder = remainder + axes[i].stride;
            }
            result[i].offset = result[i].offset + quotient;
            rest = remainder;
        }
        if (!rest.is_zero())
            throw Refusal(where, "the strides of `" + model_.object(object).name +
                                     "` are ambiguous: " + model_.text(rest) + " is left of this subscript");
    }
    return result;
}

std::vector<AxisIndex> AxisFinder::resolve_reduction(const Store& reduction) const {
    std::vector<AxisIndex> best;
    for (const int read : reads_of(model_, reduction)) {
        const Read& from = model_.read(read);
        const std::vector<AxisIndex> axes = resolve(from.object, from.path, from.where);
        const auto has = [&](int loop) {
            return std::any_of(axes.begin(), axes.end(),
                               [loop](const AxisIndex& axis) { return axis.loop == loop; });
        };
        if (!std::all_of(reduction.loops.begin(), reduction.loops.end(), has)) continue;
        const bool is_plain = std::all_of(axes.begin(), axes.end(), [](const AxisIndex& axis) {
            return axis.loop < 0 || axis.offset.is_zero();
        });
        if (best.empty() || is_plain) best = axes;
        if (is_plain) return best;
    }
    if (best.empty())
        throw Refusal(reduction.where,
                      "this is accumulated over iterations of a loop, and not over the cells of an array");
    return best;
}

Polynomial tightest(const Model& model, const std::vector<Polynomial>& all, bool largest, SourceRange where) {
    Polynomial best = all.front();
    for (const Polynomial& each : all) {
        const auto apart = (each - best).constant();
        if (!apart)
            throw Refusal(where, "which of the bounds `" + model.text(best) + "` and `" + model.text(each) +
                                     "` counts here is not known");
        if ((*apart > 0) == largest) best = each;
    }
    return best;
}

}  // namespace halo::lift
