// Random classes of C++ around arrays, and loops that use them: whatever is lifted computes what the function
// computes; the rest is refused.
//
// HALO_OBJECTS=1000 HALO_SEED=1 runs so many from that seed on; 12 otherwise.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include "catch.h"
#include "compiler/lift/mutation.h"
#include "compiler/lift/verify.h"
#include "lift_or_refuse.h"
#include "temporary_folder.h"

namespace {

// An array in two dimensions as a class, three objects of it, and loops over them in a function or in a class
// that has the three as members.
class ObjectMaker {
public:
    explicit ObjectMaker(unsigned seed) : random_(seed) {}

    std::string make() {
        number_ = pick({"float", "double"});
        holds_ = pick({"extents", "strides", "box", "base", "library base", "array", "view"});
        access_ = holds_ == "view" ? "call" : pick({"call", "call", "at", "rows", "row objects"});
        checks_ = pick({"", "", "", "assert", "throw"});
        is_template_ = chance(0.4);
        has_const_ = chance(0.6);
        from_ = pick({"reference", "reference", "value", "made", "class", "class"});
        const std::string loops = nest() + (chance(0.3) ? nest() : "");
        return array_class() +
               "struct Pair {\n    T x, y;\n    T sum() const { return x + y; }\n    Pair& add(const "
               "Pair& o) {\n        x += o.x;\n        y = y + o.y;\n        return *this;\n    }\n};\n" +
               (from_ == "class" ? in_class(loops) : in_function(loops));
    }
    std::string function() const { return from_ == "class" ? "Solver::made" : "made"; }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    std::string pick(std::initializer_list<const char*> from) {
        return *(from.begin() + std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_));
    }
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

    // ---- the class of an array

