// Words of a spec: names that are free, numbers, long lines. For spec_text.cpp.
#pragma once

#include <set>
#include <string>

namespace halo::lift {

// How tightly a text binds, as docs/language.md has it.
enum Binding { kIf, kOr, kAnd, kNot, kCompare, kSum, kProduct, kSign, kLeaf };

struct Text {
    std::string words;
    int binding = kLeaf;
    std::string in(int at_least) const { return binding < at_least ? "(" + words + ")" : words; }
};

class Names {
public:
    Names();
    std::string take(std::string wanted);  // it, or the like, where it is taken or no name

private:
    std::set<std::string> taken_;
};

// The shortest decimals that mean the number, as a float or a double.
std::string decimal(double value, bool as_float);

// Long formulas go on in the next line, before a sign or a word of a condition.
std::string broken(const std::string& line);

}  // namespace halo::lift
