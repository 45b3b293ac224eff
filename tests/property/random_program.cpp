#include "random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "random_axes.h"
#include "random_chains.h"
#include "random_copies.h"
#include "random_generator.h"
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

ProgramGenerator::ProgramGenerator(std::uint64_t seed, const GeneratorOptions& options)
    : ExpressionGenerator(seed, options) {
    program_.seed = seed;
}

RandomProgram ProgramGenerator::run() {
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

void ProgramGenerator::stagger() {
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

void ProgramGenerator::add_edge_cases() {
    Random random(program_.seed ^ 0x2b5e0c6f8d1a9347ULL);
    for (StatementSpec& statement : program_.statements) {
        if (random.chance(30)) multiply_by_zero(statement.value, random);
        if (!statement.guard.starts_with("on ") || !random.chance(50)) continue;
        const std::string axis(1, "xyzg"[random.between(0, program_.rank - 1)]);
        const auto range = random.pick<std::string>({"-2..2", "-4..0", "-1..6", "3..-4", "1..-1", "40..50"});
        statement.guard = fmt::format("on {} in {}", axis, range);
        if (axis != "x" && random.chance(50)) statement.guard += ", x.high";
    }
}

void ProgramGenerator::multiply_by_zero(Node& node, Random& random) {
    for (Node& operand : node.operands)
        multiply_by_zero(operand, random);
    if (node.kind != Kind::product || !random.chance(20)) return;
    for (Node& operand : node.operands) {
        if (operand.kind != Kind::number) continue;
        operand = number(0, 1);
        return;
    }
}

void ProgramGenerator::make_fields() {
    static const std::vector<std::string> plain{"u", "v", "w", "a", "b"};
    static const std::vector<std::string> awkward{"u_next", "threadIdx", "tile_u", "i", "float", "row"};
    const int count = random_.between(1, 3);
    for (int i = 0; i < count; ++i) {
        FieldSpec field;
        field.name = random_.chance(85) ? plain[static_cast<std::size_t>(i)]
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

int ProgramGenerator::least_extent(int axis) const {
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

void ProgramGenerator::make_grid() {
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

void ProgramGenerator::make_statement(int index, bool is_last) {
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

void ProgramGenerator::add_written(StatementSpec statement, int time) {
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

bool ProgramGenerator::sums_table(const Node& node) {
    return node.kind == Kind::table_sum ||
           std::any_of(node.operands.begin(), node.operands.end(), sums_table);
}

std::string ProgramGenerator::random_guard() {
    const std::string axis(1, "xyzg"[random_.between(0, program_.rank - 1)]);
    return random_.pick<std::string>({"on x.low", fmt::format("on {}.high", axis),
                                      fmt::format("on {} in 1..-2", axis), fmt::format("on {} in 0..2", axis),
                                      fmt::format("on {} in -3..-1", axis), "where idx(x) < 3",
                                      fmt::format("where not idx({}) == 0", axis),
                                      fmt::format("where idx(x) + idx({}) >= len(x) / 2", axis),
                                      "where mod(step, 2) == 1", "where step >= 1"});
}

void ProgramGenerator::make_state(StatementSpec statement) {
    const std::size_t chosen =
        static_cast<std::size_t>(random_.between(0, static_cast<int>(unassigned_.size()) - 1));
    statement.target = unassigned_[chosen];
    unassigned_.erase(unassigned_.begin() + static_cast<std::ptrdiff_t>(chosen));
    const auto readable = std::find_if(readable_.begin(), readable_.end(),
                                       [&](const Readable& each) { return each.name == statement.target; });
    readable->is_input = false;
    drop_conditions_on(statement.target);
    if (random_.chance(35)) {
        const int oldest = random_.pick<int>({1, 1, 1, 2, 2, 3, 4});
        if (random_.chance(70)) readable->times.push_back(-1);
        readable->times.push_back(-oldest);
    }
    Node change = tamed(expression(options_.max_depth), 1);
    if (random_.chance(60)) {
        statement.value = binary(Kind::sum, half(access(statement.target, 0, {})), half(std::move(change)));
    } else {
        statement.value = std::move(change);
    }
    add_written(std::move(statement), 1);
    readable->times.push_back(1);
}

void ProgramGenerator::make_reduction(int index) {
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
    if (statement.operation == "mean" && statement.guard.starts_with("where")) statement.operation = "sum";
    program_.statements.push_back(std::move(statement));
}

void ProgramGenerator::drop_conditions_on(const std::string& field) {
    for (StatementSpec& statement : program_.statements)
        drop_conditions(statement.value, field);
}

void ProgramGenerator::drop_conditions(Node& node, const std::string& field) {
    for (Node& operand : node.operands)
        drop_conditions(operand, field);
    if (node.kind == Kind::chosen && node.order == 1 && node.name.starts_with(field + " ")) {
        node.name = "len(x) > 3";  // no coordinate: a let that got its boundary by inference keeps it
        node.order = 0;
    }
}

bool ProgramGenerator::mentions_coordinate(const Node& node) {
    if (node.kind == Kind::coordinate) return true;
    if (node.kind == Kind::chosen && node.order == 0) return true;
    return std::any_of(node.operands.begin(), node.operands.end(), mentions_coordinate);
}

RandomProgram random_program(std::uint64_t seed, const GeneratorOptions& options) {
    RandomProgram made = ProgramGenerator(seed, options).run();
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
