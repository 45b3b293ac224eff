// No text makes the compiler hang or fall: what is too much is refused with a message.
#include "analyze_text.h"

using halo::DiagnosticKind;

namespace {

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i)
        result += text;
    return result;
}

bool holds(const std::vector<DiagnosticKind>& kinds, DiagnosticKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

TEST_CASE("many fields are analyzed") {
    std::string body;
    for (int i = 0; i < 10'000; ++i) {
        const std::string name = "u" + std::to_string(i);
        body += "field " + name + ": f32 { boundary periodic }\n" + name + "[t+1] = " + name +
                " + laplacian(" + name + ")\n";
    }
    const Analyzed made = stencil(body);
    CHECK(made.program().statements.size() == 10'000);
}

TEST_CASE("a long chain of stages is analyzed") {
    std::string body = "field u: f32 { boundary periodic }\nlet a0 = u\n";
    for (int i = 0; i < 3000; ++i) {
        body += "let a" + std::to_string(i + 1) + " = a" + std::to_string(i) + "[x+1]\n";
    }
    CHECK(stencil(body + "u[t+1] = a3000").program().statements.size() == 3002);
}

TEST_CASE("text that is small and means too much is refused") {
    const auto refused = [](const std::string& body) {
        return holds(mistakes(body), DiagnosticKind::program_too_large);
    };
    std::string doubling = "field u: f32\ndef f0(a) = a + a\n";
    for (int i = 0; i < 60; ++i) {
        const std::string before = "f" + std::to_string(i) + "(a)";
        doubling += "def f" + std::to_string(i + 1) + "(a) = " + before + " + " + before + "\n";
    }
    CHECK(refused(doubling + "u[t+1] = f60(u)"));
    std::string deep = "field u: f32\ndef f0(a) = a + 1\n";
    for (int i = 0; i < 60; ++i) {
        deep += "def f" + std::to_string(i + 1) + "(a) = " + repeated("(", 150) + "f" + std::to_string(i) +
                "(a)" + repeated("+1)", 150) + "\n";
    }
    CHECK(refused(deep + "u[t+1] = f60(u)"));
    CHECK(refused("field u: f32 { boundary periodic }\nu[t+1] = " + repeated("laplacian(", 100) + "sin(u)" +
                  repeated(")", 100)));
    CHECK(refused("field u: f32\nu[t+1] = sum(i in 1..4000) sin(sum(j in 1..4000) cos(i*j*u))"));
}

TEST_CASE("numbers that grow are refused, not computed") {
    std::string squares = "field u: f32\nconst c0 = 3\n";
    for (int i = 0; i < 60; ++i) {
        const std::string before = "c" + std::to_string(i);
        squares += "const c" + std::to_string(i + 1) + " = " + before + " * " + before + "\n";
    }
    CHECK(holds(mistakes(squares + "u[t+1] = c60 * u"), DiagnosticKind::number_too_large));
    CHECK(holds(mistakes("field u: f32\nu[t+1] = 7^999999999 * u"), DiagnosticKind::number_too_large));
}

TEST_CASE("offsets that add up past the limit are refused") {
    CHECK(holds(mistakes("def far(f) = f[x+500]\nfield u: f32\nu[t+1] = far(far(u))"),
                DiagnosticKind::out_of_range));
}
