// haloc run with VTKHDF files: what lies where in them. That VTK reads them is shown by foreign_readers.py.
#include <algorithm>
#include <string>

#include "array_in.h"
#include "catch.h"
#include "contains.h"
#include "process.h"
#include "runtime/hdf5/contents.h"

#include <nlohmann/json.hpp>

using namespace halo::test;
using halo::rt::Hdf5Array;
using halo::rt::Hdf5Contents;

namespace {

const std::string kImages = R"(stencil images(x, y, z) {
    param dt = 0.125
    spacing x = 0.5
    origin y = -1
    field u: f32 { boundary clamp }
    field s: f64 at x+1/2 { boundary clamp }
    field h: (x: f32 at x+1/2, y: f32 at y+1/2)
    field c: c64
    field b: bool
    field p: f32 over x, z
    u[t+1] = u + 0.1 * (u[x-1] + u[x+1] - 2*u) + 0*p
    s[t+1] = s * 0.5
    h[t+1] = h * 0.5
    c[t+1] = 1i * c
    b[t+1] = not b
}
run images {
    grid 6, 5, 4
    steps 5
    init u = idx(x) + 10*idx(y) + 100*idx(z)
    init p = idx(x) + 100*idx(z)
SAVES}
)";

Outcome run_images(const Folder& folder, const std::string& saves,
                   const std::vector<std::string>& with = {}) {
    std::string text = kImages;
    folder.write("images.halo", text.replace(text.find("SAVES"), 5, saves));
    std::vector<std::string> all{"run", "images.halo", "-q", "--device", "interpreter"};
    all.insert(all.end(), with.begin(), with.end());
    return folder.haloc(all);
}

}  // namespace

TEST_CASE("an image of VTK with steps has its arrays where readers look for them") {
    Folder folder;
    const Outcome done = run_images(folder,
                                    "    save u to \"a.vtkhdf\" every 2 from 0 together\n"
                                    "    save b to \"a.vtkhdf\" every 2 from 0 together\n");
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(folder.names() == std::vector<std::string>{"a.vtkhdf", "images.halo"});  // no page of XDMF
    const Hdf5Contents contents(folder.path() + "/a.vtkhdf");
    const Hdf5Array u = array_in(contents, "VTKHDF/PointData/u");
    CHECK(u.shape == std::vector<std::int64_t>{4, 4, 5, 6});
    CHECK(array_in(contents, "VTKHDF/PointData/b").type == halo::rt::ElementType::u8);
    std::vector<float> first(120);
    contents.read(u, 0, 1, first.data());
    CHECK(first[0] == 0);
    CHECK(first[1 + 2 * 6 + 3 * 30] == 321);
    std::vector<std::int64_t> numbers(4);
    contents.read(array_in(contents, "VTKHDF/Steps/PointDataOffsets/u"), 0, 4, numbers.data());
    CHECK(numbers == std::vector<std::int64_t>{0, 1, 2, 3});
    contents.read(array_in(contents, "step"), 0, 4, numbers.data());
    CHECK(numbers == std::vector<std::int64_t>{0, 2, 4, 5});
    std::vector<double> times(4);
    contents.read(array_in(contents, "VTKHDF/Steps/Values"), 0, 4, times.data());
    CHECK(times == std::vector<double>{0, 0.25, 0.5, 0.625});
    const Outcome again = folder.haloc({"rerun", "a.vtkhdf"});
    INFO(again.out << again.err);
    CHECK(again.code == 0);
    CHECK(contains(again.out, "VTKHDF/PointData/u agrees in all bits of 480 numbers"));
    CHECK(contains(folder.haloc({"info", "a.vtkhdf"}).out, "/VTKHDF/PointData/u f32 (4, 4, 5, 6)"));
}

