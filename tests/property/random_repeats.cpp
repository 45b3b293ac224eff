// Repeats of random programs, within each other, too.
#include <fmt/format.h>

#include <utility>

#include "random_generator.h"

namespace halo::test {

void ProgramGenerator::add_repeat() {
    Random random(program_.seed ^ 0x7b1e94c05da83f62ULL);
    if (program_.is_staggered() || options_.interleaved || !random.chance(50)) return;
    auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(program_.statements.size())));
    while (at < program_.statements.size() && program_.statements[at].joins)
        ++at;  // a sweep stays whole
    const std::vector<Written> written = written_before(at);
    std::vector<StatementSpec> made;
    const auto add = [&](StatementSpec::Kind kind, const std::string& target, Node value) -> StatementSpec& {
        StatementSpec statement;
        statement.kind = kind;
        statement.target = target;
        statement.value = std::move(value);
        statement.joins = !made.empty();
        made.push_back(std::move(statement));
        return made.back();
    };
    const int members = random.between(1, 2);
    const auto name = [](int member) { return fmt::format("i{}", member); };
    for (int m = 0; m < members; ++m) {
        Node value = binary(
            Kind::sum, half(access(name(random.between(0, members - 1)), kIterate, random_offset(random, 2))),
            half(sweep_read(random, written)));
        if (m > 0 && random.chance(60))
            value = binary(Kind::sum, half(std::move(value)),
                           half(access(name(0), kNextIterate, random_offset(random, 1))));
        StatementSpec& statement = add(StatementSpec::Kind::iterate, name(m), std::move(value));
        if (random.chance(30))
            statement.guard = random.pick<std::string>({"on x in 1..-2", "where idx(x) != 2"});
        program_.fields.push_back({name(m), options_.f64 && random.chance(25), fitting_faces()});
    }
    if (random.chance(40)) {  // cells of one colour, from those of the other
        Cells beside{};
        beside[0] = random.pick<int>({-1, 1});
        program_.fields.push_back({"coloured", false, fitting_faces()});
        for (const char* guard : {"where mod(idx(x), 2) == 0", "where mod(idx(x), 2) == 1"})
            add(StatementSpec::Kind::state, "coloured",
                binary(Kind::sum, half(access("coloured", 1, beside)),
                       half(access(name(0), kNextIterate, random_offset(random, 1)))))
                .guard = guard;
    }
    if (options_.reductions && random.chance(50)) {
        StatementSpec& reduction =
            add(StatementSpec::Kind::reduction, "iterated",
                binary(Kind::difference, access(name(0), kNextIterate, {}), access(name(0), kIterate, {})));
        reduction.operation = random.pick<std::string>({"max", "min", "sum"});
    }
    std::string order = fmt::format("repeat it to {}", random.between(1, 4));
    if (made.back().kind == StatementSpec::Kind::reduction && made.back().operation != "sum" &&
        random.chance(60))
        order = fmt::format("repeat it until iterated {}, at most {}",
                            random.pick<std::string>({"> -0.01", "< 0.05", "> 0 and iterated < 1", "> 1e9"}),
                            random.between(1, 6));
    for (StatementSpec& each : made)
        each.order = order;
    if (random.chance(50)) add_outer_repeat(random, written, made);
    program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at), made.begin(),
                               made.end());
    StatementSpec reader;  // sees the halos of what was iterated
    reader.kind = StatementSpec::Kind::output;
    reader.target = "after";
    reader.value = half(access(name(0), 1, random_offset(random, 2)));
    program_.fields.push_back({reader.target, false, fitting_faces()});
    program_.statements.push_back(std::move(reader));
}

void ProgramGenerator::add_outer_repeat(Random& random, const std::vector<Written>& written,
                                        std::vector<StatementSpec>& made) {
    std::string order = fmt::format("repeat {}", random.between(1, 3));
    if (random.chance(60)) {
        StatementSpec statement;
        statement.kind = StatementSpec::Kind::iterate;
        statement.target = "o0";
        statement.value = binary(Kind::sum, half(access("o0", kOuter, random_offset(random, 2))),
                                 half(access("i0", 1, random_offset(random, 1))));
        if (random.chance(25)) statement.guard = "where idx(x) != 1";
        program_.fields.push_back({"o0", options_.f64 && random.chance(25), fitting_faces()});
        const bool is_last = random.chance(70);
        if (random.chance(70)) {
            StatementSpec& inner = made.front();
            inner.value = binary(Kind::sum, half(std::move(inner.value)),
                                 half(access("o0", is_last ? kOuter : kNextOuter, random_offset(random, 1))));
        }
        made.insert(is_last ? made.end() : made.begin(), statement);
        order = fmt::format("repeat ot to {}", random.between(1, 4));
        if (options_.reductions && random.chance(60)) {
            StatementSpec reduction;
            reduction.kind = StatementSpec::Kind::reduction;
            reduction.target = "outermost";
            reduction.operation = random.pick<std::string>({"max", "min"});
            reduction.value =
                binary(Kind::difference, access("o0", kNextOuter, {}), access("o0", kOuter, {}));
            made.push_back(std::move(reduction));
            if (random.chance(70))
                order = fmt::format("repeat ot until outermost {}, at most {}",
                                    random.pick<std::string>({"> -0.01", "< 0.05", "> 1e9"}),
                                    random.between(1, 5));
        }
    } else if (random.chance(50)) {
        StatementSpec statement;
        statement.kind = StatementSpec::Kind::output;
        statement.target = "between";
        statement.value = half(sweep_read(random, written));
        program_.fields.push_back({"between", false, fitting_faces()});
        made.insert(made.begin(), statement);
    }
    for (StatementSpec& each : made) {
        each.around = order;
        each.joins = true;
    }
    made.front().joins = false;
}

}  // namespace halo::test
