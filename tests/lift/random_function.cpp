#include "random_value.h"

#include <tuple>

#include "random_march.h"

namespace halo::test {

const char kMathDeclarations[] =
    "double sqrt(double), fabs(double), fmin(double, double), fmax(double, double);\n"
    "float sqrtf(float), fabsf(float), fminf(float, float), fmaxf(float, float);\n";

namespace {

using Role = Argument::Role;

class Maker : ValueMaker {
public:
    explicit Maker(std::uint64_t seed) : ValueMaker(seed) {}

    RandomFunction make() {
        // How much of what stencils seldom have there is: most functions have a little, some have much.
        wildness_ = pick<double>({0.02, 0.05, 0.05, 0.1, 0.1, 0.3});
        made_.rank = pick({1, 1, 1, 2, 2, 3});
        choose_arguments();
        if (chance(0.2)) made_.result = pick({CType::i32, CType::f32, CType::f64});
        made_.helpers = fixed("", make_helpers());
        std::vector<Piece> body = declarations();
        const int parts = pick({1, 1, 1, 2, 2, 3});
        for (int i = 0; i < parts; ++i)
            body.push_back(part(1));
        std::vector<Piece> march;  // by no draw, so that all else stays as it is
        if (made_.seed % 5 == 3 && is_flat_ && !has_strides_) add_march(made_, c_name(size_), march);
        body.insert(body.end(), march.begin(), march.end());
        if (made_.result != CType::boolean) {
            const bool is_sum = chance(0.7);
            body.push_back(fixed(is_sum ? "return s;\n" : "return 0;\n"));
        } else if (chance(0.3)) {
            body.push_back(statement("if (n > 0) " + written() + "[0] = s;\n"));
        }
        // Of one axis it is all that the function does: what is in front of a nest is no part of it.
        if (made_.rank == 1 && made_.result == CType::boolean && !march.empty()) body = march;
        made_.body = fixed("{\n", std::move(body), "}\n");
        made_.head = leaf(head());
        return std::move(made_);
    }

private:
    // ---- arguments

    void choose_arguments() {
        const CType real = pick({CType::f32, CType::f32, CType::f64});
        const CType size =
            wild() ? pick({CType::i64, CType::u32, CType::u64}) : pick({CType::i32, CType::i32, CType::i64});
        size_ = size;
        for (int a = 0; a < made_.rank; ++a)
            made_.arguments.push_back({sizes()[a], size, Role::size, false});
        is_restrict_ = chance(0.75);
        is_flat_ = made_.rank == 1 || chance(0.6);
        for (const char* name : {"a", "b", "c"}) {
            Argument array{name, real, Role::array, is_restrict_ && !(wild() && chance(0.3))};
            if (wild()) array.type = pick({CType::f32, CType::f64, CType::i32, CType::u8});
            made_.arguments.push_back(array);
        }
        real_ = real;
        has_edges_ = chance(0.3);
        made_.arguments.push_back({"p", wild() ? CType::f32 : real, Role::number, false});
        made_.arguments.push_back({"q", wild() ? CType::f64 : real, Role::number, false});
        made_.arguments.push_back({"k", CType::i32, Role::number, false});
        const std::pair<const char*, CType> whole[] = {
            {"u", CType::u32}, {"g", CType::i64}, {"y", CType::u8}, {"on", CType::boolean}};
        for (const auto& [name, type] : whole) {
            if (!chance(0.15 + wildness_)) continue;
            made_.arguments.push_back({name, type, Role::number, false});
            wholes_.emplace_back(name);
        }
        wholes_.emplace_back("k");
        if (chance(0.3)) {
            made_.arguments.push_back({"gap", wild() ? size : CType::i32, Role::margin, false});
            has_margin_ = true;
            if (chance(0.3)) made_.assumed.emplace_back("gap", pick({2, 3}));
        }
        if (chance(0.2)) {
            made_.arguments.push_back({"w", real, Role::list, is_restrict_});
            has_weights_ = true;
        }
        made_.arguments.push_back({"from", CType::i32, Role::count, false});
        made_.arguments.push_back({"steps", CType::i32, Role::count, false});
        writes_a_ = chance(0.5);
        add_profile();
        add_strides();
    }
    std::string head() const {
        std::string text = made_.result == CType::boolean ? "void FUNCTION("
                                                          : c_name(made_.result) + std::string(" FUNCTION(");
        for (std::size_t i = 0; i < made_.arguments.size(); ++i) {
            const Argument& each = made_.arguments[i];
            text += i ? ", " : "";
            if (each.role == Role::list) {
                text +=
                    std::string("const ") + c_name(each.type) + (each.is_restrict ? " w[restrict 9]" : " *w");
                continue;
            }
            if (each.role != Role::array) {
                text += c_name(each.type) + (" " + each.name);
                continue;
            }
            const std::string restricts = each.is_restrict ? "restrict " : "";
            if (is_flat_ || !each.over.empty()) {
                text += c_name(each.type) + (" *" + restricts) + each.name;
            } else {
                text +=
                    c_name(each.type) + (" " + each.name + "[" + restricts) + sizes()[made_.rank - 1] + "]";
                for (int a = made_.rank - 2; a >= 0; --a)
                    text += "[" + std::string(sizes()[a]) + "]";
            }
        }
        return text + ")";
    }
    std::string written() {
        return is_flat_ ? pick<std::string>({"b", "b", "c", writes_a_ ? "a" : "b"}) : "b[0]" + rest();
    }
    std::string rest() const { return made_.rank == 3 ? "[0]" : ""; }

