// What goes wrong in a run of several processes is said once, with the exit code that it has without them.
#include <algorithm>
#include <filesystem>

#include "catch.h"
#include "mpirun.h"

using namespace halo::test;

namespace {

const std::string kHeat = R"(stencil heat(x, y) {
    param a = 0.2
    field u: f32 { boundary clamp }
    u[t+1] = u + a*(u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
    reduce all = sum(u)
}
run heat {
    grid 40, 48
    steps 50
    init u = idx(x) + 2*idx(y)
    save u to "u.npy"
}
)";

// A script between mpirun and haloc makes one rank another than the rest.
Outcome run_with(const Folder& folder, int count, const std::string& script,
                 std::vector<std::string> arguments) {
    Invocation invocation;
    invocation.launcher = mpirun(count);
    for (const std::string& word :
         {std::string("sh"), std::string("-c"), script + "; exec \"$@\"", std::string("sh")})
        invocation.launcher.push_back(word);
    invocation.arguments = std::move(arguments);
    invocation.folder = folder.path();
    return run_haloc(invocation);
}

}  // namespace

TEST_CASE("what all ranks find alike is said once", "[errors]") {
    struct Case {
        std::string name;
        std::vector<std::string> arguments;
        int code;
        std::string words;
    };
    const std::vector<Case> cases{
        {"a mistake in the spec", {"run", "wrong.halo"}, 1, "error"},
        {"an option that is none", {"run", "heat.halo", "--no-such"}, 2, "--no-such"},
        {"a grid that cannot be cut",
         {"run", "heat.halo", "--device", "cpu", "--grid", "40,2"},
         2,
         "cannot be cut into 3 pieces"},
        {"no file", {"run", "none.halo"}, 4, "none.halo"},
        {"an output where no folder is",
         {"run", "heat.halo", "--device", "cpu", "--save", "u=no/u.npy"},
         4,
         "no"},
        {"the interpreter", {"run", "heat.halo", "--device", "interpreter"}, 2, "is for one process"},
        {"a number of devices", {"run", "heat.halo", "--devices", "2"}, 2, "is for one process"},
        {"NCCL on CPUs", {"run", "heat.halo", "--device", "cpu", "--transport", "nccl"}, 2, "between GPUs"},
        {"standard input", {"run", "-"}, 2, "standard input"},
        {"numbers that are not finite",
         {"run", "heat.halo", "--device", "cpu", "--set", "a=40", "--steps", "100"},
         3,
         "the numbers have left the finite"},
    };
    Folder folder;
    folder.write("heat.halo", kHeat);
    folder.write("wrong.halo", "stencil heat(x) { field u: f32\n u[t+1] = v }\n");
    for (const Case& each : cases) {
        const Outcome outcome = run_ranks(folder, 3, each.arguments);
        INFO(each.name << "\n" << outcome.err);
        CHECK(outcome.code == each.code);
        CHECK(count_of(outcome.err, "error") == 1);
        CHECK(count_of(outcome.err, each.words) >= 1);
        CHECK((outcome.out.empty() || each.code == 3));
    }
}

TEST_CASE("what one rank finds is said once, with its name", "[errors]") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const std::string in_rank_2 = "if [ $OMPI_COMM_WORLD_RANK = 2 ]; then ";
    struct Case {
        std::string script;
        int code;
        std::string words;
    };
    const std::vector<Case> cases{
        {in_rank_2 + "export HALO_NUM_THREADS=none; fi", 2, "HALO_NUM_THREADS is \"none\""},
        {in_rank_2 + "set -- \"$@\" --steps 3; fi", 2, "are not those of rank 0"},
        {in_rank_2 + "set -- \"$@\" --no-such; fi", 2, "--no-such"},
        {in_rank_2 + "cd /; fi", 4, "heat.halo"},
    };
    for (const Case& each : cases) {
        const Outcome outcome = run_with(folder, 3, each.script, {"run", "heat.halo", "--device", "cpu"});
        INFO(each.script << "\n" << outcome.err);
        CHECK(outcome.code == each.code);
        CHECK(count_of(outcome.err, "error:") == 1);
        CHECK(count_of(outcome.err, "rank 2 on ") == 1);
        CHECK(count_of(outcome.err, each.words) == 1);
    }
    CHECK(folder.names() == std::vector<std::string>{"heat.halo"});
}

TEST_CASE("results are said once", "[errors]") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const Outcome several = run_ranks(folder, 3, {"run", "heat.halo", "--device", "cpu", "-v"});
    INFO(several.err);
    REQUIRE(several.code == 0);
    CHECK(count_of(several.out, "50 steps in") == 1);
    CHECK(count_of(several.out, "all = ") == 1);
    CHECK(count_of(several.err, "by MPI over the host") == 1);
    CHECK(count_of(several.err, "3 x cpu (in 3 pieces on one host, the first on ") == 1);
    const std::string written = folder.read("u.npy");
    const Outcome one = folder.haloc({"run", "heat.halo", "--device", "cpu"});
    REQUIRE(one.code == 0);
    CHECK((written == folder.read("u.npy")));
    CHECK(several.out.substr(several.out.find("all = ")) == one.out.substr(one.out.find("all = ")));
}

TEST_CASE("haloc that knows no launcher runs by itself", "[errors]") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    const Outcome outcome = folder.haloc({"run", "heat.halo", "--device", "cpu", "--transport", "mpi"});
    CHECK(outcome.code == 2);
    CHECK(count_of(outcome.err, "--transport is for a run of several processes") == 1);
}
