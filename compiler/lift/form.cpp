#include "compiler/lift/form.h"

#include <algorithm>
#include <set>

#include "compiler/lift/form_aliases.h"
#include "compiler/lift/form_axes.h"
#include "compiler/lift/form_edges.h"
#include "compiler/lift/form_extents.h"
#include "compiler/lift/form_in_place.h"
#include "compiler/lift/form_origins.h"
#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

class FormFinder {
public:
    FormFinder(const Model& model, const FormOptions& options)
        : model_(model), options_(options), axes_(model) {}

    Form find() {
        exclude_aliases(model_, options_.no_alias);
        collect();
        resolve_all();
        find_regions();
        find_touched(model_, axes_, form_);
        ExtentFinder(model_, axes_, form_, touches_).find();
        find_versions();
        find_roles();
        find_boundaries(model_, form_);
        check_coverage();
        if (options_.in_place) {
            change_in_place(model_, form_);
            make_room(form_);
        }
        return std::move(form_);
    }

private:
    const Store& store(std::size_t i) const { return model_.stores[i]; }
    std::vector<int> reads_of(std::size_t i) const { return halo::lift::reads_of(model_, store(i)); }

    // ---- fields and axes

    int field(int object, const std::vector<PathEntry>& path) {
        Field made;
        made.object = object;
        made.name = model_.object(object).name;
        for (const PathEntry& entry : path) {
            if (!entry.modulus) continue;
            made.modulus = entry.modulus;
            made.phase = entry.phase;
            made.phase_stride = entry.stride;
            made.phase_level = entry.level;
            if (*entry.phase == 1)
                made.name += "_next";
            else if (*entry.phase == *entry.modulus - 1)
                made.name += "_before";
            else if (*entry.phase != 0)
                made.name += "_" + std::to_string(*entry.phase);
        }
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Field& known = form_.fields[i];
            if (known.object == object && known.phase == made.phase && known.modulus == made.modulus)
                return static_cast<int>(i);
        }
        form_.fields.push_back(made);
        return static_cast<int>(form_.fields.size()) - 1;
    }

    void collect() {
        for (std::size_t i = 0; i < model_.stores.size(); ++i) {
            if (store(i).reduction < 0) axes_.add(store(i).object, store(i).path, store(i).where);
            for (const int read : reads_of(i))
                axes_.add(model_.read(read).object, model_.read(read).path, model_.read(read).where);
        }
        axes_.settle();
    }

    static std::vector<AxisIndex> reversed(std::vector<AxisIndex> axes) {
        std::reverse(axes.begin(), axes.end());
        return axes;
    }

    void resolve_all() {
        touches_.resize(model_.stores.size());
        for (std::size_t i = 0; i < model_.stores.size(); ++i) {
            const Store& each = store(i);
            Statement made;
            made.store = static_cast<int>(i);
            if (each.reduction >= 0) {
                made.axes = reversed(axes_.resolve_reduction(each));
            } else {
                made.field = field(each.object, each.path);
                made.axes = reversed(axes_.resolve(each.object, each.path, each.where));
            }
            for (const int loop : each.loops) {
                if (loop == model_.time_loop) continue;
                made.loops.push_back(loop);
                const bool is_axis = std::any_of(made.axes.begin(), made.axes.end(),
                                                 [loop](const AxisIndex& axis) { return axis.loop == loop; });
                if (!is_axis && each.reduction >= 0)
                    throw Refusal(each.where, "no array has an axis along which `" + model_.loop(loop).name +
                                                  "` goes, over which this is accumulated");
                if (!is_axis)
                    throw Refusal(each.where, "all iterations of the loop over `" + model_.loop(loop).name +
                                                  "` store this at the same cell");
            }
            if (made.field >= 0) touches_[i].push_back({made.field, made.axes, each.where, -1});
            for (const int read : reads_of(i)) {
                const Read& from = model_.read(read);
                touches_[i].push_back({field(from.object, from.path),
                                       reversed(axes_.resolve(from.object, from.path, from.where)),
                                       from.where, read});
            }
            form_.statements.push_back(std::move(made));
        }
        const std::size_t rank = form_.statements.front().axes.size();
        for (std::size_t i = 0; i < model_.stores.size(); ++i)
            spread_all(i, rank);
        find_origins(model_, axes_, form_, touches_);
        for (std::size_t i = 0; i < model_.stores.size(); ++i)
            relate(i, rank);
        form_.axes = {"x", "y", "z"};
        form_.axes.resize(rank);
        for (Field& each : form_.fields) {
            const std::vector<Geometry::Axis>& axes = axes_.geometry(each.object).axes;
            for (std::size_t a = 0; a < rank; ++a) {
                const bool is_along = each.lies_along(a);
                const Geometry::Axis& own = is_along ? axes[axes.size() - 1 - each.own(a)] : axes.back();
                each.stride.push_back(is_along ? own.stride : Polynomial(0));
                each.level.push_back(own.level);
            }
        }
    }

    void spread_all(std::size_t i, std::size_t rank) {
        const Statement& made = form_.statements[i];
        for (Touch& touch : touches_[i]) {
            if (touch.axes.size() != rank || made.axes.size() != rank) spread(touch, made, rank);
        }
    }

    // How far each read is from the cell that is stored.
    void relate(std::size_t i, std::size_t rank) {
        Statement& made = form_.statements[i];
        for (const Touch& touch : touches_[i]) {
            const std::string name = form_.fields[static_cast<std::size_t>(touch.field)].name;
            if (touch.read < 0) continue;
            ResolvedRead read;
            read.field = touch.field;
            for (std::size_t a = 0; a < rank; ++a) {
                const AxisIndex from = touch.axes[a], to = made.axes[a];
                const auto only = from.loop < 0 ? only_cell(model_.read(touch.read), to) : std::nullopt;
                if (from.loop != to.loop && !only) throw_unrelated(touch, name, from, to);
                const auto offset = (from.offset - only.value_or(to.offset)).constant();
                if (!offset)
                    throw Refusal(touch.where,
                                  "how far this is from the cell that is written is not a number: " +
                                      model_.text(from.offset - to.offset),
                                  assume_notes(from.offset - to.offset));
                if (*offset > 512 || *offset < -512)
                    throw Refusal(touch.where, "this is " + std::to_string(*offset) +
                                                   " cells away, and a stencil reaches 512 at most");
                read.offset.push_back(static_cast<int>(*offset));
            }
            made.reads[touch.read] = read;
        }
    }

    // An array that has some of the grid's axes alone, and is read: along the others it has one value.
    void spread(Touch& touch, const Statement& made, std::size_t rank) {
        if (touch.read < 0 || touch.axes.size() > rank || made.axes.size() != rank)
            throw_axes_differ(touch, rank);
        Field& of = form_.fields[static_cast<std::size_t>(touch.field)];
        std::vector<int> own(rank, -1);
        std::vector<AxisIndex> axes = made.axes;
        for (std::size_t o = 0; o < touch.axes.size(); ++o) {
            const AxisIndex& index = touch.axes[o];
            const auto along = std::ranges::find_if(
                made.axes, [&](const AxisIndex& axis) { return index.loop >= 0 && axis.loop == index.loop; });
            if (along == made.axes.end()) throw_axes_differ(touch, rank);
            const auto a = static_cast<std::size_t>(along - made.axes.begin());
            if (own[a] >= 0) throw_axes_differ(touch, rank);  // a diagonal
            own[a] = static_cast<int>(o);
            axes[a] = index;
        }
        if (has(Mutation::turn_profile)) std::ranges::reverse(own);
        if (!of.own_axis.empty() && of.own_axis != own)
            throw Refusal(touch.where, "`" + of.name +
                                           "` has fewer axes than the grid, and is read along others in "
                                           "another place: a field lies over the same axes everywhere");
        of.own_axis = own;
        touch.axes = axes;
    }
    [[noreturn]] void throw_axes_differ(const Touch& touch, std::size_t rank) const {
        const std::string& name = form_.fields[static_cast<std::size_t>(touch.field)].name;
        const int first = std::max(0, form_.statements.front().field);
        throw Refusal(touch.where,
                      "`" + name + "` has " + std::to_string(touch.axes.size()) + " axes, and `" +
                          form_.fields[static_cast<std::size_t>(first)].name + "` has " +
                          std::to_string(rank) +
                          (touch.read < 0 ? ": what is written has a value at every cell of the grid"
                                          : ": what is read here is no row or plane of its own along the "
                                            "loops"),
                      {"an array of fewer axes is lifted where it is read by the indices of the loops"});
    }

    std::vector<std::string> assume_notes(const Polynomial& apart) const {
        for (const Scalar& each : model_.scalars) {
            if (each.symbol >= 0 && apart.has(each.symbol))
                return {"for one value of `" + each.access + "` it may be one: --assume " + each.access +
                        "=2, or what it is"};
        }
        return {};
    }

    [[noreturn]] void throw_unrelated(const Touch& touch, const std::string& name, const AxisIndex& from,
                                      const AxisIndex& to) const {
        if (from.loop < 0 || to.loop < 0)
            throw Refusal(touch.where,
                          "this reads `" + name +
                              "` at a fixed place along an axis along which others vary: its distance is "
                              "not the same for all cells");
        throw Refusal(touch.where, "the axes of `" + name + "` are in another order here: along one, `" +
                                       model_.loop(to.loop).name + "` runs where this reads by `" +
                                       model_.loop(from.loop).name + "`");
    }

    // ---- boxes

    void find_regions() {
        for (Statement& each : form_.statements) {
            const Store& from = store(static_cast<std::size_t>(each.store));
            for (const AxisIndex& axis : each.axes) {
                if (axis.loop < 0) {
                    each.region.push_back({axis.offset, axis.offset + 1});
                    continue;
                }
                const Bounds& bounds = from.bounds.at(axis.loop);
                if (bounds.upper.empty())
                    throw Refusal(from.where,
                                  "how many cells there are is not said: threads are not held back by an "
                                  "`if` as in `if (i < n)`");
                each.region.push_back({tightest(model_, bounds.lower, true, from.where) + axis.offset,
                                       tightest(model_, bounds.upper, false, from.where) + axis.offset});
            }
        }
    }

    // ---- what is seen

    // Whether the iteration of the common loops in which the store p wrote the cell comes before that of the
    // reader: -1 before, 1 after, 0 the same.
    int order(const Statement& p, const Statement& q, const std::vector<int>& offset,
              SourceRange where) const {
        for (std::size_t l = 0; l < p.loops.size() && l < q.loops.size(); ++l) {
            if (p.loops[l] != q.loops[l]) return 0;
            const Loop& loop = model_.loop(p.loops[l]);
            const auto axis_of = [&](const Statement& each) {
                for (std::size_t a = 0; a < each.axes.size(); ++a) {
                    if (each.axes[a].loop == p.loops[l]) return static_cast<int>(a);
                }
                return -1;
            };
            const int a = axis_of(p);
            if (a != axis_of(q) || a < 0)
                throw Refusal(
                    where, "the loop over `" + loop.name + "` runs along another axis in another statement");
            const auto at = static_cast<std::size_t>(a);
            // iteration of the writer minus that of the reader
            const auto apart = (q.axes[at].offset + offset[at] - p.axes[at].offset).constant();
            if (!apart) throw Refusal(where, "how far this is from what is written is not known");
            if (*apart == 0) continue;
            if (loop.reads_first) return 1;
            if (loop.parallel)
                throw Refusal(
                    where, loop.name.starts_with("thread ")
                               ? "another thread writes this cell in the same launch: which comes first "
                                 "is not known"
                               : "another iteration of this loop writes this cell, and they have no order");
            return (*apart < 0) != loop.descending ? -1 : 1;
        }
        return 0;
    }

    void find_versions() {
        for (std::size_t q = 0; q < form_.statements.size(); ++q) {
            Statement& reader = form_.statements[q];
            if (reader.field >= 0) {
                form_.fields[static_cast<std::size_t>(reader.field)].is_written = true;
                check_write_order(q);
            }
            for (auto& [id, read] : reader.reads)
                see(q, id, read);
        }
    }

    void check_write_order(std::size_t q) const {
        const Statement& later = form_.statements[q];
        const SourceRange where = store(q).where;
        for (std::size_t p = 0; p < q; ++p) {
            const Statement& earlier = form_.statements[p];
            if (earlier.field != later.field) continue;
            const std::vector<int> here(form_.axes.size(), 0);
            if (order(earlier, later, here, where) == 1)
                throw Refusal(
                    where, "what is stored here is overwritten by an earlier statement of a later iteration")
                    .label(store(p).where, "the earlier statement");
        }
    }

    void see(std::size_t q, int id, ResolvedRead& read) {
        const Statement& reader = form_.statements[q];
        const Read& from = model_.read(id);
        int seen = 0, before = 0, carried = -1;
        bool is_prefix = true, has_unseen = false;
        for (std::size_t p = 0; p < form_.statements.size(); ++p) {
            const Statement& writer = form_.statements[p];
            if (writer.field != read.field) continue;
            if (p < q) ++before;
            const bool shares =
                !writer.loops.empty() && !reader.loops.empty() && writer.loops[0] == reader.loops[0];
            if (shares && !read.edges.empty()) {
                Refusal refusal(from.where,
                                "this reads `" + form_.fields[static_cast<std::size_t>(read.field)].name +
                                    "` beyond an edge in the loops that write it: what it sees there depends "
                                    "on their order");
                refusal.choosing_may_help = true;
                throw refusal;
            }
            const int difference = shares ? order(writer, reader, read.offset, from.where) : 0;
            const bool is_seen = difference < 0 || (difference == 0 && static_cast<int>(p) < from.sequence);
            if (is_seen && p >= q) carried = static_cast<int>(p);
            if (is_seen && has_unseen) is_prefix = false;
            has_unseen = has_unseen || !is_seen;
            if (is_seen) ++seen;
        }
        Field& field = form_.fields[static_cast<std::size_t>(read.field)];
        if (carried >= 0) throw_carried(q, static_cast<std::size_t>(carried), from, field);
        if (!is_prefix || (seen != 0 && seen != before))
            throw Refusal(from.where,
                          "this sees `" + field.name +
                              "` between two of its changes in one step, for which a spec has no name");
        read.is_new = seen > 0 && !has(Mutation::keep_order);
        if (!read.is_new) field.is_old_read = true;
    }

    [[noreturn]] void throw_carried(std::size_t q, std::size_t p, const Read& from,
                                    const Field& field) const {
        const std::string what =
            p == q ? "this reads a cell of `" + field.name +
                         "` that an earlier iteration of the loop has already changed"
                   : "this reads a cell of `" + field.name +
                         "` that a later statement has changed in an earlier iteration of the loop";
        throw Refusal(
            from.where, what,
            {"updates in place that use new values (Gauss-Seidel) depend on the order of the cells, and a "
             "stencil computes all cells at once; Jacobi's iteration with a second array can be lifted"})
            .label(store(p).where, "`" + field.name + "` is written here");
    }

    // ---- which fields are states

    void find_roles() {
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            Field& each = form_.fields[i];
            each.after_step = static_cast<int>(i);
            for (const Statement& statement : form_.statements)
                each.writes += statement.field == static_cast<int>(i);
        }
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Field each = form_.fields[i];
            if (each.modulus) {
                std::vector<PathEntry> path(1);
                path[0].modulus = each.modulus;
                path[0].phase = (*each.phase + 1) % *each.modulus;
                const int next = field(each.object, path);
                copy_shape(next, each);
                form_.fields[i].after_step = next;
            } else if (const auto found = model_.after_step.find(each.object);
                       found != model_.after_step.end()) {
                const int next = field(found->second, {});
                copy_shape(next, each);
                form_.fields[i].after_step = next;
            }
        }
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            Field& each = form_.fields[i];
            if (each.after_step != static_cast<int>(i)) each.is_state = true;
            if (each.is_written && (each.is_old_read || reads_rim(static_cast<int>(i)))) each.is_state = true;
        }
    }

    void copy_shape(int to, const Field& from) {
        Field& made = form_.fields[static_cast<std::size_t>(to)];
        if (!made.extents.empty()) return;
        made.extents = from.extents;
        made.pitch = from.pitch;
        made.stride = from.stride;
        made.level = from.level;
        made.own_axis = from.own_axis;
        made.apart = from.apart;
        made.phase_stride = from.phase_stride;
        made.phase_level = from.phase_level;
        made.after_step = to;
    }

    // Whether a read of the field reaches cells that the step has not written before, for sure.
    bool reads_rim(int id) const { return first_rim_read(id) != nullptr; }

    const Read* first_rim_read(int id) const {
        for (std::size_t q = 0; q < form_.statements.size(); ++q) {
            for (const auto& [read_id, read] : form_.statements[q].reads) {
                if (read.field != id) continue;
                const bool covered = std::any_of(
                    form_.statements.begin(), form_.statements.begin() + static_cast<std::ptrdiff_t>(q),
                    [&](const Statement& writer) { return covers(writer, form_.statements[q], read); });
                if (!covered || !read.is_new) return &model_.read(read_id);
            }
        }
        return nullptr;
    }

    bool covers(const Statement& writer, const Statement& reader, const ResolvedRead& read) const {
        if (writer.field != read.field || !store(static_cast<std::size_t>(writer.store)).guards.empty())
            return false;
        if (!read.edges.empty()) {  // around the grid, or anywhere
            for (std::size_t a = 0; a < form_.axes.size(); ++a) {
                const Range& cells = writer.region[a];
                if (!(cells.lower == Polynomial(0)) || !(cells.upper == form_.grid[a])) return false;
            }
            return true;
        }
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            const auto low = (reader.region[a].lower + read.offset[a] - writer.region[a].lower).constant();
            const auto high = (writer.region[a].upper - reader.region[a].upper - read.offset[a]).constant();
            if (!low || !high || *low < 0 || *high < 0) return false;
        }
        return true;
    }

    void check_coverage() const {
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Object& object = model_.object(form_.fields[i].object);
            if (object.origin != Object::Origin::local) continue;
            if (const Read* read = first_rim_read(static_cast<int>(i)))
                throw Refusal(read->where, "`" + object.name +
                                               "` has no value yet in some of the cells that are read "
                                               "here");
        }
    }

    const Model& model_;
    const FormOptions& options_;
    AxisFinder axes_;
    Form form_;
    std::vector<std::vector<Touch>> touches_;  // by statement
};

}  // namespace

Form find_form(const Model& model, const FormOptions& options) {
    return FormFinder(model, options).find();
}

}  // namespace halo::lift
