// haloc run with HDF5 files, as a user sees it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "without_provenance.h"

using namespace halo::test;

namespace {

const std::string kSpec = R"(stencil mix(x, y) {
    param dt = 0.125
    spacing x = 0.5
    origin y = -1
    field u: f32 { boundary clamp }
    field h: f16 { boundary clamp }
    field n: i32 { boundary clamp }
    field s: f64 at x+1/2 { boundary clamp }
    field v: (x: f32, y: f32) { boundary clamp }
    field c: c64 { boundary clamp }
    u[t+1] = u + 0.1 * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
    h[t+1] = h * 0.5
    n[t+1] = n[x+1] + 1
    s[t+1] = s * 0.75
    v[t+1] = v + [0.5, 0.25]
    c[t+1] = 1i * c
}
run mix {
    grid 40, 31
    steps 12
    init u = idx(x) + 2*idx(y)
    init h = idx(x) / 3
    init n = idx(y)
    init s = pos(x)
    init c = 1
}
)";

const std::vector<std::string> kFields{"u", "h", "n", "s", "v", "c"};

Outcome run(const Folder& folder, std::vector<std::string> arguments,
            const std::string& device = "interpreter") {
    std::vector<std::string> all{"run", "mix.halo", "--device", device, "-q"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return folder.haloc(all);
}

void require_done(const Outcome& outcome) {
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
}

std::vector<std::string> saves(const std::string& path) {
    std::vector<std::string> options;
    for (const std::string& field : kFields)
        options.insert(options.end(), {"--save", field + "=" + (path.empty() ? field + ".npy" : path)});
    return options;
}

// What a page of XDMF says, one `name=value` of its elements a line; nothing where it is not well formed.
std::vector<std::string> elements_of(const std::string& page) {
    std::vector<std::string> open, seen;
    for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
        const std::string element = page.substr(at + 1, page.find('>', at) - at - 1);
        if (element.starts_with("?")) continue;
        if (element.starts_with("/")) {
            if (open.empty() || open.back() != element.substr(1)) return {};
            open.pop_back();
            continue;
        }
        seen.push_back(element);
        if (!element.ends_with("/")) open.push_back(element.substr(0, element.find(' ')));
    }
    return open.empty() ? seen : std::vector<std::string>{};
}

}  // namespace

TEST_CASE("all fields of a run go to one HDF5 file and back, as by .npy") {
    Folder folder;
    folder.write("mix.halo", kSpec);
    require_done(run(folder, saves("out.h5")));
    require_done(run(folder, saves("")));
    std::vector<std::string> from_hdf5 = saves(""), from_npy = saves("");
    for (const std::string& field : kFields) {
        from_hdf5.insert(from_hdf5.end(), {"--load", field + "=out.h5"});
        from_npy.insert(from_npy.end(), {"--load", field + "=" + field + ".npy"});
    }
    std::vector<std::string> arrays;
    require_done(run(folder, from_hdf5));
    for (const std::string& field : kFields)
        arrays.push_back(folder.read(field + ".npy"));
    require_done(run(folder, saves("")));
    require_done(run(folder, from_npy));
    for (std::size_t i = 0; i < kFields.size(); ++i) {
        INFO(kFields[i]);
        CHECK(arrays[i].size() > 100);
        CHECK(folder.read(kFields[i] + ".npy") == arrays[i]);
    }
}

#ifdef HALO_HAS_LLVM
TEST_CASE("pieces write the HDF5 file of one device, and read it") {
    Folder folder;
    folder.write("mix.halo", kSpec);
    require_done(run(folder, saves("out.h5"), "cpu"));
    const std::string whole = without_provenance(folder.read("out.h5"));
    std::vector<std::string> options = saves("pieces.h5");
    options.insert(options.end(), {"--devices", "3"});
    require_done(run(folder, options, "cpu"));
    CHECK(whole.size() > 1000);
    CHECK(without_provenance(folder.read("pieces.h5")) == whole);
    const std::vector<std::string> load{"--steps", "3", "--load", "u=out.h5", "--load", "c=out.h5:/c"};
    for (const std::string name : {"a", "b"}) {
        options = saves(name + ".h5");
        options.insert(options.end(), load.begin(), load.end());
        if (name == "b") options.insert(options.end(), {"--devices", "3"});
        require_done(run(folder, options, "cpu"));
    }
    CHECK(without_provenance(folder.read("a.h5")) == without_provenance(folder.read("b.h5")));
}
#endif

