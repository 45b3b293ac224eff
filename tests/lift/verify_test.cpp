// That running both finds what is wrong, in a spec that is not what the function says.
#include <fstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/verify.h"
#include "temporary_folder.h"

namespace {

halo::test::LiftCase named(const std::string& function) {
    for (const halo::test::LiftCase& each : halo::test::lift_cases()) {
        if (each.function == function) return each;
    }
    throw std::invalid_argument(function);
}

// The same function with another text in the spec.
bool passes_with(const std::string& function, const std::string& from, const std::string& to) {
    const halo::lift::Options options = options_of(named(function));
    halo::lift::Lifted lifted = halo::lift::lift(options);
    const std::size_t at = lifted.spec.body.find(from);
    REQUIRE(at != std::string::npos);
    lifted.spec.body.replace(at, from.size(), to);
    return halo::lift::verify(options, lifted).passed;
}

}  // namespace

TEST_CASE("verifying finds wrong specs", "[parts]") {
    CHECK(passes_with("blur_row", "0.5", "0.5"));
    CHECK_FALSE(passes_with("blur_row", "0.5", "0.5000000000000001"));  // a weight, by its last place
    CHECK_FALSE(passes_with("blur_row", "in[x-1]", "in[x+1]"));  // a neighbour, where weights are the same
    CHECK_FALSE(passes_with("leading_dimension", "in 1..-2", "in 1..-3"));           // a cell left out
    CHECK_FALSE(passes_with("edges", "= 0\n", "= 1\n"));                             // one edge
    CHECK_FALSE(passes_with("swap_pointers", "now[t+1] = next", "now[t+1] = now"));  // the other array's rim
    CHECK_FALSE(passes_with("masked", "solid == 0", "solid != 0"));
    CHECK_FALSE(passes_with("diffusion", "6 *", "5.9999 *"));  // where floats may differ in the last places
    CHECK_FALSE(passes_with("heat_kernel", "x+1", "x-1"));
    // Of boxes and windows, edges, and threads that are numbered through.
    CHECK_FALSE(passes_with("inner_box", "idx(y) >= depth", "idx(y) > depth"));
    CHECK_FALSE(passes_with("inner_box_of_two", "x in 2..-3", "x in 1..-3"));
    CHECK_FALSE(passes_with("convolved", "k_5 *", "k_7 *"));
    CHECK_FALSE(passes_with("clamped_indices", "boundary clamp", "boundary symmetric"));
    CHECK_FALSE(passes_with("around", "boundary periodic", "boundary clamp"));
    CHECK_FALSE(passes_with("where_there_is_one", "idx(x) > 0", "idx(x) >= 0"));
    CHECK_FALSE(passes_with("numbered_through", "y+1", "y-1"));
    CHECK_FALSE(passes_with("planes_numbered_through", "idx(x) > 0", "idx(x) >= 0"));
}

TEST_CASE("a function that goes astray ends alone", "[parts]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "astray.c").string();
    std::ofstream(file) << "void astray(int n, const double *restrict a, double *restrict b) {\n"
                           "    for (int i = 0; i < n; i++) b[i] = a[i] / (1 / (n / 1000000));\n}\n";
    halo::lift::Options options;
    options.source.file = file;
    options.source.function = "astray";
    CHECK_THROWS_AS(halo::lift::lift(options), halo::lift::LiftError);  // whole numbers are divided

    std::ofstream(file)
        << "void abort(void);\nvoid astray(int n, const double *restrict a, double *restrict b) {\n"
           "    for (int i = 0; i < n; i++) b[i] = a[i];\n}\n";
    halo::lift::Lifted lifted = halo::lift::lift(options);
    std::ofstream(file)
        << "void abort(void);\nvoid astray(int n, const double *restrict a, double *restrict b) {\n"
           "    abort();\n}\n";  // changed since it was read
    CHECK_THROWS_AS(halo::lift::verify(options, lifted), halo::lift::SourceError);
}

TEST_CASE("compile_commands.json is honoured", "[parts]") {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "scaled.c").string();
    std::ofstream(file) << "void scaled(int n, const double *restrict a, double *restrict b) {\n"
                           "    for (int i = 0; i < n; i++) b[i] = SCALE * a[i];\n}\n";
    halo::lift::Options options;
    options.source.file = file;
    options.source.function = "scaled";
    CHECK_THROWS_AS(halo::lift::lift(options), halo::lift::SourceError);  // SCALE is not known
    std::ofstream(folder.path() / "compile_commands.json")
        << "[{\"directory\": \"" << folder.path().string() << "\", \"file\": \"scaled.c\", \"command\": "
        << "\"cc -O2 -fopenmp -DSCALE=2.5 -c scaled.c -o scaled.o\"}]\n";
    CHECK(halo::lift::lift(options).spec.body.find("2.5") != std::string::npos);
    options.source.arguments = {"-DSCALE=3.5"};  // what is given behind -- comes before
    CHECK(halo::lift::lift(options).spec.body.find("3.5") != std::string::npos);
}

TEST_CASE("verifying finds wrong reductions", "[parts]") {
    const auto passes = [](const std::string& function, const std::string& from, const std::string& to) {
        const halo::lift::Options options = options_of(named(function));
        halo::lift::Nests found = halo::lift::lift_nests(options);
        REQUIRE_FALSE(found.lifted.empty());
        halo::lift::Spec& spec = found.lifted[0].spec;
        const auto replace = [&](std::string& text) {
            const std::size_t at = text.find(from);
            REQUIRE(at != std::string::npos);
            text.replace(at, from.size(), to);
        };
        replace(spec.body);
        for (halo::lift::ReductionName& each : spec.reductions) {
            if (each.line.find(from) == std::string::npos) continue;
            replace(each.line);
            break;
        }
        return halo::lift::verify(options, found.lifted[0]).passed;
    };
    CHECK(passes("norm", "u * u", "u * u"));
    CHECK_FALSE(passes("norm", "u * u", "u * u * 1.0000000001"));
    CHECK_FALSE(passes("float_sum", "1..-2", "1..-3"));
    CHECK_FALSE(passes("extremes", "min(u)", "max(u)"));
    CHECK_FALSE(passes("wet_cells", "sum(1)", "sum(2)"));
    CHECK_FALSE(passes("wet_cells", "where dry == 0", "where dry != 0"));
    CHECK_FALSE(passes("largest_change", "abs(w - u)", "abs(w + u)"));
}

TEST_CASE("verifying finds wrong specs of nests", "[parts]") {
    const halo::lift::Options options = options_of(named("simulate"));
    halo::lift::Nests found = halo::lift::lift_nests(options);
    REQUIRE(found.lifted.size() == 1);
    CHECK(halo::lift::verify(options, found.lifted[0]).passed);
    std::string& body = found.lifted[0].spec.body;
    const std::size_t at = body.find("u[x-1]");
    REQUIRE(at != std::string::npos);
    body.replace(at, 6, "u[x-2]");
    CHECK_FALSE(halo::lift::verify(options, found.lifted[0]).passed);
}