    std::string array_class() {
        if (holds_ == "view")
            return "#include <Kokkos_Core.hpp>\nusing T = " + number_ + ";\nusing Field = Kokkos::View<T**" +
                   pick({"", ", Kokkos::LayoutRight", ", Kokkos::LayoutLeft"}) + ">;\n";
        std::string text = "#include <array>\n#include <cassert>\nusing T = " + number_ +
                           ";\nstruct Box {\n    int nx, ny;\n};\n";
        if (access_ == "row objects")
            text +=
                "struct Row {\n    T* first;\n    int step;\n    T& operator[](int i) const { return first[i "
                "* "
                "step]; }\n};\n";
        const bool is_library = holds_ == "library base", has_base = holds_ == "base" || is_library;
        if (is_library) text += "namespace library {\n";
        if (has_base)
            text +=
                "class Sized {\npublic:\n    Sized(int nx, int ny) : nx_(nx), ny_(ny) {}\n    int nx() const "
                "{ "
                "return nx_; }\n    int ny() const { return this->ny_; }\n\nprotected:\n    int nx_, "
                "ny_;\n};\n";
        if (is_library) text += "}\nusing library::Sized;\n";
        if (is_template_) text += "template <class E>\n";
        text += "class Array" + std::string(has_base ? " : public Sized" : "") + " {\npublic:\n";
        const bool from_array = holds_ == "array" && chance(0.5);
        text += from_array ? std::string("    Array(T* data, const std::array<int, 2>& n) : ") +
                                 pick({"n_(n)", "n_{n[0], n[1]}"}) +
                                 ", data_(data) {}\n    Array(T* data, int nx, int ny) : Array(data, " +
                                 pick({"{nx, ny}", "std::array<int, 2>{nx, ny}"}) + ") {}\n"
                           : "    Array(T* data, int nx, int ny) : " + initialisers() + " {}\n";
        if (!has_base)
            text += "    int nx() const { return " + extent("nx") + "; }\n    int ny() const { return " +
                    extent("ny") + "; }\n";
        const std::string element = "data_[" + index() + "]";
        const std::string check = checks_ == "assert" ? "assert(i >= 0 && i < nx() && j >= 0 && j < ny()); "
                                  : checks_ == "throw"
                                      ? "if (i < 0 || i >= nx() || j < 0 || ny() <= j) throw i; "
                                      : "";
        if (access_ == "call" || access_ == "at") {
            const std::string name = access_ == "call" ? "operator()" : "at";
            if (has_const_) {
                text += "    T " + pick({"", "const&"}) + std::string(" ") + name +
                        "(int i, int j) const { " + check + "return " + element + "; }\n    T& " + name +
                        "(int i, int j) { " + check + "return " + element + "; }\n";
            } else {
                text += "    T& " + name + "(const int& i, const int& j) const { " + check + "return " +
                        element + "; }\n";
            }
        } else if (access_ == "rows") {
            text += "    T* operator[](int j) const { return data_ + j * " + row_length() + "; }\n";
        } else {
            text += "    Row operator[](int j) const { return Row{data_ + j * " + row_length() + ", " +
                    (holds_ == "strides" ? "step_" : "1") + "}; }\n";
        }
        text += chance(0.7) ? "\nprivate:\n" : "\n";
        if (holds_ == "box") text += "    Box box_;\n";
        if (holds_ == "array") text += "    std::array<int, 2> n_;\n";
        if (holds_ == "extents") text += "    int nx_, ny_;\n";
        if (holds_ == "strides")
            text += std::string("    int nx_, ny_, row_;\n    ") +
                    (from_ == "made" ? "int step_" : "static constexpr int step_ = 1") + ";\n";
        return text + "    T* data_;\n};\n" +
               (is_template_ ? "using Field = Array<T>;\n" : "using Field = Array;\n");
    }
    std::string initialisers() const {
        if (holds_.ends_with("base")) return "Sized(nx, ny), data_(data)";
        if (holds_ == "array") return "n_{nx, ny}, data_(data)";
        if (holds_ == "box") return "box_{nx, ny}, data_(data)";
        return "nx_(nx), ny_(ny), " + std::string(holds_ == "strides" ? "row_(nx), " : "") +
               (holds_ == "strides" && from_ == "made" ? "step_(1), " : "") + "data_(data)";
    }
    std::string extent(const std::string& name) const {
        if (holds_ == "array") return name == "nx" ? "n_[0]" : "n_[1]";
        return holds_ == "box" ? "box_." + name : name + "_";
    }
    std::string row_length() const { return holds_ == "strides" ? "row_" : extent("nx"); }
    std::string index() {
        if (holds_ == "strides") return "i * step_ + j * row_";
        return chance(0.5) ? "j * " + row_length() + " + i" : "i + " + row_length() + " * j";
    }

    // ---- the loops

