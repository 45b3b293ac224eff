#include "random_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "random_program.h"

namespace halo::test {

namespace {

class ByteGenerator {
public:
    explicit ByteGenerator(std::uint64_t seed) : random_(seed) {}

    ByteProgram run() {
        program_.rank = random_.pick(std::vector<int>{1, 2, 2, 2, 3});
        program_.extent[0] = random_.pick(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 130});
        for (int axis = 1; axis < program_.rank; ++axis)
            program_.extent[static_cast<std::size_t>(axis)] = random_.between(1, 6);
        std::string text =
            fmt::format("stencil bytes({}) {{\n",
                        std::string("x, y, z").substr(0, static_cast<std::size_t>(3 * program_.rank - 2)));
        const int count = random_.between(1, 3);
        std::vector<std::string> states;
        for (int i = 0; i < count; ++i) {
            const std::string name(1, static_cast<char>('a' + i));
            const bool is_truth = random_.chance(50);
            text += fmt::format("    field {}: {} {{ boundary {} }}\n", name, is_truth ? "bool" : "u8",
                                boundary(is_truth));
            (is_truth ? truths_ : numbers_).push_back(name);
            if (i == 0 || random_.chance(60)) states.push_back(name);
        }
        if (random_.chance(50)) {
            text += fmt::format("    let around = {}\n", number(2));
            has_let_ = true;
        }
        for (const std::string& name : states) {
            const bool is_truth = std::ranges::find(truths_, name) != truths_.end();
            const std::string statement = fmt::format("{}[t+1] = {}", name, is_truth ? truth(3) : number(3));
            text += "    " +
                    (random_.chance(15)   ? fmt::format("where {} {{ {} }}", truth(1), statement)
                     : random_.chance(10) ? fmt::format("on x in 1..-2 {{ {} }}", statement)
                                          : statement) +
                    "\n";
        }
        if (random_.chance(60))
            text += fmt::format("    reduce count = sum(if {} then 1 else 0)\n", truth(1));
        if (random_.chance(20)) text += fmt::format("    reduce most = max({})\n", number(1));
        program_.text = text + "}\n";
        return program_;
    }

    // For several steps at once, by threads that have so many cells of a row.
    ByteProgram run_loop(int cells) {
        is_loop_ = true;
        program_.rank = 2;
        most_ = {std::min(cells, random_.pick(std::vector<int>{1, 1, 2, 4, 5})),
                 random_.pick(std::vector<int>{1, 1, 2})};
        for (bool& wraps : periodic_)
            wraps = random_.chance(40);
        const int count = random_.pick(std::vector<int>{1, 1, 2, 3});
        std::string text = "stencil bytes(x, y) {\n";
        std::vector<std::string> states;
        for (int i = 0; i < count; ++i) {
            const std::string name(1, static_cast<char>('a' + i));
            const bool is_truth = random_.chance(55);
            text += fmt::format("    field {}: {} {{ boundary {} }}\n", name, is_truth ? "bool" : "u8",
                                faces(is_truth, most_[0] < cells));
            (is_truth ? truths_ : numbers_).push_back(name);
            if (i == 0 || random_.chance(60)) states.push_back(name);
        }
        if (random_.chance(30)) {
            text += fmt::format("    let around = {}\n", neighbourhood());
            has_let_ = true;
        }
        if (random_.chance(25)) {
            const std::string let = fmt::format("    let edge = {}\n", truth(1));
            text += let;
            truths_.emplace_back("edge");
        }
        for (const std::string& name : states) {
            const bool is_truth = std::ranges::find(truths_, name) != truths_.end();
            const std::string before = random_.chance(10) ? fmt::format("{}[t-1]", name) : "";
            std::string value = is_truth ? truth(2) : number(2);
            if (!before.empty()) value += is_truth ? " or " + before : " - " + before;
            const std::string statement = fmt::format("{}[t+1] = {}", name, value);
            text += random_.chance(20) ? fmt::format("    where {} {{ {} }}\n", truth(1), statement)
                                       : fmt::format("    {}\n", statement);
        }
        if (random_.chance(40))
            text += fmt::format("    reduce count = sum(if {} then 1 else 0)\n", truth(1));
        program_.text = text + "}\n";
        return program_;
    }

private:
    std::string faces(bool is_truth, bool has_mirrors) {
        std::string text;
        for (std::size_t axis = 0; axis < 2; ++axis) {
            for (const char* side : {".low", ".high"}) {
                std::string kind = random_.pick<std::string>({"clamp", "mirror", "fixed", "fixed"});
                if (kind == "mirror" && axis == 0 && !has_mirrors) kind = "clamp";
                if (kind == "fixed")
                    kind += is_truth ? random_.pick<std::string>({" true", " false"})
                                     : random_.pick<std::string>({" 0", " 200"});
                if (periodic_[axis]) kind = "periodic";
                text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", "xy"[axis],
                                    periodic_[axis] ? "" : side, kind);
                if (periodic_[axis]) break;
            }
        }
        return text;
    }

    std::string boundary(bool is_truth) {
        std::string kind =
            random_.pick<std::string>({"periodic", "clamp", "mirror", "fixed", "periodic", "free"});
        if (kind == "fixed") kind += is_truth ? " true" : random_.pick<std::string>({" 0", " 200"});
        return kind;
    }