TEST_CASE("planes, lines and frames of their own are images of VTK, too") {
    Folder folder;
    const Outcome done = run_images(folder,
                                    "    save u at y = 2 to \"plane.vtkhdf\" every 2 together\n"
                                    "    save p to \"p.vtkhdf\"\n"
                                    "    save s on x in 1..5 every 2 to \"s.vtkhdf\" every 4\n"
                                    "    save h.x to \"h.vtkhdf\"\n");
    INFO(done.err);
    REQUIRE(done.code == 0);
    const Hdf5Contents plane(folder.path() + "/plane.vtkhdf"), p(folder.path() + "/p.vtkhdf"),
        s(folder.path() + "/s-000004.vtkhdf");
    CHECK(array_in(plane, "VTKHDF/CellData/u").shape == std::vector<std::int64_t>{3, 4, 1, 6});
    CHECK(array_in(p, "VTKHDF/CellData/p").shape == std::vector<std::int64_t>{4, 1, 6});
    CHECK(array_in(s, "VTKHDF/PointData/s").shape == std::vector<std::int64_t>{4, 5, 3});
    // What says the times of frames of their own, and of no other file.
    const nlohmann::json series = nlohmann::json::parse(folder.read("s.vtkhdf.series"));
    CHECK(series == nlohmann::json{{"file-series-version", "1.0"},
                                   {"files",
                                    {{{"name", "s-000004.vtkhdf"}, {"time", 0.5}},
                                     {{"name", "s.vtkhdf"}, {"time", 0.625}}}}});
    CHECK(std::ranges::count_if(folder.names(),
                                [](const std::string& name) { return name.ends_with(".series"); }) == 1);
    for (const std::string name : {"plane.vtkhdf", "p.vtkhdf", "s-000004.vtkhdf", "s.vtkhdf", "h.vtkhdf"}) {
        const Outcome again = folder.haloc({"rerun", name});
        INFO(name << again.out << again.err);
        CHECK(again.code == 0);
    }
}

TEST_CASE("what an image of VTK cannot hold is refused before the run") {
    Folder folder;
    struct Case {
        std::string saves;
        std::vector<std::string> with;
        std::string words;
        int code = 2;  // 1 where the spec tells
    };
    const std::vector<Case> cases{
        {"    save c to \"a.vtkhdf\"\n", {}, "it has complex numbers, and VTK has none", 1},
        {"    save h to \"a.vtkhdf\"\n", {}, "its components lie at different places", 1},
        {"    save u to \"a.vtkhdf\"\n    save s to \"a.vtkhdf\"\n",
         {},
         "its values lie at other places than those of `u`",
         1},
        {"    save u to \"a.vtkhdf\"\n", {"--save", "s=a.vtkhdf"}, "s and u cannot share a.vtkhdf"},
        {"", {"--save", "h=a.vtkhdf"}, "h cannot be saved to a.vtkhdf: its components lie at different"},
        {"    save u at z = 1 to \"a.vtkhdf\"\n    save b at z = 2 to \"a.vtkhdf\"\n", {}, "cannot share"},
        {"", {"--load", "u=a.vtkhdf"}, "u cannot be loaded from a.vtkhdf: fields are read from .npy"},
        {"", {"--save", "c=a.vtkhdf"}, "c cannot be saved to a.vtkhdf"},
    };
    for (const Case& each : cases) {
        const Outcome outcome = run_images(folder, each.saves, each.with);
        INFO(outcome.err);
        CHECK(outcome.code == each.code);
        CHECK(contains(outcome.err, each.words));
        CHECK(outcome.err.find("error") == outcome.err.rfind("error"));
    }
    CHECK(folder.names() == std::vector<std::string>{"images.halo"});
}

TEST_CASE("of four axes an image of VTK holds a part of one cell along the fourth") {
    Folder folder;
    folder.write("four.halo",
                 "stencil four(x, y, z, w) {\n    field u: f32 { boundary clamp }\n    u[t+1] = u[x-1] / 2 + "
                 "u[w+1] / 2\n}\n\n"
                 "run four {\n    grid 5, 4, 3, 2\n    steps 1\n    init u = x + 10*w\n}\n");
    const Outcome whole =
        folder.haloc({"run", "four.halo", "--device", "interpreter", "--save", "u=a.vtkhdf"});
    CHECK(whole.code == 2);
    CHECK(contains(whole.err, "an image of VTK has three axes"));
    const Outcome part =
        folder.haloc({"run", "four.halo", "--device", "interpreter", "--save", "u@w=1=a.vtkhdf"});
    INFO(part.err);
    CHECK(part.code == 0);
    CHECK(array_in(Hdf5Contents(folder.path() + "/a.vtkhdf"), "VTKHDF/PointData/u").shape ==
          std::vector<std::int64_t>{3, 4, 5});
}
