// Points of random programs, and what is injected and sampled there.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "random_generator.h"

namespace halo::test {

void ProgramGenerator::add_points() {
    Random random(program_.seed ^ 0x6f1d5ca1e0b7a92dULL);
    if (program_.is_staggered() || !random.chance(50)) return;
    program_.interpolation = random.pick<std::string>({"linear", "linear", "sinc 2", "sinc", "sinc 5"});
    const int injections = random.between(0, 2), samples = random.between(injections == 0 ? 1 : 0, 2);
    for (int i = 0; i < injections + samples; ++i) {
        const auto at =
            static_cast<std::size_t>(random.between(1, static_cast<int>(program_.statements.size())));
        const std::vector<Written> written = written_before(at);
        StatementSpec statement;
        if (i < injections) {
            std::vector<Written> targets;
            for (const Written& each : written)
                if (each.time >= 0) targets.push_back(each);
            if (targets.empty()) continue;
            const Written& target = random.pick(targets);
            statement.kind = StatementSpec::Kind::inject;
            statement.target = target.name;
            statement.time = target.time;
            statement.value = point_value(random, written, &target, at);
        } else {
            statement.kind = StatementSpec::Kind::sample;
            statement.target = fmt::format("trace{}", i);
            statement.value = point_value(random, written, nullptr, at);
        }
        program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at), statement);
    }
}

std::vector<ProgramGenerator::Written> ProgramGenerator::written_before(std::size_t count) const {
    std::vector<Written> result;
    for (std::size_t i = 0; i < count; ++i) {
        const StatementSpec& each = program_.statements[i];
        if (each.kind == StatementSpec::Kind::state) result.push_back({each.target, 1});
        if (each.kind == StatementSpec::Kind::output) result.push_back({each.target, 0});
    }
    return result;
}

Node ProgramGenerator::point_value(Random& random, const std::vector<Written>& written, const Written* target,
                                   std::size_t at) {
    std::vector<Node> reads;
    for (const FieldSpec& field : program_.fields) {
        const bool is_output = std::any_of(
            program_.statements.begin(), program_.statements.end(), [&](const StatementSpec& each) {
                return each.kind == StatementSpec::Kind::output && each.target == field.name;
            });
        if (!is_output) reads.push_back(access(field.name, 0, {}));
    }
    for (const Written& each : written) {
        if (target != nullptr && each.name == target->name) continue;
        reads.push_back(access(each.name, each.time, {}));
    }
    for (std::size_t i = 0; i < at && !has_free_faces(); ++i) {
        if (program_.statements[i].kind == StatementSpec::Kind::let)
            reads.insert(reads.end(), 2, access(program_.statements[i].target, 0, {}));
    }
    if (target == nullptr) {  // mostly what was written
        for (const Written& each : written)
            reads.insert(reads.end(), 2, access(each.name, each.time, {}));
    }
    if (reads.empty()) return number(3, 4);
    Node value = random.pick(reads);
    if (random.chance(50)) value = binary(Kind::product, std::move(value), random.pick(reads));
    if (random.chance(30)) value = binary(Kind::sum, std::move(value), number(random.between(1, 3), 4));
    return value;
}

}  // namespace halo::test
