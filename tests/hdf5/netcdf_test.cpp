// haloc run with files of NetCDF-4: their dimensions, and loading by them. That others read them is shown by
// foreign_readers.py.
#include <algorithm>
#include <string>

#include "array_in.h"
#include "catch.h"
#include "contains.h"
#include "process.h"
#include "runtime/hdf5/contents.h"
#include "runtime/hdf5/coordinates.h"

using namespace halo::test;
using halo::rt::Hdf5Array;
using halo::rt::Hdf5Contents;

namespace {

const std::string kGrids = R"(stencil grids(x, y) {
    param dt = 0.125
    spacing x = SPACING
    origin y = -1
    field u: f32 { boundary clamp }
    field s: f64 at x+1/2 { boundary clamp }
    field h: (x: f32 at x+1/2, y: f32 at y+1/2)
    field c: c64
    field time: f32
    u[t+1] = u + 0.1 * (u[x-1] + u[x+1] - 2*u)
    s[t+1] = s * 0.5
    h[t+1] = h * 0.5
    c[t+1] = 1i * c
    time[t+1] = 0 * time
}
run grids {
    grid 6, 5
    steps 5
SAVES}
)";

void write_grids(const Folder& folder, const std::string& lines, const std::string& spacing = "0.5") {
    std::string text = kGrids;
    text.replace(text.find("SPACING"), 7, spacing);
    folder.write("grids.halo", text.replace(text.find("SAVES"), 5, lines));
}

Outcome run_grids(const Folder& folder, const std::vector<std::string>& with = {}) {
    std::vector<std::string> all{"run", "grids.halo", "-q", "--device", "interpreter"};
    all.insert(all.end(), with.begin(), with.end());
    return folder.haloc(all);
}

void require_run(const Outcome& outcome) {
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
}

std::vector<double> numbers_in(const Hdf5Contents& contents, const std::string& name) {
    const Hdf5Array found = array_in(contents, name);
    REQUIRE(found.type == halo::rt::ElementType::f64);
    std::vector<double> numbers(static_cast<std::size_t>(found.shape.front()));
    contents.read(found, 0, found.shape.front(), numbers.data());
    return numbers;
}

}  // namespace

TEST_CASE("a file of NetCDF says where the values lie") {
    Folder folder;
    write_grids(folder,
                "    init u = idx(x)\n"
                "    save u to \"a.nc\" every 2 from 0 together\n"
                "    save s to \"a.nc\" every 2 from 0 together\n"
                "    save u on x in 1..5 every 2 to \"b.nc\"\n    save h.x to \"b.nc\"\n"
                "    save h.y to \"b.nc\"\n    save u at x = 2 to \"c.nc\"\n");
    require_run(run_grids(folder));
    const std::string a = folder.path() + "/a.nc", b = folder.path() + "/b.nc";
    const Hdf5Contents together(a), apart(b);
    CHECK(numbers_in(together, "x") == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
    CHECK(numbers_in(together, "x_half") == std::vector<double>{0.25, 0.75, 1.25, 1.75, 2.25, 2.75});
    CHECK(numbers_in(together, "y") == std::vector<double>{-1, 0, 1, 2, 3});
    CHECK(numbers_in(together, "time") == std::vector<double>{0, 0.25, 0.5, 0.625});
    CHECK(numbers_in(apart, "x") == std::vector<double>{0.5, 1.5, 2.5});
    CHECK(numbers_in(apart, "x_2") == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5});
    CHECK(numbers_in(apart, "y_half") == std::vector<double>{-0.5, 0.5, 1.5, 2.5, 3.5});
    const auto found = halo::rt::read_coordinates(a, "/s").axes;
    REQUIRE(found.size() == 3);
    CHECK(found[0]->name == "time");
    CHECK(found[1]->name == "y");
    CHECK(found[2]->name == "x_half");
    CHECK(found[2]->places == numbers_in(together, "x_half"));
    CHECK(together.text("Conventions") == "CF-1.10");
    for (const std::string name : {"a.nc", "b.nc", "c.nc"}) {
        const Outcome again = folder.haloc({"rerun", name});
        INFO(again.out << again.err);
        CHECK(again.code == 0);
    }
}

