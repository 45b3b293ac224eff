// Loops over names mean what they are when they are written out.
#include <random>

#include "analyze_text.h"
#include "compiler/sema/run_spec.h"
#include "compiler/syntax/format.h"
#include "contains.h"

using halo::DiagnosticKind;

namespace {

// The program of a text without mistakes.
std::string program(const std::string& text) {
    const Analyzed result = analyze_text(text);
    INFO(text);
    INFO(result.messages);
    REQUIRE(result.kinds.empty());
    return halo::ir::print(result.program());
}

std::string body_of(const std::string& body) {
    return "stencil s(x, y) {\n" + body + "\n}\n";
}

void same(const std::string& loop, const std::string& written_out) {
    CHECK(program(body_of(loop)) == program(body_of(written_out)));
}

std::string messages(const std::string& body) {
    return analyze_text(body_of(body)).messages;
}

}  // namespace

TEST_CASE("an axis as the index of a loop is an axis everywhere") {
    same(
        "param h = 2\n"
        "field u: f32 { boundary fixed 0 }\n"
        "for a, b in (x, y), (y, x) {\n"
        "    spacing a = h\n"
        "    origin a = 1\n"
        "    field v_{a}: f32 at a+1/2 { halo a 2; boundary a.low fixed pos(a); boundary a.high clamp }\n"
        "    v_{a}[t+1] = v_{a} + d(u, a) * len(a) + idx(a)\n"
        "    on a.low { on b in 0..3 { u[t+1] = u[a+1] + v_{a}[a-1/2] } }\n"
        "    reduce r_{a} = sum(u) on a.high\n"
        "}",
        "param h = 2\n"
        "field u: f32 { boundary fixed 0 }\n"
        "spacing x = h\norigin x = 1\n"
        "field v_x: f32 at x+1/2 { halo x 2; boundary x.low fixed pos(x); boundary x.high clamp }\n"
        "v_x[t+1] = v_x + d(u, x) * len(x) + idx(x)\n"
        "on x.low { on y in 0..3 { u[t+1] = u[x+1] + v_x[x-1/2] } }\n"
        "reduce r_x = sum(u) on x.high\n"
        "spacing y = h\norigin y = 1\n"
        "field v_y: f32 at y+1/2 { halo y 2; boundary y.low fixed pos(y); boundary y.high clamp }\n"
        "v_y[t+1] = v_y + d(u, y) * len(y) + idx(y)\n"
        "on y.low { on x in 0..3 { u[t+1] = u[y+1] + v_y[y-1/2] } }\n"
        "reduce r_y = sum(u) on y.high\n");
}

TEST_CASE("a name may begin with an index") {
    same(
        "field u, v: f32 { boundary periodic }\n"
        "let u_0 = u\nlet v_0 = v\n"
        "for l in 1..2 { for k in u, v { let {k}_{l} = 0.5 * {k}_{l-1} + {k}_0[x+1] } }\n"
        "for a in x, y { for b in x, y { let {a}{b} = d(u, a) + d(v, b) } }\n"
        "u[t+1] = u_2 + xy\nv[t+1] = v_2 - yx",
        "field u, v: f32 { boundary periodic }\n"
        "let u_0 = u\nlet v_0 = v\n"
        "let u_1 = 0.5 * u_0 + u_0[x+1]\nlet v_1 = 0.5 * v_0 + v_0[x+1]\n"
        "let u_2 = 0.5 * u_1 + u_0[x+1]\nlet v_2 = 0.5 * v_1 + v_0[x+1]\n"
        "let xx = d(u, x) + d(v, x)\nlet xy = d(u, x) + d(v, y)\n"
        "let yx = d(u, y) + d(v, x)\nlet yy = d(u, y) + d(v, y)\n"
        "u[t+1] = u_2 + xy\nv[t+1] = v_2 - yx");
}

TEST_CASE("what a loop that could not be read may have made has no message of its own") {
    const std::string text = messages(
        "field u: f32 { boundary clamp }\nlet u_0 = u\n"
        "for l, c in (1, 1/2), (2, 1/4) { let {l}x_{l}y = u; let u_{l} = c * u_{l-1} }\n"
        "u[t+1] = u_2 + v_2");
    CHECK(contains(text, "a loop lists names and whole numbers"));
    CHECK(!contains(text, "`u_2`"));
    CHECK(contains(text, "nothing called `v_2`"));
}

