// The functions of cases/, and the procedures of fortran/, with what is said of them in a comment: `case NAME
// [--flags] [nests N] [refused: WORDS]: what it shows`. nests: it is lifted in so many pieces.
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
std::vector<LiftCase> fortran_cases();
lift::Options options_of(const LiftCase& each);
// Its file, read once for all of its functions: the last one that was asked for is kept alone, since
// processes that run functions are copies of this one. And what is lifted of it, once in a process. Both
// throw lift::SourceError.
const lift::ParsedFile& file_of(const LiftCase& each);
const lift::Nests& nests_of(const LiftCase& each);

}  // namespace halo::test
