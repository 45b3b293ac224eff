#include "compiler/lift/form_in_place.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace halo::lift {

namespace {

class InPlaceFinder {
public:
    InPlaceFinder(const Model& model, Form& form) : model_(model), form_(form) {}

    void find() {
        // After a NaN the loops run on what there was before; and a step reads what the last one has written.
        const bool runs_again =
            std::ranges::any_of(model_.reductions, [](const Reduction& each) { return each.op != "sum"; });
        if (runs_again || model_.time_loop >= 0) return;
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            if (form_.fields[i].is_state && can_change(static_cast<int>(i))) change(static_cast<int>(i));
        }
    }

private:
    bool can_change(int id) const {
        const Field& field = form_.fields[static_cast<std::size_t>(id)];
        if (field.after_step != id || field.modulus || !field.own_axis.empty()) return false;
        if (model_.object(field.object).origin == Object::Origin::local) return false;
        for (std::size_t p = 0; p < form_.statements.size(); ++p) {
            for (std::size_t q = 0; q < p; ++q) {
                const bool both = form_.statements[p].field == id && form_.statements[q].field == id;
                if (both && !is_apart(form_.statements[p], form_.statements[q].region, {})) return false;
            }
        }
        return std::ranges::all_of(form_.statements, [&](const Statement& reader) {
            return std::ranges::all_of(reader.reads, [&](const auto& each) {
                const ResolvedRead& read = each.second;
                return read.field != id || sees_new(reader, read) || sees_old(reader, read);
            });
        });
    }
    void change(int id) {
        Field& field = form_.fields[static_cast<std::size_t>(id)];
        field.is_state = false;
        for (Statement& reader : form_.statements) {
            for (auto& [name, read] : reader.reads) {
                if (read.field != id) continue;
                read.is_new = sees_new(reader, read);
                field.has_before = field.has_before || !read.is_new;
            }
        }
    }

    // A cell that one statement has just written for all cells of the reader.
    bool sees_new(const Statement& reader, const ResolvedRead& read) const {
        const bool is_here = std::ranges::all_of(read.offset, [](int offset) { return offset == 0; });
        if (!read.is_new || !is_here || !read.edges.empty()) return false;
        const Statement* const first = std::as_const(form_).statements.data();
        return std::any_of(first, std::addressof(reader), [&](const Statement& writer) {
            if (writer.field != read.field || has_guards(writer)) return false;
            for (std::size_t a = 0; a < form_.axes.size(); ++a) {
                const auto low = (reader.region[a].lower - writer.region[a].lower).constant();
                const auto high = (writer.region[a].upper - reader.region[a].upper).constant();
                if (!low || !high || *low < 0 || *high < 0) return false;
            }
            return true;
        });
    }
    // A cell that no statement writes, or this one alone, or one that needs what this one computes of it.
    bool sees_old(const Statement& reader, const ResolvedRead& read) const {
        if (!read.edges.empty()) return false;
        const bool is_here = std::ranges::all_of(read.offset, [](int offset) { return offset == 0; });
        return std::ranges::all_of(form_.statements, [&](const Statement& writer) {
            if (writer.field != read.field) return true;
            if (is_here && !read.is_new && (&writer == &reader || comes_into(reader, writer))) return true;
            return is_apart(reader, writer.region, read.offset);
        });
    }
    // Whether what the statement stores in a cell is part of what a later one stores there: however the two
    // are computed, the former has read its arrays before the latter changes them. It is an array's, as a
    // temporary might be computed again for a neighbour.
    bool comes_into(const Statement& part, const Statement& whole) const {
        if (&part >= &whole || part.field < 0) return false;
        const Field& stored = form_.fields[static_cast<std::size_t>(part.field)];
        if (model_.object(stored.object).origin == Object::Origin::local) return false;
        return std::ranges::any_of(whole.reads, [&](const auto& each) {
            const ResolvedRead& read = each.second;
            const bool is_known = form_.fields[static_cast<std::size_t>(read.field)].writes == 1;
            if (!is_known || !sees_new(whole, read)) return false;
            return std::ranges::any_of(form_.statements, [&](const Statement& writer) {
                if (writer.field != read.field || &writer >= &whole) return false;
                return &writer == &part || comes_into(part, writer);
            });
        });
    }
    // Whether the cells so far away from those of the statement are none of these.
    bool is_apart(const Statement& from, const std::vector<Range>& cells,
                  const std::vector<int>& offset) const {
        for (std::size_t a = 0; a < form_.axes.size(); ++a) {
            const Polynomial by(offset.empty() ? 0 : offset[a]);
            const auto above = (from.region[a].lower + by - cells[a].upper).constant();
            const auto below = (cells[a].lower - from.region[a].upper - by).constant();
            if ((above && *above >= 0) || (below && *below >= 0)) return true;
        }
        return false;
    }
    bool has_guards(const Statement& each) const {
        return !model_.stores[static_cast<std::size_t>(each.store)].guards.empty();
    }

    const Model& model_;
    Form& form_;
};

}  // namespace

void change_in_place(const Model& model, Form& form) {
    InPlaceFinder(model, form).find();
}

void make_room(Form& form) {
    if (std::ranges::any_of(form.fields, &Field::is_state)) return;
    for (std::size_t a = 0; a < form.axes.size(); ++a) {
        const auto past_high = [&](const ResolvedRead& read) -> Field::Past& {
            return form.fields[static_cast<std::size_t>(read.field)].past[a][1];
        };
        const bool has_boundary = std::ranges::any_of(form.fields, [&](const Field& field) {
            return field.past[a][1] == Field::Past::clamp || field.past[a][1] == Field::Past::periodic;
        });
        if (has_boundary) continue;
        int cells = 0;
        for (const Statement& reader : form.statements)
            for (const auto& [id, read] : reader.reads)
                if (past_high(read) == Field::Past::anything) cells = std::max(cells, read.offset[a]);
        form.grid[a] = form.grid[a] + Polynomial(cells);
        for (Field& field : form.fields)
            field.past[a][1] = Field::Past::nothing;
    }
}

}  // namespace halo::lift
