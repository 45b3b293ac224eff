// What running the whole function finds: wrong stencils in their places, and what no run has reached.
#include <fstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/verify.h"
#include "temporary_folder.h"

namespace {

using halo::lift::Verdict;

// The verdict on a function of which one spec says something else.
class Tried {
public:
    explicit Tried(const std::string& text, const char* extension = ".c", double most_seconds = 20) {
        options_.most_seconds = most_seconds;
        options_.source.file = (folder_.path() / ("tried" + std::string(extension))).string();
        options_.source.function = "tried";
        std::ofstream(options_.source.file) << text;
        found_ = halo::lift::lift_nests(options_);
        for (const halo::lift::LiftError& each : found_.refused)
            UNSCOPED_INFO(each.what());
        REQUIRE_FALSE(found_.lifted.empty());
    }
    Verdict verdict() const { return halo::lift::verify_function(options_, found_); }
    Verdict with(const std::string& from, const std::string& to) const {
        halo::lift::Nests wrong = found_;
        std::string& body = wrong.lifted.front().spec.body;
        INFO(body);
        const std::size_t at = body.find(from);
        REQUIRE(at != std::string::npos);
        body.replace(at, from.size(), to);
        return halo::lift::verify_function(options_, wrong);
    }

private:
    const TemporaryFolder folder_;
    halo::lift::Options options_;
    halo::lift::Nests found_;
};

void check_wrong(const Tried& function, const std::string& from, const std::string& to) {
    INFO(from << " as " << to);
    const Verdict right = function.verdict();
    INFO(right.difference << right.left);
    CHECK(right.difference.empty());
    CHECK(right.left.empty());
    const Verdict wrong = function.with(from, to);
    INFO(wrong.left);
    CHECK_FALSE(wrong.difference.empty());
}

std::string left_of(const std::string& text, double most_seconds = 20) {
    const Verdict verdict = Tried(text, ".c", most_seconds).verdict();
    INFO(verdict.difference);
    CHECK(verdict.difference.empty());
    return verdict.left;
}

}  // namespace

TEST_CASE("draws meet what a stencil assumes of parameters", "[parts]") {
    const std::string loops =
        "  for (int y = ny0; y < nyf; y++) for (int x = nx0; x < nxf; x++) for (int z = nz0; z < nzf; z++)\n";
    check_wrong(
        Tried("void tried(float *restrict v, float *restrict s, int nx0, int nxf, int ny0, int nyf,\n"
              "           int nz0, int nzf, int dz, int dx) {\n" +
              loops +
              "    v[(y*dx + x)*dz + z] += s[(y*dx + x)*dz + z - 4] + s[(y*dx + x)*dz + z + 4];\n}\n"),
        "s[x-4]", "s[x-3]");
    check_wrong(
        Tried("void tried(float *restrict v, float *restrict s, int nx0, int nxf, int ny0, int nyf,\n"
              "           int nz0, int nzf, int dz, int dx) {\n" +
              loops +
              "    v[(y*dx + x)*dz + z] += s[(y*dx + x - 4)*dz + z] + s[(y*dx + x + 4)*dz + z];\n}\n"),
        "s[y-4]", "s[y-3]");
    check_wrong(
        Tried("void tried(double *restrict at, const double *restrict a, double visc, int istart, int iend,\n"
              "           int jstart, int jend, int kstart, int kend, int jj, int kk) {\n"
              "  for (int k = kstart; k < kend; ++k)\n    for (int j = jstart; j < jend; ++j)\n"
              "      for (int i = istart; i < iend; ++i) {\n        const int c = i + j*jj + k*kk;\n"
              "        at[c] += visc * (a[c+1] - a[c-1] + a[c+jj] - a[c-jj] + a[c+kk] - a[c-kk]);\n      "
              "}\n}\n"),
        "a[z-1]", "a[z+1]");
}

