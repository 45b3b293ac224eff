// The functions of cases/, with what is said of them: `// case NAME [--flags] [nests N] [refused: WORDS]:
// what it shows`. nests: it is lifted in so many pieces.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::test {

struct LiftCase {
    std::string file, function, shows;
    std::vector<std::string> flags;
    std::string refused;  // words of the reason; empty: it is lifted
    int nests = -1;       // that are lifted of it; -1: the function as a whole
};
std::vector<LiftCase> lift_cases();
lift::Options options_of(const LiftCase& each);
// What is lifted of it; each is lifted once in a process. Throws lift::SourceError.
const lift::Nests& nests_of(const LiftCase& each);

}  // namespace halo::test
