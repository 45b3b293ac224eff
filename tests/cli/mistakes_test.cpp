// What a new user does wrong on the command line and in a first spec, and what each prints.
#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {

struct Mistake {
    const char* what;
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> said;  // parts of standard error
};

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all{
        {"no command", {}, 2, {"haloc --help"}},
        {"a command that is not there", {"rum", "heat.halo"}, 2, {"no command `rum`", "did you mean `run`?"}},
        {"an option that is not there",
         {"run", "heat.halo", "--step", "4"},
         2,
         {"--step", "haloc run --help"}},
        {"no file", {"run"}, 2, {"FILE"}},
        {"a file that is not there", {"run", "haet.halo"}, 4, {"cannot read haet.halo"}},
        {"too few extents", {"run", "heat.halo", "--grid", "64"}, 2, {"(x, y)", "--grid 128,128"}},
        {"an extent of nothing", {"run", "heat.halo", "--grid", "0,4"}, 2, {"at least 1 cell"}},
        {"an extent that is no number", {"run", "heat.halo", "--grid", "a,b"}, 2, {"`a` is no whole number"}},
        {"steps between exchanges that are none",
         {"run", "heat.halo", "--devices", "2", "--exchange", "0"},
         2,
         {"--exchange: Value 0 not in range", "1048576"}},  // CLI11 writes ranges in several ways
        {"a time that is no number",
         {"run", "heat.halo", "--timeout", "soon"},
         2,
         {"--timeout: `soon` is no number above 0"}},
        {"negative steps", {"run", "heat.halo", "--steps", "-1"}, 2, {"--steps: `-1` is no number of steps"}},
        {"edited CUDA on a processor",
         {"run", "heat.halo", "--cuda", "heat.halo", "--device", "cpu"},
         2,
         {"--cuda is for a GPU, and --device says cpu", "cuda:N"}},
        {"edited CUDA that is not there",
         {"run", "heat.halo", "--cuda", "haet.cu"},
         4,
         {"cannot read haet.cu"}},
        {"a tolerance for nothing", {"run", "heat.halo", "--tolerance-ulps", "4"}, 2, {"requires --cuda"}},
        {"a param that is not there",
         {"run", "heat.halo", "--set", "kapa=2"},
         2,
         {"no param `kapa`", "did you mean `kappa`?"}},
        {"an integer param past its type",
         {"run", "wrong_until.halo", "--set", "n=3e9"},
         2,
         {"--set n: 3e9 is not between -2147483648 and 2147483647"}},
        {"a condition that divides by zero",
         {"run", "wrong_until.halo", "--device", "interpreter"},
         2,
         {"`5 / (p - 1)` in `until m > 5 / (p - 1)` is infinite, with p = 1", "--set"}},
        {"a param without a value", {"run", "heat.halo", "--set", "dt"}, 2, {"NAME=VALUE"}},
        {"a number of steps that is a fraction",
         {"run", "heat.halo", "--steps", "1e-1"},
         2,
         {"--steps: `1e-1` is no number of steps"}},
        {"a param that is made of another",
         {"run", "heat.halo", "--set", "dt=0.1*kappa"},
         2,
         {"--set dt: `0.1*kappa` is no number: there is nothing called `kappa`"}},
        {"a param that divides by zero",
         {"run", "heat.halo", "--set", "dt=1/0"},
         2,
         {"this divides by zero"}},
        {"a param that is two", {"run", "heat.halo", "--set", "dt=1; kappa=2"}, 2, {"it is no expression"}},
        {"a start that is no expression",
         {"run", "heat.halo", "--init", "u=(1"},
         2,
         {"--init:1:10: error: `)` is missing"}},
        {"a start without a field", {"run", "heat.halo", "--init", "u"}, 2, {"--init wants FIELD=EXPR"}},
        {"a start of what is no field",
         {"run", "heat.halo", "--init", "w=1"},
         2,
         {"`heat` has no field `w`"}},
        {"two starts",
         {"run", "heat.halo", "--init", "u = 1", "--load", "u=a.npy"},
         2,
         {"--init and --load both say what u starts with"}},
        {"a condition of what is no reduction",
         {"run", "heat.halo", "--until", "totl < 1"},
         2,
         {"--until:1:1: error: there is nothing called `totl`", "did you mean `total`?"}},
        {"a param that is no number",
         {"run", "heat.halo", "--set", "dt=fast"},
         2,
         {"`fast` is no number", "1/63"}},
        {"a field that is not there",
         {"run", "heat.halo", "--save", "v=v.npy"},
         2,
         {"no field `v`", "it has u"}},
        {"a part along no axis", {"run", "heat.halo", "--save", "u@q=1"}, 2, {"heat has no axis `q`"}},
        {"a part past the grid",
         {"run", "heat.halo", "--save", "u@x=1..999999=u.npy"},
         2,
         {"u cannot be saved at x in 1..999999", "numbered from 0 to"}},
        {"a part without cells",
         {"run", "heat.halo", "--save", "u@x=3..=u.npy"},
         2,
         {"--save wants FIELD@AXIS=INDEX=FILE or FIELD@AXIS=LOW..HIGH=FILE", "--save u@z=64=slice.npy"}},
        {"a device that is not there", {"run", "heat.halo", "--device", "gpu"}, 2, {"`gpu`", "cuda"}},
        {"devices that are none", {"run", "heat.halo", "--devices", "all"}, 2, {"`all`", "--devices 0,1,3"}},
        {"several devices where one was named",
         {"run", "heat.halo", "--device", "interpreter", "--devices", "2"},
         2,
         {"--devices goes with --device cuda or cpu, not `interpreter`"}},
#ifdef HALO_HAS_LLVM
        {"an exchange that CPUs cannot have",
         {"run", "heat.halo", "--device", "cpu", "--devices", "2", "--exchange-scheme", "asynchronous"},
         2,
         {"--exchange-scheme asynchronous cannot be: CPUs have no kernels", "leave it out"}},
#endif
        {"an exchange between no devices", {"run", "heat.halo", "--exchange", "2"}, 2, {"--devices"}},
        {"a run that is not there",
         {"run", "heat.halo", "heta"},
         2,
         {"no stencil `heta`", "did you mean `heat`?"}},
        {"a slice of a plane", {"run", "heat.halo", "--plot", "u@x=3=u.png"}, 2, {"whole grid"}},
        {"the same file twice",
         {"run", "heat.halo", "--save", "u=a.npy", "--save", "u=a.npy"},
         2,
         {"two outputs"}},
        {"a picture that is no .png",
         {"run", "heat.halo", "--plot", "u=a.jpg"},
         2,
         {"--plot u: the name of this file must end in .png, and a.jpg does not"}},
        {"an array that is neither .npy nor .h5",
         {"run", "heat.halo", "--save", "u=a.txt"},
         2,
         {"must end in .npy", "and a.txt does not"}},
        {"a strategy that is not there, on a device without any",
         {"run", "heat.halo", "--device", "interpreter", "--schedule", "resdent"},
         2,
         {"no strategy `resdent`", "did you mean `resident`?"}},
        {"a schedule's setting, on a device without any",
         {"run", "heat.halo", "--device", "interpreter", "--schedule", "temporal steps=two"},
         2,
         {"--schedule: `steps` is a whole number"}},
        {"a grid for no memory",
         {"run", "heat.halo", "--device", "interpreter", "--grid", "2000000,2000000"},
         3,
         {"needs", "free"}},
    };
    return all;
}

}  // namespace

