#include "random_fortran.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace halo::test {

namespace {

class FortranMaker {
public:
    explicit FortranMaker(unsigned seed) : random_(seed) {}

    std::string make() {
        rank_ = pick<int>({1, 2, 2, 3});
        real_ = pick<std::string>({"real(8)", "real(8)", "real(4)"});
        has_bounds_ = chance(0.4);  // that are arguments
        is_assumed_ = !has_bounds_ && chance(0.3);
        for (int a = 0; a < rank_; ++a)
            lower_.push_back(has_bounds_ ? first(a) + " - 2" : std::to_string(pick<int>({-1, 0, 1, 1})));
        std::string text = "module random_module\n" + real_ + " :: scale = 1.5\ncontains\nsubroutine made(";
        std::string types;
        for (int a = 0; a < rank_; ++a) {
            text += (has_bounds_ ? first(a) + ", " : "") + last(a) + ", ";
            types += "integer, intent(in) :: " + (has_bounds_ ? first(a) + ", " : "") + last(a) + "\n";
        }
        text += "count, on, p, a, b, c, s)\nimplicit none\n" + types +
                "integer, intent(in) :: count\nlogical, intent(in) :: on\n" + real_ + ", intent(in) :: p\n" +
                real_ + ", dimension(" + dimensions() + ") :: a, b\n" + real_ + " :: c(" + dimensions() +
                "), s\ninteger :: i, j, k, t, m\n" + real_ + " :: v\nlogical :: q\n" + real_ +
                " :: w(3) = (/ 0.5, 0.25, 2.0 /)\n";
        const bool steps = chance(0.2), gathers = !steps && chance(0.4);
        if (gathers) text += "s = 0\n";
        if (steps) text += "do t = 1, count\n";
        const std::string leaves = pick<std::string>({"return", steps ? "exit" : "go to 10"});
        for (int nests = pick<int>({1, 1, 2}); nests > 0; --nests) {
            if (chance(0.1)) text += "if (count > 2) " + leaves + "\n";
            text += chance(0.1) ? cases("count", [&] { return nest(false); }) : nest(false);
        }
        if (leaves == "go to 10") text += "10 continue\n";
        if (gathers) text += nest(true);
        return text + (steps ? "end do\n" : "") + "end subroutine\nend module\n";
    }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    template <class T>
    T pick(std::vector<T> from) {
        return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random_)];
    }
    static std::string index(int axis) { return std::string(1, "ijk"[axis]); }
    static std::string first(int axis) { return std::string(1, "xyz"[axis]) + "_min"; }
    static std::string last(int axis) { return std::string(1, "xyz"[axis]) + "_max"; }
    std::string dimensions() const {
        std::string text;
        for (int a = 0; a < rank_; ++a)
            text += (a ? ", " : "") + lower_[static_cast<std::size_t>(a)] + ":" +
                    (is_assumed_ ? "" : last(a) + " + 2");
        return text;
    }

    std::string cell(const std::string& array, bool away) {
        if (is_whole_) return array;
        std::string text;
        for (int a = 0; a < rank_; ++a) {
            const int offset = away && chance(0.5) ? pick<int>({-2, -1, 1, 2}) : 0;
            const std::string by = (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
            text += a ? ", " : "";
            if (section_.empty())
                text += index(a) + by;
            else
                text += section_[static_cast<std::size_t>(a)][0] + by + ":" +
                        section_[static_cast<std::size_t>(a)][1] + by;
        }
        return array + "(" + text + ")";
    }
    std::string literal() {
        const std::string number = pick<std::string>({"0.5", "2.0", "1.25", "0.1", "3.0"});
        return real_ == "real(8)" ? number + "d0" : number;
    }
    std::string leaf() {
        if (chance(0.1)) return "p";
        if (chance(0.1)) return literal();
        if (chance(0.05)) return "scale";
        if (chance(0.05)) return "w(" + pick<std::string>({"1", "2", "3"}) + ")";
        if (chance(0.1) && has_v_) return "v";
        return cell(pick<std::string>({"a", "a", "c"}), chance(0.6));
    }
    std::string formula(int depth) {
        if (depth == 0 || chance(0.2)) return leaf();
        const std::string one = formula(depth - 1), other = formula(depth - 1);
        switch (pick<int>({0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10})) {
            case 0:
                return "(" + one + " - " + other + ")";
            case 1:
                return one + " * " + other;
            case 2:
                return "(-" + one + ")";
            case 3:
                return one + " + " + other;
            case 4:
                return "max(" + one + ", " + other + ", " + leaf() + ")";
            case 5:
                return "min(" + one + ", " + other + ")";
            case 6:
                return "abs(" + one + ")";
            case 7:
                return "sqrt(abs(" + one + "))";
            case 10:  // Fortran leaves open which of two zeros MAX and MIN give.
                return "sign(" + one + ", " + pick<std::string>({"", "0 * ", "-"}) + cell("a", true) + ")";
            case 8:
                return "merge(" + one + ", " + other + ", " + condition(0) + ")";
            default:
                // Each compiler has its own power of constants.
                return "(" + (one.find_first_of("acp") == std::string::npos ? cell("a", true) : one) + ")**" +
                       pick<std::string>({"2", "2", "3", "4"});
        }
    }
    std::string condition(int depth) {
        if (depth > 0 && chance(0.4))
            return "(" + condition(depth - 1) + pick<std::string>({" .and. ", " .or. ", " .eqv. "}) +
                   condition(depth - 1) + ")";
        if (chance(0.1)) return ".not. on";
        if (chance(0.1) && has_q_) return pick<std::string>({"q", ".not. q"});
        if (chance(0.1) && !is_whole_ && section_.empty())
            return index(0) + pick<std::string>({" > 3", " /= 4", " <= 5"});
        return formula(1) + pick<std::string>({" > ", " < ", ".ge.", " <= "}) + literal();
    }
    std::string statements(int count, int depth) {
        std::string text;
        for (; count > 0; --count) {
            const int kind = pick<int>({0, 0, 0, 1, 2, 3, 4, 5, 6});
            if (kind == 4 && depth == 0) {
                text += "q = " + condition(1) + "\n";
                has_q_ = true;
                continue;
            }
            if (kind == 1) {
                text += "v = " + formula(2) + "\n";
                has_v_ = has_v_ || depth == 0;
            } else if (kind == 2 && depth < 2) {
                text +=
                    "if (" + condition(1) + ") then\n" + statements(1, depth + 1) +
                    (chance(0.4) ? "else if (" + condition(0) + ") then\n" + statements(1, depth + 1) : "") +
                    (chance(0.5) ? "else\n" + statements(1, depth + 1) : "") + "end if\n";
            } else if (kind == 5 && depth < 2) {
                text += "if (" + condition(1) + ") then\n" + statements(1, depth + 1) + "cycle\nend if\n";
            } else if (kind == 6 && depth < 2) {
                text += cases(chance(0.5) ? "count" : index(0), [&] { return statements(1, depth + 1); });
            } else if (kind == 3) {
                text += "if (" + condition(0) + ") " + cell("b", false) + " = " + formula(1) + "\n";
            } else {
                text += cell("b", false) + " = " + formula(3) + "\n";
            }
        }
        return text;
    }
    // SELECT CASE of a whole number.
    template <class Part>
    std::string cases(const std::string& of, const Part& part) {
        std::string text = "select case (" + of + ")\n";
        std::vector<std::string> values{"case (1)", "case (2:4)", "case (5, 7)", "case (:-1)", "case (9:)"};
        std::ranges::shuffle(values, random_);
        values.resize(pick<std::size_t>({1, 2, 3}));
        if (chance(0.5)) values.insert(values.begin() + pick<int>({0, 1}), "case default");
        for (const std::string& each : values)
            text += each + "\n" + (chance(0.1) ? "" : part());
        return text + "end select\n";
    }
    // Where a loop along the axis begins and ends.
    std::array<std::string, 2> bounds(int axis) {
        const int in = pick<int>({0, 0, 0, 1});
        const std::string lower = lower_[static_cast<std::size_t>(axis)];
        const std::string from =
            has_bounds_ ? first(axis) + (in ? " + 1" : "") : lower + " + " + std::to_string(2 + in);
        const std::string past = is_assumed_ && chance(0.5)
                                     ? "size(a, " + std::to_string(axis + 1) + ") - 3 + " + lower
                                     : last(axis);
        return {from, past + (chance(0.3) ? " - 1" : "")};
    }
    std::string all_indices() const {
        std::string text;
        for (int a = 0; a < rank_; ++a)
            text += (a ? ", " : "") + index(a);
        return text;
    }
    // An assignment of whole arrays or sections, or WHERE.
    std::string arrays() {
        has_v_ = has_q_ = false;
        is_whole_ = chance(0.3);
        for (int a = 0; a < rank_ && !is_whole_; ++a)
            section_.push_back(bounds(a));
        const std::string array = pick<std::string>({"b", "b", "a"});
        const std::string to = cell(array, false), mask = cell("a", true) + " > ";
        std::string text = to + " = " + formula(3) + "\n";
        if (chance(0.4)) {
            text = chance(0.3)
                       ? "where (" + mask + literal() + ") " + text
                       : "where (" + mask + formula(1) + ")\n" + text +
                             (chance(0.3) ? cell("c", false) + " = " + formula(1) + "\n" : "") +
                             (chance(0.4)
                                  ? "elsewhere (" + mask + literal() + ")\n" + to + " = " + formula(1) + "\n"
                                  : "") +
                             (chance(0.5) ? "elsewhere\n" + to + " = " + formula(1) + "\n" : "") +
                             "end where\n";
        }
        section_.clear();
        is_whole_ = false;
        return text;
    }
    std::string nest(bool gathers) {
        if (!gathers && chance(0.25)) return arrays();
        std::string text, end, indices;
        has_v_ = has_q_ = false;
        const bool is_concurrent = !gathers && chance(0.15);
        for (int a = rank_ - 1; a >= 0; --a) {
            const auto [from, to] = bounds(a);
            const bool is_down = !is_concurrent && chance(0.15);
            text +=
                "do " + index(a) + " = " + (is_down ? to + ", " + from + ", -1" : from + ", " + to) + "\n";
            indices += (indices.empty() ? "" : ", ") + index(a) + " = " + from + ":" + to;
            end += "end do\n";
        }
        if (is_concurrent) {
            text = "do concurrent (" + indices + (chance(0.3) ? ", a(" + all_indices() + ") > 0.8)" : ")") +
                   "\n";
            end = "end do\n";
        }
        if (gathers)
            return text +
                   pick<std::string>({"s = s + " + formula(1), "s = max(s, " + formula(1) + ")",
                                      "if (" + condition(0) + ") s = s + " + formula(1)}) +
                   "\n" + end;
        return text + statements(pick<int>({1, 2, 3}), 0) + end;
    }

    std::mt19937 random_;
    int rank_ = 1;
    std::string real_;
    std::vector<std::string> lower_;
    std::vector<std::array<std::string, 2>> section_;  // of each axis, in an assignment of sections
    bool is_whole_ = false;                            // in one of whole arrays
    bool has_bounds_ = false, is_assumed_ = false, has_v_ = false, has_q_ = false;
};

}  // namespace

std::string random_fortran(unsigned seed) {
    return FortranMaker(seed).make();
}

}  // namespace halo::test
