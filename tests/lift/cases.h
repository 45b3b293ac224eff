// The functions of cases/, with what is said of them: `// case NAME [--flags] [refused: WORDS]: what it
// shows`.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/lift.h"

namespace halo::test {

struct LiftCase {
    std::string file, function, shows;
    std::vector<std::string> flags;
    std::string refused;  // words of the reason; empty: it is lifted
};
std::vector<LiftCase> lift_cases();
lift::Options options_of(const LiftCase& each);

}  // namespace halo::test
