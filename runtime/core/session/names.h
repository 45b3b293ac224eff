// Entries of a plan by their names. Not for other rooms.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/hidden_name.h"

namespace halo::rt::session {

// Throws bad_argument with the names that there are.
template <class Item>
int find_named(const std::vector<Item>& items, const std::string& name, const char* kind,
               const std::string& plan) {
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].name == name) return static_cast<int>(i);
    std::string known;
    for (const Item& item : items)
        if (!is_hidden_name(item.name, items)) known += (known.empty() ? "'" : ", '") + item.name + "'";
    throw Error(ErrorCode::bad_argument,
                known.empty() ? fmt::format("'{}' has no {}, so no '{}'", plan, kind, name)
                              : fmt::format("'{}' has no {} '{}'; it has {}", plan, kind, name, known));
}

}  // namespace halo::rt::session
