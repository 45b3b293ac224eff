#include "compiler/syntax/format.h"

#include <string>

#include "catch.h"

using namespace halo;
using namespace halo::syntax;

namespace {

std::string formatted(const std::string& text) {
    const SourceFile source("test.halo", text);
    DiagnosticSink sink;
    const std::optional<std::string> once = format(source, sink);
    INFO(text);
    INFO(render(sink.sorted(), source));
    REQUIRE(once.has_value());
    DiagnosticSink again_sink;
    const std::optional<std::string> again = format(SourceFile("again.halo", *once), again_sink);
    REQUIRE(again.has_value());
    CHECK(*again == *once);
    return *once;
}

// One statement of a stencil, without its indentation.
std::string statement(const std::string& text) {
    const std::string all = formatted("stencil s(x,y) {\n" + text + "\n}");
    const std::string head = "stencil s(x, y) {\n    ";
    REQUIRE(all.substr(0, head.size()) == head);
    REQUIRE(all.substr(all.size() - 3) == "\n}\n");
    return all.substr(head.size(), all.size() - head.size() - 3);
}

}  // namespace

TEST_CASE("spaces are set within expressions") {
    CHECK(statement("u[ t + 1 , x - 1 ]=u+a*b") == "u[t+1, x-1] = u + a*b");
    CHECK(statement("v=4/5 + 2*p - (a +b)*c") == "v = 4/5 + 2*p - (a + b)*c");
    CHECK(statement("v = a* b") == "v = a * b");
    CHECK(statement("v = 4 . a") == "v = 4 .a");  // a mistake for sema; `4.a` would be other words
    CHECK(statement("v = - a ^ 2 - -b") == "v = -a^2 - -b");
    CHECK(statement("v = 2^ -3") == "v = 2^-3");
    CHECK(statement("v = d ( u ,x , order = 8 )") == "v = d(u, x, order=8)");
    CHECK(statement("v = sum ( r in -1 .. 1 )c [ r ]* u[x + 2 * r]") ==
          "v = sum(r in -1..1) c[r] * u[x+2*r]");
    CHECK(statement("v = if not a<b and c then - 1 else( 2 )") == "v = if not a < b and c then -1 else (2)");
    CHECK(statement("v = not(a)") == "v = not (a)");
    CHECK(statement("v = f . x + f.3") == "v = f.x + f.3");
    CHECK(statement("v = f.1 [x-1] + f.3[x + 1]") == "v = f.1[x-1] + f.3[x+1]");
    CHECK(statement("v = + + f") == "v = + +f");  // `++` is no operator
    CHECK(statement("v = - + + + f") == "v = -+ + +f");
    CHECK(statement("v = u[x+ +1]") == "v = u[x+ +1]");
    CHECK(statement("v = - - f") == "v = --f");
    CHECK(statement("v = u [x+1] * (u) [x]") == "v = u[x+1] * (u)[x]");
}

