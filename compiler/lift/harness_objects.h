// Text that makes objects of classes for a call, and fills their members; for verify_harness.cpp and
// whole_harness.cpp.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/lift/model.h"

namespace halo::lift {

const char* type_name(c::Number number);
// How a text calls the type that is `plain` to the compiler, without const.
std::string written_type(std::string plain);

class ObjectText {
public:
    explicit ObjectText(bool is_cxx) : is_cxx_(is_cxx) {}

    // An object of this type, in memory of zeros: no constructor runs.
    std::string declared(const std::string& written, const std::string& name) const;
    // What the pointers on the way to a member point to, where that has not been made.
    std::string reached(const std::string& object, const std::vector<std::string>& members);
    // Whether this has not been filled yet.
    bool begins(const std::string& member) { return filled_.insert(member).second; }

    static std::string number(const std::string& member, const std::string& from);
    static std::string pointer(const std::string& member, const std::string& from);
    // Of a vector, or of an array in the object: of its elements, which go back afterwards.
    // length: how many there are, as text.
    static std::string array(const std::string& member, bool is_vector, const std::string& element,
                             const std::string& from, const std::string& length);
    static std::string array_back(const std::string& member, bool is_vector, const std::string& element,
                                  const std::string& from, const std::string& length);

private:
    bool is_cxx_;
    std::set<std::string> filled_;
    int made_ = 0;
};

}  // namespace halo::lift
