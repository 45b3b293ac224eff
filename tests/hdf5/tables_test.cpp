// haloc run with tables of reductions and traces in HDF5. That h5py reads them is shown by
// foreign_readers.py.
#include <algorithm>
#include <string>

#include "array_in.h"
#include "catch.h"
#include "contains.h"
#include "process.h"
#include "runtime/hdf5/contents.h"

using namespace halo::test;
using halo::rt::Hdf5Array;
using halo::rt::Hdf5Contents;

namespace {

const std::string kHeard = R"(stencil heard(x, y) {
    param dt = 0.5
    field u: f32 { boundary clamp }
    points ears, eyes
    u[t+1] = u + 1
    reduce most = max(u)
    reduce time_ = sum(u)
    sample u at ears into ears.seen[t]
    sample u at eyes into eyes.step[t]
}
run heard {
    grid 6, 5
    steps 7
    init u = idx(x) + 10*idx(y)
    ears at [0, 1], [2, 3], [1.5, 0]
    eyes at [0, 1]
    save most to "log.h5" every 3
    save time_ to "log.h5" every 3
    save ears.seen to "seen.h5" every 4
}
)";

Outcome run_heard(const Folder& folder, const std::vector<std::string>& with = {}) {
    folder.write("heard.halo", kHeard);
    std::vector<std::string> all{"run", "heard.halo", "-q", "--device", "interpreter"};
    all.insert(all.end(), with.begin(), with.end());
    return folder.haloc(all);
}

std::vector<double> list_in(const Hdf5Contents& contents, const std::string& name) {
    const Hdf5Array found = array_in(contents, name);
    const std::int64_t count = found.shape.front() * found.elements_of_row();
    std::vector<std::int64_t> whole(static_cast<std::size_t>(count));
    std::vector<double> numbers(whole.size());
    const bool is_whole = found.type == halo::rt::ElementType::i64;
    contents.read(found, 0, found.shape.front(),
                  is_whole ? static_cast<void*>(whole.data()) : numbers.data());
    if (is_whole) numbers.assign(whole.begin(), whole.end());
    return numbers;
}

}  // namespace

TEST_CASE("reductions are lists in an HDF5 file, and the run is repeated from it") {
    Folder folder;
    const Outcome done = run_heard(folder);
    INFO(done.err);
    REQUIRE(done.code == 0);
    const Hdf5Contents log(folder.path() + "/log.h5");
    REQUIRE(log.arrays().size() == 4);
    CHECK(list_in(log, "step") == std::vector<double>{3, 6, 7});
    CHECK(list_in(log, "time") == std::vector<double>{1.5, 3, 3.5});
    CHECK(list_in(log, "most") == std::vector<double>{47, 50, 51});
    const Outcome again = folder.haloc({"rerun", "log.h5"});
    INFO(again.out << again.err);
    CHECK(again.code == 0);
    CHECK(contains(again.out, "most agrees in all bits of 3 numbers"));
    CHECK(contains(folder.haloc({"info", "log.h5"}).out, "7 of 7, rows every 3 from 3"));
}

TEST_CASE("a trace in an HDF5 file has its points' positions and its steps") {
    Folder folder;
    REQUIRE(run_heard(folder).code == 0);
    const Hdf5Contents seen(folder.path() + "/seen.h5"), first(folder.path() + "/seen-000004.h5");
    CHECK(list_in(seen, "positions") == std::vector<double>{0, 1, 2, 3, 1.5, 0});
    CHECK(list_in(seen, "step") == std::vector<double>{0, 1, 2, 3, 4, 5, 6});
    CHECK(list_in(seen, "time") == std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3});
    const std::vector<double> values = list_in(seen, "seen");
    REQUIRE(values.size() == 21);
    CHECK(values[3 * 2 + 1] == 34);  // of the third step, at the second point
    CHECK(list_in(first, "seen").size() == 12);
    const Outcome again = folder.haloc({"rerun", "seen-000004.h5"});
    INFO(again.out << again.err);
    CHECK(again.code == 0);
    REQUIRE(run_heard(folder, {"--steps", "0", "--save", "ears.seen=none.h5"}).code == 0);
    CHECK(list_in(Hdf5Contents(folder.path() + "/none.h5"), "seen").empty());
}

TEST_CASE("mistakes with tables in HDF5 are one message") {
    Folder folder;
    struct Case {
        std::vector<std::string> with;
        std::string words;
    };
    const std::vector<Case> cases{
        {{"--save", "eyes.step=a.h5"}, "eyes.step cannot be saved to a.h5, which has a list of that name"},
        {{"--save", "ears.seen=a.nc"}, "must end in .npy, .h5 or .segy, and a.nc does not"},
        {{"--save", "most=a.vtkhdf"}, "must end in .csv or .h5, and a.vtkhdf does not"},
        {{"--save", "most=a.h5", "--save", "u=a.h5"}, "two outputs would be written to a.h5"},
    };
    for (const Case& each : cases) {
        const Outcome outcome = run_heard(folder, each.with);
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, each.words));
    }
}