    // ---- helpers and declarations

    std::vector<Piece> make_helpers() {
        std::vector<Piece> made;
        const std::string t = c_name(real_);
        if (chance(0.25)) {
            has_helper_ = true;
            const std::string head = "static " + t + " FUNCTION_h(" + t + " x, " + t + " v) {\n";
            switch (pick({0, 1, 2, 3})) {
                case 0:
                    made.push_back(statement(head, {}, "return x * v + x;\n}\n"));
                    break;
                case 1:
                    made.push_back(statement(
                        head, {statement("if (x > " + real_literal() + ") {\nif (v > x) return v - x;\n}\n")},
                        "return x;\n}\n"));
                    break;
                case 2:
                    made.push_back(statement(head,
                                             {statement("if (x < v) x = v;\n"), statement("v = v * x;\n")},
                                             "return x - v;\n}\n"));
                    break;
                default:
                    made.push_back(statement(
                        head,
                        {statement("float w = x;\n"), statement("if (w < 0) return v;\nelse w = w + 1;\n")},
                        "return w * v;\n}\n"));
            }
        }
        if (chance(0.2)) {
            has_table_ = true;
            made.push_back(statement("static const " + std::string(wild() ? "double" : t) +
                                     " FUNCTION_t[3] = {" + real_literal() + ", 2, " + real_literal() +
                                     "};\n"));
        }
        if (is_flat_ && made_.rank == 2 && chance(0.15)) {
            has_index_ = true;
            const std::string s = c_name(size_);
            made.push_back(statement("static " + s + " FUNCTION_at(" + s + " i, " + s + " j, " + s +
                                     " n) { return j * n + i; }\n"));
        }
        return made;
    }

    std::vector<Piece> declarations() {
        std::vector<Piece> made;
        const CType sum = wild() ? pick({CType::i32, CType::f32, CType::f64}) : real_;
        made.push_back(statement(std::string(c_name(sum)) + " s = " + (chance(0.5) ? "0" : "p") + ";\n"));
        made.push_back(statement("int count = 0;\n"));
        if (chance(0.3)) {
            const CType type =
                pick({CType::i32, CType::i32, CType::u32, CType::i64, CType::boolean, CType::u8});
            made.push_back(statement(std::string(c_name(type)) + " h = ", {whole(2)}, ";\n"));
            wholes_.emplace_back("h");
        }
        if (chance(0.3)) {
            made.push_back(
                statement(std::string(c_name(wild() ? CType::f32 : real_)) + " r = ", {scalar(2)}, ";\n"));
            reals_.emplace_back("r");
            if (chance(0.3))
                made.push_back(
                    statement("if (", {condition_of_numbers()}, ") r = " + real_literal() + ";\n"));
        }
        if (is_flat_ && chance(0.15)) {  // another name, one cell on
            const std::string of = pick<std::string>({"a", "b"});
            made.push_back(statement(c_name(array(of).type) + std::string(" *alias = ") + of + " + 1;\n"));
            alias_ = of;
        }
        return made;
    }

