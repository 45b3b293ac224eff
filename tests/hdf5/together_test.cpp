// haloc run with the frames of fields in one HDF5 file.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "runtime/hdf5/contents.h"
#include "without_provenance.h"

using namespace halo::test;
using halo::rt::Hdf5Array;
using halo::rt::Hdf5Contents;

namespace {

const std::string kFlow = R"(stencil flow(x, y) {
    param dt = 0.125
    spacing x = 0.5
    field u: f32 { boundary clamp }
    field v: (x: f16, y: f16)
    field c: c64
    field twice: f32
    u[t+1] = u + 0.1 * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
    v[t+1] = v * 0.5
    c[t+1] = 1i * c
    twice = 2 * u
}
run flow {
    grid 40, 31
    steps 12
    init u = idx(x) + 2*idx(y)
    init v.x = idx(y)
    init c = 1
SAVES}
)";

const std::string kTogether = R"(    save u to "all.h5" every 5 from 0 together
    save v to "all.h5" every 5 from 0 together
    save c on x in 3..30 every 4 to "all.h5" every 5 from 0 together
    save u at y = 7 to "row.h5" every 4 from 4 to 8 together
)";

void write_flow(const Folder& folder, const std::string& saves) {
    std::string text = kFlow;
    folder.write("flow.halo", text.replace(text.find("SAVES"), 5, saves));
}

Outcome flow(const Folder& folder, const std::vector<std::string>& with = {},
             const std::string& device = "interpreter") {
    std::vector<std::string> all{"run", "flow.halo", "-q", "--device", device};
    all.insert(all.end(), with.begin(), with.end());
    return folder.haloc(all);
}

void require_well(const Outcome& outcome) {
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
}

// The bytes of an array's row, or of all rows.
std::string rows_of(const Folder& folder, const std::string& file, const std::string& name,
                    std::int64_t row = -1) {
    const Hdf5Contents contents(folder.path() + "/" + file);
    const auto array = std::ranges::find(contents.arrays(), name, &Hdf5Array::name);
    REQUIRE(array != contents.arrays().end());
    REQUIRE(array->type);
    const std::int64_t count = row < 0 ? array->shape.front() : 1;
    std::string bytes(
        static_cast<std::size_t>(count * array->elements_of_row() * halo::rt::size_of(*array->type)), '\0');
    contents.read(*array, std::max<std::int64_t>(row, 0), count, bytes.data());
    return bytes;
}

std::vector<std::int64_t> steps_of(const Folder& folder, const std::string& file) {
    const std::string bytes = rows_of(folder, file, "step");
    std::vector<std::int64_t> steps(bytes.size() / sizeof(std::int64_t));
    std::memcpy(steps.data(), bytes.data(), bytes.size());
    return steps;
}

std::string part_left(const Folder& folder) {
    for (const std::string& name : folder.names())
        if (name.ends_with(".part")) return name;
    return "";
}

// Ends a long run by a signal once some frames are there.
Outcome struck(const Folder& folder, int signal) {
    Invocation invocation;
    invocation.arguments = {"run", "flow.halo", "--device", "interpreter", "--steps", "1e9"};
    invocation.folder = folder.path();
    invocation.on_terminal = true;  // the progress line says that steps are being done
    bool is_sent = false;
    invocation.watch = [&](int pid, const std::string& err) {
        if (!is_sent && contains(err, "left")) is_sent = ::kill(pid, signal) == 0;
    };
    return run_haloc(invocation);
}

}  // namespace

TEST_CASE("frames together are the cells of frames in files of their own") {
    Folder folder;
    std::string apart = kTogether;
    for (std::size_t at = apart.find(" together"); at != std::string::npos; at = apart.find(" together"))
        apart.erase(at, 9);
    write_flow(folder, apart);
    require_well(flow(folder));
    std::vector<std::string> frames;
    const std::vector<std::string> fields{"u", "v", "c"};
    for (const std::string file : {"all-000000.h5", "all-000005.h5", "all-000010.h5", "all.h5"})
        for (const std::string& field : fields)
            frames.push_back(rows_of(folder, file, field));
    std::vector<std::string> rows;
    for (const std::string file : {"row-000004.h5", "row-000008.h5", "row.h5"})
        rows.push_back(rows_of(folder, file, "u"));
    write_flow(folder, kTogether);
    require_well(flow(folder));
    CHECK(steps_of(folder, "all.h5") == std::vector<std::int64_t>{0, 5, 10, 12});
    CHECK(steps_of(folder, "row.h5") == std::vector<std::int64_t>{4, 8, 12});
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t f = 0; f < 3; ++f) {
            INFO("frame " << i << " of " << fields[f]);
            CHECK(rows_of(folder, "all.h5", fields[f], static_cast<std::int64_t>(i)) == frames[3 * i + f]);
        }
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(rows_of(folder, "row.h5", "u", static_cast<std::int64_t>(i)) == rows[i]);

    const std::string page = folder.read("all.xdmf");
    CHECK(contains(page, R"(<Grid Name="flow" GridType="Collection" CollectionType="Temporal">)"));
    for (const std::string time : {"0", "0.625", "1.25", "1.5"})
        CHECK(contains(page, "<Time Value=\"" + time + "\"/>"));
    CHECK(contains(page, R"(<DataItem ItemType="HyperSlab" Dimensions="31 40 2">)"));
    CHECK(contains(
        page,
        R"(<DataItem Format="XML" NumberType="Int" Dimensions="3 4">2 0 0 0 1 1 1 1 1 31 40 2</DataItem>)"));
    CHECK(contains(page, R"(Precision="4" Dimensions="4 31 40 2">all.h5:/v</DataItem>)"));
    CHECK(!contains(page, "/c<"));
}

