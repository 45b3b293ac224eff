// Sources in which loops are replaced by calls of stencils compute what they computed, in every bit.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/replace.h"
#include "compiler/lift/verify.h"
#include "temporary_folder.h"

namespace {

using halo::test::LiftCase;

std::string read_file(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}
void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}
void replace_once(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
}

bool is_kernel(const LiftCase& each) {
    return each.file.size() > 3 && each.file.substr(each.file.size() - 3) == ".cu";
}

halo::lift::Replaced replaced(halo::lift::Options& options, halo::lift::Nests& found) {
    options.form.in_place = true;
    found = halo::lift::lift_nests(options);
    std::vector<std::string> specs;
    for (const halo::lift::Lifted& each : found.lifted)
        specs.push_back(halo::lift::file_text(each, {}));
    return halo::lift::replace_loops(found, specs);
}

std::string output_of(const std::string& command) {
    std::FILE* from = ::popen(command.c_str(), "r");
    REQUIRE(from != nullptr);
    std::string all;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, from)) > 0;)
        all.append(part, n);
    const int status = ::pclose(from);
    INFO(command << "\n" << all);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return all;
}

const std::string kLibraries =
    " -L" HALO_BINARY_DIR "/lib -lhalocline -lhalocline-runtime -Wl,-rpath," HALO_BINARY_DIR "/lib -lm";

// As a user compiles it; -Werror: nothing that a compiler warns of is written.
std::string run_program(const std::string& compiler, const std::string& source, const std::string& program) {
    output_of(compiler +
              " -O1 -ffp-contract=off -Wall -Wextra -Werror -Wno-unknown-pragmas -DHALO_LIFT_REQUIRED "
              "-I" HALO_SOURCE_DIR "/include " +
              source + " -o " + program + kLibraries + " 2>&1");
    return output_of(program + " 2>&1");
}

// One function after the other.
void replace_all(const std::string& name, const std::string& compiler,
                 const std::vector<std::string>& functions) {
    const TemporaryFolder folder;
    const std::string source = HALO_SOURCE_DIR "/tests/lift/replaced/" + name;
    std::string last = source;
    for (const std::string& function : functions) {
        INFO(function);
        halo::lift::Options options;
        options.source = {last, function, "", {"-I" HALO_SOURCE_DIR "/include"}, {}};
        options.form.no_alias = function != "main";
        options.form.strict_fp = true;
        if (function == "thick" || function == "mirror") options.assume["depth"] = 2;
        if (function == "mirror") options.assume["halo"] = 2;
        options.keep_result = true;
        halo::lift::Nests found;
        const halo::lift::Replaced made = replaced(options, found);
        CHECK_FALSE(made.calls.empty());
        CHECK(made.left.empty());
        for (const halo::lift::Lifted& each : found.lifted)
            CHECK(halo::lift::verify(options, each).passed);
        last = folder / (function + "_" + name);
        write_file(last, made.text);
    }
    const std::string expected = run_program(compiler, source, folder / "before");
    CHECK(run_program(compiler, last, folder / "after") == expected);
    // It is the stencils that were run: another spec gives other numbers.
    std::string text = read_file(last);
    const std::string number = text.find("0.5 * (") != std::string::npos ? "0.5 * (" : "0.5*";
    const std::size_t spec = text.find("\"", text.find("static const char text[]"));
    const std::size_t at = text.find(number, spec);
    REQUIRE(at != std::string::npos);
    text[at + 2] = '7';
    write_file(last, text);
    CHECK(run_program(compiler, last, folder / "other") != expected);
}

}  // namespace

TEST_CASE("replaced functions compute what they computed") {
    int count = 0;
    for (const LiftCase& each : halo::test::lift_cases()) {
        if (is_kernel(each) || !each.refused.empty() || each.nests >= 0) continue;
        if (each.function == "fixed_by_macros") continue;  // an hour's work on its real size
        INFO(each.file << ", " << each.function);
        halo::lift::Options options = options_of(each);
        options.keep_result = true;
        halo::lift::Nests found;
        halo::lift::Replaced made = replaced(options, found);
        if (!found.is_whole) continue;  // it returns something: its nests are replaced
        REQUIRE(found.lifted.size() == 1);
        if (made.calls.empty()) {
            const std::string why = made.left.front().what();
            INFO(why);
            CHECK((options.form.equal_rims || why.find("is private") != std::string::npos));
            continue;
        }
        // Where the stencil does not run, the program ends.
        const std::string mark = "; the text below runs where it cannot */\n    if (";
        replace_once(made.text, mark, "; */ if (!");
        const std::size_t end = made.text.find(") return;", made.text.find("; */ if (!"));
        REQUIRE(end != std::string::npos);
        made.text.replace(end, 9, ") __builtin_trap(); return;");
        const TemporaryFolder folder;
        options.source.file = folder / each.file;
        options.source.arguments = {"-I" HALO_SOURCE_DIR "/include", "-DHALO_LIFT_REQUIRED"};
        write_file(options.source.file, made.text);
        const halo::lift::Verification run = halo::lift::verify(options, found.lifted[0]);
        INFO(run.sentences.front());
        CHECK(run.passed);
        ++count;
    }
    CHECK(count >= 40);
}

