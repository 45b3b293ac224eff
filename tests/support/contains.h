// Whether a text has a part in it, as tests of messages and pages ask.
#pragma once

#include <string>

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
