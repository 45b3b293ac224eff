// Random values and conditions of a function in C, for random_function.cpp.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_function.h"

namespace halo::test {

inline bool is_real(CType type) {
    return type == CType::f32 || type == CType::f64;
}
inline bool is_unsigned(CType type) {
    return type == CType::u32 || type == CType::u64 || type == CType::u8 || type == CType::boolean;
}

inline void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

inline Piece leaf(std::string text) {
    Piece made;
    made.kind = Piece::Kind::value;
    made.before = std::move(text);
    return made;
}
inline Piece statement(std::string before, std::vector<Piece> inner = {}, std::string after = "") {
    Piece made;
    made.kind = Piece::Kind::statement;
    made.before = std::move(before);
    made.inner = std::move(inner);
    made.after = std::move(after);
    return made;
}
inline Piece fixed(std::string before, std::vector<Piece> inner = {}, std::string after = "") {
    Piece made = statement(std::move(before), std::move(inner), std::move(after));
    made.kind = Piece::Kind::fixed;
    return made;
}
inline Piece value(std::string before, std::vector<Piece> inner, std::string between = "",
                   std::string after = ")") {
    Piece made = statement(std::move(before), std::move(inner), std::move(after));
    made.kind = Piece::Kind::value;
    made.between = std::move(between);
    return made;
}

class ValueMaker {
protected:
    explicit ValueMaker(std::uint64_t seed) : random_(seed) { made_.seed = seed; }

    template <class T>
    T pick(std::initializer_list<T> from) {
        return *(from.begin() + random_() % from.size());
    }
    bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
    bool wild() { return chance(wildness_); }

    static const char* const* sizes() {
        static const char* const names[] = {"n", "m", "l"};
        return names;
    }
    static std::string index(int axis) { return std::string(1, "ijk"[axis] == 'k' ? 'z' : "ijk"[axis]); }

    const Argument& array(const std::string& name) const {
        for (const Argument& each : made_.arguments) {
            if (each.name == name) return each;
        }
        return made_.arguments.front();
    }

    // Of an array, at the cell's index plus offsets within what the loops leave.
    // ---- an array that begins at another cell than the others

    enum class Moved : std::uint8_t { nowhere, back, on, packed };  // packed: its rows are shorter, too
    void move_one() {
        moved_ = Moved::nowhere;
        if (!has_margin_ || !is_flat_ || has_strides_ || !chance(0.35)) return;
        // An unsigned size is larger than the margin alone.
        moved_ = pick({Moved::back, Moved::packed, is_unsigned(size_) ? Moved::back : Moved::on});
        moved_array_ = pick<std::string>({"a", "b", "c"});
    }
    // Of the loops of its nest.
    std::pair<std::string, std::string> moved_bounds(int axis) const {
        const std::string end = sizes()[axis], low = std::to_string(low_), past = std::to_string(past_);
        switch (moved_) {
            case Moved::back:
                return {"gap + " + low, end + " - " + past};
            case Moved::on:
                return {low, end + " - gap - " + past};
            default:
                return {"gap", end + " - gap"};
        }
    }
    template <class At>
    std::string moved_cell(const At& at) const {
        std::string text;
        for (int a = made_.rank - 1; a >= 0; --a) {
            const std::string one = moved_ == Moved::packed
                                        ? index(a) + " - gap"  // all of its cells
                                        : at(a) + (moved_ == Moved::on ? " + gap" : " - gap");
            const std::string row = sizes()[a] + std::string(moved_ == Moved::packed ? " - 2 * gap" : "");
            text = text.empty() ? one : "(" + text + ") * (" + row + ") + " + one;
        }
        return moved_array_ + "[" + text + "]";
    }

