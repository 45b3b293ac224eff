// Ranks on several hosts. They are this machine under other names, which a stand-in for ssh gives the
// processes that mpirun starts "there"; what ranks say to each other goes over the network's own ways (TCP).
#include <signal.h>

#include <cstdlib>

#include "catch.h"
#include "mpirun.h"
#include "skip.h"
#include "strike.h"

using namespace halo::test;

namespace {

const SkipUnless with_names(std::system("unshare --uts true 2> /dev/null") == 0,
                            "processes may not be given another host name here");

// Two ranks on each of two hosts.
std::vector<std::string> on_two_hosts(const Folder& folder) {
    folder.write("ssh.sh", R"(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
name=$1
shift
exec unshare --uts sh -c "hostname $name; $*"
)");
    // Both are this machine, which may have no other network than the one to itself.
    return {HALO_MPIRUN,
            "--allow-run-as-root",
            "--bind-to",
            "none",
            "--quiet",
            "--mca",
            "plm_rsh_agent",
            "sh " + folder.path() + "/ssh.sh",
            "--mca",
            "oob_tcp_if_include",
            "lo",
            "--mca",
            "btl_tcp_if_include",
            "lo",
            "--mca",
            "btl",
            "self,tcp",
            "--mca",
            "pml",
            "ob1",
            "--host",
            "alpha:2,beta:2",
            "-n",
            "4"};
}

}  // namespace

TEST_CASE("ranks on two hosts compute the bits of one device") {
    Folder folder;
    Invocation invocation;
    invocation.launcher = on_two_hosts(folder);
    invocation.folder = folder.path();
    const std::vector<std::string> arguments{"run",        HALO_SOURCE_DIR "/dsl_examples/heat3d.halo",
                                             "--device",   "cpu",
                                             "--no-files", "--grid",
                                             "23,19,31",   "--steps",
                                             "13",         "--save"};
    invocation.arguments = arguments;
    invocation.arguments.emplace_back("u=four.npy");
    const Outcome four = run_haloc(invocation);
    INFO(four.err);
    REQUIRE(four.code == 0);
    CHECK(count_of(four.err, "in 4 pieces on 2 hosts") == 1);

    Invocation alone;
    alone.arguments = arguments;
    alone.arguments.emplace_back("u=one.npy");
    alone.folder = folder.path();
    REQUIRE(run_haloc(alone).code == 0);
    CHECK((folder.read("four.npy") == folder.read("one.npy")));
    CHECK_FALSE(folder.read("one.npy").empty());
}

TEST_CASE("a rank that dies or hangs on another host is named with it") {
    for (const int signal : {SIGKILL, SIGSTOP}) {
        Folder folder;
        const Struck struck = strike(folder, on_two_hosts(folder), 3, signal, 0.3);
        INFO(struck.outcome.err);
        CHECK(struck.outcome.code != 0);
        CHECK(struck.seconds < 20);
        CHECK(struck.is_alone);
        CHECK(all_are_whole(folder));
        CHECK(count_of(struck.outcome.err, "error:") == 1);
        CHECK(count_of(struck.outcome.err, "error: rank 3 on beta has ") == 1);
        CHECK(count_of(struck.outcome.err, ", at step ") == 1);
    }
}
