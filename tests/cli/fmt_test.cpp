#include <sys/stat.h>
#include <unistd.h>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {
const std::string kUntidy = "stencil  s( x ){ # a comment\nfield u:f32\n  u[t+1]=u+1}\n";
}

TEST_CASE("fmt prints the usual layout, and formatting that changes nothing") {
    Folder folder;
    folder.write("s.halo", kUntidy);
    Outcome once = folder.haloc({"fmt", "s.halo"});
    CHECK(once.code == 0);
    CHECK(once.out.find("# a comment") != std::string::npos);
    CHECK(once.out.find("    u[t+1] = u + 1\n") != std::string::npos);
    CHECK(folder.read("s.halo") == kUntidy);
    CHECK(folder.haloc({"fmt", "-"}, once.out).out == once.out);
}

TEST_CASE("fmt -w rewrites the file and keeps its permissions") {
    Folder folder;
    folder.write("s.halo", kUntidy);
    std::string path = folder.path() + "/s.halo";
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    REQUIRE(::symlink("s.halo", (folder.path() + "/link.halo").c_str()) == 0);
    CHECK(folder.haloc({"fmt", "-w", "link.halo"}).code == 0);
    CHECK(folder.read("s.halo") == folder.haloc({"fmt", "-"}, kUntidy).out);
    struct stat status{};
    REQUIRE(::lstat((folder.path() + "/link.halo").c_str(), &status) == 0);
    CHECK(S_ISLNK(status.st_mode));
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
    CHECK(folder.names() == std::vector<std::string>{"link.halo", "s.halo"});  // nothing temporary is left
}

TEST_CASE("fmt --check changes nothing and names what is not in the usual layout") {
    Folder folder;
    folder.write("untidy.halo", kUntidy);
    folder.write("tidy.halo", folder.haloc({"fmt", "-"}, kUntidy).out);
    Outcome outcome = folder.haloc({"fmt", "--check", "untidy.halo", "tidy.halo"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("error: untidy.halo is not in the usual layout") == 0);
    CHECK(outcome.err.find(" tidy.halo") == std::string::npos);
    CHECK(folder.read("untidy.halo") == kUntidy);
    CHECK(folder.haloc({"fmt", "--check", "tidy.halo"}).code == 0);
}

TEST_CASE("fmt leaves a file with mistakes alone") {
    Folder folder;
    folder.write("bad.halo", "stencil s(x { u = }\n");
    Outcome outcome = folder.haloc({"fmt", "-w", "bad.halo"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("bad.halo:1:") == 0);
    CHECK(folder.read("bad.halo") == "stencil s(x { u = }\n");
    CHECK(folder.haloc({"fmt", "-w", "-"}, kUntidy).code == 2);
}
