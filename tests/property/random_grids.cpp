#include "random_grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "random_expression.h"

namespace halo::test {

namespace {

class GridsGenerator : private ExpressionGenerator {
public:
    GridsGenerator(RandomProgram& program, const GeneratorOptions& options)
        : ExpressionGenerator(program.seed ^ 0x61c3a97f20d5be84ULL, options), made_(program) {}

    void run() {
        if (made_.is_staggered() || made_.interleaved || !random_.chance(85)) return;
        const int factor = random_.pick<int>({2, 2, 2, 3, 4});
        factors_ = {factor};
        if (random_.chance(50)) factors_.push_back(factor * random_.pick<int>({2, 2, 3}));
        fit_grid();
        for (const FieldSpec& field : made_.fields)
            if (field.over == kAllAxes && role_of(field.name) != StatementSpec::Kind::output)
                known_.push_back({field.name, 1});
        const int count = random_.between(1, 4);
        for (int i = 0; i < count; ++i)
            add_statement(fmt::format("g{}", i));
        if (random_.chance(40)) add_colours();
        read_from_grid();
        add_reader();
        if (options_.reductions && random_.chance(50)) add_reduction();
    }

private:
    struct Known {  // that a statement behind all others may read
        std::string name;
        int factor = 1;
        int time = 0;
    };

    // A grid has a cell of the coarsest, and no rest where one may be periodic.
    void fit_grid() {
        const int most = factors_.back();
        for (int axis = 0; axis < made_.rank; ++axis) {
            std::int64_t& cells = made_.grid[axis];
            cells = std::max<std::int64_t>(cells, most);
            whole_[static_cast<std::size_t>(axis)] = random_.chance(30);
            if (whole_[static_cast<std::size_t>(axis)]) cells = (cells + most - 1) / most * most;
        }
    }

    StatementSpec::Kind role_of(const std::string& name) const {
        for (const StatementSpec& each : made_.statements)
            if (each.target == name)
                return each.kind == StatementSpec::Kind::state ? each.kind : StatementSpec::Kind::output;
        return StatementSpec::Kind::state;  // an input is read as a state is
    }

    Faces make_faces(int factor) {
        Faces faces;
        faces.written = true;
        for (int axis = 0; axis < made_.rank; ++axis) {
            auto& kinds = faces.kind[static_cast<std::size_t>(axis)];
            const bool may_compute = made_.grid[axis] / factor > 2 * options_.max_radius;
            for (std::string& kind : kinds) {
                kind = random_.pick<std::string>({"clamp", "mirror", "fixed 1/2", "fixed p/2 - len(x)/512"});
                if (may_compute && random_.chance(30))
                    kind = random_.pick<std::string>(
                        {"antisymmetric", "symmetric", "extrapolate 1", "gradient 1/8"});
            }
            if (whole_[static_cast<std::size_t>(axis)] && random_.chance(50)) kinds.fill("periodic");
        }
        return faces;
    }

    const FieldSpec& field_of(const std::string& name) const {
        return *std::find_if(made_.fields.begin(), made_.fields.end(),
                             [&](const FieldSpec& field) { return field.name == name; });
    }
    bool is_free(const FieldSpec& field, int axis) const {
        if (!field.faces.written) return true;
        const auto& kinds = field.faces.kind[static_cast<std::size_t>(axis)];
        return kinds[0] == "free" || kinds[1] == "free" || kinds[0].empty() || kinds[1].empty();
    }
    bool may_compute_past(const FieldSpec& field, int axis) const {
        const auto& kinds = field.faces.kind[static_cast<std::size_t>(axis)];
        const auto is_plain = [](const std::string& kind) {
            return kind == "clamp" || kind == "mirror" || kind == "periodic" || kind == "fixed 1/2";
        };
        return (is_plain(kinds[0]) && is_plain(kinds[1])) ||
               made_.grid[axis] / field.coarse > 2 * options_.max_radius;
    }

    // A read in a statement of a grid so coarse.
    Node read(const Known& known, int factor) {
        const FieldSpec& field = field_of(known.name);
        Node node = access(known.name, known.time, {});
        node.numerator = std::max(factor / known.factor, 1);
        node.denominator = std::max(known.factor / factor, 1);
        for (int axis = 0; axis < made_.rank; ++axis) {
            int& offset = node.offset[static_cast<std::size_t>(axis)];
            const bool stays = is_free(field, axis) || !may_compute_past(field, axis);
            if (node.numerator > 1) {
                offset = random_.between(0, node.numerator - 1);
                if (!stays && random_.chance(40)) offset = random_.between(-2, node.numerator + 1);
            } else if (!stays && random_.chance(60)) {
                offset = random_.between(-2, node.denominator + 1);
            }
        }
        return node;
    }

    bool can_read(const Known& known, int factor) const {
        return factor % known.factor == 0 || (known.factor % factor == 0 && known.factor > 1);
    }

    Node value_for(int factor) {
        std::vector<Known> readable;
        for (const Known& known : known_)
            if (can_read(known, factor)) readable.push_back(known);
        Node sum = random_.chance(70) ? number(random_.between(-1, 1), 4) : coordinate();
        const int terms = random_.between(1, 3);
        for (int i = 0; i < terms && !readable.empty(); ++i) {
            const Known& known = random_.pick(readable);
            Node term = read(known, factor);
            if (known.factor == factor && random_.chance(20)) term = derived(known);
            sum = binary(Kind::sum, half(std::move(sum)), half(std::move(term)));
        }
        return sum;
    }

