// Sweeps of random programs along one axis or two.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "random_generator.h"

namespace halo::test {

void ProgramGenerator::add_sweeps() {
    Random random(program_.seed ^ 0x1c3e8b5d97f04a26ULL);
    if (program_.is_staggered() || options_.interleaved || !random.chance(50)) return;
    const int sweeps = random.between(1, 2);
    for (int sweep = 0; sweep < sweeps; ++sweep)
        add_sweep(fmt::format("s{}_", sweep), random);
    StatementSpec reader;  // sees the halos of what was swept
    reader.kind = StatementSpec::Kind::output;
    reader.target = "swept";
    Node sum = number(0, 1);
    for (const StatementSpec& each : program_.statements) {
        if (each.order.empty() || each.kind != StatementSpec::Kind::output) continue;
        sum = binary(Kind::sum, half(std::move(sum)), half(access(each.target, 0, random_offset(random, 1))));
    }
    reader.value = std::move(sum);
    program_.fields.push_back({reader.target, false, fitting_faces()});
    program_.statements.push_back(std::move(reader));
}

Cells ProgramGenerator::random_offset(Random& random, int most) {
    Cells offset{};
    for (int axis = 0; axis < program_.rank; ++axis)
        if (random.chance(50)) offset[static_cast<std::size_t>(axis)] = random.between(-most, most);
    return offset;
}

void ProgramGenerator::add_sweep(const std::string& name, Random& random) {
    const int axis = random.between(0, program_.rank - 1);
    const bool upwards = random.chance(50);
    const bool is_nested = program_.rank > 1 && random.chance(40);
    const int inner = (axis + random.between(1, program_.rank > 1 ? program_.rank - 1 : 1)) % program_.rank;
    const bool inner_upwards = random.chance(50);
    const bool are_given = has_free_faces() || random.chance(25);
    const auto order = [](int along, bool up) {
        return fmt::format("sweep {} {}", "xyzg"[along], up ? "up" : "down");
    };
    const auto cell_before = [&] {
        Cells before{};
        const auto put = [&](int along, bool up, int steps) {
            before[static_cast<std::size_t>(along)] = up ? -steps : steps;
        };
        const int lines = is_nested ? random.pick<int>({0, 1, 1, 2}) : random.pick<int>({1, 1, 1, 2});
        put(axis, upwards, lines);
        if (is_nested) put(inner, inner_upwards, lines == 0 ? random.between(1, 2) : random.between(-2, 2));
        if (is_nested && are_given && random.chance(30))
            for (int& cells : before)
                cells = -cells;  // of those to come
        return before;
    };
    auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(program_.statements.size())));
    while (at < program_.statements.size() && program_.statements[at].joins)
        ++at;  // another sweep stays whole
    const std::vector<Written> written = written_before(at);
    const int members = random.between(1, 3);
    const std::string guard = members == 1 && random.chance(40) ? "on x in 0..-2" : std::string();
    std::vector<StatementSpec> made;
    for (int m = 0; m < members; ++m) {
        StatementSpec statement;
        statement.kind = StatementSpec::Kind::output;
        statement.target = fmt::format("{}{}", name, m);
        statement.order = order(axis, upwards);
        if (is_nested) {
            statement.around = std::move(statement.order);
            statement.order = order(inner, inner_upwards);
        }
        statement.joins = m > 0;
        statement.guard =
            guard.empty() && random.chance(30)
                ? fmt::format("where idx({}) != 1", "xyzg"[random.between(0, program_.rank - 1)])
                : guard;
        // Its own cells before, or those of any statement of the sweep.
        const int read = random.chance(60) ? m : random.between(0, members - 1);
        const auto swept = [&] { return half(access(fmt::format("{}{}", name, read), 0, cell_before())); };
        Node value = swept();
        if (is_nested && random.chance(60)) value = binary(Kind::sum, half(std::move(value)), half(swept()));
        Node change = sweep_read(random, written);
        if (m > 0 && random.chance(50)) change = access(fmt::format("{}{}", name, m - 1), 0, {});
        statement.value = binary(Kind::sum, std::move(value), half(std::move(change)));
        FieldSpec field{statement.target, options_.f64 && random.chance(25), fitting_faces()};
        for (const int along : {axis, is_nested ? inner : axis}) {
            for (std::string& kind : field.faces.kind[static_cast<std::size_t>(along)]) {
                const bool is_plain = kind.starts_with("fixed") && !is_formula(kind);
                if (!is_plain) kind = random.pick<std::string>({"fixed 1/2", "fixed p/2", "fixed 0"});
            }
        }
        program_.fields.push_back(std::move(field));
        made.push_back(std::move(statement));
    }
    for (std::size_t i = at; i < program_.statements.size(); ++i) {  // what states need is done in each step
        StatementSpec& later = program_.statements[i];
        if (later.kind != StatementSpec::Kind::state || !later.guard.empty() || !random.chance(60)) continue;
        Node read = access(made[static_cast<std::size_t>(random.between(0, members - 1))].target, 0,
                           random_offset(random, 1));
        later.value = binary(Kind::sum, half(std::move(later.value)), half(std::move(read)));
    }
    // What is read past a free face leaves cells out, and a sweep does not begin behind these.
    if (are_given || has_free_faces()) {
        std::vector<StatementSpec> before;
        for (const StatementSpec& each : made) {
            StatementSpec first;
            first.target = each.target;
            first.value = number(random.between(-3, 3), 4);
            before.push_back(std::move(first));
        }
        made.insert(made.begin(), before.begin(), before.end());
    }
    program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at), made.begin(),
                               made.end());
}

Node ProgramGenerator::sweep_read(Random& random, const std::vector<Written>& written) {
    std::vector<Node> reads{number(3, 4)};
    for (const FieldSpec& field : program_.fields) {
        const bool is_output = std::any_of(
            program_.statements.begin(), program_.statements.end(), [&](const StatementSpec& each) {
                return each.kind == StatementSpec::Kind::output && each.target == field.name;
            });
        const bool is_swept = field.name.size() > 2 && field.name[0] == 's' && field.name[2] == '_';
        if (!is_output && !is_swept)
            reads.insert(reads.end(), 3, access(field.name, 0, random_offset(random, radius_)));
    }
    for (const Written& each : written)
        reads.insert(reads.end(), 3, access(each.name, each.time, random_offset(random, radius_)));
    return random.pick(reads);
}

}  // namespace halo::test
