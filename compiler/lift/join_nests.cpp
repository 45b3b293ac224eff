#include "compiler/lift/join_nests.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace halo::lift {

namespace {

// Whether a text is spaces, comments and directives `#pragma` alone.
bool is_blank(std::string_view text) {
    bool at_line_begin = false;
    while (!text.empty()) {
        const auto pass = [&](std::size_t count) { text.remove_prefix(std::min(count, text.size())); };
        const auto pass_to = [&](std::string_view end) {
            const std::size_t found = text.find(end);
            pass(found == std::string_view::npos ? text.size() : found + end.size());
        };
        if (text.starts_with("/*")) {
            pass_to("*/");
        } else if (text.starts_with("//")) {
            pass(std::min(text.find('\n'), text.size()));
        } else if (text[0] == '#' && at_line_begin) {
            const std::string_view line = text.substr(0, text.find('\n'));
            const std::size_t word = line.find_first_not_of(" \t", 1);
            if (word == std::string_view::npos || !line.substr(word).starts_with("pragma")) return false;
            if (line.find_last_not_of(" \t\r") == line.rfind('\\')) return false;  // it goes on
            pass(line.size());
        } else if (std::string_view(" \t\r\n").find(text[0]) != std::string_view::npos) {
            at_line_begin = at_line_begin || text[0] == '\n';
            pass(1);
        } else {
            return false;
        }
    }
    return true;
}

using NameSet = std::set<std::string>;

template <class Has>
NameSet fields_that(const Lifted& lifted, const Has& has) {
    NameSet names;
    for (const Field& each : lifted.form.fields)
        if (has(each)) names.insert(each.name);
    return names;
}
NameSet states(const Lifted& lifted) {
    return fields_that(lifted, [](const Field& each) { return each.is_state; });
}
NameSet with_boundary(const Lifted& lifted) {
    return fields_that(lifted, [](const Field& each) {
        return std::ranges::any_of(each.past, [](const auto& sides) {
            return sides[0] != Field::Past::nothing || sides[1] != Field::Past::nothing;
        });
    });
}
NameSet assumptions(const Lifted& lifted) {
    return {lifted.form.assumptions.begin(), lifted.form.assumptions.end()};
}
// The sizes of the grid, which may differ by some cells.
std::vector<std::string> sizes(const Lifted& lifted) {
    std::vector<std::string> all;
    for (const Polynomial& each : lifted.form.grid) {
        const Polynomial cells(each.of({}));
        all.push_back(lifted.model.text(each - cells));
    }
    return all;
}
NameSet strides(const Lifted& lifted) {
    NameSet all;
    for (const Field& each : lifted.form.fields) {
        std::string text;
        for (const Polynomial& stride : each.stride)
            text += lifted.model.text(stride) + ",";
        if (each.own_axis.empty()) all.insert(text);
    }
    return all;
}

}  // namespace

bool are_adjacent(const c::Unit& unit, int first, int second) {
    const SourceRange a = unit.statements[static_cast<std::size_t>(first)].where,
                      b = unit.statements[static_cast<std::size_t>(second)].where;
    if (a.end > b.begin || unit.source.part_begin(a.begin) != unit.source.part_begin(b.begin)) return false;
    std::string_view between = unit.source.text({a.end, b.begin});
    if (unit.source.text({a.end - 1, a.end}) != "}" && between.starts_with(";")) between.remove_prefix(1);
    return is_blank(between);
}

bool is_as_good(const Lifted& joined, std::span<const Lifted> parts) {
    const auto needs_no_more = [&](const auto& names_of) {
        NameSet known;
        for (const Lifted& each : parts)
            known.merge(names_of(each));
        return std::ranges::includes(known, names_of(joined));
    };
    return needs_no_more(states) && needs_no_more(with_boundary) && needs_no_more(assumptions) &&
           std::ranges::all_of(parts, [&](const Lifted& each) {
               return sizes(each) == sizes(joined) && strides(each) == strides(joined);
           });
}

}  // namespace halo::lift