TEST_CASE("sweeps go along an index, and hold loops") {
    same(
        "field u, v: f32 { boundary fixed 0 }\nfield w_x, w_y: f32 { boundary fixed 0 }\n"
        "for a, c in (x, u), (y, v) {\n"
        "    sweep a up { let e = 0.5 * w_{a}[a-1]; w_{a} = e + c }\n"
        "}\n"
        "sweep x down { for c in u, v { c[t+1] = c[t+1, x+1] + c } }",
        "field u, v: f32 { boundary fixed 0 }\nfield w_x, w_y: f32 { boundary fixed 0 }\n"
        "sweep x up { let e1 = 0.5 * w_x[x-1]; w_x = e1 + u }\n"
        "sweep y up { let e2 = 0.5 * w_y[y-1]; w_y = e2 + v }\n"
        "sweep x down { u[t+1] = u[t+1, x+1] + u; v[t+1] = v[t+1, x+1] + v }");
}

TEST_CASE("a range goes on from the number of a loop around it, and may be empty") {
    const std::string fields = "field u: f32\nfor l in 0..3 { field e_{l}: f32 }\n";
    const std::string end = "\nu[t+1] = u";
    same(fields + "for a in 2..3 { for l in a..3 { let m_{a}_{l} = e_{l} * a } }" + end,
         "field u: f32\nfield e_0: f32\nfield e_1: f32\nfield e_2: f32\nfield e_3: f32\n"
         "let m_2_2 = e_2 * 2\nlet m_2_3 = e_3 * 2\nlet m_3_3 = e_3 * 3" +
             end);
    same(fields + "for a in 2..3 { for l in a+1..3 down { e_{l} = u * a } }" + end,
         "field u: f32\nfield e_0: f32\nfield e_1: f32\nfield e_2: f32\nfield e_3: f32\n"
         "e_3 = u * 2" +
             end);
    same(fields + "for a in 2..3 { for l in 0..a-1 { let m_{a}_{l} = e_{l} } }" + end,
         "field u: f32\nfield e_0: f32\nfield e_1: f32\nfield e_2: f32\nfield e_3: f32\n"
         "let m_2_0 = e_0\nlet m_2_1 = e_1\nlet m_3_0 = e_0\nlet m_3_1 = e_1\nlet m_3_2 = e_2" +
             end);
    CHECK(contains(messages(fields + "for a in x, y { for l in a..3 { e_{l} = u } }" + end),
                   "`l` runs through a range that is computed"));
    CHECK(contains(messages(fields + "for l in 3..2 { e_{l} = u }" + end), "no number lies in 3..2"));
}

TEST_CASE("a field is written again once it has been read") {
    const std::string fields = "field u, e, v: f32\nu[t+1] = u\n";
    CHECK(mistakes(fields + "e = u\nv = e\ne = 2*u") == std::vector<DiagnosticKind>{});
    CHECK(mistakes(fields + "e = u\nreduce r = sum(e)\ne = 2*u") == std::vector<DiagnosticKind>{});
    CHECK(mistakes(fields + "e = u\nv = u\ne = 2*u") ==
          std::vector<DiagnosticKind>{DiagnosticKind::written_twice});
    // What a statement makes of the field itself has been read by nobody else.
    CHECK(mistakes(fields + "e = u\nwhere u > 0 { e = e + 1 }\ne = 2*u") ==
          std::vector<DiagnosticKind>{DiagnosticKind::written_twice});
    CHECK(mistakes(fields + "e = u\nv = e\ne = 2*u\ne = 3*u") ==
          std::vector<DiagnosticKind>{DiagnosticKind::written_twice});
}

TEST_CASE("names of fields, params, lets and defs are made with an index") {
    same(
        "for s, other in (u, v), (v, u) {\n"
        "    param D_{s} = 0.1\n"
        "    field s: f32 { boundary periodic }\n"
        "    let change_{s} = D_{s} * laplacian(s)\n"
        "    def twice_{s}() = 2 * s\n"
        "}\n"
        "for s, other in (u, v), (v, u) { s[t+1] = s + change_{s} + twice_{other}() }",
        "param D_u = 0.1\nfield u: f32 { boundary periodic }\nlet change_u = D_u * laplacian(u)\n"
        "def twice_u() = 2 * u\n"
        "param D_v = 0.1\nfield v: f32 { boundary periodic }\nlet change_v = D_v * laplacian(v)\n"
        "def twice_v() = 2 * v\n"
        "u[t+1] = u + change_u + twice_v()\nv[t+1] = v + change_v + twice_u()");
    // A name that is made may be an index.
    same(
        "field s_xx, s_xy, s_yy: f32 { boundary periodic }\nfield f_x, f_y: f32\n"
        "for a, row_x, row_y in (x, s_xx, s_xy), (y, s_xy, s_yy) {\n"
        "    f_{a} = sum(b in axes) d(row_{b}, b)\n}",
        "field s_xx, s_xy, s_yy: f32 { boundary periodic }\nfield f_x, f_y: f32\n"
        "f_x = d(s_xx, x) + d(s_xy, y)\nf_y = d(s_xy, x) + d(s_yy, y)");
}

