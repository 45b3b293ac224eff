// Every procedure of fortran/ is lifted and computes, in the interpreter, what gfortran makes of it; or it is
// refused, for the reason that is expected. docs/lift.md shows them in a table, which HALO_REGENERATE=1
// writes anew. Random procedures, and faults that are put into the lifter, are run the same way.
#include "compiler/lift/fortran/fortran_file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/fortran/programs.h"
#include "compiler/lift/mutation.h"
#include "random_fortran.h"
#include "skip.h"
#include "temporary_folder.h"

namespace {

using halo::lift::Mutation;
using halo::lift::Nests;
using halo::lift::Options;
using halo::lift::Verdict;
using halo::lift::fortran::FortranFile;
using halo::test::LiftCase;

constexpr char kPage[] = HALO_SOURCE_DIR "/docs/lift.md";
constexpr char kBegin[] = "<!-- lifted Fortran: begin -->\n";
constexpr char kEnd[] = "<!-- lifted Fortran: end -->\n";

const SkipUnless fortran(!halo::lift::fortran::find_flang().empty() &&
                             !halo::lift::fortran::find_gfortran().empty() &&
                             !halo::lift::fortran::find_gcov().empty(),
                         "flang 19, gfortran and gcov are not all there");

const FortranFile& file_of(const Options& options) {
    static std::map<std::string, std::unique_ptr<FortranFile>> read;
    auto& file = read[options.source.file];
    if (!file) file = std::make_unique<FortranFile>(options.source);
    return *file;
}

std::string outcome_of(const LiftCase& each) {
    const Options options = options_of(each);
    const FortranFile& file = file_of(options);
    const Nests found = lift_nests(options, file);
    for (const halo::lift::LiftError& refused : found.refused)
        CHECK(refused.refusal.where.end > refused.refusal.where.begin);
    if (!each.refused.empty()) {
        REQUIRE_FALSE(found.refused.empty());
        const std::string reason = found.refused.front().what();
        INFO(reason);
        CHECK(found.lifted.empty());
        CHECK(reason.find(each.refused) != std::string::npos);
        return "refused: " + reason;
    }
    INFO((found.refused.empty() ? "" : found.refused.front().what()));
    CHECK(found.is_whole == (each.nests < 0));
    CHECK(static_cast<int>(found.lifted.size()) == std::abs(each.nests));
    const Verdict verdict = verify_function(options, found, file);
    CHECK(verdict.difference == "");
    CHECK(verdict.left == "");
    const std::size_t nests = found.lifted.size();
    return (found.is_whole ? "" : std::to_string(nests) + (nests == 1 ? " nest: " : " nests: ")) +
           (verdict.largest_ulps == 0 ? "the same bits" : "DIFFERENT") +
           (verdict.sum_ulps > 0
                ? "; sums " + std::to_string(static_cast<int>(verdict.sum_ulps)) + " ulps apart"
                : "");
}

// Whether a lift that may be wrong is called verified.
bool is_verified(const Options& options, const FortranFile& file) {
    const Nests found = lift_nests(options, file);
    CHECK_FALSE(found.lifted.empty());  // the fault is no refusal
    const Verdict verdict = verify_function(options, found, file);
    return verdict.difference.empty() && verdict.left.empty();
}

}  // namespace

TEST_CASE("procedures of Fortran are lifted and run, or refused") {
    std::string table = "| procedure | shows | spec and procedure |\n| --- | --- | --- |\n";
    for (const LiftCase& each : halo::test::fortran_cases()) {
        INFO(each.file << ", " << each.function);
        table += "| `" + each.function + "` | " + each.shows + " | " + outcome_of(each) + " |\n";
    }
    std::ifstream in(kPage);
    std::ostringstream text;
    text << in.rdbuf();
    std::string page = text.str();
    const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    const std::size_t from = begin + sizeof kBegin - 1;
    if (std::getenv("HALO_REGENERATE")) {
        page.replace(from, end - from, table);
        std::ofstream(kPage) << page;
    }
    CHECK(page.substr(from, page.find(kEnd) - from) == table);
}

TEST_CASE("running Fortran finds faults of the lifter") {
    const std::map<std::string, std::vector<Mutation>> faults{
        {"boxes", {Mutation::swap_subscripts, Mutation::swap_difference}},
        {"pressure_of", {Mutation::drop_lower_bound}},
        {"choices", {Mutation::swap_extremes}},
        {"logic", {Mutation::drop_else, Mutation::drop_minus}},
        {"masked_sections", {Mutation::drop_section}},
        {"skips", {Mutation::swap_ways}},
        {"returns_early", {Mutation::swap_ways}}};
    for (const LiftCase& each : halo::test::fortran_cases()) {
        const auto found = faults.find(each.function);
        if (found == faults.end()) continue;
        for (const Mutation fault : found->second) {
            INFO(each.function << ", fault " << static_cast<int>(fault));
            halo::lift::mutation = fault;
            const bool is_called_verified = is_verified(options_of(each), file_of(options_of(each)));
            halo::lift::mutation = Mutation::none;
            CHECK_FALSE(is_called_verified);
        }
    }
}

