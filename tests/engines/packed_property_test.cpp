// Random programs of single bytes, whose kernels compute four cells of a row in one word, and one word or two
// in a row: neighbourhoods, counts, sums, choices and comparisons, at sizes around and below these.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_program.h"

using namespace halo;
using namespace halo::test;

namespace {

struct ByteProgram {
    std::uint64_t seed = 0;
    int rank = 2;
    Extent extent{};
    std::string text;
};

class ByteGenerator {
public:
    explicit ByteGenerator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }

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

private:
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
            const int most = axis == 0 ? random_.pick(std::vector<int>{1, 2, 5}) : 1;
            const int offset = random_.chance(40) ? 0 : random_.between(-most, most);
            if (offset != 0) moves[static_cast<std::size_t>(axis)] = fmt::format("{:+}", offset);
        }
        return place(random_.pick(from), moves);
    }
    // A sum over the cells around, of a field or of whether something holds there.
    std::string neighbourhood() {
        const int radius = random_.pick(std::vector<int>{1, 1, 1, 2});
        const bool is_plane = program_.rank > 1 && random_.chance(70);
        const std::array<std::string, 3> moves{"+i", is_plane ? "+j" : "", ""};
        const bool counts = numbers_.empty() || (!truths_.empty() && random_.chance(60));
        const std::string cell = place(random_.pick(counts ? truths_ : numbers_), moves);
        return fmt::format("(sum(i in {}..{}{}) {})", -radius, radius, is_plane ? ", j in -1..1" : "",
                           counts ? fmt::format("(if {} then 1 else 0)", cell) : cell);
    }

    std::string literal() {
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
};

std::vector<schedule::Schedule> wide_schedules(const ir::Program& program, Random& random) {
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        schedule::Schedule drawn;
        drawn.strategy = schedule::Direct{};
        drawn.threads = {random.pick(std::vector<int>{8, 32}), 1, 1};
        if (program.rank() > 1 && drawn.threads[0] == 8) drawn.threads[1] = 4;
        if (drawn.threads[0] * drawn.threads[1] < 32) drawn.threads[0] = 32;
        if (!schedule::footprint(program, stage).in_place) {
            for (int axis = 1; axis < program.rank(); ++axis)
                drawn.cells[axis] = random.between(1, 3);
            drawn.cells[0] = 4;
            schedule::Schedule wider = drawn;
            wider.cells[0] = 8;  // refused where a stage has other values than bytes
            const auto reasons = schedule::check(program, stage, wider, schedule::Target{});
            if (random.chance(50) && schedule::is_legal(reasons)) drawn = wider;
        }
        schedules.push_back(drawn);
    }
    return schedules;
}

}  // namespace

TEST_CASE("programs of single bytes on emulated CUDA, four cells in a word") {
    const Seeds seeds = seeds_from_environment(1, 150);
    int refused = 0, packed = 0, sharing = 0, wide = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const ByteProgram source = ByteGenerator(seed).run();
        INFO("seed " << seed << "\n" << source.text);
        std::optional<ir::Program> program;
        try {
            program = load_program(source.text, false);
        } catch (const std::runtime_error& error) {
            ++refused;  // what has no value anywhere, and numbers that no byte can be
            INFO(error.what());
            CHECK(refused * 4 <= static_cast<int>(seeds.count) + 3);
            continue;
        }
        const Reference reference(*program, source.extent, 3, seed);
        Random random(seed + 1);
        const lower::Lowered lowered = lower::lower_cuda(*program, {wide_schedules(*program, random)});
        const std::string text = emit::print_cuda(lowered.kernels);
        if (text.find("Four cells of the row") != std::string::npos) ++packed;
        if (text.find("Sums of neighbours in a row") != std::string::npos) ++sharing;
        if (text.find("store8(") != std::string::npos) ++wide;
        emulator::EmulatedDevice device;
        CHECK(difference(reference, lowered, device, load_cuda) == "");
    }
    // Those with a free face, for some cells alone, or with too large numbers are not.
    CHECK(packed * 3 >= static_cast<int>(seeds.count));
    CHECK(sharing * 12 >= static_cast<int>(seeds.count));
    CHECK(wide * 10 >= static_cast<int>(seeds.count));
}
