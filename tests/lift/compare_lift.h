// Whether the loops of a function may be replaced by what they were lifted to: the function as it stands and
// the same with its nests done by the reference interpreter run on the same data, and every byte of the
// memory around them is compared. Shares nothing with the command's own verification.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lift/lift.h"
#include "random_function.h"

namespace halo::test {

struct Compared {
    std::uint64_t seed = 0;
    std::string text, specs;  // empty specs: it is refused
    int nests = 0;            // that were lifted
    int joined = 0;           // of them: several that follow one another
    int runs = 0;             // that were compared, with a nest in the interpreter at least once
    int undefined = 0;        // runs in which C says nothing about the result
    std::string difference;   // empty: none
    std::string refused;      // why, where nothing is lifted
};

// Functions are compiled together, so that there is one run of Clang for many.
class LiftComparison {
public:
    explicit LiftComparison(const std::string& folder) : folder_(folder) {}
    void add(const RandomFunction& function);
    std::size_t size() const { return functions_.size(); }
    std::vector<Compared> run();  // of all that were added since the last time

private:
    struct Function {
        RandomFunction made;
        bool no_alias = false;
        lift::Nests lifted;
        Compared compared;
    };
    std::string folder_;
    std::vector<Function> functions_;
};

// The smallest function that still differs.
RandomFunction shrunk(RandomFunction function, const std::string& folder);

}  // namespace halo::test
