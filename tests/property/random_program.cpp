#include "random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "random_axes.h"
#include "random_chains.h"
#include "random_copies.h"
#include "random_expression.h"
#include "random_grids.h"
#include "random_rewrites.h"
#include "random_shared.h"

namespace halo::test {

std::uint64_t Random::next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

int Random::between(int low, int high) {
    const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<int>(next() % span);
}

namespace {

class Generator : private ExpressionGenerator {
public:
    Generator(std::uint64_t seed, const GeneratorOptions& options) : ExpressionGenerator(seed, options) {
        program_.seed = seed;
    }

    RandomProgram run() {
        program_.rank = random_.between(options_.min_rank, options_.max_rank);
        radius_ = random_.between(0, options_.max_radius);
        all_periodic_ = random_.chance(20);
        for (int axis = 0; axis < program_.rank; ++axis)
            program_.spacing[axis] = random_.pick<std::string>({"1", "1", "1/2", "3/2", "2", "h"});
        make_fields();
        const int statements = random_.between(1, options_.max_statements);
        for (int i = 0; i < statements; ++i)
            make_statement(i, i + 1 == statements);
        make_grid();
        stagger();
        add_edge_cases();
        if (options_.points) add_points();
        if (options_.sweeps) add_sweeps();
        if (options_.repeats) add_repeat();
        return std::move(program_);
    }

private:
    // By numbers of its own, so that the programs are otherwise the same.
    void stagger() {
        Random random(program_.seed ^ 0x57a99e2ed0f1e1d5ULL);
        if (!random.chance(30)) return;
        const int places = (1 << program_.rank) - 1;
        for (const FieldSpec& field : program_.fields)
            program_.halves[field.name] = static_cast<unsigned>(random.between(0, places));
        for (StatementSpec& statement : program_.statements) {
            if (statement.kind != StatementSpec::Kind::let) continue;
            program_.halves[statement.target] = static_cast<unsigned>(random.between(0, places));
            // What is half a cell away may lie past a face.
            if (!all_periodic_ && !statement.faces.written) statement.faces = make_faces();
        }
    }

    // Ranges from both ends, many of them empty, and factors of zero; by numbers of their own.
    void add_edge_cases() {
        Random random(program_.seed ^ 0x2b5e0c6f8d1a9347ULL);
        for (StatementSpec& statement : program_.statements) {
            if (random.chance(30)) multiply_by_zero(statement.value, random);
            if (!statement.guard.starts_with("on ") || !random.chance(50)) continue;
            const std::string axis(1, "xyzg"[random.between(0, program_.rank - 1)]);
            const auto range =
                random.pick<std::string>({"-2..2", "-4..0", "-1..6", "3..-4", "1..-1", "40..50"});
            statement.guard = fmt::format("on {} in {}", axis, range);
            if (axis != "x" && random.chance(50)) statement.guard += ", x.high";
        }
    }

    // Some of the products whose one factor is a number.
    static void multiply_by_zero(Node& node, Random& random) {
        for (Node& operand : node.operands)
            multiply_by_zero(operand, random);
        if (node.kind != Kind::product || !random.chance(20)) return;
        for (Node& operand : node.operands) {
            if (operand.kind != Kind::number) continue;
            operand = number(0, 1);
            return;
        }
    }

    // ---- points, by numbers of their own

    struct Written {  // that statements at points may read or inject into
        std::string name;
        int time = 0;
    };