TEST_CASE("random procedures of Fortran are lifted as they are, or refused") {
    const TemporaryFolder folder;
    const auto said = [](const char* variable, unsigned otherwise) {
        const char* const value = std::getenv(variable);
        return value ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : otherwise;
    };
    const unsigned first = said("HALO_SEED", 1), count = said("HALO_PROCEDURES", 10);
    int lifted = 0;
    for (unsigned seed = first; seed < first + count; ++seed) {
        const std::string text = halo::test::random_fortran(seed);
        INFO("seed " << seed << "\n" << text);
        Options options;
        options.source.file = folder / "made.f90";
        options.source.function = "made";
        std::ofstream(options.source.file) << text;
        const FortranFile file(options.source);
        const Nests found = lift_nests(options, file);
        lifted += !found.lifted.empty();
        if (found.lifted.empty()) continue;
        const Verdict verdict = verify_function(options, found, file);
        CHECK(verdict.difference == "");
        const bool is_run = verdict.left.empty() || verdict.left.find("line") != std::string::npos;
        INFO(verdict.left);
        CHECK(is_run);
    }
    CHECK(lifted * 2 >= static_cast<int>(count));
}

TEST_CASE("branches that no run has taken are said") {
    const TemporaryFolder folder;
    Options options;
    options.source.file = folder / "seldom.f90";
    std::ofstream(options.source.file) << R"(subroutine seldom(n, a, b)
  integer, intent(in) :: n
  real(8) :: a(n), b(n)
  integer :: i
  do i = 1, n
    b(i) = a(i)
    if (a(i) > 1.0d6 .and. a(i) < 2.0d6) b(i) = 0
  end do
end subroutine
subroutine seldom_masked(n, a, b)
  integer, intent(in) :: n
  real(8) :: a(n), b(n)
  where (a(1:n-1) > 1.0d6)
    b(2:n) = a(2:n)
  elsewhere
    b(2:n) = 0
  end where
end subroutine
)";
    const FortranFile file(options.source);
    const auto look = [&](const std::string& function, const std::string& line) {
        options.source.function = function;
        const Verdict verdict = verify_function(options, lift_nests(options, file), file);
        CHECK(verdict.difference == "");
        CHECK(verdict.left == "in line " + line + " a condition was never seen both ways");
        CHECK(verdict.sentences.front().front() == "Not verified: " + verdict.left + ".");
    };
    look("seldom", "7");
    look("seldom_masked", "13");
}

TEST_CASE("modules of a file beside it are found") {
    const TemporaryFolder folder;
    std::ofstream(folder / "sizes.f90") << "module sizes\n  integer, parameter :: halo = 2\nend module\n";
    std::ofstream(folder / "weights.f90")
        << "module weights\n  use sizes\n  real(8) :: weight = 0.5d0\nend module\n";
    Options options;
    options.source.file = folder / "shift.f90";
    options.source.function = "shift";
    std::ofstream(options.source.file) << R"(module shifts
  use weights, only: weight
  use sizes
contains
  subroutine shift(n, a, b)
    integer, intent(in) :: n
    real(8) :: a(1-halo:n+halo), b(n)
    integer :: i
    do i = 1, n
      b(i) = weight * (a(i-halo) + a(i))
    end do
  end subroutine
end module
)";
    const FortranFile file(options.source);
    const Nests found = lift_nests(options, file);
    REQUIRE(found.is_whole);
    CHECK(found.lifted.front().spec.body.find("param weight") != std::string::npos);
    const Verdict verdict = verify_function(options, found, file);
    CHECK(verdict.difference == "");
    CHECK(verdict.left == "");
}

TEST_CASE("a missing program is said with its mend") {
    ::setenv("HALO_FLANG", "/nowhere/flang", 1);
    Options options;
    options.source.file = HALO_SOURCE_DIR "/tests/lift/fortran/forms.f90";
    CHECK_THROWS_WITH(FortranFile(options.source), Catch::Contains("apt-get install flang-19"));
    ::unsetenv("HALO_FLANG");
    ::setenv("HALO_GFORTRAN", "/nowhere/gfortran", 1);
    options.source.function = "boxes";
    const FortranFile file(options.source);
    const Verdict verdict = verify_function(options, lift_nests(options, file), file);
    ::unsetenv("HALO_GFORTRAN");
    CHECK(verdict.difference.empty());
    CHECK(verdict.left.find("apt-get install gfortran") != std::string::npos);
    CHECK(verdict.sentences.front().front().rfind("Not verified: ", 0) == 0);
}
