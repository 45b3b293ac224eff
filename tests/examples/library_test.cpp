// Modules of the library, used from elsewhere.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "../cli/process.h"
#include "catch.h"
#include "runtime/io/npy.h"

using namespace halo::test;

namespace {

const char* const kSpec = R"(use "operators.halo"

stencil profiles(x, y) {
    field u, f: f64 { boundary periodic }
    field s, w, m: f64
    s = sponge(x, 4, 2)
    w = weno_from_low(f, x) - weno_from_low(f, x)[x-1]
    m = minmod(pos(x) - 5, 2) + heaviside(pos(y) - 1) + van_leer(1, 3) + smooth_step(0, 1)
    u[t+1] = u
}

run profiles {
    grid 16, 3
    steps 1
    init f = (x - 8)^2 / 100
    save s to "s.npy"
    save w to "w.npy"
    save m to "m.npy"
}
)";

void check_values(const Folder& folder) {
    const std::vector<double> s = halo::rt::read_npy(folder.path() + "/s.npy").values;
    const std::vector<double> w = halo::rt::read_npy(folder.path() + "/w.npy").values;
    const std::vector<double> m = halo::rt::read_npy(folder.path() + "/m.npy").values;
    REQUIRE(s.size() == 48);
    CHECK(s[0] == Approx(std::exp(-2.0)));
    CHECK(s[2] == Approx(std::exp(-2.0 / 4)));
    CHECK(s[4] == 1);
    CHECK(s[15] == Approx(std::exp(-2.0)));
    // The difference of face values of a parabola that is resolved is its slope: where no face is near the
    // seam.
    for (std::size_t i = 4; i < 12; ++i)
        CHECK(w[i] == Approx(2 * (static_cast<double>(i) - 8) / 100).margin(1e-3));
    // minmod of i - 5 and 2, heaviside of j - 1, 3/2 and 1/2.
    CHECK(m[0] == Approx(0 + 0 + 2));
    CHECK(m[16 + 6] == Approx(1 + 0.5 + 2));
    CHECK(m[32 + 9] == Approx(2 + 1 + 2));
}

}  // namespace