    void add_points() {
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
            program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at),
                                       statement);
        }
    }

    // States (time 1) and outputs (time 0) that the first statements write.
    std::vector<Written> written_before(std::size_t count) const {
        std::vector<Written> result;
        for (std::size_t i = 0; i < count; ++i) {
            const StatementSpec& each = program_.statements[i];
            if (each.kind == StatementSpec::Kind::state) result.push_back({each.target, 1});
            if (each.kind == StatementSpec::Kind::output) result.push_back({each.target, 0});
        }
        return result;
    }

    // ---- sweeps, by numbers of their own

    void add_sweeps() {
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
            sum = binary(Kind::sum, half(std::move(sum)),
                         half(access(each.target, 0, random_offset(random, 1))));
        }
        reader.value = std::move(sum);
        program_.fields.push_back({reader.target, false, fitting_faces()});
        program_.statements.push_back(std::move(reader));
    }

    // ---- a repeat, by numbers of its own

    void add_repeat() {
        Random random(program_.seed ^ 0x7b1e94c05da83f62ULL);
        if (program_.is_staggered() || options_.interleaved || !random.chance(50)) return;
        auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(program_.statements.size())));
        while (at < program_.statements.size() && program_.statements[at].joins)
            ++at;  // a sweep stays whole
        const std::vector<Written> written = written_before(at);
        std::vector<StatementSpec> made;
        const auto add = [&](StatementSpec::Kind kind, const std::string& target,
                             Node value) -> StatementSpec& {
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
            Node value =
                binary(Kind::sum,
                       half(access(name(random.between(0, members - 1)), kIterate, random_offset(random, 2))),
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
            StatementSpec& reduction = add(
                StatementSpec::Kind::reduction, "iterated",
                binary(Kind::difference, access(name(0), kNextIterate, {}), access(name(0), kIterate, {})));
            reduction.operation = random.pick<std::string>({"max", "min", "sum"});
        }
        std::string order = fmt::format("repeat it to {}", random.between(1, 4));
        if (made.back().kind == StatementSpec::Kind::reduction && made.back().operation != "sum" &&
            random.chance(60))
            order =
                fmt::format("repeat it until iterated {}, at most {}",
                            random.pick<std::string>({"> -0.01", "< 0.05", "> 0 and iterated < 1", "> 1e9"}),
                            random.between(1, 6));
        for (StatementSpec& each : made)
            each.order = order;
        if (random.chance(50)) add_outer_repeat(random, written, made);
        program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at),
                                   made.begin(), made.end());
        StatementSpec reader;  // sees the halos of what was iterated
        reader.kind = StatementSpec::Kind::output;
        reader.target = "after";
        reader.value = half(access(name(0), 1, random_offset(random, 2)));
        program_.fields.push_back({reader.target, false, fitting_faces()});
        program_.statements.push_back(std::move(reader));
    }

    // A repeat around one that iterates i0: without a level, or with a field that each of its iterations
    // makes of i0.
    void add_outer_repeat(Random& random, const std::vector<Written>& written,
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
                inner.value =
                    binary(Kind::sum, half(std::move(inner.value)),
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

    // For a field that comes when the grid is made.
    Faces fitting_faces() {
        Faces faces = make_faces();
        for (int axis = 0; axis < program_.rank; ++axis)
            for (std::string& kind : faces.kind[static_cast<std::size_t>(axis)])
                if (is_formula(kind) && program_.grid[axis] <= 2 * options_.max_radius) kind = "clamp";
        return faces;
    }

    Cells random_offset(Random& random, int most) {
        Cells offset{};
        for (int axis = 0; axis < program_.rank; ++axis)
            if (random.chance(50)) offset[static_cast<std::size_t>(axis)] = random.between(-most, most);
        return offset;
    }

    // One to three statements that read each other's cells before, and cells at the cell that are done
    // already; where they have values before the sweep, also those of cells that are to come.
    void add_sweep(const std::string& name, Random& random) {
        const int axis = random.between(0, program_.rank - 1);
        const bool upwards = random.chance(50);
        const bool is_nested = program_.rank > 1 && random.chance(40);
        const int inner =
            (axis + random.between(1, program_.rank > 1 ? program_.rank - 1 : 1)) % program_.rank;
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
            if (is_nested)
                put(inner, inner_upwards, lines == 0 ? random.between(1, 2) : random.between(-2, 2));
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
            const auto swept = [&] {
                return half(access(fmt::format("{}{}", name, read), 0, cell_before()));
            };
            Node value = swept();
            if (is_nested && random.chance(60))
                value = binary(Kind::sum, half(std::move(value)), half(swept()));
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
        for (std::size_t i = at; i < program_.statements.size();
             ++i) {  // what states need is done in each step
            StatementSpec& later = program_.statements[i];
            if (later.kind != StatementSpec::Kind::state || !later.guard.empty() || !random.chance(60))
                continue;
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
        program_.statements.insert(program_.statements.begin() + static_cast<std::ptrdiff_t>(at),
                                   made.begin(), made.end());
    }

    // What is there before the sweep: fields as they were, and what was written in this step.
    Node sweep_read(Random& random, const std::vector<Written>& written) {
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

    // A let that reads past a free face has no value there, and is not read at points.
    bool has_free_faces() const {
        const auto is_free = [&](const Faces& faces) {
            if (!faces.written) return true;
            for (int axis = 0; axis < program_.rank; ++axis)
                for (const std::string& kind : faces.kind[axis])
                    if (kind == "free") return true;
            return false;
        };
        return std::any_of(program_.fields.begin(), program_.fields.end(),
                           [&](const FieldSpec& field) { return is_free(field.faces); }) ||
               std::any_of(
                   program_.statements.begin(), program_.statements.end(), [&](const StatementSpec& each) {
                       return each.kind == StatementSpec::Kind::let && !all_periodic_ && is_free(each.faces);
                   });
    }

    Node point_value(Random& random, const std::vector<Written>& written, const Written* target,
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

    std::string boundary_kind() {
        const std::string kind =
            random_.pick<std::string>({"fixed", "fixed", "clamp", "mirror", "free", "periodic", "periodic"});
        if (random_.chance(20)) {
            // What differs from place to place is said for each component alone.
            const std::string formula = formula_kind();
            if (!shares_faces() || formula.find('(') == std::string::npos) return formula;
        }
        if (kind != "fixed") return kind;
        return random_.pick<std::string>(
            {"fixed 0", "fixed 1/2", "fixed -3/4", "fixed p/2", "fixed 1 - abs(q)"});
    }

    std::string formula_kind() {
        if (options_.series && random_.chance(20))
            return random_.pick<std::string>({"fixed series_[step]", "gradient series_[step/2] / 4"});
        const int axis = random_.between(0, program_.rank - 1);
        const std::string name(1, "xyzg"[axis]);
        return random_.pick<std::string>({"antimirror", "symmetric", "antisymmetric", "extrapolate 0",
                                          "extrapolate 1", "extrapolate 2",
                                          fmt::format("fixed idx({0}) / len({0})", name),
                                          fmt::format("fixed p / (2 + abs(pos({})))", name), "gradient q/4",
                                          fmt::format("gradient idx({0}) / (8 * len({0}))", name),
                                          "robin 1/8, 2, p", "robin p/8, 1, q/4"});
    }

    Faces make_faces() {
        Faces faces;
        faces.written = true;
        for (int axis = 0; axis < program_.rank; ++axis) {
            auto& [low, high] = faces.kind[axis];
            low = all_periodic_ ? "periodic" : boundary_kind();
            high = low;
            if (low == "periodic" || random_.chance(50)) continue;
            do {
                high = boundary_kind();
            } while (high == "periodic");
        }
        return faces;
    }

    bool shares_faces() const { return options_.interleaved && program_.seed % 2 == 0; }

    // Components have the boundaries of their field.
    void share_faces(FieldSpec& field) const {
        if (shares_faces() && !program_.fields.empty()) field.faces = program_.fields.front().faces;
    }

    void make_fields() {
        static const std::vector<std::string> plain{"u", "v", "w", "a", "b"};
        static const std::vector<std::string> awkward{"u_next", "threadIdx", "tile_u", "i", "float", "row"};
        const int count = random_.between(1, 3);
        for (int i = 0; i < count; ++i) {
            FieldSpec field;
            field.name = random_.chance(85)
                             ? plain[static_cast<std::size_t>(i)]
                             : awkward[static_cast<std::size_t>(2 * i + random_.between(0, 1))];
            field.f64 = options_.f64 && random_.chance(25);
            field.faces = make_faces();
            if (!all_periodic_ && random_.chance(8)) field.faces = Faces{};  // none is written: free
            share_faces(field);
            readable_.push_back({field.name, {0}, true, true});
            unassigned_.push_back(field.name);
            program_.fields.push_back(std::move(field));
        }
    }

    // What such a boundary reads must lie inside the grid.
    static bool is_formula(const std::string& kind) {
        const auto is = [&](const char* plain) { return kind.starts_with(plain); };
        if (is("fixed"))
            return kind.find("idx(") != std::string::npos || kind.find("pos(") != std::string::npos ||
                   kind.find("series_") != std::string::npos;
        return !kind.empty() && !is("periodic") && !is("clamp") && !is("mirror") && !is("free");
    }
    // A field's halo is at most as wide as an offset of an offset.
    int least_extent(int axis) const {
        int least = 1;
        const auto look = [&](const Faces& faces) {
            const auto& [low, high] = faces.kind[axis];
            if (is_formula(low) || is_formula(high)) least = 2 * options_.max_radius + 1;
        };
        for (const FieldSpec& field : program_.fields)
            look(field.faces);
        int margin = 0;  // a let has no value in layers that its reads leave out, and those add up
        for (const StatementSpec& statement : program_.statements) {
            look(statement.faces);
            if (statement.kind == StatementSpec::Kind::let) margin += options_.max_radius;
        }
        for (const StatementSpec& statement : program_.statements) {
            const auto& [low, high] = statement.faces.kind[axis];
            const bool shows = (!low.empty() && low != "free") || (!high.empty() && high != "free");
            if (shows && statement.kind == StatementSpec::Kind::let)
                least = std::max(least, 2 * (margin + options_.max_radius) + 1);
        }
        return least;
    }

    void make_grid() {
        static const std::vector<int> sizes{1, 2, 3, 4, 5, 7, 8, 9, 17, 31, 32, 33, 65, 130};
        std::int64_t left = options_.max_cells;
        for (int axis = 0; axis < program_.rank; ++axis)
            left /= least_extent(axis);
        for (int axis = 0; axis < program_.rank; ++axis) {
            const int least = least_extent(axis);
            int size = std::max(random_.pick(sizes), least);
            while (size > least * std::max<std::int64_t>(left, 1))
                size = std::max((size + 1) / 2, least);
            program_.grid[axis] = size;
            left = left * least / size;
        }
    }

    // ---- statements

    void make_statement(int index, bool is_last) {
        StatementSpec statement;
        const int choice = random_.between(1, 100);
        const bool written =
            std::any_of(program_.statements.begin(), program_.statements.end(), [](const auto& each) {
                return each.kind == StatementSpec::Kind::state || each.kind == StatementSpec::Kind::output;
            });
        const bool must_write = is_last && !written;
        if (!must_write && options_.reductions && choice <= 15) {
            return make_reduction(index);
        } else if (!must_write && choice <= 45) {
            statement.kind = StatementSpec::Kind::let;
        } else if (choice <= 85 && !unassigned_.empty()) {
            statement.kind = StatementSpec::Kind::state;
        } else {
            statement.kind = StatementSpec::Kind::output;
        }
        if (statement.kind == StatementSpec::Kind::state) {
            return make_state(std::move(statement));
        } else {
            statement.target =
                fmt::format("{}{}", statement.kind == StatementSpec::Kind::let ? "m" : "out", index);
            statement.value = tamed(expression(options_.max_depth), 1);
            if (statement.kind == StatementSpec::Kind::let) {
                // A let of coordinates alone takes no boundary: it reads a field in any case.
                Node field = access(program_.fields.front().name, 0, {});
                statement.value = binary(Kind::sum, half(statement.value), half(std::move(field)));
                const bool at_offsets = all_periodic_ || random_.chance(75);
                if (at_offsets) statement.faces = make_faces();
                if (all_periodic_ && random_.chance(50)) statement.faces = Faces{};
                if (all_periodic_ && !statement.faces.written && mentions_coordinate(statement.value))
                    statement.faces = make_faces();
                readable_.push_back({statement.target, {0}, at_offsets, false});
            } else {
                FieldSpec field{statement.target, options_.f64 && random_.chance(25), make_faces()};
                share_faces(field);
                program_.fields.push_back(std::move(field));
                add_written(std::move(statement), 0);
                readable_.push_back({program_.statements.back().target, {0}, true, false});
                return;
            }
        }
        program_.statements.push_back(std::move(statement));
    }

    // Some cells alone, and some of them again, in place.
    void add_written(StatementSpec statement, int time) {
        // A sum over a table is not computed for some cells alone.
        if (random_.chance(20) && !sums_table(statement.value)) statement.guard = random_guard();
        program_.statements.push_back(statement);
        while (random_.chance(20)) {
            const bool is_coloured = radius_ > 0 && random_.chance(50);
            Cells offset{};
            if (is_coloured) offset[0] = random_.between(0, (radius_ - 1) / 2) * 2 + 1;
            Node before = access(statement.target, time, offset);
            Node change = tamed(expression(options_.max_depth - 2), 1);
            if (sums_table(change)) return;
            statement.value = binary(Kind::sum, half(std::move(before)), half(std::move(change)));
            statement.guard = is_coloured ? "where idx(x) - 2*floor(idx(x)/2) == 1" : random_guard();
            program_.statements.push_back(statement);
        }
    }

    static bool sums_table(const Node& node) {
        return node.kind == Kind::table_sum ||
               std::any_of(node.operands.begin(), node.operands.end(), sums_table);
    }

    std::string random_guard() {
        const std::string axis(1, "xyzg"[random_.between(0, program_.rank - 1)]);
        return random_.pick<std::string>(
            {"on x.low", fmt::format("on {}.high", axis), fmt::format("on {} in 1..-2", axis),
             fmt::format("on {} in 0..2", axis), fmt::format("on {} in -3..-1", axis), "where idx(x) < 3",
             fmt::format("where not idx({}) == 0", axis),
             fmt::format("where idx(x) + idx({}) >= len(x) / 2", axis), "where mod(step, 2) == 1",
             "where step >= 1"});
    }

    void make_state(StatementSpec statement) {
        const std::size_t chosen =
            static_cast<std::size_t>(random_.between(0, static_cast<int>(unassigned_.size()) - 1));
        statement.target = unassigned_[chosen];
        unassigned_.erase(unassigned_.begin() + static_cast<std::ptrdiff_t>(chosen));
        const auto readable = std::find_if(readable_.begin(), readable_.end(), [&](const Readable& each) {
            return each.name == statement.target;
        });
        readable->is_input = false;
        drop_conditions_on(statement.target);
        if (random_.chance(35)) {
            const int oldest = random_.pick<int>({1, 1, 1, 2, 2, 3, 4});
            if (random_.chance(70)) readable->times.push_back(-1);
            readable->times.push_back(-oldest);
        }
        Node change = tamed(expression(options_.max_depth), 1);
        if (random_.chance(60)) {
            statement.value =
                binary(Kind::sum, half(access(statement.target, 0, {})), half(std::move(change)));
        } else {
            statement.value = std::move(change);
        }
        add_written(std::move(statement), 1);
        readable->times.push_back(1);
    }

    void make_reduction(int index) {
        StatementSpec statement;
        statement.kind = StatementSpec::Kind::reduction;
        statement.target = fmt::format("r{}", index);
        statement.operation = random_.pick<std::string>({"sum", "min", "max", "norm2", "mean", "norm1"});
        const bool exact = statement.operation == "min" || statement.operation == "max";
        if (exact && random_.chance(30)) reductions_.push_back(statement.target);  // reads its own last value
        statement.value = tamed(expression(2), 1);
        if (exact && (reductions_.empty() || reductions_.back() != statement.target))
            reductions_.push_back(statement.target);
        if (random_.chance(30)) statement.guard = random_guard();
        if (statement.operation == "mean" && statement.guard.starts_with("where"))
            statement.operation = "sum";
        program_.statements.push_back(std::move(statement));
    }

    // A condition on an input is exact; once the field is a state it is not. Those of earlier statements are
    // changed.
    void drop_conditions_on(const std::string& field) {
        for (StatementSpec& statement : program_.statements)
            drop_conditions(statement.value, field);
    }
    static void drop_conditions(Node& node, const std::string& field) {
        for (Node& operand : node.operands)
            drop_conditions(operand, field);
        if (node.kind == Kind::chosen && node.order == 1 && node.name.starts_with(field + " ")) {
            node.name = "len(x) > 3";  // no coordinate: a let that got its boundary by inference keeps it
            node.order = 0;
        }
    }

    static bool mentions_coordinate(const Node& node) {
        if (node.kind == Kind::coordinate) return true;
        if (node.kind == Kind::chosen && node.order == 0) return true;
        return std::any_of(node.operands.begin(), node.operands.end(), mentions_coordinate);
    }

    std::vector<std::string> unassigned_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const GeneratorOptions& options) {
    RandomProgram made = Generator(seed, options).run();
    made.has_components = seed % 3 == 0 || options.interleaved;
    made.interleaved = options.interleaved;
    made.own_faces = made.has_components && seed % 2 == 1;
    if (options.interleaved) made.halves.clear();  // components lie at one place
    if (seed % 4 == 1) add_rewrites(made);
    if (options.fewer_axes) add_fields_over_fewer_axes(made, options);
    if (options.shared_cells) add_shared_cells(made, options);
    if (options.chains) add_chain(made);
    if (options.several_grids) add_fields_on_coarser_grids(made, options);
    if (options.stretched && seed % 4 == 2) stretch_axes(made);
    add_copies(made);
    return made;
}

std::vector<double> table_rows(std::uint64_t seed, std::size_t columns) {
    Random random(seed * 16 + 11);
    const int rows = random.pick<int>({0, 1, 7, 30, 257, 300});
    std::vector<double> values(static_cast<std::size_t>(rows) * columns);
    for (double& value : values)
        value = static_cast<float>(static_cast<double>(random.next() >> 40) / 8388608.0 - 1.0);
    return values;
}

std::vector<double> series_values(std::uint64_t seed) {
    Random random(seed * 16 + 13);
    std::vector<double> values(random.pick<std::size_t>({1, 2, 3, 5, 40}));
    for (double& value : values)
        value = static_cast<double>(random.next() >> 12) / 2251799813685248.0 - 1.0;
    return values;
}

std::vector<double> initial_cells(std::uint64_t seed, const std::string& field, int time, std::size_t count) {
    for (char letter : field)
        seed = seed * 131 + static_cast<unsigned char>(letter);
    Random random(seed * 8 + static_cast<std::uint64_t>(time + 4));
    std::vector<double> cells(count);
    for (double& cell : cells)
        cell = static_cast<float>(static_cast<double>(random.next() >> 40) / 8388608.0 - 1.0);
    return cells;
}

}  // namespace halo::test