    std::string cell(const std::string& name, bool is_away) {
        std::vector<int> offset;
        for (int a = 0; a < made_.rank; ++a) {
            const int from = -low_, to = past_;
            const bool moves = is_away && chance(0.5);
            offset.push_back(moves ? from + static_cast<int>(random_() % static_cast<unsigned>(to - from + 1))
                                   : 0);
        }
        const auto at = [&](int a) {
            return index(a) + (offset[static_cast<std::size_t>(a)] == 0 ? ""
                               : offset[static_cast<std::size_t>(a)] > 0
                                   ? " + " + std::to_string(offset[static_cast<std::size_t>(a)])
                                   : " - " + std::to_string(-offset[static_cast<std::size_t>(a)]));
        };
        if (!is_flat_) {
            std::string text = name;
            for (int a = made_.rank - 1; a >= 0; --a)
                text += "[" + at(a) + "]";
            return text;
        }
        if (moved_ != Moved::nowhere && name == moved_array_) return moved_cell(at);
        if (made_.rank == 1) {
            if (alias_ == name && low_ > 0 && !is_unsigned(size_) && chance(0.3))
                return "alias[" + at(0) + " - 1]";
            return name + "[" + at(0) + "]";
        }
        if (made_.rank == 2) {
            if (has_index_ && chance(0.5)) return name + "[FUNCTION_at(" + at(0) + ", " + at(1) + ", n)]";
            if (offset[1] == 0 && high_.empty() && chance(0.2)) {
                has_alias_index_ = true;
                std::string text = at(0);
                replace_all(text, "i", "at");
                return name + "[" + text + "]";
            }
            return name + "[(" + at(1) + ") * n + " + at(0) + "]";
        }
        if (has_strides_) return name + strided(at(2), at(1), at(0));
        return name + "[((" + at(2) + ") * m + " + at(1) + ") * n + " + at(0) + "]";
    }

    // Of an array, at the index along one axis that the text says, and as it is along the others.
    std::string cell_with(const std::string& name, int axis, const std::string& text) const {
        const auto at = [&](int a) { return a == axis ? text : index(a); };
        if (made_.rank == 1) return name + "[" + at(0) + "]";
        if (has_strides_) return name + strided(at(2), at(1), at(0));
        if (is_flat_)
            return name + (made_.rank == 2 ? "[" + at(1) + " * n + " + at(0) + "]"
                                           : "[(" + at(2) + " * m + " + at(1) + ") * n + " + at(0) + "]");
        return name + (made_.rank == 3 ? "[" + at(2) + "]" : "") + "[" + at(1) + "][" + at(0) + "]";
    }
    // A cell that is another one at an edge: clamped, around the grid, or neither.
    std::string edge_cell() {
        const int axis = static_cast<int>(random_() % static_cast<unsigned>(made_.rank));
        std::string text = pick<std::string>({"(I > 0 ? I - 1 : 0)",
                                              "(I == 0 ? I : I - 1)",
                                              "(I < N - 1 ? I + 1 : N - 1)",
                                              "(I + 1 < N ? I + 1 : I)",
                                              "(I + 1 < N ? I + 1 : N - 1)",
                                              "(I + 2 < N ? I + 2 : N - 1)",
                                              "((I + 1) % N)",
                                              "((I + N - 1) % N)",
                                              "((I + N - 2) % N)",
                                              "(I == 0 ? N - 1 : I - 1)",
                                              "(I == N - 1 ? 0 : I + 1)",
                                              "(I < 2 ? 0 : I - 1)",
                                              "(I < 2 ? 0 : I - 2)",
                                              "(I == 0 ? N - 1 : I)",
                                              "(I > N - 2 ? I : I + 1)",
                                              "(I >= N - 2 ? 0 : I + 1)",
                                              "(I != 0 ? I - 1 : I)",
                                              "(I + 1 >= N - 2 ? N - 2 : I + 1)",
                                              "(I - 1 <= 1 ? 1 : I - 1)",
                                              "(I > N - 3 ? N - 2 : I + 1)"});
        replace_all(text, "I", index(axis));
        replace_all(text, "N", sizes()[axis]);
        return cell_with(pick<std::string>({"a", "a", "a", "c"}), axis, text);
    }
    // A cell on one side or the other, by a condition.
    Piece chosen_read() {
        const int axis = static_cast<int>(random_() % static_cast<unsigned>(made_.rank));
        const std::string i = index(axis), cell = cell_with(pick<std::string>({"a", "a", "c"}), axis, "@");
        const std::size_t at = cell.find('@');
        const std::string choice = pick<std::string>({" ? I - L : I + P", " ? I + P : I", " ? I : I - L"});
        std::string text = choice;
        replace_all(text, "I", i);
        replace_all(text, "L", std::to_string(low_));
        replace_all(text, "P", std::to_string(past_));
        return value(cell.substr(0, at) + "(", {condition(), leaf(text)}, "", ")" + cell.substr(at + 1));
    }
    // A value that reads beyond an edge in no cell, by a condition.
    Piece guarded_read() {
        const int axis = static_cast<int>(random_() % static_cast<unsigned>(made_.rank));
        const std::string i = index(axis), n = sizes()[axis], array = pick<std::string>({"a", "a", "b"});
        const bool is_low = chance(0.5);
        const std::string read = cell_with(array, axis, is_low ? "(" + i + " - 1)" : "(" + i + " + 1)");
        const std::string condition =
            is_low ? pick<std::string>({i + " > 0", i + " >= 1", "0 != " + i})
                   : pick<std::string>({i + " < " + n + " - 1", i + " + 1 < " + n, i + " != " + n + " - 1"});
        if (chance(0.2))
            return value("(", {leaf(condition + " && " + read + " > "), scalar(0), leaf(" ? "), real(1),
                               leaf(" : "), real(1)});
        return value("(", {leaf(condition + " ? " + read + " : "), real(1)});
    }