TEST_CASE("the whole function finds wrong stencils in it", "[parts]") {
    // What a branch, a cast or a limit is, shows on one side of a literal alone.
    const Tried dropped(
        "void tried(int n, const float *restrict a, float *restrict b) {\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        float x = a[i];\n"
        "        if (x > 50.f) { if (x > 100.f) continue; }\n"
        "        b[i] = x;\n    }\n}\n");
    check_wrong(dropped, "a > 100", "a > 101");
    check_wrong(Tried("void tried(int n, int k, const float *restrict a, float *restrict b) {\n"
                      "    for (int i = 0; i < n; i++) b[i] = k > 70000 ? a[i] : 0.0f;\n}\n"),
                "k > 70000", "k > 70001");
    check_wrong(Tried("void tried(int n, double c, const double *restrict a, float *restrict b) {\n"
                      "    for (int i = 0; i < n; i++) b[i] = a[i] * c;\n}\n"),
                "a * c", "c");
    check_wrong(Tried("void tried(int n, int m, const float *restrict u, float *restrict w) {\n"
                      "    for (int s = m; s < 100; s += 7)\n"
                      "        for (int i = 0; i < n; i++) w[i] = w[i] + s * u[i];\n}\n"),
                "s * u", "13 * u");
    check_wrong(Tried("__global__ void tried(const float* __restrict__ u, float* __restrict__ w, int n) {\n"
                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    if (i > 0 && i < n - 1) w[i] = u[i + 1] - u[i - 1];\n}\n",
                      ".cu"),
                "x-1", "x-2");
}

TEST_CASE("wrong stencils on arrays that structs hold are found", "[parts]") {
    const std::string types =
        "typedef struct { int n, ghosts; double last, **fields; } box;\n"
        "typedef struct { int count; double seconds; box *boxes; } level;\n"
        "double now(void);\n";
    const Tried boxes(types +
                      "void tried(level *on, int to, int from) {\n"
                      "    double start = now();\n"
                      "    for (int b = 0; b < on->count; b++) {\n"
                      "        int n = on->boxes[b].n, ghosts = on->boxes[b].ghosts;\n"
                      "        double *restrict w = on->boxes[b].fields[to] + ghosts;\n"
                      "        const double *restrict u = on->boxes[b].fields[from];\n"
                      "        for (int i = -ghosts; i < n; i++) w[i] = i < 0 ? 0 : 2 * u[i];\n"
                      "    }\n"
                      "    on->seconds += now() - start;\n}\n");
    check_wrong(boxes, "2 * u", "3 * u");
    check_wrong(boxes, "< 0", "<= 0");
    // What is left in a struct is compared, too.
    check_wrong(Tried(types + "void tried(level *on) {\n"
                              "    for (int b = 0; b < on->count; b++) {\n"
                              "        const double *restrict u = on->boxes[b].fields[b];\n"
                              "        double twice[8];\n"
                              "        for (int i = 0; i < 8; i++) twice[i] = 2 * u[i];\n"
                              "        on->boxes[b].last = twice[3];\n"
                              "    }\n}\n"),
                "2 * u", "3 * u");
}

TEST_CASE("a clock of another file is one where nothing but times is made of it", "[parts]") {
    const auto left = [](const std::string& with) {
        return left_of(
            "double now(void);\ndouble later(int);\nvoid *where(void);\ntypedef struct { double spent, "
            "limit; } times;\n"
            "double tried(int n, times *all, const double *restrict u, double *restrict w) {\n"
            "    double start = now(), spent = 0;\n"
            "    for (int i = 0; i < n; i++) w[i] = 2 * u[i];\n" +
                with + "}\n",
            0.4);
    };
    CHECK(left("spent = now() - start;\nall->spent += 1e-3 * spent;\nreturn 0;\n") == "");
    const std::string unknown = "`now` is defined elsewhere";
    CHECK(left("return now() - start;\n").find(unknown) != std::string::npos);
    CHECK(left("spent = now();\nif (spent > start) w[0] = 0;\nreturn 0;\n").find(unknown) !=
          std::string::npos);
    CHECK(left("w[0] = now();\nreturn 0;\n").find(unknown) != std::string::npos);
    CHECK(left("all->spent = now();\nreturn all->spent;\n").find(unknown) != std::string::npos);
    CHECK(left("return spent > now() ? 1 : 0;\n").find(unknown) != std::string::npos);
    CHECK(left("w[(int)now()] = 0;\nreturn 0;\n").find(unknown) != std::string::npos);
    CHECK(left("later(1);\nreturn 0;\n").find("`later`") != std::string::npos);
}