TEST_CASE("declarations have one form") {
    CHECK(statement("param dt=0.1,lambda :f64") == "param dt = 0.1, lambda: f64");
    CHECK(statement("coef  c [ 1 .. 2 ]=[ 1 ,2 ]") == "coef c[1..2] = [1, 2]");
    CHECK(statement("param coef w[-1..1]:f32=[1,2,1]") == "param coef w[-1..1]: f32 = [1, 2, 1]");
    CHECK(statement("field u,v:f16 as f32{boundary periodic}") ==
          "field u, v: f16 as f32 { boundary periodic }");
    CHECK(statement("field u: f32 { }") == "field u: f32 {}");
    CHECK(statement("field v:f32 at x + 1/2,y{halo 1}") == "field v: f32 at x+1/2, y { halo 1 }");
    CHECK(statement("field v:(x:f32 at x + 1/2,y + 1/2,y:f32 at y+1/2){halo 1}") ==
          "field v: (x: f32 at x+1/2, y+1/2, y: f32 at y+1/2) { halo 1 }");
    CHECK(statement("let e at y  +1/2=d(v ,y)") == "let e at y+1/2 = d(v, y)");
    CHECK(statement("field u: f32\n{\n halo 1 ; boundary fixed  -1\n\n}") ==
          "field u: f32 {\n        halo 1\n        boundary fixed -1\n    }");
    CHECK(statement("field u: f32 { halo x . low 1,y 2 }") == "field u: f32 { halo x.low 1, y 2 }");
    CHECK(statement("let mu{boundary clamp}=c") == "let mu { boundary clamp } = c");
    CHECK(statement("def  avg ( a,b )=(a+b)/2") == "def avg(a, b) = (a+b)/2");
    CHECK(statement("reduce  c=max ( abs(u) )") == "reduce c = max(abs(u))");
    CHECK(statement("boundary = 1") == "boundary = 1");
    CHECK(statement("table  atoms{x,y :f32}") == "table atoms { x, y: f32 }");
    CHECK(statement("table atoms{x:f32;m=2*x}") == "table atoms {\n        x: f32\n        m = 2*x\n    }");
    CHECK(statement("fast  sin ,cos") == "fast sin, cos");
    CHECK(statement("points  shots ,phones :sinc   4") == "points shots, phones: sinc 4");
    CHECK(statement("inject p [t+1]at shots+=dt^2*shots . wavelet[ t ]") ==
          "inject p[t+1] at shots += dt^2*shots.wavelet[t]");
    CHECK(statement("sample  2 *p at phones into phones.trace [t]") ==
          "sample 2 * p at phones into phones.trace[t]");
    CHECK(statement("v=2 * sum (a in atoms){let d=pos(x)-a.x;a.q/d}+1") ==
          "v = 2 * sum(a in atoms) {\n        let d = pos(x) - a.x\n        a.q/d\n    } + 1");
    CHECK(statement("v=(sum(a in atoms) {a.q} )") == "v = (sum(a in atoms) { a.q })");
    CHECK(statement("schedule{stream   tile=64x4 cells=4x2}") == "schedule { stream tile=64x4 cells=4x2 }");
    CHECK(statement("schedule {\nstream # why\ntile=64x4 }") ==
          "schedule {\n        stream  # why\n        tile=64x4\n    }");
    CHECK(statement("a=1;b=2") == "a = 1\n    b = 2");
}

TEST_CASE("runs have one form") {
    CHECK(formatted("run  heat{grid 128 ,128\nsteps 10 until c<1e-6\nplot u at  pos ( z )=-1 to \"a  b.png\" "
                    "every (2)}") ==
          "run heat {\n    grid 128, 128\n    steps 10 until c < 1e-6\n"
          "    plot u at pos(z) = -1 to \"a  b.png\" every (2)\n}\n");
    CHECK(formatted("run heat { phones at[1,2] ,[ 10*i,20 ]for i in 0 .. 99\ninit shots.wavelet=time }") ==
          "run heat {\n    phones at [1, 2], [10*i, 20] for i in 0..99\n    init shots.wavelet = time\n}\n");
    CHECK(
        formatted(
            "run heat {\nmovie  u at z=3 every  5 from 0 to \"u.mp4\"   range -1 .. 1 flip x ,y fps  9 }") ==
        "run heat {\n    movie u at z = 3 every 5 from 0 to \"u.mp4\" range -1..1 flip x, y fps 9\n}\n");
    CHECK(formatted("run heat {\nsave u every  5 from 0 to 9  to \"u.npy\"; plot u  every 5 to \"u.png\" "
                    "range 0..1 }") ==
          "run heat {\n    save u every 5 from 0 to 9 to \"u.npy\"\n    plot u every 5 to \"u.png\" range "
          "0..1\n}\n");
    CHECK(formatted("run heat {\nsave u  to \"u.h5\"  every 5 from 0  together }") ==
          "run heat {\n    save u to \"u.h5\" every 5 from 0 together\n}\n");
    CHECK(formatted("run heat { grid 3 }") == "run heat { grid 3 }\n");
    CHECK(formatted("run heat {}") == "run heat {}\n");
}

