// JSON as the command prints it. Texts and file names of the user's may hold bytes that are no UTF-8; JSON
// may not, so each of them becomes the replacement character U+FFFD.
#pragma once

#include <string>

namespace halo {

template <class Json>
std::string json_text(const Json& json, int indent = 2) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace halo