TEST_CASE("what no run has reached is said", "[parts]") {
    constexpr double kSeconds = 4;  // longer runs do not reach it, either
    CHECK(left_of("void tried(int n, int m, const float *restrict u, float *restrict w) {\n"
                  "    if (m > 7)\n"
                  "        if (m < 7)\n"
                  "            for (int i = 0; i < n; i++) w[i] = 2 * u[i];\n"
                  "    for (int i = 0; i < n; i++) w[i] = w[i] + u[i];\n}\n",
                  kSeconds) == "in line 3 `m < 7` was never true (and 1 more)");
    CHECK(left_of("#include <stdio.h>\n"
                  "int tried(int n, const float *restrict u, float *restrict w) {\n"
                  "    FILE *held = fopen(\"tried\", \"r\");\n"
                  "    if (!held) return 1;\n"
                  "    for (int i = 0; i < n; i++) w[i] = 2 * u[i];\n"
                  "    return 0;\n}\n",
                  kSeconds)
              .find("`fopen` is defined elsewhere") != std::string::npos);
    CHECK(left_of("int helper(int);\n"
                  "void tried(int n, const float *restrict u, float *restrict w) {\n"
                  "    for (int i = 0; i < n; i++) w[i] = 2 * u[i];\n"
                  "    helper(n);\n}\n",
                  kSeconds)
              .find("`helper`") != std::string::npos);
    // Where size + 2 overflows the function has no meaning: that is no difference.
    CHECK(left_of("double tried(float *restrict first, int size, int steps) {\n"
                  "    int m = size + 2;\n"
                  "    float (*a)[m][m] = (float (*)[m][m])first;\n"
                  "    for (int t = 0; t < steps; t++)\n"
                  "        for (int i = 1; i < m - 1; i++)\n"
                  "            for (int j = 1; j < m - 1; j++)\n"
                  "                a[(t + 1) % 2][i][j] = 0.5f * (a[t % 2][i - 1][j] + a[t % 2][i][j + 1]);\n"
                  "    if (m > 7 && m < 7) return 1;\n"
                  "    return 0;\n}\n",
                  kSeconds) == "in line 8 `m < 7` was never true");
}

TEST_CASE("what is around the nests is run with them", "[parts]") {
    // The nest by itself is right; the program goes on to use what it left.
    const Tried swapped(
        "#include <stdlib.h>\n"
        "double tried(int n, int steps) {\n"
        "    double *u = malloc((n + 2) * sizeof *u), *w = malloc((n + 2) * sizeof *w), sum = 0;\n"
        "    if (!u || !w || n < 1) return -1;\n"
        "    for (int i = 0; i < n + 2; i++) u[i] = w[i] = i * i % 7;\n"
        "    for (int t = 0; t < steps; t++) {\n"
        "        for (int i = 1; i <= n; i++) w[i] = u[i - 1] + u[i + 1];\n"
        "        double *held = u; u = w; w = held;\n"
        "        if (u[1] > 1e9) break;\n"
        "    }\n"
        "    for (int i = 0; i < n + 2; i++) sum = 0.5 * sum + u[i];\n"
        "    free(u); free(w);\n"
        "    return sum;\n}\n");
    const Verdict verdict = swapped.verdict();
    INFO(verdict.difference << verdict.left);
    CHECK(verdict.difference.empty());
}

TEST_CASE("each side of each number in the text is drawn", "[parts]") {
    // Numbers below zero are a minus and a number in the text.
    CHECK(left_of("void tried(int n, const float *restrict a, float *restrict b) {\n"
                  "    for (int i = 0; i < n; i++) b[i] = a[i] < -100.f ? 0.0f : a[i];\n}\n") == "");
    CHECK(left_of("void tried(int n, const double *restrict a, double *restrict b) {\n"
                  "    for (int i = 0; i < n; i++)\n"
                  "        b[i] = a[i] < -1e-3 ? (a[i] > -2.5e-3 ? 1.0 : 2.0) : a[i];\n}\n") == "");
    CHECK(left_of("void tried(int n, int k, const float *restrict a, float *restrict b) {\n"
                  "    for (int i = 0; i < n; i++) b[i] = k < -20 ? a[i] : k > -20 ? 1.0f : 2.0f;\n}\n") ==
          "");
    // Large ones, and those next to each other.
    CHECK(left_of("void tried(int n, const double *restrict a, double *restrict b) {\n"
                  "    for (int i = 0; i < n; i++) b[i] = a[i] > 1e21 ? 0.0 : a[i];\n}\n") == "");
    CHECK(left_of("void tried(int n, int k, const float *restrict a, float *restrict b) {\n"
                  "    for (int i = 0; i < n; i++)\n"
                  "        b[i] = k > 3000000 ? (k == 3000001 ? 1.0f : a[i]) : 2.0f;\n}\n") == "");
    CHECK(left_of("void tried(int n, const float *restrict a, float *restrict b) {\n"
                  "    for (int i = 0; i < n; i++)\n"
                  "        b[i] = a[i] > 0.1f ? (a[i] < 0.10000002f ? 1.0f : 2.0f) : a[i];\n}\n") == "");
}