TEST_CASE("the user's line breaks stay within a statement") {
    CHECK(statement("v = a\n+ b\n - c") == "v = a\n        + b\n        - c");
    CHECK(statement("v = f(\n a,\n b\n)") == "v = f(\n        a,\n        b\n    )");
    CHECK(statement("v = a +\n\n\n b") == "v = a +\n        b");
    CHECK(statement("coef w[1..2, 1..2] = [[1, 2],\n[3, 4]]") ==
          "coef w[1..2, 1..2] = [[1, 2],\n                          [3, 4]]");
    CHECK(statement("v = f(a +\nb) +\nc") == "v = f(a +\n          b) +\n        c");
    CHECK(statement("v = f(\n g(a,\nb\n)\n)") == "v = f(\n        g(a,\n          b\n          )\n    )");
    CHECK(statement("v = if a\nthen b\nelse c") == "v = if a\n        then b\n        else c");
}

TEST_CASE("comments stay where they are") {
    CHECK(formatted("# head  \n\n\nstencil s(x) { # axes\n# first\nv = a   # one\nlonger = b # two\n\n\n# "
                    "own\n\n}\n# end") ==
          "# head\n\nstencil s(x) {  # axes\n    # first\n    v = a       # one\n    longer = b  # two\n\n"
          "    # own\n}\n\n# end\n");
    CHECK(statement("v = a # one\n # between\n + b # two") ==
          "v = a  # one\n        # between\n        + b  # two");
    CHECK(statement("v = f(a, # first\n b) # second\n# next\nw = 1") ==
          "v = f(a,  # first\n          b)  # second\n    # next\n    w = 1");
    CHECK(statement("field u: f32 { # c\n# d\nhalo 1 }") ==
          "field u: f32 {  # c\n        # d\n        halo 1\n    }");
    CHECK(statement("field u: f32 # c\n{ halo 1 }") == "field u: f32  # c\n    { halo 1 }");
    CHECK(formatted("# only") == "# only\n");
    CHECK(formatted("").empty());
}

TEST_CASE("the properties of a field stand each on its line, or all on one") {
    CHECK(statement("field v: f32[2] {layout   aos;boundary periodic}") ==
          "field v: f32[2] {\n        layout aos\n        boundary periodic\n    }");
    CHECK(statement("field v: f32[2] {layout   aos}") == "field v: f32[2] { layout aos }");
}

TEST_CASE("what is shared has one form") {
    CHECK(
        formatted("use   \"a.halo\"\nconst a=1 ,b =2\n\n\ndef f ( c,axis )=c[axis + 1]+a\nstencil s(x){\n}\n"
                  "coef w[1..2]=[1,2]") ==
        "use \"a.halo\"\nconst a = 1, b = 2\n\ndef f(c, axis) = c[axis+1] + a\nstencil s(x) {}\n\n"
        "coef w[1..2] = [1, 2]\n");
}

TEST_CASE("single blank lines stay, more become one") {
    CHECK(statement("a = 1\n\n\n\nb = 2\nc = 3") == "a = 1\n\n    b = 2\n    c = 3");
    CHECK(formatted("stencil a(x) {\n\n v = 1\n\n}\nstencil b(x) {\n}\nrun a { }") ==
          "stencil a(x) {\n    v = 1\n}\n\nstencil b(x) {}\n\nrun a {}\n");
}

TEST_CASE("line ends of other systems become plain") {
    CHECK(formatted("stencil s(x) {\r\n\r\n  v = 1 # c\r\n\r\n\r\n  w = 2\r\n}\r\n") ==
          "stencil s(x) {\n    v = 1  # c\n\n    w = 2\n}\n");
}

TEST_CASE("text with mistakes is not formatted") {
    DiagnosticSink sink;
    CHECK_FALSE(format(SourceFile("f", "stencil s(x) { v = + }"), sink).has_value());
    CHECK(sink.error_count() == 1);
}
