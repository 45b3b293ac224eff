#include "random_march.h"

#include <fmt/format.h>

#include "random_value.h"

namespace halo::test {

namespace {

class MarchMaker {
public:
    MarchMaker(const RandomFunction& function, std::string size)
        : rank_(function.rank), size_(std::move(size)), random_(function.seed * 977 + 5) {
        for (const Argument& each : function.arguments) {
            if (each.name == "a") real_ = c_name(each.type);
        }
    }

    void add(std::vector<Piece>& body) {
        stride_ = rank_ == 1 ? "1" : rank_ == 2 ? "n" : "n * m";
        const char* along = rank_ == 1 ? "n" : rank_ == 2 ? "m" : "l";
        is_pointer_ = chance(0.25);
        is_list_ = chance(0.2);
        is_upwards_ = chance(0.8);
        moves_first_ = chance(0.5);
        kept_ = is_list_ ? 2 : pick({1, 2, 2, 3});
        std::vector<Piece> inner;
        const std::string start = rank_ == 1 ? "0" : rank_ == 2 ? "i" : "j * n + i";
        const std::string first =
            is_upwards_ ? start : fmt::format("{} + ({} - 1) * {}", start, along, stride_);
        const int begin = kept_ == 3 ? 2 : 1;                // the first plane that is computed
        const int ahead = moves_first_ ? begin - 1 : begin;  // where the index begins
        inner.push_back(fixed(fmt::format("{} x = {}{};\n", size_, first, on(ahead))));
        if (is_pointer_) inner.push_back(fixed(fmt::format("{} *e = b + x;\n", real_)));
        if (is_list_) inner.push_back(fixed(fmt::format("{} r[3];\n", real_)));
        for (int k = 0; k < kept_; ++k) {
            const int plane = kept_ - 1 - k;
            const std::string of = chance(0.05) ? "c" : "a";
            const std::string from = fmt::format("{}[x{}]", of, on(plane - ahead + (chance(0.04) ? 1 : 0)));
            inner.push_back(fixed(fmt::format("{}{} = {};\n", is_list_ ? "" : real_ + " ", name(k),
                                              chance(0.05) ? "p" : from)));
        }
        const std::string head =
            is_upwards_ ? fmt::format("for ({} t = {}; t < {} - 1; t++) {{\n", size_, begin, along)
                        : fmt::format("for ({} t = {} - {}; t > 0; t--) {{\n", size_, along, begin + 1);
        inner.push_back(statement(head, loop(), "}\n"));
        if (chance(0.2)) inner.push_back(statement(fmt::format("c[x] = {};\n", name(0))));
        Piece made = fixed("{\n", std::move(inner), "}\n");
        for (int a = 0; a + 1 < rank_; ++a) {
            const std::string i(1, "ij"[a]);
            std::vector<Piece> around;
            around.push_back(std::move(made));
            made =
                fixed(fmt::format("for ({0} {1} = 0; {1} < {2}; {1}++) {{\n", size_, i, a == 0 ? "n" : "m"),
                      std::move(around), "}\n");
        }
        std::vector<Piece> guarded;
        guarded.push_back(std::move(made));
        body.push_back(fixed(fmt::format("if ({} > 3) {{\n", along), std::move(guarded), "}\n"));
    }

private:
    bool chance(double p) { return static_cast<double>(random_() % 1000) < 1000 * p; }
    int pick(std::initializer_list<int> from) { return *(from.begin() + random_() % from.size()); }
    std::string name(int k) const { return is_list_ ? fmt::format("r[{}]", k) : fmt::format("r{}", k); }
    std::string on(int planes) const {
        const int by = is_upwards_ ? planes : -planes;
        return by == 0 ? "" : fmt::format(" {} {} * {}", by < 0 ? "-" : "+", std::abs(by), stride_);
    }

    std::vector<Piece> loop() {
        std::vector<Piece> body;
        const std::string step = fmt::format("x {} {};\n", is_upwards_ ? "+=" : "-=", stride_);
        const std::string steps = is_pointer_ ? step + "e" + step.substr(1) : step;
        if (moves_first_) body.push_back(fixed(steps));
        const std::string next = fmt::format("a[x{}]", on(kept_ == 1 ? 0 : 1));
        const std::string load = chance(0.15) ? fmt::format("p * ({} - a[x])", next) : next;
        body.push_back(fixed(fmt::format("{} v = {};\n", real_, load)));
        std::string value = "v";
        for (int k = 0; k < kept_; ++k)
            value = fmt::format("({} {} {})", value, pick({0, 1}) ? "+" : "-",
                                chance(0.2) ? "2 * " + name(k) : name(k));
        if (chance(0.3)) value += " * q";
        const std::string to = chance(0.06) ? "a[x]" : is_pointer_ ? "*e" : "b[x]";
        Piece store = statement(to + " = " + value + ";\n");
        if (chance(0.15)) store = statement("if (v > p) {\n", {store}, "}\n");
        body.push_back(std::move(store));
        for (int k = kept_ - 1; k >= 0; --k) {
            const std::string from = k == 0 ? "v" : name(k - 1);
            const bool is_left = chance(0.03);
            const std::string shift = fmt::format("{} = {};\n", name(k), from);
            if (!is_left) body.push_back(fixed((chance(0.04) ? "if (v > p) " : "") + shift));
        }
        if (!moves_first_) body.push_back(fixed(steps));
        return body;
    }

    int rank_;
    std::string size_, real_ = "float", stride_;
    std::mt19937_64 random_;
    bool is_pointer_ = false, is_list_ = false, is_upwards_ = true, moves_first_ = true;
    int kept_ = 1;
};

}  // namespace

void add_march(const RandomFunction& function, const std::string& size, std::vector<Piece>& body) {
    MarchMaker(function, size).add(body);
}

}  // namespace halo::test