TEST_CASE("what is loaded has the unit that the stencil says, or none is said") {
    Folder folder;
    const auto run = [&](const std::string& unit, const std::string& spacing_unit, const std::string& line) {
        folder.write("k.halo",
                     "stencil k(x) {\n    spacing x = 0.5 " + spacing_unit + "\n    field u: f64 { " + unit +
                         " }\n    u[t+1] = u\n}\nrun k {\n    grid 6\n    steps 1\n    " + line + "\n}\n");
        return folder.haloc({"run", "k.halo", "-q", "--device", "interpreter"});
    };
    const std::string kelvin = "unit \"K\"", metres = "unit \"m\"";
    require_run(run(kelvin, metres, "save u to \"k.nc\"; save u to \"n.npy\"; init u = x"));
    require_run(run(kelvin, "", "save u to \"k.h5\"; init u = x"));
    require_run(run("", "", "save u to \"none.nc\"; init u = x"));
    for (const std::string file : {"k.nc", "k.h5", "none.nc", "n.npy"}) {
        require_run(run(kelvin, metres, "load u from \"" + file + "\""));
        require_run(run("", "", "load u from \"" + file + "\""));
    }
    for (const std::string file : {"k.nc", "k.h5"}) {
        const Outcome other = run("unit \"degC\"", "", "load u from \"" + file + ":/u\"");
        CHECK(other.code == 4);
        CHECK(contains(other.err, file + ":/u: the unit of the values of u is \"K\" there, and \"degC\" in "
                                         "the stencil\n  units are compared as they are written"));
    }
    CHECK(
        contains(run(kelvin, "unit \"km\"", "load u from \"k.nc\"").err,
                 "k.nc: the unit of the coordinates along x of u is \"m\" there, and \"km\" in the stencil"));
}

TEST_CASE("what is loaded from a file of NetCDF must lie where the cells are") {
    Folder folder;
    write_grids(folder,
                "    init u = idx(x)\n    init s = idx(y)\n    save u to \"a.nc\"\n    save s to \"a.nc\"\n");
    require_run(run_grids(folder));
    write_grids(
        folder,
        "    steps 0\n    load u from \"a.nc\"\n    load s from \"a.nc:/s\"\n    save u to \"b.nc\"\n");
    std::string text = folder.read("grids.halo");
    folder.write("grids.halo", text.erase(text.find("    steps 5\n"), 12));
    require_run(run_grids(folder, {"--steps", "1"}));
    write_grids(folder, "    load u from \"a.nc\"\n", "0.25");
    const Outcome elsewhere = run_grids(folder);
    CHECK(elsewhere.code == 4);
    CHECK(contains(
        elsewhere.err,
        "a.nc: the values of u lie at x = 0, 0.5, … 2.5, and the cells of the grid at 0, 0.25, … 1.25"));
    CHECK(contains(elsewhere.err, "`spacing x` and `origin x`"));
    write_grids(folder, "    load u from \"a.nc:/s\"\n");
    CHECK(contains(run_grids(folder).err, "the values of u lie at x = 0.25, 0.75, … 2.75"));
    write_grids(folder, "    load u from \"a.nc\"\n");
    CHECK(contains(run_grids(folder, {"--grid", "7,5"}).err, "shape"));
    folder.write("old.nc", std::string("CDF\x01\0\0\0\0", 8));
    const Outcome old = run_grids(folder, {"--load", "u=old.nc"});
    CHECK(old.code == 4);
    CHECK(contains(old.err, "it is a file of NetCDF 3; nccopy -k nc4"));
}

TEST_CASE("what NetCDF cannot hold is refused before the run") {
    Folder folder;
    struct Case {
        std::string save;
        std::string words;
    };
    const std::vector<Case> cases{
        {"c=a.nc", "c cannot be saved to a.nc: it has complex numbers, and NetCDF has none"},
        {"time=a.nc", "time cannot be saved to a.nc, in which the steps or times of the run have that name"},
        {"h=a.nc", "h cannot be saved to a.nc: its components lie at different places"},
    };
    write_grids(folder, "");
    for (const Case& each : cases) {
        const Outcome outcome = run_grids(folder, {"--save", each.save});
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, each.words));
    }
    CHECK(folder.names() == std::vector<std::string>{"grids.halo"});
}