    std::string cell(const std::string& array, int x, int y) const {
        const auto at = [](const char* index, int by) {
            return index + (by == 0 ? "" : by > 0 ? " + " + std::to_string(by) : " - " + std::to_string(-by));
        };
        if (access_ == "call") return array + "(" + at("i", x) + ", " + at("j", y) + ")";
        if (access_ == "at") return array + ".at(" + at("i", x) + ", " + at("j", y) + ")";
        return array + "[" + at("j", y) + "][" + at("i", x) + "]";
    }
    std::string read() {
        const std::string array = pick({"a", "a", "b", "c"});
        return cell(array, below(3) - 1, below(3) - 1);
    }
    std::string value(int depth) {
        if (depth == 0 || chance(0.2)) return chance(0.7) ? read() : pick({"p", "T(2)", "T(0.5)"});
        if (chance(0.15))
            return "(" + value(0) + pick({" > ", " <= "}) + value(0) + " ? " + value(depth - 1) + " : " +
                   value(depth - 1) + ")";
        if (chance(0.2)) return "Pair{" + value(depth - 1) + ", " + value(depth - 1) + "}.sum()";
        return "(" + value(depth - 1) + pick({" + ", " - ", " * "}) + value(depth - 1) + ")";
    }
    std::string nest() {
        const std::string to = cell(pick({"b", "b", "c"}), 0, 0);
        std::string body = "            " + to + pick({" = ", " = ", " += "}) + value(2) + ";\n";
        if (chance(0.25))
            body = "            Pair t{" + value(1) + ", " + value(1) + "};\n            t.add(Pair{" +
                   value(1) + ", p})" + (chance(0.5) ? ".add(Pair{p, p})" : "") +
                   ";\n            if (t.x > p) t.y = " + value(1) + ";\n            " + to +
                   " = t.sum() - t.y;\n";
        if (chance(0.2)) body = "            if (" + read() + " > p) {\n" + body + "            }\n";
        const std::string sized = pick({"a", "b"});
        if (holds_ == "view") return in_views(body, sized + ".extent_int(0)", sized + ".extent_int(1)");
        if (chance(0.3))
            return "    for (int j = 1; j + 1 < " + sized + ".ny(); ++j)\n        for (int i = 1; i + 1 < " +
                   sized + ".nx(); ++i) {\n" + body + "        }\n";
        return "    for (int j = 1; j < " + sized + ".ny() - 1; ++j)\n        for (int i = 1; i < " + sized +
               ".nx() - 1; ++i) {\n" + body + "        }\n";
    }
    // Loops over views, or what Kokkos has for them: a range of two dimensions, or of one with loops in it.
    std::string in_views(const std::string& body, const std::string& rows, const std::string& columns) {
        const std::string kind = pick({"loops", "range", "range", "rows"}),
                          row =
                              "        for (int i = 1; i < " + rows + " - 1; ++i) {\n" + body + "        }\n";
        if (kind == "loops") return "    for (int j = 1; j < " + columns + " - 1; ++j)\n" + row;
        if (kind == "rows")
            return "    Kokkos::parallel_for(Kokkos::RangePolicy<>(1, " + columns +
                   " - 1), KOKKOS_LAMBDA(int j) {\n" + row + "    });\n";
        return "    Kokkos::parallel_for(\"cells\", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1, 1}, {" + rows +
               " - 1, " + columns + " - 1}), KOKKOS_LAMBDA(const int i, const int j) {\n" + body +
               "    });\n";
    }
    std::string in_function(const std::string& loops) const {
        std::string text = "void made(";
        if (from_ == "made") {
            text += "int nx, int ny, T* pa, T* pb, T* pc, T p) {\n";
            for (const char* array : {"a", "b", "c"})
                text += std::string("    Field ") + array + "(p" + array + ", nx, ny);\n";
            return text + loops + "}\n";
        }
        for (const char* array : {"a", "b", "c"})
            text += std::string("Field") + (from_ == "reference" ? "& " : " ") + array + ", ";
        return text + "T p) {\n" + loops + "}\n";
    }
    std::string in_class(const std::string& loops) {
        const bool is_outside = chance(0.5);
        const std::string body = " {\n" + loops + "}\n";
        return "class Solver {\npublic:\n    void made()" + (is_outside ? ";" : body) +
               "\nprivate:\n    T p;\n    Field a, b, c;\n};\n" +
               (is_outside ? "void Solver::made()" + body : "");
    }

    std::mt19937 random_;
    std::string number_, holds_, access_, checks_, from_;
    bool is_template_ = false, has_const_ = false;
};

unsigned number_from(const char* name, unsigned otherwise) {
    const char* set = std::getenv(name);
    return set == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(set, nullptr, 10));
}

halo::lift::Options options_in(const TemporaryFolder& folder, const std::string& function,
                               const std::string& text) {
    halo::lift::Options options;
    options.source.file = folder / "made.cpp";
    options.source.function = function;
    options.form.no_alias = true;
    std::ofstream(options.source.file) << text;
    return options;
}

}  // namespace

