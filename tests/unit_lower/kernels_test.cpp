// Each strategy's kernel of a small program, by the lines that make it what it is.
#include <fmt/format.h>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/kernel/print.h"
#include "compiler/lower/lower.h"
#include "compiler/support/error.h"

using namespace halo;
using schedule::Schedule;
using schedule::Strategy;

namespace {

const char* const kMean = R"(
stencil mean(x, y) {
    field u: f32 { boundary periodic }
    u[t+1] = u[x-1] + u[x+1] + u[y-1] + u[y+1]
    reduce total = sum(u[t+1])
})";

const char* const kPlain = R"(
stencil plain(x, y, z) {
    param a = 2
    field u: f32 { boundary fixed 0 }
    u[t+1] = a * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1])
})";

std::string kernel_text(const char* spec, const Schedule& schedule) {
    return kernel::print(lower::lower_cuda(test::load_program(spec), {{schedule}}).kernels);
}

void check_lines(const std::string& text, const std::vector<std::string>& lines) {
    INFO(text);
    std::size_t at = 0;
    for (const std::string& line : lines) {
        INFO("missing, or in another order: " << line);
        const std::size_t found = text.find(line, at);
        CHECK(found != std::string::npos);
        if (found != std::string::npos) at = found;
    }
}

}  // namespace

TEST_CASE("direct with one cell a thread reads neighbours where they are used") {
    Schedule schedule;
    schedule.threads = {32, 4, 1};
    check_lines(
        kernel_text(kMean, schedule),
        {"helper store_images_u(float* u, int i, int j, int nx, int ny, int pitch)",
         "kernel mean_step(const float* u, float* u_next, int nx, int ny, int pitch, double* total_partials)",
         "constexpr int kThreadsX = 32, kThreadsY = 4;", "double total_of_thread = 0.0;",
         "if (i < nx && j < ny) {", "u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch]",
         "u_next[at] = u_new;", "store_images_u(u_next, i, j, nx, ny, pitch);", "block_sum(total_of_thread)",
         "total_partials["});
}

TEST_CASE("of two elements of f16 the one that is chosen is converted") {
    const auto choice = [](const char* otherwise) {
        return kernel_text(
            fmt::format("stencil reflecting(x) {{\n    field wall: f32 {{ boundary periodic }}\n"
                        "    field f: f16 {{ boundary periodic }}\n    field g: f16 {{ boundary periodic }}\n"
                        "    f[t+1] = if wall[x-1] > 0 then g else {}\n    g[t+1] = f / 2\n}}",
                        otherwise)
                .c_str(),
            Schedule{});
    };
    check_lines(choice("f[x-1]"), {"f16_to_float(wall[", "] > 0.0f ? g[", "] : f["});
    check_lines(choice("2 * f[x-1]"), {"> 0.0f ? f16_to_float(g[", ": 2.0f * f16_to_float(f["});
}

TEST_CASE("direct with more cells loads a window in vectors") {
    Schedule schedule;
    schedule.threads = {8, 4, 4};
    schedule.cells = {4, 2, 1};
    check_lines(
        kernel_text(kPlain, schedule),
        {"constexpr int kCellsX = 4, kCellsY = 2;", "if (i >= nx || j >= ny || k >= nz) return;",
         "float u_cells[3][kCellsY + 2][kCellsX + 2];", "load4(", "for (int y = 0; y < kCellsY; ++y) {",
         "float u_next_result[kCellsX];", "if (i + x < nx) u_next["});
}

TEST_CASE("tile stages levels in shared memory before the block computes") {
    Schedule schedule;
    schedule.strategy = schedule::Tile{};
    schedule.threads = {32, 4, 1};
    schedule.cells = {1, 1, 4};
    check_lines(kernel_text(kPlain, schedule),
                {"shared float u_tile[6][6][", "// Load the tile of u and its halo.", "copy4(", "barrier();",
                 "for (int z = 0; z < kTileZ; ++z) {", "if (i < nx && j < ny && k < nz) {",
                 "u_next[at] =", "u_tile[z"});
}

TEST_CASE("stream traverses the slowest axis with a queue and a ring") {
    Schedule schedule;
    schedule.strategy = schedule::Stream{.planes = 8};
    schedule.threads = {32, 4, 1};
    check_lines(kernel_text(kPlain, schedule),
                {"constexpr int kPlanes = 8;", "const int first_plane = block", "shared float u_ring[",
                 "float u_queue[3]", "for (int k = first_plane; k < end_plane; ++k) {", "barrier();",
                 "= u_ring[u_at_0", "u_queue[slot]"});
}

