// What is warned of, and above all what is not.
#include <filesystem>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/driver/spec/spec.h"

using namespace halo;

namespace {

std::vector<std::string> warnings(const std::string& text) {
    const driver::CheckedSpec spec = driver::check_text("test.halo", text);
    INFO(render(spec.diagnostics, spec.source));
    REQUIRE(spec.ok);
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : spec.diagnostics) {
        CHECK(severity_of(diagnostic.kind) == Severity::warning);
        messages.push_back(diagnostic.message);
    }
    return messages;
}

std::vector<std::string> in_stencil(const std::string& body, const std::string& axes = "x") {
    return warnings("stencil s(" + axes + ") {\n" + body + "\n}\n");
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("the examples are free of warnings") {
    namespace fs = std::filesystem;
    int count = 0;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        const driver::CheckedSpec spec = driver::check_spec(entry.path().string());
        INFO(render(spec.diagnostics, spec.source));
        CHECK(spec.diagnostics.empty());
        ++count;
    }
    CHECK(count >= 11);
}

TEST_CASE("a name that stands nowhere else is not used; any other place is a use") {
    CHECK(in_stencil("param a, b = a_\nconst a_ = 1\nfield u: f32\nu[t+1] = a * u") ==
          Words{"`b` is not used"});
    CHECK(in_stencil("param h = 0.1\nspacing x = h\nfield u: f32 { boundary clamp }\nu[t+1] = laplacian(u)")
              .empty());
    CHECK(in_stencil("const r = 1\nfield u: f32 { halo r\nboundary clamp }\nu[t+1] = u[x+1]").empty());
    CHECK(in_stencil("field u: f32\nreduce m = max(u)").empty());
    CHECK(in_stencil("field u, v: f32\nv = 1\nu[t+1] = u").empty());
    CHECK(
        warnings("stencil s(x) {\n    field u, v: f32\n    u[t+1] = u\n}\nrun s {\n    grid 4\n    steps 1\n"
                 "    init u = 1\n    init v = 2\n}\n") == Words{"`v` is not used"});
}

TEST_CASE("a halo is too wide where none of the faces that it is written for needs it") {
    const std::string body = "boundary clamp }\nu[t+1] = u[x-2] + u[y+1]";
    CHECK(in_stencil("field u: f32 { halo 2\n" + body, "x, y").empty());
    CHECK(in_stencil("field u: f32 { halo 3\n" + body, "x, y").size() == 1);
    CHECK(in_stencil("field u: f32 { halo x 2, y.high 1, y.low 0\n" + body, "x, y").empty());
    CHECK(in_stencil("field u: f32 { halo x 2, y.high 1, y.low 1\n" + body, "x, y").size() == 1);
    CHECK(in_stencil(
              "field u: f32 { boundary clamp }\nlet m { halo 2\nboundary clamp } = u + 1\nu[t+1] = m[x+1]")
              .size() == 1);
    // At free faces halos hold nothing, but the reads are there.
    CHECK(in_stencil("field u: f32 { halo 1 }\nu[t+1] = u[x+1]").empty());
}