    std::string place(const std::string& name, const std::array<std::string, 3>& moves) {
        std::string inside;
        for (int axis = 0; axis < program_.rank; ++axis) {
            const std::string& move = moves[static_cast<std::size_t>(axis)];
            if (!move.empty()) inside += fmt::format("{}{}{}", inside.empty() ? "" : ", ", "xyz"[axis], move);
        }
        return inside.empty() ? name : fmt::format("{}[{}]", name, inside);
    }
    std::string read(const std::vector<std::string>& from) {
        std::array<std::string, 3> moves;
        for (int axis = 0; axis < program_.rank; ++axis) {
            const int most = is_loop_    ? most_[static_cast<std::size_t>(axis)]
                             : axis == 0 ? random_.pick(std::vector<int>{1, 2, 5})
                                         : 1;
            const int offset = random_.chance(40) ? 0 : random_.between(-most, most);
            if (offset != 0) moves[static_cast<std::size_t>(axis)] = fmt::format("{:+}", offset);
        }
        return place(random_.pick(from), moves);
    }
    // A sum over the cells around, of a field or of whether something holds there.
    std::string neighbourhood() {
        int radius = random_.pick(std::vector<int>{1, 1, 1, 2});
        if (is_loop_) radius = std::min(radius, most_[0]);
        const bool is_plane = program_.rank > 1 && random_.chance(70);
        const std::array<std::string, 3> moves{"+i", is_plane ? "+j" : "", ""};
        const bool counts = numbers_.empty() || (!truths_.empty() && random_.chance(60));
        const std::string cell = place(random_.pick(counts ? truths_ : numbers_), moves);
        return fmt::format("(sum(i in {}..{}{}) {})", -radius, radius, is_plane ? ", j in -1..1" : "",
                           counts ? fmt::format("(if {} then 1 else 0)", cell) : cell);
    }

    std::string literal() {
        if (is_loop_) return fmt::format("{}", random_.pick(std::vector<int>{0, 1, 2, 3, 4, 7, 64, 127}));
        return fmt::format(
            "{}", random_.pick(std::vector<int>{0, 1, 2, 3, 4, 7, 64, 127, 128, 200, 255, 256, -1, -3}));
    }
    std::string number(int depth) {
        const int choice = depth <= 0 ? random_.between(1, 40) : random_.between(1, 120);
        if (choice <= 30) {
            if (has_let_ && random_.chance(30)) return "around";
            if (!numbers_.empty()) return read(numbers_);
            return neighbourhood();
        }
        if (choice <= 40) return literal();
        if (choice <= 55) return neighbourhood();
        if (choice <= 75)
            return fmt::format("({} {} {})", number(depth - 1), random_.pick<std::string>({"+", "-"}),
                               number(depth - 1));
        if (choice <= 82) return fmt::format("({} * {})", number(depth - 1), literal());
        if (choice <= 95)
            return fmt::format("{}({}, {})", random_.pick<std::string>({"min", "max"}), number(depth - 1),
                               number(depth - 1));
        if (choice <= 100) return fmt::format("abs({})", number(depth - 1));
        if (choice <= 106)
            return fmt::format("{}({}, {})", random_.pick<std::string>({"div", "mod"}), number(depth - 1),
                               random_.pick(std::vector<int>{1, 2, 4, 16, 256, 3}));
        return fmt::format("(if {} then {} else {})", truth(depth - 1), number(depth - 1), number(depth - 1));
    }
    std::string truth(int depth) {
        const int choice = depth <= 0 ? random_.between(1, 55) : random_.between(1, 100);
        if (choice <= 30 && !truths_.empty()) return read(truths_);
        if (choice <= 70)
            return fmt::format("({} {} {})", number(depth - 1),
                               random_.pick<std::string>({"<", "<=", ">", ">=", "==", "!="}),
                               random_.chance(60) ? literal() : number(depth - 1));
        if (choice <= 90)
            return fmt::format("({} {} {})", truth(depth - 1),
                               random_.pick<std::string>({"and", "or", "==", "!="}), truth(depth - 1));
        return fmt::format("(not {})", truth(depth - 1));
    }

    Random random_;
    ByteProgram program_;
    std::vector<std::string> truths_, numbers_;  // fields
    bool has_let_ = false;
    bool is_loop_ = false;  // with a radius along each axis, and axes that all fields wrap around
    std::array<int, 2> most_{1, 1};
    std::array<bool, 2> periodic_{};
};

}  // namespace

ByteProgram random_bytes(std::uint64_t seed) {
    return ByteGenerator(seed).run();
}

RandomTimeLoop random_byte_loop(std::uint64_t seed) {
    Random random(seed * 6007 + 11);
    RandomTimeLoop loop;
    schedule::TemporalSchedule& schedule = loop.temporal;
    schedule.steps = random.pick<int>({1, 2, 2, 3, 4});
    schedule.cells = {random.pick<int>({4, 8, 16}), 1};
    schedule.warps = random.pick<int>({1, 2, 4});
    schedule.ahead = random.between(1, 4);
    schedule.blocks = random.pick<int>({1, 2, 3, 7, 61});
    schedule.unroll = random.pick<int>({1, 1, 2, 3});
    loop.grid = {32 * schedule.cells[0] + random.pick<int>({0, 1, 2, 3, 5, 16, 17, 64}),
                 random.between(40, 60), 1};
    loop.steps = schedule.steps * random.between(1, 2) + random.between(0, 2);
    loop.text = ByteGenerator(seed).run_loop(schedule.cells[0]).text;
    return loop;
}

}  // namespace halo::test