TEST_CASE("the CPU's kernel loops over rows of its range") {
    check_lines(kernel::print(lower::lower_cpu(test::load_program(kPlain)).kernels),
                {"kernel plain_step(const float* u, float* u_next, int nx, int ny, int pitch, ",
                 "const long long per_plane = static_cast<long long>(ny);",
                 "const int first_plane = static_cast<int>(begin / per_plane);",
                 "const int last_plane = static_cast<int>(begin / per_plane + planes);",
                 "const int first_row = static_cast<int>(begin % per_plane);",
                 "for (int k = first_plane; k < last_plane - 1; k += 2)",
                 "for (int j = first_row; j < last_row; ++j) {",
                 "float* u_next_row = u_next + ",
                 "float* u_next_zp1_row = u_next + (k + 1) * slice",
                 "const float* u_zm1_row = u + (k - 1) * slice",
                 "for (int line = 0; line < nx - 15; line += 16) {",
                 "__builtin_prefetch(u_zp2_row + line + 640);",
                 "#pragma vectorize",
                 "for (int cell = 0; cell < 16; ++cell) {",
                 "u_next_line[cell] = u_next_plane0;",
                 "u_next_line1[cell] = u_next_plane1;",
                 "store_line<16>(u_next_row + line, u_next_line, streams);",
                 "#pragma scalar",
                 "for (int i = nx / 16 * 16; i < nx; ++i) {",
                 "u_next_row[i] =",
                 "for (int k = first_plane + (last_plane - first_plane) / 2 * 2; k < last_plane; ++k)"});
}

// How many cells along which axis one loop along a row computes together is what the loop's step says.
TEST_CASE("the CPU computes planes or rows together where that saves loads") {
    struct Case {
        std::string text, step;
    };
    const std::string head = "stencil s(x, y, z) { field u: f32 { boundary clamp }\n u[t+1] = ";
    for (const Case& each : std::vector<Case>{
             {head + "sum(i in -1..1, j in -1..1, k in -1..1) u[x+i, y+j, z+k] }", "k += 4"},
             {head + "u[x-1] + u[y+1] + u[z-1] + u[z+1] }", "k += 2"},
             {head + "sum(j in -4..4) u[y+j] }", "j += 4"},
             {head + "u + u[x+1] + u[x-1] }", ""},
             {"stencil s(x, y) { field u: f32 { boundary clamp }\n u[t+1] = sum(j in -4..4) u[y+j] }",
              "j += 4"}}) {
        const std::string text = kernel::print(lower::lower_cpu(test::load_program(each.text)).kernels);
        INFO(text);
        for (const std::string step : {"k += 4", "k += 2", "j += 4"})
            CHECK((text.find(step) != std::string::npos) == (step == each.step));
    }
}

TEST_CASE("the CPU's partial results are by plane, so its blocks are planes there") {
    const lower::Lowered lowered =
        lower::lower_cpu(test::load_program("stencil s(x, y, z) { field u: f32 { boundary clamp }\n u[t+1] = "
                                            "0.5 * u[x-1]\n reduce r = max(u) }"));
    check_lines(kernel::print(lowered.kernels),
                {"for (int k = static_cast<int>(begin); k < static_cast<int>(end); ++k) {",
                 "for (int j = 0; j < ny; ++j) {"});
}

TEST_CASE("the CPU's plan says how cells use the arrays") {
    const lower::Lowered lowered = lower::lower_cpu(test::load_program(
        "stencil s(x, y) { field u: f32 { boundary clamp }\n field v: f32 { boundary clamp }\n"
        " u[t+1] = u[y+2] + v[x-1, y-1]\n v[t+1] = u[t+1, x+3] }"));
    REQUIRE(lowered.plan.kernels.size() == 2);
    std::vector<std::string> uses;
    for (const rt::KernelPlan& kernel : lowered.plan.kernels) {
        for (const rt::Argument& argument : kernel.arguments) {
            if (argument.kind != rt::Argument::Kind::field) continue;
            REQUIRE(argument.use);
            uses.push_back(lowered.plan.fields[static_cast<std::size_t>(argument.field)].name +
                           (argument.time > 0 ? "'" : "") + (argument.use->written ? " written" : "") +
                           (argument.use->read ? " read" : "") + " " +
                           std::to_string(argument.use->reach[0]) + " " +
                           std::to_string(argument.use->reach[1]));
        }
    }
    CHECK(uses == std::vector<std::string>{"u read 0 2", "v read 1 1", "u' written 0 0", "u' read 3 0",
                                           "v' written 0 0"});
}