TEST_CASE("frames and the end are files of their own, and one page of XDMF lists them") {
    Folder folder;
    std::string spec = kSpec;
    spec.insert(spec.rfind('}'),
                "    save u to \"out.h5\" every 5\n    save s to \"out.h5\"\n    save c to \"out.h5\"\n");
    folder.write("mix.halo", spec);
    const Outcome outcome = folder.haloc({"run", "mix.halo", "--device", "interpreter", "--json"});
    require_done(outcome);
    CHECK(folder.names() ==
          std::vector<std::string>{"mix.halo", "out-000005.h5", "out-000010.h5", "out.h5", "out.xdmf"});
    const auto files = nlohmann::json::parse(outcome.out).at("files");
    REQUIRE(files.size() == 4);
    CHECK(files[0] == nlohmann::json{{"field", "u"}, {"path", "out-000005.h5"}, {"step", 5}});
    CHECK(files[2] == nlohmann::json{{"field", "u, s, c"}, {"path", "out.h5"}, {"step", 12}});
    CHECK(files[3] == nlohmann::json{{"field", "u, s, c"}, {"path", "out.xdmf"}, {"step", 12}});
    const std::string page = folder.read("out.xdmf");
    const std::vector<std::string> elements = elements_of(page);
    CHECK(!elements.empty());
    const auto count = [&](const std::string& element) { return std::ranges::count(elements, element); };
    CHECK(count(R"(Grid Name="mix" GridType="Collection" CollectionType="Temporal")") == 1);
    CHECK(count(R"(Time Value="0.625"/)") == 1);
    CHECK(count(R"(Time Value="1.25"/)") == 1);
    CHECK(count(R"(Time Value="1.5"/)") == 3);  // two places, and both together
    CHECK(count(R"(Topology TopologyType="2DCoRectMesh" Dimensions="31 40"/)") == 4);
    CHECK(contains(page, "out-000005.h5:/u<"));
    CHECK(contains(page, "out.h5:/s<"));
    CHECK(contains(page, ">-1 0<"));     // y, x
    CHECK(contains(page, ">-1 0.25<"));  // half a cell further along x
    CHECK(contains(page, ">1 0.5<"));
    CHECK(!contains(page, "/c<"));  // no complex numbers in XDMF
}

TEST_CASE("a page goes on with the frames from before a restart") {
    Folder folder;
    std::string spec = kSpec;
    spec.insert(spec.rfind('}'), "    save u to \"out.h5\" every 4\n");
    folder.write("mix.halo", spec);
    require_done(run(folder, {"--steps", "8", "--checkpoint", "ck"}));
    require_done(run(folder, {"--restart", "ck", "--steps", "12"}));
    const std::string page = folder.read("out.xdmf");
    for (const std::string file : {"out-000004.h5:/u", "out-000008.h5:/u", "out.h5:/u"})
        CHECK(contains(page, file));
    CHECK(!contains(page, "out-000012"));  // the last file is that of its step
}

TEST_CASE("mistakes with HDF5 files are one message") {
    Folder folder;
    folder.write("mix.halo", kSpec);
    folder.write("text.h5", "no HDF5");
    require_done(run(folder, {"--save", "u=u.h5", "--save", "n=n.npy"}));
    struct Case {
        std::vector<std::string> arguments;
        int code;
        std::string words;
    };
    const std::vector<Case> cases{
        {{"--load", "u=none.h5"}, 4, "cannot read \"none.h5\": there is no such file"},
        {{"--load", "u=text.h5"}, 4, "it is no HDF5 file"},
        {{"--load", "n=u.h5"}, 4, "it has no dataset /n; it has /u"},
        {{"--load", "n=u.h5:/run/n"}, 4, "it has no dataset /run/n; it has /u"},
        {{"--load", "u=u.h5", "--grid", "31,40"}, 4, "its axes are in the opposite order"},
        {{"--load", "u=u.h5", "--grid", "31,30"}, 4, "its shape is (31, 40), and field u needs (30, 31)"},
        {{"--load", "v=u.h5:/u"}, 4, "field v needs (31, 40, 2)"},
        {{"--save", "u=none/u.h5"}, 4, "there is no folder none"},
        {{"--save", "u=a.h5", "--save", "u=a.h5"}, 2, "two outputs would be written to a.h5"},
        {{"--save", "u=a.h5", "--save", "n=a.hdf5"}, 2, "two outputs would be written to a.xdmf"},
    };
    for (const Case& each : cases) {
        const Outcome outcome = run(folder, each.arguments);
        INFO(outcome.err);
        CHECK(outcome.code == each.code);
        CHECK(contains(outcome.err, each.words));
        CHECK(outcome.err.find("error") == outcome.err.rfind("error"));
    }
    CHECK(folder.names() == std::vector<std::string>{"mix.halo", "n.npy", "text.h5", "u.h5", "u.xdmf"});
}
