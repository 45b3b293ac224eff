// haloc run: pictures of several fields, and of reductions.
#include <set>
#include <string>

#include "catch.h"
#include "contains.h"
#include "process.h"

using namespace halo::test;

TEST_CASE("pictures have lines and arrows over their colours, and curves beside each other") {
    Folder folder;
    const auto picture = [&](const std::string& axes, const std::string& plot) {
        folder.write("p.halo", "stencil s(" + axes +
                                   ") {\n    field u: f64 { boundary clamp }\n    field w: f64\n"
                                   "    field v: (x: f64, y: f64) at x+1/2\n    u[t+1] = 2 * u\n"
                                   "    reduce most = max(u[t+1])\n    reduce sum_u = sum(u[t+1])\n}\n"
                                   "run s {\n    grid " +
                                   (axes == "x"      ? "6"
                                    : axes == "x, y" ? "6, 5"
                                                     : "6, 5, 4") +
                                   "\n    steps 3\n    init u = x\n    init w = x + 1\n    init v.x = 1\n"
                                   "    " +
                                   plot + "\n}\n");
        const Outcome outcome = folder.haloc({"run", "--device", "interpreter", "p.halo"});
        INFO(plot << "\n" << outcome.err);
        CHECK(outcome.code == 0);
        return folder.read("u.png");
    };
    for (const std::string axes : {"x, y", "x, y, z"}) {
        const std::string plain = picture(axes, "plot u to \"u.png\"");
        std::set<std::string> different{plain};
        for (const std::string layers :
             {"contours w", "contours w = 2.5", "arrows v", "arrows w, v.y", "contours w arrows v"})
            different.insert(picture(axes, "plot u " + layers + " to \"u.png\""));
        different.insert(picture(axes, "plot u to \"u.png\" log"));
        CHECK(different.size() == 7);
    }
    picture("x, y, z", "plot u at y = 2 contours w to \"u.png\" range 1..2 log flip x");
    std::set<std::string> curves;
    for (const std::string names : {"u", "u, w", "u, w, v.x", "most", "most, sum_u"})
        for (const std::string looks : {"", " log"})
            curves.insert(picture("x", "plot " + names + " to \"u.png\"" + looks));
    CHECK(curves.size() == 10);
    // Of three steps: all, or the second and the last.
    CHECK((picture("x", "plot most to \"u.png\" every 2") != picture("x", "plot most to \"u.png\"")));
    CHECK(folder.haloc({"run", "--device", "interpreter", "p.halo", "--plot", "sum_u"}).code == 0);
    CHECK(folder.read("sum_u.png").size() > 1000);
    const Outcome cut = folder.haloc({"run", "p.halo", "--plot", "most@x=1=a.png"});
    CHECK(cut.code == 2);
    CHECK(contains(cut.err, "--plot most: a reduction is one number, and has no part"));
    CHECK(contains(folder.haloc({"run", "p.halo", "--movie", "most=a.gif"}).err,
                   "--movie most: a movie shows a field, and most is a reduction"));
    CHECK(contains(folder.haloc({"run", "p.halo", "--plot", "most=a.npy"}).err,
                   "--plot most: the name of this file must end in .png, and a.npy does not"));
}