TEST_CASE("components are chosen by a name") {
    same(
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\nfield p: f32 { boundary periodic "
        "}\n"
        "for a in axes { v.a[t+1] = v.a + d(p, a) }",
        "field v: (x: f32 at x+1/2, y: f32 at y+1/2) { boundary periodic }\nfield p: f32 { boundary periodic "
        "}\n"
        "v.x[t+1] = v.x + d(p, x)\nv.y[t+1] = v.y + d(p, y)");
}

TEST_CASE("sums, products, extremes and lists run over names") {
    const std::string fields =
        "field u, w: f32 { boundary periodic }\nfield a: f32\nfield g: (x: f32, y: f32)\n";
    same(fields + "a = sum(b in axes) u[b+1] / 2 + prod(f in u, w) f",
         fields + "a = (u[x+1] / 2 + u[y+1] / 2) + u * w");
    same(fields + "a = min(f in u, w) f - max(f in u, w, b in axes) f[b-1]",
         fields + "a = min(u, w) - max(u[x-1], u[y-1], w[x-1], w[y-1])");
    same(fields + "g = [d(u, b) for b in axes]", fields + "g = [d(u, x), d(u, y)]");
    same(fields + "a = sum(i in 1..2) sum(b in axes) u[b+i]",
         fields + "a = (u[x+1] + u[y+1]) + (u[x+2] + u[y+2])");
}

TEST_CASE("loops over names and over ranges stand within each other") {
    same(
        "field f: f32[2] { boundary periodic }\nfield w_x, w_y: f32\n"
        "for a in axes { w_{a} = sum(i in 0..1) f.i[a+1] }",
        "field f: f32[2] { boundary periodic }\nfield w_x, w_y: f32\n"
        "w_x = sum(i in 0..1) f.i[x+1]\nw_y = sum(i in 0..1) f.i[y+1]");
    same(
        "field u_x, u_y: f32[2] { boundary periodic }\n"
        "for i in 0..1 { for a in axes { let e_{a} = u_{a}.i[a+1]; u_{a}.i[t+1] = e_{a} } }",
        "field u_x, u_y: f32[2] { boundary periodic }\n"
        "for i in 0..1 { let e_x = u_x.i[x+1]; u_x.i[t+1] = e_x; let e_y = u_y.i[y+1]; u_y.i[t+1] = e_y }");
}

TEST_CASE("a let without an index ends with its iteration") {
    const std::string text =
        "field u: f32 { boundary periodic }\nfield w_x, w_y: f32\n"
        "for a in axes { let e = u[a+1]; w_{a} = 2 * e }\n";
    CHECK(analyze_text(body_of(text)).kinds.empty());
    CHECK(contains(messages(text + "u[t+1] = e"), "there is nothing called `e`"));
    CHECK(contains(messages(text + "param e"), "`e` is declared twice"));
}

TEST_CASE("loops of a run hold any of its lines") {
    const Analyzed result = analyze_text(
        "stencil s(x, y) {\nfor a in axes { field v_{a}: f32; v_{a}[t+1] = v_{a} }\n}\n"
        "run s {\n grid 4, 4\n for a in axes {\n init v_{a} = a\n save v_{a} to \"out-{a}-{b}.npy\"\n "
        "}\n}\n");
    INFO(result.messages);
    REQUIRE(result.kinds.empty());
    const halo::sema::RunSpec& run = result.analysis.runs.front();
    REQUIRE(run.saves.size() == 2);
    CHECK(run.saves[0].path == "out-x-{b}.npy");
    CHECK(run.saves[1].path == "out-y-{b}.npy");
}

TEST_CASE("a mistake in a loop has one message, which says for what name it is one") {
    const std::string text = messages(
        "field u, v: f32 { boundary periodic }\nparam k_u = 1\n"
        "for s in u, v { s[t+1] = k_{s} * s }");
    CHECK(contains(text, "there is nothing called `k_v`"));
    CHECK(contains(text, "note: here `s` is `v`"));
    const std::string in_sum = messages(
        "field u: f32 { boundary periodic }\nfield w: f32\n"
        "w = sum(a in axes, f in u, g) f[a+1]");
    CHECK(contains(in_sum, "there is nothing called `g`"));
    CHECK(contains(in_sum, "note: here `a` is `x`, `f` is `g`"));
    // Behind the loop nothing is said of it.
    const std::string behind = messages(
        "field u: f32 { boundary periodic }\n"
        "for a in axes { field w_{a}: f32; w_{a} = u }\nu[t+1] = q");
    CHECK_FALSE(contains(behind, "here `a`"));
}

TEST_CASE("what a loop over names cannot be") {
    const std::string fields = "field u, v: f32 { boundary periodic }\nu[t+1] = u; v[t+1] = v\n";
    const auto kinds = [&](const std::string& body) { return mistakes(fields + body); };
    CHECK(kinds("for x in u, v { let q = u }") == std::vector{DiagnosticKind::reserved_name});
    CHECK(kinds("for t in u, v { let q = u }") == std::vector{DiagnosticKind::reserved_name});
    CHECK(kinds("for a in u, u { let q = u }") == std::vector{DiagnosticKind::duplicate_name});
    CHECK(kinds("for a in axes, a in u, v { let q = u }") == std::vector{DiagnosticKind::duplicate_name});
    CHECK(kinds("for a in axes { for a in u, v { let q = u } }") ==
          std::vector{DiagnosticKind::duplicate_name});
    CHECK(kinds("for a, b in (u, v), (u) { let q = u }") == std::vector{DiagnosticKind::unexpected_token});
    CHECK(kinds("for a in axes { accuracy 4 }") == std::vector{DiagnosticKind::misplaced_statement});
    CHECK(kinds("for i in 0..1 { field w: f32 }") == std::vector{DiagnosticKind::misplaced_statement});
    CHECK(kinds("for a in axes { field w: f32 }") == std::vector{DiagnosticKind::duplicate_name});
    CHECK(kinds("for i in 0..1 { let q = u_{i} }") == std::vector{DiagnosticKind::unknown_name});
    CHECK(kinds("let q = u_{a}") == std::vector{DiagnosticKind::unknown_name});
    CHECK(contains(analyze_text("def f(u) = sum(a in axes) d2(u, a)\n").messages, "within a stencil"));
}

TEST_CASE("what loops write out is limited") {
    std::string text = "field u: f32\nu[t+1] = u\n", close;
    for (int i = 0; i < 40; ++i) {
        text += "for a" + std::to_string(i) + " in p, q { ";
        close += "}";
    }
    CHECK(mistakes(text + "let e = 1" + close) ==
          std::vector<DiagnosticKind>{DiagnosticKind::program_too_large});
    text = "field u: f32\nu[t+1] = u\nfor a in p, q { ";
    close = "}";
    std::string name = "a";
    for (int i = 0; i < 20; ++i) {
        const std::string index = "b" + std::to_string(i);
        text += "for " + index + ", c" + std::to_string(i) + " in (k_{" + name + "}{" + name + "}, p) { ";
        name = index;
        close += "}";
    }
    CHECK(mistakes(text + "let e = 1" + close) ==
          std::vector<DiagnosticKind>{DiagnosticKind::program_too_large});
}

namespace {

// A random loop, and what it is when it is written out: `@a` stands for the index a, alone or in a name.
class RandomLoop {
public:
    explicit RandomLoop(unsigned seed) : random_(seed) {}

    std::string declarations() const {
        return "field u, v: f32 { boundary periodic }\nfield w: f32[4] { boundary clamp }\n";
    }
    // Text with `@NAME@` for indices that are in scope.
    std::string block(int depth) {
        std::string text;
        for (int i = pick(3); i >= 0; --i) {
            const std::string name = "n" + std::to_string(count_++);
            const std::string index = indices_.empty() ? "" : "@" + indices_[pick(indices_.size())] + "@";
            const std::string all = all_indices();
            switch (pick(depth > 0 ? 5 : 3)) {
                case 0:
                    text += "field " + name + all + ": f32 { boundary periodic }\n" + name + all +
                            "[t+1] = " + value() + "\n";
                    break;
                case 1:
                    text += "let " + name + all + " = " + value() + "\nfield f" + name + all + ": f32\nf" +
                            name + all + " = " + name + all + " + u\n";
                    break;
                case 2:
                    text += "param " + name + all + " = 1/3\nfield f" + name + all + ": f32\nf" + name + all +
                            " = " + name + all + " * " + value() + "\n";
                    break;
                default: {
                    const std::string inner = "i" + std::to_string(indices_.size());
                    indices_.push_back(inner);
                    text += "<" + inner + (pick(2) == 0 ? " x y>" : " y x>") + block(depth - 1) + "</>";
                    indices_.pop_back();
                }
            }
        }
        return text;
    }

private:
    int pick(std::size_t count) { return static_cast<int>(random_() % count); }
    std::string all_indices() const {
        std::string all;
        for (const std::string& index : indices_)
            all += "_@" + index + "@";
        return all;
    }
    std::string value() {
        const char* const plain[] = {"u", "v[x-1]", "laplacian(u)", "w.2[y+1]", "3/7"};
        if (indices_.empty() || pick(3) == 0) return plain[pick(5)];
        const std::string axis = "@" + indices_[pick(indices_.size())] + "@";
        const std::string with_axis[] = {"d(u, " + axis + ")", "v[" + axis + "+1]", "pos(" + axis + ")",
                                         "w.1[" + axis + "-2]", "len(" + axis + ") * u"};
        return with_axis[pick(5)];
    }

    std::mt19937 random_;
    std::vector<std::string> indices_;
    int count_ = 0;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

// As a loop of the language: `@a@` is `a`, and `{a}` behind `_`.
std::string as_loops(std::string text) {
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<')) {
        const std::size_t end = text.find('>', at);
        const std::string head = text.substr(at + 1, end - at - 1);
        const std::string loop = head == "/" ? "}\n"
                                             : "for " + head.substr(0, 2) + " in " + head.substr(3, 1) +
                                                   ", " + head.substr(5, 1) + " {\n";
        text.replace(at, end - at + 1, loop);
    }
    for (int i = 0; i < 8; ++i) {
        const std::string index = "i" + std::to_string(i);
        text = replaced(replaced(text, "_@" + index + "@", "_{" + index + "}"), "@" + index + "@", index);
    }
    return text;
}

std::string written_out(const std::string& text) {
    const std::size_t at = text.find('<');
    if (at == std::string::npos) return text;
    const std::size_t head_end = text.find('>', at);
    const std::string head = text.substr(at + 1, head_end - at - 1);
    std::size_t end = head_end + 1;
    for (int open = 1; open > 0; ++end) {
        if (text[end] != '<') continue;
        open += text.compare(end, 3, "</>") == 0 ? -1 : 1;
    }
    const std::string body = text.substr(head_end + 1, end - 1 - head_end - 1);
    std::string result = text.substr(0, at);
    for (const std::size_t name : {3, 5})
        result += written_out(replaced(body, "@" + head.substr(0, 2) + "@", head.substr(name, 1)));
    return result + written_out(text.substr(end + 2));
}

}  // namespace

TEST_CASE("random loops over names are what they are written out") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        RandomLoop loop(seed);
        const std::string text = loop.block(3);
        const std::string loops = body_of(loop.declarations() + "u[t+1] = u\n" + as_loops(text));
        INFO("seed " << seed);
        INFO(loops);
        CHECK(program(loops) == program(body_of(loop.declarations() + "u[t+1] = u\n" + written_out(text))));
        // What `haloc fmt` makes of it means the same, and stays as it is.
        halo::DiagnosticSink sink;
        const std::optional<std::string> once = halo::syntax::format(halo::SourceFile("a.halo", loops), sink);
        REQUIRE(once);
        CHECK(program(*once) == program(loops));
        CHECK(halo::syntax::format(halo::SourceFile("b.halo", *once), sink) == once);
    }
}