TEST_CASE("mistakes on the command line get one message and the right exit code") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    folder.write("wrong_until.halo",
                 "stencil s(x) {\n    param p = 1, n: i32 = 2\n    field u: f64\n    u[t+1] = u + n\n"
                 "    reduce m = max(u)\n}\nrun s {\n    grid 4\n    steps 9 until m > 5 / (p - 1)\n}\n");
    for (const Mistake& mistake : mistakes()) {
        INFO(mistake.what);
        Outcome outcome = folder.haloc(mistake.arguments);
        INFO(outcome.err);
        CHECK(outcome.code == mistake.code);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.find("error: ") != std::string::npos);
        for (const std::string& part : mistake.said) {
            INFO(part);
            CHECK(outcome.err.find(part) != std::string::npos);
        }
        CHECK(folder.names() == std::vector<std::string>{"heat.halo", "wrong_until.halo"});
    }
}

TEST_CASE("a spec without a run block asks for what is missing") {
    Folder folder;
    folder.write(
        "s.halo",
        "stencil s(x) {\n    param dt\n    field u: f32 { boundary clamp }\n    u[t+1] = u + dt\n}\n");
    CHECK(folder.haloc({"run", "s.halo"}).err.find("how large is the grid?") != std::string::npos);
    CHECK(folder.haloc({"run", "s.halo", "--grid", "8"}).err.find("how many steps?") != std::string::npos);
    folder.write("r.halo", folder.read("s.halo") + "run s {\n    grid 8\n}\n");
    CHECK(folder.haloc({"run", "r.halo"}).err.find("The run block of s does not say") != std::string::npos);
    Outcome outcome = folder.haloc({"run", "s.halo", "--grid", "8", "--steps", "1"});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("needs a value for dt") != std::string::npos);
    CHECK(folder.haloc({"run", "s.halo", "--grid", "8", "--steps", "1", "--set", "dt=1"}).code == 0);
}

TEST_CASE("mistakes in a first spec are shown by every command that reads it") {
    Folder folder;
    folder.write("s.halo", "stencil s(x) {\n    field u: f32\n    u[t+1] = u[x+1 - u\n}\n");
    for (const char* command : {"check", "run", "emit", "explain", "fmt"}) {
        INFO(command);
        Outcome outcome = folder.haloc({command, "s.halo"});
        CHECK(outcome.code == 1);
        CHECK(outcome.err.find("s.halo:3:") == 0);
        CHECK(outcome.out.empty());
    }
}

TEST_CASE("help is there for the command and each of its parts") {
    Folder folder;
    Outcome all = folder.haloc({"--help"});
    CHECK(all.code == 0);
    CHECK(all.out.find("Exit codes") != std::string::npos);
    for (const char* command : {"check", "emit", "run", "explain", "tune", "fmt", "doctor"}) {
        INFO(command);
        CHECK(all.out.find(command) != std::string::npos);
        CHECK(folder.haloc({command, "--help"}).code == 0);
    }
    CHECK(folder.haloc({"--version"}).out.find("haloc ") == 0);
}

TEST_CASE("without its library HDF5 is refused before anything runs") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--save", "u=u.h5"}, std::vector<std::string>{"--load", "u=u.h5"}}) {
        Invocation invocation;
        invocation.folder = folder.path();
        invocation.arguments = {"run", "heat.halo", words[0], words[1]};
        invocation.set = {"HALOCLINE_HDF5=/no/such/library.so"};
        const Outcome outcome = run_haloc(invocation);
        INFO(outcome.err);
        CHECK(outcome.code == 4);
        CHECK(outcome.err.find("libhdf5 is not found (apt-get install libhdf5-dev") != std::string::npos);
        CHECK(outcome.err.find(".npy") != std::string::npos);
    }
    CHECK(folder.names() == std::vector<std::string>{"heat.halo"});
}