// Faults that are put into the lifter, each with a function that shows it.
TEST_CASE("running both finds faults in what is known of objects", "[parts]") {
    using halo::lift::Mutation;
    const TemporaryFolder folder;
    const std::string text =
        "struct Pair {\n    double x, y;\n    double less() const { return x - y; }\n};\n"
        "void made(int n, const double* a, double* b) {\n    for (int i = 0; i < n; ++i) {\n"
        "        Pair t{a[i], 1.0};\n        t.y = 2 * a[i];\n        b[i] = t.less() * t.y;\n    }\n}\n";
    const halo::lift::Options options = options_in(folder, "made", text);
    CHECK(halo::lift::verify(options, halo::lift::lift(options)).passed);
    for (const Mutation fault : {Mutation::keep_member, Mutation::swap_members}) {
        halo::lift::mutation = fault;
        std::optional<halo::lift::Lifted> made;
        try {
            made = halo::lift::lift(options);
        } catch (const halo::lift::LiftError& error) {
            UNSCOPED_INFO(error.what());
        }
        halo::lift::mutation = Mutation::none;
        REQUIRE(made);  // the fault is no refusal
        INFO(made->spec.body);
        CHECK_FALSE(halo::lift::verify(options, *made).passed);
    }
}

TEST_CASE(
    "running both finds faults in what is known of arrays that are handed over, and of loops without an "
    "order",
    "[parts]") {
    using halo::lift::Mutation;
    const TemporaryFolder folder;
    const auto has_difference = [&](const std::string& text, Mutation fault) {
        const halo::lift::Options options = options_in(folder, "made", text);
        halo::lift::mutation = fault;
        std::optional<halo::lift::Lifted> made;
        try {
            made = halo::lift::lift(options);
        } catch (const halo::lift::LiftError& error) {
            UNSCOPED_INFO(error.what());
        }
        halo::lift::mutation = Mutation::none;
        REQUIRE(made);
        INFO(made->spec.body);
        return !halo::lift::verify(options, *made).passed;
    };
    const std::string of_array =
        "#include <array>\nint inside(const std::array<int, 2>& of, int i) {\n    return i + of[1];\n}\n"
        "void made(int n, const double* a, double* b) {\n    for (int i = 0; i < n - 3; ++i)\n"
        "        b[i] = a[inside({3, 1}, i)];\n}\n";
    CHECK_FALSE(has_difference(of_array, Mutation::none));
    CHECK(has_difference(of_array, Mutation::shift_element));
    const std::string in_any_order =
        "#include <Kokkos_Core.hpp>\nvoid made(Kokkos::View<double*> a, int n) {\n"
        "    Kokkos::parallel_for(n - 1, KOKKOS_LAMBDA(int i) { a(i) = 2 * a(i + 1); });\n}\n";
    CHECK_THROWS_AS(halo::lift::lift(options_in(folder, "made", in_any_order)), halo::lift::LiftError);
    CHECK(has_difference(in_any_order, Mutation::keep_turn));
    const std::string checked =
        "#include <cstdlib>\nvoid made(int n, int m, const double* a, double* b) {\n    for (int i = 0; i < "
        "n; ++i) {\n"
        "        if (i >= m) std::abort();\n        b[i] = a[i];\n    }\n}\n";
    CHECK_FALSE(has_difference(checked, Mutation::none));
    CHECK_THROWS_AS(has_difference(checked, Mutation::drop_check), halo::lift::SourceError);  // by a signal
}

TEST_CASE("random classes are lifted as they are, or refused", "[parts]") {
    const TemporaryFolder folder;
    const unsigned wanted = number_from("HALO_OBJECTS", 12), first = number_from("HALO_SEED", 1);
    int lifted = 0;
    std::map<std::string, int> reasons;
    for (unsigned seed = first; seed < first + wanted; ++seed) {
        ObjectMaker maker(seed);
        const std::string text = maker.make();
        INFO("seed " << seed << "\n" << text);
        try {
            const auto refused = halo::test::lift_or_refuse(options_in(folder, maker.function(), text));
            if (refused)
                ++reasons[refused->substr(0, 300)];
            else
                ++lifted;
        } catch (const halo::lift::SourceError& error) {
            FAIL_CHECK(error.what());
        }
    }
    if (std::getenv("HALO_REASONS") != nullptr) {
        std::cout << lifted << " of " << wanted << " lifted\n";
        for (const auto& [reason, count] : reasons)
            std::cout << count << " " << reason << "\n";
    }
    CHECK(lifted * 3 >= static_cast<int>(wanted));
}