TEST_CASE("loops over numbers write out names with them") {
    same("field u, e_1, e_2, e_3: f32\ne_1 = u\nfor l in 1..2 { e_{l+1} = e_{l} + l*u }",
         "field u, e_1, e_2, e_3: f32\ne_1 = u\ne_2 = e_1 + 1*u\ne_3 = e_2 + 2*u");
    same("field u, e_0, e_1, e_2: f32\ne_2 = u\nfor l in 0..1 down { e_{l} = e_{l+1} / 2 }",
         "field u, e_0, e_1, e_2: f32\ne_2 = u\ne_1 = e_2 / 2\ne_0 = e_1 / 2");
    same(
        "for l in 1..2 { field e_{l}: f32 on coarse(2^l) }\nfield u: f32\ne_1 = u[2*x, 2*y]\ne_2 = e_1[2*x, "
        "2*y]",
        "field e_1: f32 on coarse(2)\nfield e_2: f32 on coarse(4)\nfield u: f32\ne_1 = u[2*x, 2*y]\n"
        "e_2 = e_1[2*x, 2*y]");
    same("field u, v: f32[3]\nfor c in 2, 0, 1 { v.c = u.c }",
         "field u, v: f32[3]\nv.2 = u.2\nv.0 = u.0\nv.1 = u.1");
    same("field u, v_1, v_2: f32\nfor l, f in (1, 4), (2, 9) { v_{l} = f * u }",
         "field u, v_1, v_2: f32\nv_1 = 4 * u\nv_2 = 9 * u");
}