    Node coordinate() {
        Node node;
        node.kind = Kind::coordinate;
        node.axis = random_.between(0, made_.rank - 1);
        node.order = random_.between(0, 1);
        return half(std::move(node));
    }

    // Divided by the square of a distance of 1/2 or more, twice as far or further.
    Node derived(const Known& known) {
        const FieldSpec& field = field_of(known.name);
        for (int axis = 0; axis < made_.rank; ++axis)
            if (is_free(field, axis) || !may_compute_past(field, axis))
                return access(known.name, known.time, {});
        Node node = unary(Kind::second_derivative, access(known.name, known.time, {}));
        node.axis = random_.between(0, made_.rank - 1);
        node.order = 2;
        return half(half(half(std::move(node))));
    }

    StatementSpec& append(StatementSpec::Kind kind, const std::string& target, int factor, Node value) {
        StatementSpec statement;
        statement.kind = kind;
        statement.target = target;
        statement.coarse = factor;
        statement.value = std::move(value);
        made_.statements.push_back(std::move(statement));
        return made_.statements.back();
    }

    FieldSpec& declare(const std::string& name, int factor) {
        FieldSpec field{name, options_.f64 && random_.chance(25), make_faces(factor)};
        field.coarse = factor;
        made_.fields.push_back(std::move(field));
        return made_.fields.back();
    }

    // At the end of the step: what comes before gives states their new level.
    void add_statement(const std::string& name) {
        const int factor = random_.pick(factors_);
        const int kind = random_.between(1, 100);
        if (kind <= 20) {  // an input
            declare(name, factor);
            known_.push_back({name, factor});
            return;
        }
        declare(name, factor);
        Node value = value_for(factor);
        if (kind <= 55) {
            known_.push_back({name, factor});
            StatementSpec& made =
                append(StatementSpec::Kind::state, name, factor,
                       binary(Kind::sum, half(read({name, factor}, factor)), half(std::move(value))));
            if (random_.chance(30))
                made.guard = random_.pick<std::string>({"on x in 1..-2", "where idx(x) != 2", "on x.high"});
            known_.push_back({name, factor, 1});
        } else {
            append(StatementSpec::Kind::output, name, factor, std::move(value));
            known_.push_back({name, factor});
        }
    }

    // Cells of one colour from those of the other, several times.
    void add_colours() {
        const int factor = random_.pick(factors_);
        declare("hues", factor);
        append(StatementSpec::Kind::output, "hues", factor, value_for(factor));
        const std::string order = random_.chance(60) ? fmt::format("repeat {}", random_.between(1, 3)) : "";
        for (const char* guard : {"where mod(idx(x), 2) == 0", "where mod(idx(x), 2) == 1"}) {
            Cells beside{};
            beside[0] = random_.pick<int>({-1, 1});
            Node next =
                may_compute_past(field_of("hues"), 0) ? access("hues", 0, beside) : access("hues", 0, {});
            StatementSpec& made = append(StatementSpec::Kind::output, "hues", factor,
                                         binary(Kind::sum, half(std::move(next)), half(value_for(factor))));
            made.guard = guard;
            made.order = order;
            made.joins = guard[std::string(guard).size() - 1] == '1' && !order.empty();
        }
        known_.push_back({"hues", factor});
    }

    // States of the grid go on from what the coarser ones held before the step.
    void read_from_grid() {
        std::vector<Known> held;
        for (const Known& known : known_)
            if (known.factor > 1 && known.time == 0 && role_of(known.name) == StatementSpec::Kind::state)
                held.push_back(known);
        if (held.empty()) return;
        for (StatementSpec& statement : made_.statements) {
            const bool is_plain = statement.coarse == 1 && statement.order.empty() &&
                                  statement.guard.empty() &&
                                  (statement.kind == StatementSpec::Kind::state ||
                                   statement.kind == StatementSpec::Kind::output);
            if (!is_plain || !random_.chance(50)) continue;
            statement.value =
                binary(Kind::sum, half(std::move(statement.value)), half(read(random_.pick(held), 1)));
        }
    }

    // Of the grid itself, which sees the halos of the coarser ones at the end.
    void add_reader() {
        Node sum = number(0, 1);
        for (const Known& known : known_)
            if (known.factor > 1) sum = binary(Kind::sum, half(std::move(sum)), half(read(known, 1)));
        Faces faces = make_faces(1);
        made_.fields.push_back({"refined", options_.f64 && random_.chance(50), faces});
        append(StatementSpec::Kind::output, "refined", 1, std::move(sum));
    }

    void add_reduction() {
        const Known& known = random_.pick(known_);
        if (known.factor == 1) return;
        StatementSpec& made =
            append(StatementSpec::Kind::reduction, "of_coarse", known.factor, read(known, known.factor));
        made.operation = random_.pick<std::string>({"max", "min", "sum", "mean"});
        if (random_.chance(30)) made.guard = "on x in 0..-2";
    }

    RandomProgram& made_;
    std::vector<int> factors_;
    std::array<bool, 3> whole_{};
    std::vector<Known> known_;
};

}  // namespace

void add_fields_on_coarser_grids(RandomProgram& program, const GeneratorOptions& options) {
    GridsGenerator(program, options).run();
}

}  // namespace halo::test
