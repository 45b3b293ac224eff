// HDF5 files that several ranks write and read together, by a libhdf5 that need not know of MPI.
#include "catch.h"
#include "mpirun.h"
#include "runtime/hdf5/hdf5.h"
#include "without_provenance.h"

using namespace halo::test;

namespace {

const std::string kMix = R"(stencil mix(x, y, z) {
    field u: f32 { boundary clamp }
    field v: (x: f64, y: f64) { boundary clamp }
    u[t+1] = u + 0.1 * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6*u)
    v[t+1] = v + [u, 2*u]
}
run mix {
    grid 11, 13, 24
    steps 6
    init u = idx(x) + 2*idx(y) - idx(z)
    save u to "out.h5" every 4
    save v to "out.h5"
}
)";

Outcome outcome_of(const Folder& folder, int count, std::vector<std::string> with) {
    Invocation invocation;
    if (count > 1) invocation.launcher = mpirun(count);
    invocation.arguments = {"run", "mix.halo", "--device", "cpu"};
    invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
    invocation.folder = folder.path();
    invocation.set = {"HALO_NUM_THREADS=1"};
    return run_haloc(invocation);
}

bool has_hdf5() {
    const halo::rt::Hdf5Library library = halo::rt::find_hdf5();
    if (!library.found) WARN("skipped: " << library.detail);
    return library.found;
}

}  // namespace

TEST_CASE("ranks write the HDF5 files of one process, and read them", "[files]") {
    if (!has_hdf5()) return;
    Folder folder;
    folder.write("mix.halo", kMix);
    const std::vector<std::string> names{"out-000004.h5", "out.h5", "out.xdmf"};
    std::vector<std::string> files;
    for (const int count : {1, 2, 3}) {
        const Outcome outcome = outcome_of(folder, count, {});
        INFO(count << "\n" << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(folder.names().size() == 4);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (count == 1) files.push_back(without_provenance(folder.read(names[i])));
            CHECK(files[i].size() > 500);
            CHECK(without_provenance(folder.read(names[i])) == files[i]);
        }
    }
    std::string one;
    for (const int count : {1, 3}) {
        const Outcome outcome = outcome_of(
            folder, count,
            {"--no-files", "--load", "v=out.h5", "--load", "u=out-000004.h5:/u", "--save", "v=again.h5"});
        INFO(count << "\n" << outcome.err);
        REQUIRE(outcome.code == 0);
        if (count == 1) one = without_provenance(folder.read("again.h5"));
    }
    CHECK(one.size() > 500);
    CHECK(without_provenance(folder.read("again.h5")) == one);
}

TEST_CASE("ranks write parts of fields as one process does", "[files]") {
    if (!has_hdf5()) return;
    Folder folder;
    folder.write("mix.halo", kMix);
    const std::vector<std::string> names{"plane.npy", "far.npy", "box.npy", "box.h5"};
    std::vector<std::string> files;
    for (const int count : {1, 2, 3}) {
        const Outcome outcome =
            outcome_of(folder, count,
                       {"--no-files", "--save", "u@z=4=plane.npy", "--save", "v@z=23@y=2..9=far.npy",
                        "--save", "u@x=1..-1:3@z=0..-1:5=box.npy", "--save", "v@y=3..-3@z=7..20:4=box.h5"});
        INFO(count << "\n" << outcome.err);
        REQUIRE(outcome.code == 0);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (count == 1) files.push_back(without_provenance(folder.read(names[i])));
            CHECK(files[i].size() > 400);
            CHECK(without_provenance(folder.read(names[i])) == files[i]);
        }
    }
}

TEST_CASE("ranks add the frames of one process to one file", "[files]") {
    if (!has_hdf5()) return;
    Folder folder;
    folder.write("mix.halo", kMix);
    std::string one, page;
    for (const int count : {1, 3}) {
        const Outcome outcome = outcome_of(folder, count,
                                           {"--no-files", "--save", "u=all.h5", "--save",
                                            "v@z=4..20:3=all.h5", "--save-every", "2 from 0", "--together"});
        INFO(count << "\n" << outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(folder.names() == std::vector<std::string>{"all.h5", "all.xdmf", "mix.halo"});
        if (count == 1) one = without_provenance(folder.read("all.h5"));
        if (count == 1) page = folder.read("all.xdmf");
    }
    CHECK(one.size() > 4 * 11 * 13 * 24 * 4);
    CHECK(without_provenance(folder.read("all.h5")) == one);
    CHECK(folder.read("all.xdmf") == page);
    // From a run of three processes, by one.
    const Outcome again = folder.haloc({"rerun", "all.h5"});
    INFO(again.out << again.err);
    CHECK(again.code == 0);
}

TEST_CASE("what ranks cannot read of an HDF5 file is said once", "[files]") {
    if (!has_hdf5()) return;
    Folder folder;
    folder.write("mix.halo", kMix);
    folder.write("text.h5", "no HDF5");
    for (const auto& [file, words] :
         {std::pair{"u=text.h5", "it is no HDF5 file"}, {"u=none.h5", "no such file"}}) {
        const Outcome outcome = outcome_of(folder, 3, {"--load", file});
        INFO(outcome.err);
        CHECK(outcome.code == 4);
        CHECK(count_of(outcome.err, "error") == 1);
        CHECK(count_of(outcome.err, words) == 1);
        CHECK(folder.names().size() == 2);
    }
}

#ifdef HALO_GIF
TEST_CASE("ranks make the movies of one process", "[files]") {
    Folder folder;
    folder.write("mix.halo", kMix);
    std::string one, of_plane;
    for (const int count : {1, 2, 3}) {
        const Outcome outcome =
            outcome_of(folder, count, {"--no-files", "--movie", "u=u.gif", "--movie", "v.x@y=4=v.gif"});
        INFO(count << "\n" << outcome.err);
        REQUIRE(outcome.code == 0);
        if (count == 1) {
            one = folder.read("u.gif");
            of_plane = folder.read("v.gif");
        }
        CHECK(one.size() > 5000);
        CHECK((folder.read("u.gif") == one));
        CHECK((folder.read("v.gif") == of_plane));
        CHECK(folder.names() == std::vector<std::string>{"mix.halo", "u.gif", "v.gif"});
    }
}
#endif