TEST_CASE("a plan names the kernel, its tile and its arguments in the kernel's order") {
    Schedule schedule;
    schedule.threads = {16, 4, 2};
    schedule.cells = {4, 1, 2};
    const lower::Lowered lowered = lower::lower_cuda(test::load_program(kPlain), {{schedule}});
    REQUIRE(lowered.plan.kernels.size() == 1);
    const rt::KernelPlan& kernel = lowered.plan.kernels[0];
    CHECK(kernel.name == "plain_step");
    CHECK(kernel.tile == halo::rt::Lengths{64, 4, 4});
    CHECK(kernel.threads == halo::rt::Lengths{16, 4, 2});
    REQUIRE(kernel.arguments.size() == lowered.kernels.functions.back().parameters.size());
    for (std::size_t p = 0; p < kernel.arguments.size(); ++p) {
        const bool pointer =
            lowered.kernels.functions.back().parameters[p].kind != kernel::Parameter::Kind::scalar;
        CHECK(pointer == (kernel.arguments[p].kind == rt::Argument::Kind::field));
    }
}

TEST_CASE("what a strategy cannot do is refused in words") {
    Schedule schedule;
    schedule.strategy = schedule::Stream{};
    CHECK_THROWS_AS(
        kernel_text("stencil s(x) { field u: f32 { boundary periodic }\n u[t+1] = u[x-1] }", schedule),
        UnsupportedError);
    Schedule odd;
    odd.threads = {5, 1, 1};
    CHECK_THROWS_AS(kernel_text(kMean, odd), UnsupportedError);
}

TEST_CASE("components side by side have one pointer, and their halo one loop") {
    const char* const pair = R"(
stencil pair(x, y) {
    field v: (x: f32, y: f32) { boundary periodic; layout aos }
    v[t+1] = v[x-1] + v[y+1]
})";
    Schedule schedule;
    schedule.threads = {32, 4, 1};
    check_lines(kernel_text(pair, schedule),
                {"helper store_images_v(float* u, int i, int j, int nx, int ny, int pitch)",
                 "for (int c = 0; c < 2; ++c)", "u[(static_cast<long long>(j) * pitch + i) * 2 + c];",
                 "kernel pair_step(const float* v, float* v_next, int nx, int ny, int pitch)",
                 "v[(at - 1) * 2] + v[(at + pitch) * 2];", "v[(at - 1) * 2 + 1] + v[(at + pitch) * 2 + 1];",
                 "v_next[at * 2 + 1] = v_y_new;", "store_images_v(v_next, i, j, nx, ny, pitch);"});
    check_lines(kernel::print(lower::lower_cpu(test::load_program(pair)).kernels),
                {"float* v_next_row = v_next + static_cast<long long>(j) * pitch * 2;",
                 "const float* v_yp1_row = v + static_cast<long long>(j + 1) * pitch * 2;",
                 "v_row[(i - 1) * 2 + 1] + v_yp1_row[i * 2 + 1]", "v_next_row[i * 2 + 1] = v_y_new;"});
    schedule.cells = {4, 1, 1};
    CHECK_THROWS_AS(kernel_text(pair, schedule), UnsupportedError);
}

TEST_CASE("a halo kernel of one side names no cell of the other") {
    const auto text = [](const char* read) {
        return kernel_text((std::string(R"(
stencil wall(x, y) {
    field u: f32 { boundary y fixed step }
    u[t+1] = )") + read + "\n}")
                               .c_str(),
                           Schedule());
    };
    const std::string below = text("u[y-1]"), above = text("u[y+1]");
    INFO(below << above);
    CHECK(below.find(" last = ") == std::string::npos);
    CHECK(below.find("u_next[first - pitch] = ") != std::string::npos);
    CHECK(above.find(" last = ") != std::string::npos);
}

TEST_CASE("what a cell computes at several places is named by where it is") {
    Schedule schedule;
    schedule.threads = {32, 4, 1};
    check_lines(kernel_text(R"(
stencil box(x, y) {
    coef w[-1..1, -2..2] = [[1/7, 1/9, 1/5, 1/9, 1/7], [1/8, 1/6, 1/3, 1/6, 1/8], [1/7, 1/9, 1/5, 1/9, 1/7]]
    field u: f32 { boundary periodic }
    u[t+1] = sum(j in -1..1, i in -2..2) w[j, i] * u[x+i, y+j]
})",
                            schedule),
                {"const float sum_ym1 = ", "float sum = fmaf(", ", sum_ym1);",
                 "const float sum_yp1 = ", "= sum + sum_yp1;"});
}
