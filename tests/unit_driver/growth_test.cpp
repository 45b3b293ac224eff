// Twice as much text is twice as much work: each construct of the language is doubled, and the compiler's
// counted operations (compiler/support/work.h) may not grow much faster.
#include <fmt/format.h>

#include <functional>

#include "catch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/support/work.h"

using namespace halo;

namespace {

constexpr int kCount = 400;
// What sorts and looks up names takes a logarithm more.
constexpr double kMostGrowth = 2.3;

struct Construct {
    const char* name;
    std::function<std::string(int i)> each;  // the i-th of them; line by line
    std::string before = "stencil s(x) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u\n";
    std::function<std::string(int n)> after = [](int) { return "}\n"; };
    bool is_right = true;  // the text has no mistake
};

std::string text_of(const Construct& construct, int count) {
    std::string text = construct.before;
    for (int i = 0; i < count; ++i)
        text += construct.each(i) + "\n";
    return text + construct.after(count);
}

std::vector<Construct> constructs() {
    const auto none = [](int) { return std::string(); };
    std::vector<Construct> all;
    const auto add = [&](const char* name, const char* pattern) {
        all.push_back(
            {name, [pattern](int i) { return fmt::format(fmt::runtime(pattern), i, i + 1, i % 3); }});
    };
    all.push_back({"stencils",
                   [](int i) {
                       return fmt::format(
                           "stencil s{}(x) {{\nparam a = 1\nfield u: f32 {{ boundary periodic "
                           "}}\nu[t+1] = a * u[x-1]\n}}",
                           i);
                   },
                   "", none});
    all.push_back({"stencils with runs",
                   [](int i) {
                       return fmt::format(
                           "stencil s{0}(x) {{\nparam a = 1\nfield u: f32\nu[t+1] = a * u\nreduce "
                           "m = max(u)\n}}\nrun s{0} {{\ngrid 8\nsteps 2 until m < a\na = 2\n}}",
                           i);
                   },
                   "", none});
    all.push_back({"shared defs", [](int i) { return fmt::format("def shared{}(a) = a + {}", i, i); }, "",
                   [](int) { return "stencil s(x) {\n    field u: f32\n    u[t+1] = u\n}\n"; }});
    all.push_back({"terms of an expression",
                   [](int i) { return fmt::format("    + {} * u[x+{}]", i + 1, i % 5); },
                   "stencil s(x) {\n    field u: f32 { boundary periodic }\n    u[t+1] = u\n"});
    all.push_back(
        {"terms of a sum", [](int) { return std::string(); },
         "stencil s(x) {\n    field u: f32 { boundary periodic }\n",
         [](int n) { return fmt::format("    u[t+1] = sum(i in 1..{}) (u + i) * (u[x+1] - i)\n}}\n", n); }});
    all.push_back({"brackets within each other", none,
                   "stencil s(x) {\n    field u: f32 { boundary periodic }\n", [](int n) {
                       return "    u[t+1] = " + std::string(static_cast<std::size_t>(n / 8), '(') + "u" +
                              std::string(static_cast<std::size_t>(n / 8), ')') + "\n}\n";
                   }});
    all.push_back({"inits and files",
                   [](int i) {
                       return fmt::format(
                           "init u{0} = x + {0}\nsave u{0} to \"u{0}.npy\" every 10\nplot u{0} to "
                           "\"u{0}.png\"",
                           i);
                   },
                   "", [](int) { return "}\n"; }});
    all.back().before = "stencil s(x, y) {\n";
    for (int i = 0; i < 2 * kCount; ++i)
        all.back().before += fmt::format("field u{0}: f32\nu{0}[t+1] = u{0}\n", i);
    all.back().before += "}\nrun s {\ngrid 8, 8\nsteps 1\n";
    add("fields", "field a{0}: f32 {{ boundary periodic }}\na{0}[t+1] = a{0}[x+1]");
    add("fields with computed boundaries",
        "field a{0}: f32 {{ boundary robin 1, 2, {0} }}\na{0}[t+1] = a{0}[x+1] + a{0}[x-1]");
    add("fields without a boundary", "field a{0}: f32\na{0} = u - {0}");
    add("levels of the past", "field a{0}: f32\na{0}[t+1] = a{0} + a{0}[t-8]");
    add("components", "field v{0}: f32[3] {{ boundary periodic }}\nv{0}[t+1] = v{0}[x+1]");
    add("params", "param p{0} = {0}.1\nfield a{0}: f32\na{0} = u * p{0} * {1}");
    add("integer params", "param p{0}: i32 = {0}\nfield a{0}: i32\na{0} = div(p{0} * p{0}, 3)");
    add("consts", "const c{0} = {0}/3\nfield a{0}: f32\na{0} = u * c{0}");
    add("coefs", "coef c{0}[0..1] = [1, {0}]\nfield a{0}: f32\na{0} = u * c{0}[0] + u * c{0}[1]");
    add("coefs given at launch",
        "param coef c{0}[0..1] = [1, {0}]\nfield a{0}: f32\na{0} = u * c{0}[0] + u * c{0}[1]");
    add("defs", "def f{0}(a) = a * {0} + 1\nfield a{0}: f32\na{0} = f{0}(u)");
    add("lets", "let a{0} = u * {0}\nfield b{0}: f32\nb{0} = a{0} + 1");
    add("derivatives", "field a{0}: f32\na{0} = d2(u * {1}, x, order=4)");
    add("blocks of cells", "on x in {0}..{0} {{ u[t+1] = {0} }}");
    add("blocks with conditions", "where u > {0} {{ u[t+1] = {0} }}");
    add("sweeps", "field a{0}: f32 {{ boundary fixed {0} }}\nsweep x up {{ a{0} = a{0}[x-1] + u }}");
    all.push_back(
        {"statements of a sweep",
         [](int i) { return fmt::format("let b{0} = a[x-1] * {0}\nf.{1} = b{0} + f.{1}[x-1]", i, i % 200); },
         "stencil s(x) {\n    field u, a: f32 { boundary fixed 0 }\n    field f: f32[200] { boundary "
         "fixed 0 }\n    sweep x up {\n    a = a[x-1] + u\n",
         [](int) { return std::string("}\n}\n"); }, false});
    add("repeats",
        "field a{0}: f32 {{ boundary clamp }}\nrepeat k to {0} + 1 {{ a{0}[k+1] = a{0}[k, x-1] + u }}");
    add("repeats until a condition holds",
        "field a{0}: f32 {{ boundary clamp }}\nrepeat k until m{0} < 1, at most 3 {{ a{0}[k+1] = a{0}[k, "
        "x-1] + "
        "u\nreduce m{0} = max(a{0}[k+1]) }}");
    all.push_back({"statements of a repeat",
                   [](int i) { return fmt::format("let b{0} = a[k] * {0}\nreduce m{0} = max(b{0})", i); },
                   "stencil s(x) {\n    field u, a: f32 { boundary clamp }\n    repeat k to 3 {\n    "
                   "a[k+1] = a[k, x-1] + u\n",
                   [](int) { return std::string("}\n}\n"); }, true});
    add("reductions", "reduce m{0} = max(u + {0})");
    add("reductions that statements read",
        "reduce m{0} = max(u[x+1] + {0}) start 0\nfield a{0}: f32\na{0} = u * m{0}");
    add("points", "points p{0}\nsample u at p{0} into p{0}.heard[t]\ninject u[t+1] at p{0} += p{0}.gain");
    add("tables", "table t{0} {{ q: f32 }}\nfield a{0}: f32\na{0} = sum(a in t{0}) a.q * u");
    add("noise", "field a{0}: f32\na{0} = random()");
    add("loops", "for i in 0..1 {{ let q{0} = u * i }}");
    add("loops over names", "for a in p, q {{ field f{0}_{{a}}: f32; f{0}_{{a}} = sum(b in axes) u[b+1] }}");
    all.push_back({"stages, each of the one before",
                   [](int i) {
                       return i == 0 ? std::string("let a0 { boundary periodic } = u")
                                     : fmt::format("let a{} {{ boundary periodic }} = a{}[x+1] + {} * u", i,
                                                   i - 1, i);
                   },
                   "stencil s(x) {\n    field u: f32 { boundary periodic }\n",
                   [](int n) { return fmt::format("    u[t+1] = a{}\n}}\n", n - 1); }});
    all.push_back(
        {"lets of numbers, each of the one before",
         [](int i) {
             return i == 0 ? std::string("let a0 = p\nfield b0: f32\nb0 = u * a0")
                           : fmt::format("let a{0} = a{1} * p + {0}\nfield b{0}: f32\nb{0} = u * a{0}", i,
                                         i - 1);
         },
         "stencil s(x) {\n    param p = 1/2\n    field u: f32 { boundary periodic }\n    u[t+1] = u\n"});
    all.push_back({"lets of whole numbers, each twice the one before",
                   [](int i) {
                       return i == 0 ? std::string("let a0 = n")
                                     : fmt::format("let a{0} = a{1} + a{1}", i, i - 1);
                   },
                   "stencil s(x) {\n    param n: i32 = 1\n    field u: i32\n",
                   [](int n) { return fmt::format("    u = a{}\n}}\n", n - 1); }});
    add("mistakes", "let q{0} = zz{0}");
    all.back().is_right = false;
    return all;
}

struct Counted {
    std::uint64_t operations = 0;
    bool ok = false;
};

// Of checking, with its warnings, and of the passes.
Counted work_of(const std::string& text) {
    const std::uint64_t before = Work::total();
    const driver::CheckedSpec checked = driver::check_text("growth.halo", text);
    if (checked.ok) {
        for (const sema::AnalyzedStencil& stencil : checked.analysis.stencils)
            driver::optimize(stencil.program, {});
    }
    return {Work::total() - before, checked.ok};
}

}  // namespace

TEST_CASE("the work of the compiler grows with each construct as its text does") {
    for (const Construct& construct : constructs()) {
        INFO(construct.name);
        const Counted once = work_of(text_of(construct, kCount));
        const Counted twice = work_of(text_of(construct, 2 * kCount));
        CHECK(once.ok == construct.is_right);
        CHECK(twice.ok == construct.is_right);
        REQUIRE(once.operations > 100);
#ifndef HALO_VERIFY  // the verifiers of development builds walk the program after each pass, and count as
                     // well
        CHECK(static_cast<double>(twice.operations) < kMostGrowth * static_cast<double>(once.operations));
#endif
    }
}