    // Of some flat arrays of three axes rows and planes are as far apart as parameters say.
    void add_strides() {
        if (made_.rank != 3 || !is_flat_ || made_.seed % 4 != 2) return;
        has_strides_ = true;
        made_.arguments.push_back({"row", size_, Argument::Role::row, false});
        made_.arguments.push_back({"plane", size_, Argument::Role::plane, false});
    }
    static std::string strided(const std::string& z, const std::string& y, const std::string& x) {
        return "[(" + z + ") * plane + (" + y + ") * row + " + x + "]";
    }

    // An array of some axes alone, in some functions of several. No draw decides, so that all else stays as
    // it is.
    void add_profile() {
        if (made_.rank < 2 || made_.seed % 4 != 1) return;
        const int first = static_cast<int>(made_.seed / 4 % static_cast<unsigned>(made_.rank));
        profile_ = {first};
        if (made_.rank == 3 && made_.seed / 16 % 2 == 1) {
            profile_.push_back((first + 1) % 3);
            std::sort(profile_.begin(), profile_.end());
        }
        Argument made{"d", made_.seed / 32 % 8 == 1 ? CType::f32 : real_, Argument::Role::array,
                      is_restrict_};
        made.over = profile_;
        if (is_profile_turned()) {  // as long as the axes by which it is read, too
            for (const int axis : profile_)
                made.over.push_back(made_.rank - 1 - axis);
        }
        made_.arguments.push_back(made);
    }
    // In some functions the second read goes along other axes, which is refused.
    bool is_profile_turned() const { return made_.seed % 31 == 0; }
    Piece with_profile(Piece of) {
        if (profile_.empty() || stores_++ % 2 == 1) return of;
        std::string at;
        for (std::size_t i = profile_.size(); i-- > 0;) {
            const int turned =
                is_profile_turned() && stores_ > 2 ? made_.rank - 1 - profile_[i] : profile_[i];
            const std::string step = stores_ % 3 == 0 && low_ > 0    ? " - 1"
                                     : stores_ % 3 == 1 && past_ > 0 ? " + 1"
                                                                     : "";
            at += (at.empty() ? "" : " * " + std::string(sizes()[profile_[i]]) + " + ") + "(" +
                  index(turned) + step + ")";
        }
        return value("(", {std::move(of), leaf("d[" + at + "]")}, " + ");
    }

    // ---- values

    std::string real_literal() {
        static const char* const some[] = {"0.0", "0.5", "0.25", "1.5", "2.0", "0.1", "3.0", "1.0", "0.7"};
        const std::string text = some[random_() % 9];
        made_.literals.push_back(std::stod(text));
        const bool is_float = real_ == CType::f32 ? !wild() : wild();
        return text + (is_float ? "f" : "");
    }
    std::string whole_literal() {
        const int found = pick({0, 1, 2, 3, 5, 7, 100});
        made_.literals.push_back(found);
        return std::to_string(found) + (wild() ? "u" : "");
    }
    Piece read() { return leaf(cell(pick<std::string>({"a", "a", "a", "b", "c"}), true)); }