TEST_CASE("replaced nests compile") {
    int count = 0;
    for (const LiftCase& each : halo::test::lift_cases()) {
        if (is_kernel(each) || each.nests < 1) continue;
        INFO(each.file << ", " << each.function);
        halo::lift::Options options = options_of(each);
        halo::lift::Nests found;
        const halo::lift::Replaced made = replaced(options, found);
        if (each.file == "kokkos.cpp") {  // whose views' members a program cannot name
            REQUIRE(made.left.size() == 1);
            CHECK(std::string(made.left.front().what()).find("is private") != std::string::npos);
            continue;
        }
        CHECK(made.left.empty());
        const TemporaryFolder folder;
        options.source.file = folder / each.file;
        options.source.arguments = {"-I" HALO_SOURCE_DIR "/include"};
        write_file(options.source.file, made.text);
        CHECK_FALSE(halo::lift::compile_with(options.source, "").empty());
        ++count;
    }
    CHECK(count >= 12);
}

TEST_CASE("replaced programs print what they printed") {
    replace_all("solver.c", HALO_CC " -std=c11",
                {"blur", "mix", "heat_up", "cool", "decay", "wave", "inner", "thick", "damp", "advance",
                 "mirror", "ripple", "limit", "remap", "region", "corners", "cells", "relax"});
    replace_all("heat.c", HALO_CC " -std=c11", {"main"});
    replace_all("fields.cpp", HALO_CXX " -std=c++17", {"smooth", "settle", "mark", "count", "blend"});
}

TEST_CASE("a source in which loops are replaced is verified as any other, without headers") {
    const TemporaryFolder folder;
    std::string last = HALO_SOURCE_DIR "/tests/lift/replaced/solver.c";
    for (const char* function : {"heat_up", "advance"}) {
        INFO(function);
        halo::lift::Options options;
        options.source = {last, function, "", {"-std=c11"}, {}};
        options.form.no_alias = true;
        halo::lift::Nests found;
        const halo::lift::Replaced made = replaced(options, found);
        REQUIRE(made.calls.size() == 1);
        CHECK(made.text.find("is changed in place") != std::string::npos);
        const halo::lift::ParsedFile file(options.source);
        const halo::lift::Verdict verdict = halo::lift::verify_function(options, found, file);
        INFO(verdict.left);
        CHECK(verdict.difference.empty());
        CHECK(verdict.left.find("compiled") == std::string::npos);
        last = folder / (std::string(function) + ".c");
        write_file(last, made.text);
    }
    const std::string text = read_file(last);
    // In front of the #if that the directives are in.
    CHECK(text.find("*/\n#ifdef HAS_TARGET") != std::string::npos);
}

namespace {

halo::lift::Replaced replaced_text(const std::string& function, const std::string& text,
                                   const std::map<std::string, std::int64_t>& assume = {}) {
    const TemporaryFolder folder;
    halo::lift::Options options;
    options.source = {folder / "threads.c", function, "", {}, {}};
    options.form.no_alias = true;
    for (const auto& [name, value] : assume)
        options.assume[name] = value;
    write_file(options.source.file, text);
    halo::lift::Nests found;
    return replaced(options, found);
}

}  // namespace