TEST_CASE("weights that are derivatives, or are something else, are let be") {
    const std::string field = "param h = 0.1\nfield f: f64 { boundary periodic }\nfield g: f64\n";
    const Words right{
        "g = d(f, x, order=8) / h",
        "g = (8 * (f[x+1] - f[x-1]) - (f[x+2] - f[x-2])) / (12 * h)",
        "g = (-f[x+2] + 16*f[x+1] - 30*f + 16*f[x-1] - f[x-2]) / (12 * h^2)",
        "g = f + h * (-f[x+2] + 16*f[x+1] - 30*f + 16*f[x-1] - f[x-2]) / 12",
        "g = 2 * (8 * (f[x+1] - f[x-1]) - (f[x+2] - f[x-2])) / (12 * h)",
        // A fourth derivative, filters, and differences of no derivative at all.
        "g = (f[x-2] - 4*f[x-1] + 6*f - 4*f[x+1] + f[x+2]) / h^4",
        "g = (f[x-2] + 4*f[x-1] + 6*f + 4*f[x+1] + f[x+2]) / 16 * h",
        "g = (-f[x-2] + 4*f[x-1] + 10*f + 4*f[x+1] - f[x+2]) / 16 * h",
        "g = h * 0.5 * (f[x+1] - f[x-1]) + h * 0.3 * (f[x+2] - f[x-2])",
        "g = f - (f[x+2] - 2*f + f[x-2]) * h + 0.49 * (f[x+1] + f[x-1])",
        "g = sum(r in 1..2) (f[x+r] - f[x-r]) * h",
    };
    for (const std::string& statement : right) {
        INFO(statement);
        CHECK(in_stencil(field + statement).empty());
    }
    CHECK(in_stencil("param h = 0.1\nfield f: f64 { boundary periodic }\nfield g: f64\n"
                     "g = laplacian(f, order=8) * h",
                     "x, y, z")
              .empty());
}

TEST_CASE("weights that miss a derivative by little are named with what is off") {
    const std::string field = "param h = 0.1\nfield f: f64 { boundary periodic }\nfield g: f64\n";
    const auto message = [&](const std::string& statement) {
        const Words all = in_stencil(field + statement);
        return all.size() == 1 ? all.front() : std::to_string(all.size()) + " warnings";
    };
    CHECK(message("g = (8 * (f[x+1] - f[x-1]) - 1.1 * (f[x+2] - f[x-2])) / (12 * h)") ==
          "these weights of `f` look like a first derivative along `x`, but their sum with the offsets is "
          "0.966667 "
          "and not 1");
    CHECK(
        message("g = (-f[x+2] + 16*f[x+1] - 29*f + 16*f[x-1] - f[x-2]) / (12 * h^2)") ==
        "these weights of `f` look like a second derivative along `x`, but their sum is 0.0833333 and not 0");
    CHECK(
        message("g = (-1.2*f[x+2] + 16*f[x+1] - 29.6*f + 16*f[x-1] - 1.2*f[x-2]) / (12 * h^2)") ==
        "these weights of `f` look like a second derivative along `x`, but their sum with the squares of the "
        "offsets is 1.86667 and not 2");
    CHECK(message("g = f * ((8 * (f[x+1] - f[x-1]) - 1.1 * (f[x+2] - f[x-2])) / (12 * h))") != "0 warnings");
}

TEST_CASE("numbers that f32 cannot hold are named, others are not") {
    const auto f32 = [](const std::string& value) {
        return in_stencil("param k = 1e-25\nfield u: f32\nu[t+1] = u + " + value + " + k");
    };
    for (const char* fine :
         {"0.1", "1/3", "1.0001", "16777217", "pi", "1e-30", "3e38", "0 * u", "2/2 * u", "k * 1e-5"}) {
        INFO(fine);
        CHECK(f32(fine).empty());
    }
    CHECK(f32("(1 + 1e-9) * u") == Words{"1.000000001 is 1 in f32"});
    CHECK(f32("0.99999999 * u") == Words{"0.99999999 is 1 in f32"});
    CHECK(f32("1e-46") == Words{"1e-46 is 0 in f32"});
    CHECK(f32("k^2 * u") == Words{"1e-50 is 0 in f32"});
    CHECK(f32("1e-41 * u") == Words{"1e-41 has few digits left in f32"});
    CHECK(in_stencil("field u: f64\nu[t+1] = (1 + 1e-9) * u + 1e-50").empty());
    // The run's value counts.
    CHECK(
        warnings(
            "stencil s(x) {\n    param k = 1\n    field u: f32\n    u[t+1] = k * u\n}\nrun s {\n    grid 4\n"
            "    steps 1\n    k = 1e-60\n    init u = 1\n}\n")
            .size() == 1);
}