    // A number of the function's: no array, no loop.
    Piece scalar(int depth) {
        if (depth == 0 || chance(0.3)) {
            if (!reals_.empty() && chance(0.3)) return leaf("r");
            if (has_weights_ && chance(0.3)) return leaf(pick<std::string>({"w[0]", "w[4]", "w[8]"}));
            return leaf(chance(0.6) ? pick<std::string>({"p", "q"}) : real_literal());
        }
        if (wild()) return value(pick<std::string>({"(float)(", "(double)("}), {whole(1)});
        return value("(", {scalar(depth - 1), scalar(depth - 1)}, pick<std::string>({" + ", " - ", " * "}));
    }
    Piece real(int depth) {
        if (depth == 0 || chance(0.25)) {
            if (!temporaries_.empty() && chance(0.4))
                return leaf(temporaries_[random_() % temporaries_.size()]);
            if (has_edges_ && chance(0.25)) return chance(0.6) ? leaf(edge_cell()) : guarded_read();
            if (has_edges_ && chance(0.1)) return chosen_read();
            if (chance(0.6)) return read();
            return chance(0.5) ? scalar(0) : leaf(real_literal());
        }
        const std::string f = real_ == CType::f32 ? (wild() ? "" : "f") : (wild() ? "f" : "");
        if (wild()) return value(pick<std::string>({"(float)(", "(double)("}), {real(depth - 1)});
        if (wild()) return value(pick<std::string>({"(float)(", "(double)("}), {whole(2)});
        if (wild() && chance(0.2))
            return value("(" + std::string(c_name(real_)) + ")(int)(", {real(depth - 1)});
        switch (pick({0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6})) {
            case 1:
                return value("(", {condition(), leaf(" ? "), real(depth - 1), leaf(" : "), real(depth - 1)});
            case 2:
                return value("fabs" + f + "(", {real(depth - 1)});
            case 3:
                return value(pick<std::string>({"fmin", "fmax"}) + f + "(",
                             {real(depth - 1), real(depth - 1)}, ", ");
            case 4:
                return value("sqrt" + f + "(fabs" + f + "(", {real(depth - 1)}, "", "))");
            case 5:
                if (has_helper_) return value("FUNCTION_h(", {real(depth - 1), real(depth - 1)}, ", ");
                return value("-(", {real(depth - 1)});
            case 6:
                return value("(", {real(depth - 1)}, "", pick<std::string>({" / 4)", " / 3.0f)", " / 8.0)"}));
            default:
                return value("(", {real(depth - 1), real(depth - 1)},
                             pick<std::string>({" + ", " - ", " - ", " * "}));
        }
    }
    Piece whole(int depth) {
        if (depth == 0 || chance(0.35))
            return leaf(chance(0.7) ? wholes_[random_() % wholes_.size()] : whole_literal());
        if (chance(0.3))
            return value(pick<std::string>({"(int)(", "(unsigned)(", "(long)(", "(_Bool)(",
                                            "(unsigned char)(", "-(", "(short)("}),
                         {whole(depth - 1)});
        if (chance(0.1))
            return value("(", {whole(depth - 1)}, "",
                         pick<std::string>({" / 2)", " % 2)", " & 1)", " << 1)"}));
        return value("(", {whole(depth - 1), whole(depth - 1)}, pick<std::string>({" + ", " - ", " * "}));
    }
    std::string comparison() { return pick<std::string>({" > ", " < ", " >= ", " <= ", " == ", " != "}); }
    Piece condition_of_numbers() {
        if (chance(0.6)) return value("(", {whole(1), whole(1)}, comparison());
        return value("(", {scalar(1), scalar(1)}, comparison());
    }
    Piece condition() {
        if (chance(0.12)) return value("(", {condition(), condition()}, pick<std::string>({" && ", " || "}));
        if (chance(0.06)) return value("!(", {condition()});
        if (chance(0.15)) return condition_of_numbers();
        if (chance(0.1))
            return value("(",
                         {leaf(index(static_cast<int>(random_() % static_cast<unsigned>(made_.rank)))),
                          leaf(whole_literal())},
                         comparison());
        return value("(", {real(1), real(1)}, pick<std::string>({" > ", " < ", " >= ", " <= "}));
    }

    std::mt19937_64 random_;
    RandomFunction made_;
    double wildness_ = 0;
    CType real_ = CType::f32, size_ = CType::i32;
    bool is_restrict_ = true, is_flat_ = true, writes_a_ = false;
    bool has_helper_ = false, has_table_ = false, has_index_ = false, has_alias_index_ = false;
    std::vector<int> profile_;  // its axes
    int stores_ = 0;
    bool has_strides_ = false;
    bool has_edges_ = false, has_margin_ = false, has_weights_ = false;
    std::string alias_, high_, moved_array_;
    Moved moved_ = Moved::nowhere;
    int low_ = 0, past_ = 0, next_ = 0;
    std::vector<std::string> wholes_, reals_, temporaries_;
};

}  // namespace halo::test
