// Each loop of a function is in a nest that is lifted, in one that is refused, or stays around such nests.
#include <algorithm>
#include <fstream>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/array_loops.h"
#include "compiler/lift/lift.h"
#include "temporary_folder.h"

namespace {

using halo::SourceRange;
using halo::lift::Nests;

bool is_within(SourceRange inner, SourceRange outer) {
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool is_reported(const Nests& found, SourceRange loop) {
    return std::any_of(
               found.lifted.begin(), found.lifted.end(),
               [&](const auto& each) { return each.outline && is_within(loop, each.outline->where); }) ||
           std::any_of(found.refused.begin(), found.refused.end(),
                       [&](const auto& each) { return is_within(loop, each.nest); }) ||
           std::any_of(found.around.begin(), found.around.end(),
                       [&](const auto& each) { return each.at == loop.begin; });
}

void check_loops(const Nests& found) {
    if (found.is_whole) return;
    const halo::lift::c::Unit& unit = found.unit;
    const bool is_whole_refused = found.refused.size() == 1 && found.refused.front().nest == SourceRange{};
    const auto visit = [&](const auto& self, int id) -> void {
        if (id < 0) return;
        const halo::lift::c::Statement& each = unit.statements[static_cast<std::size_t>(id)];
        if (each.is_loop) {
            INFO(unit.source.text(each.where));
            CHECK((is_whole_refused || is_reported(found, each.where)));
        }
        for (const int inner : each.statements)
            self(self, inner);
    };
    visit(visit, unit.functions[static_cast<std::size_t>(unit.function)].body);
}

}  // namespace

TEST_CASE("no loop is passed over", "[cases]") {
    for (const halo::test::LiftCase& each : halo::test::lift_cases())
        check_loops(halo::test::nests_of(each));
}

TEST_CASE("what is lifted has loops over arrays, and --all lists it", "[cases]") {
    for (const halo::test::LiftCase& each : halo::test::lift_cases()) {
        INFO(each.file << ", " << each.function);
        const Nests& found = halo::test::nests_of(each);
        CHECK((found.lifted.empty() || halo::lift::has_array_loops(found.unit)));
    }
}

TEST_CASE("several nests in a loop that is refused have a reason each", "[parts]") {
    const TemporaryFolder folder;
    halo::lift::Options options;
    options.source.file = folder / "several.cpp";
    options.source.function = "several";
    options.form.no_alias = true;
    std::ofstream(options.source.file) << R"(
double next();
static double table[2] = {1, 2};
void several(int n, double* a, double* b) {
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < n; i++) a[i] = a[i - 1];
        for (int i = 0; i < n; i++) b[i] = next();
    }
    int k = 3;
    while (k > 0) k--;
    do {
        for (int i = 0; i < n; i++) b[i] = a[i];
    } while (++k < 3);
    const auto fill = [&] { for (int i = 0; i < n; i++) b[i] = next(); };
    for (double x : table) k += x > 1;
    switch (n) {
        case 3: for (int i = 0; i < n; i++) b[i] = next();
    }
}
)";
    const Nests found = halo::lift::lift_nests(options);
    check_loops(found);
    CHECK(found.lifted.size() == 1);
    CHECK(found.around.size() == 2);
    std::vector<std::size_t> lines;
    for (const halo::lift::LiftError& each : found.refused)
        lines.push_back(each.source.line_column(each.nest.begin).line);
    CHECK(lines == std::vector<std::size_t>{6, 7, 10, 14, 15, 17});
}

TEST_CASE("a nest beside other statements of a refused loop has a reason of its own", "[parts]") {
    const TemporaryFolder folder;
    halo::lift::Options options;
    options.source.file = folder / "boxes.c";
    options.source.function = "smooth";
    std::ofstream(options.source.file) << R"(
struct box { int n; double *u, *w; };
void smooth(int count, struct box *boxes) {
    for (int b = 0; b < count; b++) {
        int n = boxes[b].n;
        double *u = boxes[b].u, *w = boxes[b].w;
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++) w[j * n + i] = u[j * n + i - 1];
    }
}
)";
    const Nests found = halo::lift::lift_nests(options);
    check_loops(found);
    std::vector<std::size_t> lines;
    for (const halo::lift::LiftError& each : found.refused)
        lines.push_back(each.source.line_column(each.nest.begin).line);
    CHECK(lines == std::vector<std::size_t>{4, 7});
}