    // ---- parts of the function

    Piece part(int depth) {
        if (depth > 3 || chance(0.6))  // where they may be joined (compare_lift.cpp), two
            return made_.seed % 2 == 0 && chance(0.25) ? fixed("", {nest(), nest_of(1)}) : nest();
        switch (pick({0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) {
            case 0:
                return time_loop();
            case 1: {  // a counter that starts anywhere
                const std::string head = pick<std::string>(
                    {"for (int o = from; o < 9; o += 2) {\n", "for (int o = steps; o > from; o -= 3) {\n",
                     "for (int o = from; o <= 6; o++) {\n", "for (int o = 9; o >= from; --o) {\n",
                     "for (int o = k > 3 ? 3 : from; o < 5; ++o) {\n"});
                return counted(head, depth);
            }
            case 2:
                return counted("for (int o = steps, e = 12; o < e; o += 2, e--) {\n", depth);
            case 3:
                return counted("for (int o = steps; o > 0; o /= 2) {\n", depth);
            case 4:
                return statement("{\nint o = steps;\nwhile (o-- > 0) {\n", {part(depth + 1)}, "}\n}\n");
            case 5: {
                std::vector<Piece> inner{part(depth + 1)};
                Piece made = statement("if (", {condition_of_numbers(), leaf(") {\n")}, "}\n");
                made.inner.insert(made.inner.end(), inner.begin(), inner.end());
                if (chance(0.4)) made.inner.push_back(statement("} else {\n", {part(depth + 1)}));
                return made;
            }
            case 6:
                return statement("s = ", {scalar(2)}, ";\n");
            case 7:
                if (made_.result == CType::boolean)
                    return statement("if (", {condition_of_numbers(), leaf(") return;\n")});
                return statement("if (", {condition_of_numbers(), leaf(") return 0;\n")});
            case 8: {
                const std::string w = pick<std::string>({"count += 2;\n", "count = k & 7;\n", "s = s * 2;\n",
                                                         "k = k > 3 ? 3 : k;\n", "q = p;\n"});
                return statement(w);
            }
            default:
                return nest_to_half();
        }
    }
    Piece counted(const std::string& head, int depth) {
        wholes_.emplace_back("o");
        Piece made = statement(head, {part(depth + 1)}, "}\n");
        wholes_.pop_back();
        return made;
    }
    // for (s = n; s > 4; s /= 2) over a part of the first axis
    Piece nest_to_half() {
        if (made_.rank != 1) return nest();
        const std::string type = c_name(size_);
        high_ = "o";
        wholes_.emplace_back("o");
        Piece made = statement("for (" + type + " o = n; o > 2; o /= 2) {\n", {nest()}, "}\n");
        wholes_.pop_back();
        high_.clear();
        return made;
    }
    Piece time_loop() {
        std::vector<Piece> inner;
        for (int nests = pick({1, 1, 2}); nests > 0; --nests)
            inner.push_back(nest());
        // Pointers that are `restrict` must not become each other.
        const bool may_swap = !array("a").is_restrict && !array("b").is_restrict;
        if (is_flat_ && may_swap && array("a").type == array("b").type && chance(0.6))
            inner.push_back(
                statement(std::string(c_name(array("a").type)) + " *held = a;\na = b;\nb = held;\n"));
        const std::string head = pick<std::string>(
            {"for (int o = 0; o < steps; ++o) {\n", "for (int o = 0; o < steps; o++) {\n",
             "for (int o = 1; o <= steps; ++o) {\n", "for (int o = steps; o > 0; --o) {\n"});
        return statement(head, std::move(inner), "}\n");
    }

    // ---- nests

    Piece nest() {
        low_ = pick({0, 1, 1, 2});
        past_ = pick({0, 1, 1, 2});
        move_one();
        return nest_of(pick({1, 1, 2, 3}));
    }
    Piece nest_of(int statements) {
        temporaries_.clear();
        std::vector<Piece> body = cell_statements(statements, 0);
        Piece made = fixed("", std::move(body));
        std::vector<int> axes;
        for (int a = 0; a < made_.rank; ++a)
            axes.push_back(a);
        if (made_.rank > 1 && wild()) std::swap(axes[0], axes[1]);
        for (const int a : axes) {
            std::vector<Piece> inner;
            if (a == axes.front() && has_alias_index_)
                made.inner.insert(made.inner.begin(),
                                  statement(std::string(c_name(size_)) + " at = j * n + i;\n"));
            inner.push_back(std::move(made));
            if (a == axes.back() && made_.rank == 2 && wild())
                inner.insert(inner.begin(), statement("count++;\n"));
            made = statement(loop_head(a), std::move(inner), "}\n");
        }
        has_alias_index_ = false;
        moved_ = Moved::nowhere;
        return made;
    }
    std::string loop_head(int axis) {
        const std::string i = index(axis), type = c_name(size_);
        const std::string end = axis == 0 && !high_.empty() ? high_ : sizes()[axis];
        std::string low = std::to_string(low_);
        std::string high = past_ == 0 ? end : end + " - " + std::to_string(past_);
        if (has_margin_ && chance(0.4)) {
            if (chance(0.7)) low = "gap";
            // The half of an unsigned size may be less than the margin.
            const bool may_wrap = is_unsigned(size_) && end == high_;
            if (chance(0.7) && !may_wrap) high = end + " - gap";
            if (chance(0.2)) low = low_ == 0 ? "gap - 2" : "gap - 1 + " + std::to_string(low_);
        }
        if (moved_ != Moved::nowhere) std::tie(low, high) = moved_bounds(axis);
        if (wild() && !is_unsigned(size_))
            return "for (" + type + " " + i + " = " + high + " - 1; " + i +
                   pick<std::string>({" >= " + low, " > " + low + " - 1"}) + "; --" + i + ") {\n";
        if (wild())
            return "for (" + type + " " + i + " = " + low + "; " + i + " < " + high + "; " + i +
                   pick<std::string>({" += 2", " += 1"}) + ") {\n";
        if (wild())
            return "for (" + type + " " + i + " = " + low + "; " + high + " > " + i + "; " + i + "++) {\n";
        if (chance(0.15) && past_ > 0 && moved_ == Moved::nowhere)
            return "for (" + type + " " + i + " = " + low + "; " + i + " <= " + end + " - " +
                   std::to_string(past_ + 1) + "; " + i + "++) {\n";
        return "for (" + type + " " + i + " = " + low + "; " + i + " < " + high + "; " + i + "++) {\n";
    }

    std::vector<Piece> cell_statements(int count, int depth) {
        std::vector<Piece> made;
        const std::size_t known = temporaries_.size();
        for (int i = 0; i < count; ++i)
            made.push_back(cell_statement(depth));
        temporaries_.resize(known);
        return made;
    }
    Piece store() {
        const std::string to = pick<std::string>({"b", "b", "b", "c", writes_a_ ? "a" : "b"});
        const std::string op = chance(0.15) ? pick<std::string>({" += ", " -= ", " *= "}) : " = ";
        const CType type = array(to).type;
        return statement(cell(to, wild()) + op, {is_real(type) ? with_profile(real(3)) : whole(2)}, ";\n");
    }
    Piece cell_statement(int depth) {
        const int most = depth > 2 ? 7 : 13;
        switch (static_cast<int>(random_() % static_cast<unsigned>(most))) {
            case 0: {
                const std::string name = "v" + std::to_string(next_++);
                const CType type = wild() ? pick({CType::f32, CType::f64, CType::i32}) : real_;
                Piece made = statement(std::string(c_name(type)) + " " + name + " = ",
                                       {is_real(type) ? real(2) : whole(2)}, ";\n");
                temporaries_.push_back(name);
                return made;
            }
            case 1:
                if (!temporaries_.empty())
                    return statement(temporaries_[random_() % temporaries_.size()] +
                                         pick<std::string>({" = ", " += ", " *= "}),
                                     {real(2)}, ";\n");
                return store();
            case 2:
                return chance(0.4) ? gather() : store();
            case 3:
                if (low_ > 0 && past_ > 0 && chance(0.3)) return window();
                return store();
            case 7:
            case 8: {
                Piece made = statement("if (", {condition(), leaf(") {\n")}, "}\n");
                for (Piece& each : cell_statements(pick({1, 1, 2}), depth + 1))
                    made.inner.push_back(std::move(each));
                if (chance(0.4))
                    made.inner.push_back(
                        statement("} else {\n", cell_statements(pick({1, 1, 2}), depth + 1)));
                return made;
            }
            case 9:
            case 10:
                if (chance(0.7)) return skip();
                return statement("if (", {condition(), leaf(") {\n"), skip(), store()}, "}\n");
            case 11:
                if (has_table_ && low_ > 0 && past_ > 0 && made_.rank == 1 && !temporaries_.empty())
                    return statement("for (int w = 0; w < 3; w++) " + temporaries_.back() +
                                     " += FUNCTION_t[w] * a[i + w - 1];\n");
                return store();
            default:
                return store();
        }
    }
    // A sum over cells around this one along the first axis.
    Piece window() {
        const std::string name = "v" + std::to_string(next_++), type = c_name(size_);
        const std::string array = pick<std::string>({"a", "a", "c"});
        std::string at = is_flat_          ? made_.rank == 1   ? "[e]"
                                             : made_.rank == 2 ? "[j * n + e]"
                                             : has_strides_    ? strided("z", "j", "e")
                                                               : "[(z * m + j) * n + e]"
                         : made_.rank == 1 ? "[e]"
                         : made_.rank == 2 ? "[j][e]"
                                           : "[z][j][e]";
        const std::string weight = has_weights_ && chance(0.7)
                                       ? pick<std::string>({"w[e - i + 1] * ", "w[3 * (e - i) + 4] * "})
                                       : pick<std::string>({"", real_literal() + " * "});
        temporaries_.push_back(name);
        // Some are cut off at an edge, or within the loop. No draw decides, so that all else stays as it is.
        const std::string starts[] = {"i - 1", "(i - 1 > 0 ? i - 1 : 0)", "i - 1", "(i < 3 ? 2 : i - 1)"};
        const std::string ends[] = {"", "", "(i + 1 < n - 1 ? i + 1 : n - 1)",
                                    "(i + 1 > n - 3 ? n - 3 : i + 1)"};
        const std::string plain = pick<std::string>({"e <= i + 1; e++", "e < i + 2; ++e"});
        const auto form = static_cast<std::size_t>(next_ % 4);
        return fixed(std::string(c_name(real_)) + " " + name + " = 0;\nfor (" + type +
                     " e = " + starts[form] + "; " + (form < 2 ? plain : "e <= " + ends[form] + "; e++") +
                     ") " + name + " += " + weight + array + at + ";\n");
    }
    Piece skip() {
        if (chance(0.3))
            return statement(
                "if (",
                {condition(), leaf(") {\n"), store(),
                 statement("} else {\n", {statement("if (", {condition(), leaf(") continue;\n")})})},
                "}\n");
        if (chance(0.4))
            return statement(
                "if (", {condition(), leaf(") {\n"), statement("if (", {condition(), leaf(") continue;\n")})},
                "}\n");
        return statement("if (", {condition(), leaf(") continue;\n")});
    }
    Piece gather() {
        switch (pick({0, 1, 2, 3})) {
            case 0:
                return statement("s += ", {real(2)}, ";\n");
            case 1:
                return statement("if (" + cell("a", true) + " > s) s = " + cell("a", true) + ";\n");
            case 2: {
                const std::string at = cell("a", true);
                return statement("if (" + at + " > s) s = " + at + ";\n");
            }
            default:
                return statement("if (", {condition(), leaf(") count++;\n")});
        }
    }
};

}  // namespace

RandomFunction random_function(std::uint64_t seed) {
    return Maker(seed).make();
}

}  // namespace halo::test
