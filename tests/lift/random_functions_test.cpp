// Random functions: whatever is lifted computes what the function computes; the rest is refused, and nothing
// else happens.
#include <fstream>
#include <random>

#include "catch.h"
#include "lift_or_refuse.h"
#include "temporary_folder.h"

namespace {

// Nests over one to three axes, with several statements, some in place, some in loops over time that swap
// pointers.
class FunctionMaker {
public:
    explicit FunctionMaker(unsigned seed) : random_(seed) {}

    std::string make() {
        rank_ = pick({1, 2, 2, 3});
        const std::string type = pick({0, 0, 1}) ? "float" : "double";
        std::string text = "void made(";
        for (int a = 0; a < rank_; ++a)
            text += std::string("int ") + sizes(a) + ", ";
        text += "int steps";
        for (const char* array : {"a", "b", "c"})
            text += ", " + type + " *" + array;
        text += ", " + type + " p) {\n";
        const bool steps = chance(0.5);
        if (steps) text += "for (int t = 0; t < steps; ++t) {\n";
        for (int nests = pick({1, 1, 2}); nests > 0; --nests)
            text += nest();
        if (steps && chance(0.5)) text += type + swap();
        return text + (steps ? "}\n}\n" : "}\n");
    }

private:
    static std::string sizes(int axis) { return std::string("n") + "xyz"[axis]; }
    static std::string index(int axis) { return std::string(1, "ijk"[axis]); }
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(std::initializer_list<int> from) {
        return *(from.begin() + std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_));
    }
    std::string array() { return std::string(1, "abc"[pick({0, 1, 2})]); }
    static std::string swap() { return " *h = a; a = b; b = c; c = h;\n"; }

    std::string cell(bool away) {
        std::string text;
        for (int a = rank_ - 1; a >= 0; --a) {
            const int offset = away && chance(0.5) ? pick({-2, -1, 1, 2}) : 0;
            const std::string at = "(" + index(a) + (offset < 0 ? "" : "+") + std::to_string(offset) + ")";
            text = text.empty() ? at : "(" + text + "*" + sizes(a) + "+" + at + ")";
        }
        return array() + "[" + text + "]";
    }
    std::string formula(int depth) {
        const bool is_leaf = depth == 0 || chance(0.3);
        if (is_leaf) return chance(0.15) ? "p" : chance(0.1) ? "2" : cell(chance(0.5));
        if (chance(0.12))
            return "(" + formula(depth - 1) + " > " + formula(depth - 1) + " ? " + formula(depth - 1) +
                   " : " + formula(depth - 1) + ")";
        return "(" + formula(depth - 1) + std::string(1, "+-*"[pick({0, 1, 2})]) + formula(depth - 1) + ")";
    }
    std::string head(int axis) {
        const std::string counter = index(axis), low = std::to_string(pick({2, 2, 2, 3})),
                          high = sizes(axis) + " - " + std::to_string(pick({2, 2, 2, 4}));
        if (chance(0.15))
            return "for (int " + counter + " = " + high + " - 1; " + counter + " >= " + low + "; --" +
                   counter + ") {\n";
        return "for (int " + counter + " = " + low + "; " + counter + " < " + high + "; ++" + counter +
               ") {\n";
    }
    std::string nest() {
        std::string text, end;
        for (int a = rank_ - 1; a >= 0; --a) {
            text += head(a);
            end += "}\n";
        }
        for (int count = pick({1, 1, 2, 3}); count > 0; --count) {
            if (chance(0.2)) text += "if (" + formula(1) + " > " + formula(1) + ") ";
            if (chance(0.1)) text += "if (" + index(0) + " > 3) ";
            text += cell(chance(0.1)) + (chance(0.15) ? " += " : " = ") + formula(3) + ";\n";
        }
        return text + end;
    }

    std::mt19937 random_;
    int rank_ = 1;
};

}  // namespace

TEST_CASE("random functions are lifted as they are, or refused", "[parts]") {
    const TemporaryFolder folder;
    int lifted = 0, refused = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        const std::string text = FunctionMaker(seed).make();
        INFO("seed " << seed << "\n" << text);
        halo::lift::Options options;
        options.source.file = folder / "made.c";
        options.source.function = "made";
        options.form.no_alias = true;
        options.form.equal_rims = seed % 5 == 0;
        std::ofstream(options.source.file) << text;
        ++(halo::test::lift_or_refuse(options) ? refused : lifted);
    }
    CHECK(lifted >= 10);
    CHECK(refused >= 10);
}
