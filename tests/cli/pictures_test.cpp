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

TEST_CASE("--plot and --movie take what a run block says of a picture") {
    Folder folder;
    const std::string stencil =
        "stencil s(x, y) {\n    field u: f64 { boundary clamp }\n    field w: f64\n    u[t+1] = 2 * u\n"
        "    reduce most = max(u[t+1])\n}\n";
    const std::string run =
        "run s {\n    grid 8, 6\n    steps 3\n    init u = x + 1\n    init w = y\n"
        "    plot w to \"w.png\"\n    plot u to \"own.png\"\n";
    const std::string words = "u contours w = 1, 2.5 arrows w, u to \"u.png\" range 1..40 log flip y";
    const auto haloc = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"run", "--device", "interpreter", "s.halo"});
        return folder.haloc(arguments);
    };
    folder.write("s.halo", stencil + run + "    plot " + words + "\n}\n");
    REQUIRE(haloc({}).code == 0);
    const std::string expected = folder.read("u.png");
    folder.write("s.halo", stencil + run + "}\n");
    REQUIRE(haloc({"--plot", words, "--no-files"}).code == 0);
    CHECK((folder.read("u.png") == expected));
    // It takes the place of what the block says of that field.
    const Outcome both = haloc({"--plot", words, "--plot", "most to \"most.png\" log every 2"});
    INFO(both.err);
    CHECK(both.code == 0);
    CHECK(contains(both.out + both.err, "wrote w.png"));
    CHECK(contains(both.out + both.err, "wrote most.png"));
    CHECK(!contains(both.out + both.err, "wrote own.png"));
    CHECK(haloc({"--movie", "u every 1 to \"u.gif\" range 0..20 fps 5", "--no-files"}).code == 0);
    CHECK(folder.read("u.gif").starts_with("GIF89a"));

    const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
        const Outcome outcome = haloc(arguments);
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, part));
    };
    refused({"--plot", "u contour w to \"u.png\""}, "--plot:1:8: error: expected `to`");
    refused({"--plot", "u to \"u.png\" range 0..1 fps 3"},
            "--plot:1:30: error: expected the end of the line");
    refused({"--plot", "v to \"u.png\""}, "--plot:1:6: error:");
    refused({"--plot", "u to \"u.npy\""}, "--plot:1:11: error:");
    refused({"--movie", "u to \"u.gif\""}, "every");
    // A spec of somebody else's says nothing of what the command line names.
    folder.write("s.halo", stencil + "run s {\n    grid 8, 6\n    steps 1\n}\n");
    CHECK(haloc({"--safe", "--plot",
                 "u to \"../" + folder.path().substr(folder.path().rfind('/') + 1) + "/s.png\""})
              .code == 0);
    CHECK(folder.read("s.png").size() > 1000);
}