TEST_CASE("a run with frames together is repeated from its file") {
    Folder folder;
    write_flow(folder, kTogether);
    require_well(flow(folder));
    for (const std::string file : {"all.h5", "row.h5"}) {
        const Outcome again = folder.haloc({"rerun", file, "--json"});
        INFO(again.out << again.err);
        CHECK(again.code == 0);
        const auto json = nlohmann::json::parse(again.out);
        CHECK(json.at("agrees") == true);
        CHECK(json.at("fields").size() == (file == "all.h5" ? 5 : 3));
    }
    CHECK(contains(folder.haloc({"info", "row.h5"}).out, "12 of 12, frames every 4 from 4 to 8\n"));
}

TEST_CASE("the command line asks for frames, too") {
    Folder folder;
    write_flow(folder, "");
    require_well(
        flow(folder, {"--save", "u=a.h5", "--save", "c@y=3=a.h5", "--save-every", "5 from 0", "--together"}));
    CHECK(steps_of(folder, "a.h5") == std::vector<std::int64_t>{0, 5, 10, 12});
    require_well(flow(folder, {"--save", "u=b.npy", "--save-every", "5 from 2 to 7"}));
    const std::vector<std::string> names = folder.names();
    for (const std::string name : {"b-000002.npy", "b-000007.npy", "b.npy"})
        CHECK(std::ranges::count(names, name) == 1);
    CHECK(names.size() == 6);  // and the spec, a.h5, a.xdmf
}

#ifdef HALO_HAS_LLVM
TEST_CASE("pieces write the frames of one device") {
    Folder folder;
    write_flow(folder, kTogether);
    require_well(flow(folder, {}, "cpu"));
    const std::string all = without_provenance(folder.read("all.h5")),
                      row = without_provenance(folder.read("row.h5"));
    require_well(flow(folder, {"--devices", "3"}, "cpu"));
    CHECK(all.size() > 10000);
    CHECK(without_provenance(folder.read("all.h5")) == all);
    CHECK(without_provenance(folder.read("row.h5")) == row);
}
#endif

TEST_CASE("a run that goes on from a checkpoint begins another file of frames") {
    Folder folder;
    write_flow(folder, "    save u to \"u.h5\" every 2 together\n    save v to \"u.h5\" every 2 together\n");
    require_well(flow(folder, {"--steps", "6", "--checkpoint", "ck"}));
    const std::string first = folder.read("u.h5");
    const Outcome on = folder.haloc({"run", "flow.halo", "--device", "interpreter", "--restart", "ck"});
    INFO(on.err);
    CHECK(on.code == 0);
    CHECK(contains(on.err,
                   "note: a file of frames cannot be continued: those after step 6 are in u-000006.h5\n"));
    CHECK(folder.read("u.h5") == first);
    CHECK(steps_of(folder, "u.h5") == std::vector<std::int64_t>{2, 4, 6});
    CHECK(steps_of(folder, "u-000006.h5") == std::vector<std::int64_t>{8, 10, 12});
    require_well(folder.haloc({"rerun", "u-000006.h5"}));
}

TEST_CASE("a run that is interrupted leaves its frames") {
    if (!has_terminals()) return;
    Folder folder;
    write_flow(folder, "    save u to \"u.h5\" every 3 together\n");
    CHECK(struck(folder, SIGINT).code == 130);
    CHECK(part_left(folder).empty());
    const std::vector<std::int64_t> steps = steps_of(folder, "u.h5");
    REQUIRE(steps.size() > 1);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        CHECK(steps[i] == 3 * static_cast<std::int64_t>(i + 1));
    require_well(folder.haloc({"rerun", "u.h5"}));
}

TEST_CASE("a run that is killed leaves a part with its frames, which the next run removes") {
    if (!has_terminals()) return;
    Folder folder;
    write_flow(folder, "    save u to \"u.h5\" every 3 together\n");
    CHECK(struck(folder, SIGKILL).code == 128 + SIGKILL);
    const std::string part = part_left(folder);
    REQUIRE(!part.empty());
    CHECK(steps_of(folder, part).size() > 1);
    require_well(folder.haloc({"rerun", part}));
    require_well(flow(folder));
    CHECK(part_left(folder).empty());
}

TEST_CASE("mistakes with frames in one file are one message") {
    Folder folder;
    write_flow(folder, "    save v to \"v.h5\" every 5 together\n");
    struct Case {
        std::vector<std::string> arguments;
        int code;
        std::string words;
    };
    const std::vector<Case> cases{
        {{"--save", "u=u.h5", "--together"}, 2, "--together requires --save-every"},
        {{"--save", "u=u.npy", "--save-every", "5", "--together"}, 2, "frames in one file need HDF5"},
        {{"--save", "u=u.h5", "--save-every", "5x"}, 2, "--save-every wants a number of steps, not `5x`"},
        {{"--save", "u=u.h5", "--save-every", "5 from 3 to 2"}, 2, "--save-every wants"},
        {{"--save", "u=u.h5", "--save-every", "5 until 9"}, 2, "--save-every wants"},
        {{"--save", "twice=u.h5", "--save-every", "5 from 0"},
         2,
         "there is nothing to write of twice before"},
        {{"--save", "u=v.h5"}, 2, "v and u are to have the frames of v.h5 together"},
        {{"--save", "u=v.h5", "--save-every", "4", "--together"}, 2, "are saved after other steps"},
    };
    for (const Case& each : cases) {
        const Outcome outcome = flow(folder, each.arguments);
        INFO(outcome.err);
        CHECK(outcome.code == each.code);
        CHECK(contains(outcome.err, each.words));
        CHECK(outcome.err.find("error") == outcome.err.rfind("error"));
    }
    CHECK(folder.names() == std::vector<std::string>{"flow.halo"});
}