TEST_CASE("loops that several threads run stay where they cannot be parallel by themselves") {
    const std::string head =
        "int printf(const char *, ...);\n"
        "void sweep(int n, const double *restrict u, double *restrict w) {\n"
        "    int i, k = n;\n"
        "    printf(\"begin\\n\");\n";
    const std::string loop = "#pragma omp for\n        for (i = 1; i < n; i++) w[i] = k * u[i - 1];\n";
    const std::string whole = "#pragma omp parallel\n    {\n";
    const std::string end = "    }\n    for (i = 1; i < n; i++) w[i] = 2 * w[i];\n}\n";
    struct Case {
        std::string text, why;
    };
    const Case cases[] = {
        {whole + "        printf(\"a thread\\n\");\n" + loop, "something is called"},
        {whole + "        w[0] = 1;\n" + loop, "an array is changed in it"},
        {whole + "        int own = n;\n" + loop, "something else is done in it"},
        {whole + "#pragma omp single\n        k = 2;\n" + loop, "another directive is in it"},
        {whole + "#pragma omp for nowait\n        for (i = 1; i < n; i++) w[i] = u[i - 1];\n", "`nowait`"},
        {"#pragma omp parallel num_threads(3)\n    {\n" + loop, "`num_threads`"},
        {"#pragma omp parallel private(k)\n    {\n        k = 3;\n" + loop, "each thread has its own `k`"},
        {"#pragma omp parallel \\\n    private(i)\n    {\n" + loop, "one line"},
        {"#pragma acc parallel\n    {\n" + loop, "one line"},
    };
    for (const Case& each : cases) {
        INFO(each.text);
        const halo::lift::Replaced made = replaced_text("sweep", head + each.text + end);
        REQUIRE(made.left.size() == 1);
        CHECK(std::string(made.left[0].what()).find("several threads") != std::string::npos);
        REQUIRE(made.left[0].refusal.notes.size() == 1);
        CHECK(made.left[0].refusal.notes[0].find(each.why) != std::string::npos);
        CHECK(made.calls == std::vector<std::string>{"sweep_2"});
    }
}

TEST_CASE("a region of several threads becomes loops that are parallel by themselves") {
    const std::string source = read_file(HALO_SOURCE_DIR "/tests/lift/replaced/solver.c");
    const halo::lift::Replaced made = replaced_text("region", source);
    CHECK(made.left.empty());
    CHECK(made.calls.size() == 2);
    for (const char* words : {"/* #pragma omp parallel private(i): each loop is parallel by itself",
                              "#pragma omp parallel for private(i)\n",
                              "#pragma omp parallel for private(i) reduction(max : most)\n"}) {
        INFO(words);
        CHECK(made.text.find(words) != std::string::npos);
    }
}

TEST_CASE("what is replaced has no states and boundaries where the program's arrays will do") {
    const std::string source = read_file(HALO_SOURCE_DIR "/tests/lift/replaced/solver.c");
    const std::string limit = replaced_text("limit", source).text,
                      remap = replaced_text("remap", source).text;
    CHECK(limit.find("slope = if change > 0.25 or flux < -0.5 then") != std::string::npos);
    CHECK(limit.find("Grid: x = nx, y = ny + 1.") != std::string::npos);
    CHECK(limit.find("boundary") == std::string::npos);
    CHECK(remap.find("`u` is changed in place") != std::string::npos);
    CHECK(remap.find("[t+1]") == std::string::npos);
}

TEST_CASE("of several calls in front of loops the last one alone gives their arrays back") {
    const std::string source = read_file(HALO_SOURCE_DIR "/tests/lift/replaced/solver.c");
    const std::string once = replaced_text("region", source).text;
    CHECK(once.find(", 1)) { /* stencil region_1") != std::string::npos);
    const std::string twice = replaced_text("region", once, {{"which", 2}}).text;
    CHECK(twice.find(", 0)) { /* stencil region_1") != std::string::npos);
}

TEST_CASE("nests that follow one another are one stencil where each of them would need no less") {
    const auto calls = [](const std::string& between, const std::string& second) {
        const std::string text =
            "void done(int);\n"
            "void nests(int n, int m, const double *u, double *v, double *w) {\n"
            "    for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1];\n" +
            between + "\n    " + second + "\n    done(n);\n}\n";
        return replaced_text("nests", text).calls.size();
    };
    const std::string more = "for (int i = 1; i < n - 1; i++) w[i] = v[i] * u[i];";
    CHECK(calls("", more) == 1);
    CHECK(calls("/* for {} */ // and\n#pragma omp simd", more) == 1);
    CHECK(calls("", "for (int i = 1; i < n - 1; i++) v[i] = v[i] * u[i];") == 1);
    CHECK(calls("", "for (int i = 2; i < n - 2; i++) w[i] = v[i - 1] + v[i + 1];") == 1);
    SECTION("something stands between them") {
        CHECK(calls("#if 1", more + "\n#endif") == 2);
        CHECK(calls("    done(m);", more) == 2);
    }
    SECTION("they would need a copy of an array, or another grid") {
        CHECK(calls("", "for (int i = 1; i < n - 1; i++) w[i] = v[i - 1] * u[i];") == 2);
        CHECK(calls("", "for (int i = 1; i < m - 1; i++) w[i] = 0.5;") == 2);
    }
}