TEST_CASE("the compiler's library is found from anywhere") {
    const Folder folder;
    folder.write("profiles.halo", kSpec);
    const Outcome outcome = folder.haloc({"run", "profiles.halo", "--device", "interpreter", "-q"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    check_values(folder);

    // A module of one's own goes before it.
    folder.write("operators.halo", "def sponge(axis, width, strength) = 1\n");
    const Outcome own = folder.haloc({"check", "profiles.halo"});
    CHECK(own.code == 1);
}

TEST_CASE("a module is found where -I or HALO_PATH say, or beside the spec") {
    const Folder elsewhere;
    const std::string library = elsewhere.path();
    std::ostringstream module_text;
    module_text << std::ifstream(HALO_SOURCE_DIR "/lib/operators.halo").rdbuf();
    std::string spec = kSpec;
    spec.replace(spec.find("operators.halo"), 14, "my_operators.halo");
    elsewhere.write("my_operators.halo", module_text.str());
    for (const std::string way : {"-I", "HALO_PATH", "beside"}) {
        INFO(way);
        const Folder folder;
        folder.write("profiles.halo", spec);
        Invocation invocation;
        invocation.folder = folder.path();
        invocation.arguments = {"run", "profiles.halo", "--device", "interpreter", "-q"};
        invocation.unset = {"HALO_PATH"};
        if (way == "-I") invocation.arguments.insert(invocation.arguments.end(), {"-I", library});
        if (way == "HALO_PATH") invocation.set = {"HALO_PATH=/nowhere:" + library};
        Invocation without = invocation;
        without.arguments = {"check", "profiles.halo"};
        without.set.clear();
        const Outcome alone = run_haloc(without);
        CHECK(alone.code == 1);
        CHECK(alone.err.find("there is no module `my_operators.halo`") != std::string::npos);
        if (way == "beside") folder.write("my_operators.halo", module_text.str());
        const Outcome outcome = run_haloc(invocation);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        check_values(folder);
    }
}

TEST_CASE("modules are used by every command, and their mistakes are shown in them") {
    const Folder folder;
    folder.write("half.halo", "const half = 1/2\ndef mean(a, axis) = half * (a[axis-1] + a[axis+1])\n");
    folder.write("s.halo",
                 "use \"half.halo\"\n\nstencil s(x) {\n    field u: f32 { boundary periodic }\n"
                 "    u[t+1] = mean(u, x)\n}\n");
    for (const char* command : {"check", "emit", "explain"})
        CHECK(folder.haloc({command, "s.halo"}).code == 0);
    CHECK(folder.haloc({"emit", "s.halo", "--target", "stencil"}).out.find("u[x-1] + u[x+1]") !=
          std::string::npos);
    CHECK(folder.haloc({"fmt", "--check", "s.halo", "half.halo"}).code == 0);
    CHECK(folder.haloc({"check", "half.halo"}).code == 0);

    folder.write("half.halo", "const half = 1/2\n\ndef mean(a, axis) = half * (a[axis-1] + b[axis+1])\n");
    const Outcome outcome = folder.haloc({"check", "s.halo"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("half.halo:3:41: error: there is nothing called `b`") != std::string::npos);
    CHECK(outcome.err.find("3 | def mean") != std::string::npos);
    CHECK(folder.haloc({"check", "--json", "s.halo"}).out.find("\"file\": \"half.halo\"") !=
          std::string::npos);
}

TEST_CASE("staggered differences are exact on polynomials on the CPU, for every order") {
    // Of x^degree, the highest that each is exact for, on 64 cells from -1 to 1.
    constexpr int n = 64;
    constexpr double h = 2.0 / n;
    struct Case {
        int order, times;
        bool from_half, to_half;
        std::string name;
        int degree() const { return order + times - 1; }
    };
    std::vector<Case> cases;
    std::string declarations, statements, run = "run exact {\n    grid 64\n    steps 1\n";
    for (int order = 2; order <= 16; order += 2) {
        for (int times = 0; times <= 3; ++times) {
            for (int way = times == 0 ? 1 : 0; way < 3; ++way) {  // at its own points, down, up
                const Case each{
                    order, times, way == 1, way == 2,
                    "r" + std::to_string(order) + "_" + std::to_string(times) + "_" + std::to_string(way)};
                declarations += "    field u" + each.name + ": f64" + (each.from_half ? " at x+1/2" : "") +
                                "\n    field " + each.name + ": f64" + (each.to_half ? " at x+1/2" : "") +
                                "\n";
                std::string call = times == 0 ? "interpolate(u" + each.name + ", x" : "d(u" + each.name;
                for (int i = 0; i < times; ++i)
                    call += ", x";
                statements += "    " + each.name + " = " + call + ", order=" + std::to_string(order) + ")\n";
                run += "    init u" + each.name + " = x^" + std::to_string(each.degree()) + "\n    save " +
                       each.name + " to \"" + each.name + ".npy\"\n";
                cases.push_back(each);
            }
        }
    }
    const Folder folder;
    folder.write("exact.halo", "stencil exact(x) {\n    spacing x = 1/32\n    origin x = -1\n" +
                                   declarations + statements + "}\n\n" + run + "}\n");
    const Outcome outcome = folder.haloc({"run", "exact.halo", "--device", "cpu", "-q"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    for (const Case& each : cases) {
        const std::vector<double> values =
            halo::rt::read_npy(folder.path() + "/" + each.name + ".npy").values;
        double largest = 0, scale = 1;
        for (int i = 0; i < each.times; ++i)
            scale *= each.degree() - i;
        for (int i = 12; i < n - 12; ++i) {
            const double x = -1 + h * (i + (each.to_half ? 0.5 : 0));
            const double exact = scale * std::pow(x, each.degree() - each.times);
            largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)] - exact));
        }
        INFO(each.name << ": " << largest << " of " << scale);
        CHECK(largest < 1e-13 * scale);
    }
}

namespace {

// What a def of lib/coordinates.halo gives for a function whose derivative is known.
struct Coordinates {
    std::string axes;      // of the stencil
    std::string spacing;   // with H for a cell's share of an axis
    std::string function;  // of the places P, Q and R along the axes
    std::string call;      // of the field f
    std::string exact;
    std::string place = {};  // of cells along x, of a stretched grid
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

double coordinates_error(const Coordinates& each, int order, int cells) {
    std::vector<std::string> axes;
    std::istringstream names(each.axes);
    for (std::string name; names >> name;)
        axes.push_back(name);
    const auto of_places = [&](std::string text, bool in_stencil) {
        const char* const letters[] = {"P", "Q", "R"};
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            text = replaced(
                text, letters[axis],
                "(" +
                    (axis == 0 && !each.place.empty() ? replaced(each.place, "N", std::to_string(cells))
                     : in_stencil                     ? "pos(" + axes[axis] + ")"
                                                      : axes[axis]) +
                    ")");
        return text;
    };
    std::string list, grid;
    for (const std::string& axis : axes) {
        list += (list.empty() ? "" : ", ") + axis;
        grid += (grid.empty() ? "" : ", ") + std::to_string(cells);
    }
    const std::string widths = each.place.empty()
                                   ? ""
                                   : replaced(
                                         "    let width = (1 + 0.6 * cos(3 * idx(x) / N)) / N\n"
                                         "    let growth = -1.8 * sin(3 * idx(x) / N) / N^2\n",
                                         "N", std::to_string(cells));
    const std::string text =
        "use \"coordinates.halo\"\n\nstencil s(" + list + ") {\n    accuracy " + std::to_string(order) +
        "\n    " + replaced(each.spacing, "H", "1/" + std::to_string(cells)) +
        "\n    field f: f64 { boundary fixed " + of_places(each.function, true) + " }\n" + widths +
        "    field e: f64\n    e = " + each.call + " - (" + of_places(each.exact, true) +
        ")\n    reduce error = max(abs(e))\n}\n\nrun s {\n    grid " + grid +
        "\n    steps 1\n    init f = " + of_places(each.function, false) + "\n}\n";
    const Folder folder;
    folder.write("s.halo", text);
    const Outcome outcome = folder.haloc({"run", "s.halo", "--device", "interpreter", "-q", "--json"});
    INFO(text << outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out).at("reductions").at("error").get<double>();
}

}  // namespace

TEST_CASE("derivatives of lib/coordinates.halo keep the order of accuracy") {
    const std::string stretched = "idx(x) / N + 0.2 * sin(3 * idx(x) / N)";
    const std::string polar = "spacing r = H, theta = H\n    origin r = 1", function = "sin(2*P) * cos(3*Q)";
    const std::string around = "spacing r = H, theta = H, phi = H\n    origin r = 1, theta = 1";
    for (const Coordinates& each :
         {Coordinates{"x", "", "sin(2*P)", "d_stretched(f, x, width)", "2 * cos(2*P)", stretched},
          Coordinates{"x", "", "sin(2*P)", "d2_stretched(f, x, width, growth)", "-4 * sin(2*P)", stretched},
          Coordinates{"r theta", polar, function, "laplacian_polar(f, r, theta)",
                      "(-4 - 9/P^2) * sin(2*P) * cos(3*Q) + 2 * cos(2*P) * cos(3*Q) / P"},
          Coordinates{"r theta", polar, function, "div_polar(f, 2 * f, r, theta)",
                      "2 * cos(2*P) * cos(3*Q) + (sin(2*P) * cos(3*Q) - 6 * sin(2*P) * sin(3*Q)) / P"},
          Coordinates{"r theta", polar, function, "laplacian_axisymmetric(f, r, theta)",
                      "-13 * sin(2*P) * cos(3*Q) + 2 * cos(2*P) * cos(3*Q) / P"},
          Coordinates{"r theta phi", around, function + " * sin(R)",
                      "laplacian_cylindrical(f, r, theta, phi)",
                      "((-5 - 9/P^2) * sin(2*P) * cos(3*Q) + 2 * cos(2*P) * cos(3*Q) / P) * sin(R)"},
          Coordinates{
              "r theta phi", around, function + " * sin(R)", "laplacian_spherical(f, r, theta, phi)",
              "(-4 * sin(2*P) * cos(3*Q) + 4 * cos(2*P) * cos(3*Q) / P + sin(2*P) / P^2 * (-9 * cos(3*Q) "
              "- 3 * sin(3*Q) * cos(Q) / sin(Q) - cos(3*Q) / sin(Q)^2)) * sin(R)"}}) {
        const bool is_large = each.axes.size() > 8;
        for (const int order : is_large ? std::vector<int>{2, 4} : std::vector<int>{2, 4, 6}) {
            const int cells = is_large ? 10 : order < 6 ? 24 : 16;
            INFO(each.call << " of order " << order);
            const double coarse = coordinates_error(each, order, cells),
                         fine = coordinates_error(each, order, 2 * cells);
            CHECK(std::log2(coarse / fine) > order - 0.3);
            CHECK(std::log2(coarse / fine) < order + 1.2);
        }
    }
}
