#include "random_axes.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_expression.h"

namespace halo::test {

namespace {

class AxesGenerator : private ExpressionGenerator {
public:
    AxesGenerator(RandomProgram& program, const GeneratorOptions& options)
        : ExpressionGenerator(program.seed ^ 0x4d1f0a6be38c9257ULL, options), made_(program) {}

    void run() {
        if (made_.rank < 2 || !random_.chance(50)) return;
        const int count = random_.between(1, 2);
        for (int i = 0; i < count; ++i)
            add_field(fmt::format("fewer{}", i));
        for (StatementSpec& statement : made_.statements)
            if (random_.chance(60))
                statement.value =
                    with_read(std::move(statement.value), count, may_read_beside(statement) ? 1 : 0);
    }

private:
    void add_field(const std::string& name) {
        const int all = (1 << made_.rank) - 1;
        FieldSpec field{name, options_.f64 && random_.chance(25), {}};
        field.over = static_cast<unsigned>(random_.between(1, all - 1));
        field.faces.written = true;
        for (int axis = 0; axis < made_.rank; ++axis) {
            auto& kinds = field.faces.kind[static_cast<std::size_t>(axis)];
            const auto& others = made_.fields.front().faces.kind[static_cast<std::size_t>(axis)];
            for (std::string& kind : kinds)
                kind = random_.pick<std::string>({"clamp", "mirror", "fixed 1/2", "fixed p/2 - len(x)/512"});
            if (others[0] == "periodic" || random_.chance(20)) kinds.fill("periodic");
        }
        if (made_.is_staggered())
            made_.halves[name] = static_cast<unsigned>(random_.between(0, all)) & field.over;
        made_.fields.push_back(std::move(field));
    }

    static bool may_read_beside(const StatementSpec& statement) {
        return statement.kind != StatementSpec::Kind::inject && statement.kind != StatementSpec::Kind::sample;
    }

    Node with_read(Node value, int count, int beside) {
        const FieldSpec& field =
            made_.fields[made_.fields.size() - static_cast<std::size_t>(random_.between(1, count))];
        Cells offset{};
        for (int axis = 0; axis < made_.rank; ++axis)
            if (((field.over >> static_cast<unsigned>(axis)) & 1u) != 0 && random_.chance(50))
                offset[static_cast<std::size_t>(axis)] =
                    random_.between(-options_.max_radius, options_.max_radius) * beside;
        Node read = access(field.name, 0, offset);
        if (random_.chance(40)) return binary(Node::Kind::product, std::move(value), std::move(read));
        return binary(Node::Kind::sum, half(std::move(value)), half(std::move(read)));
    }

    RandomProgram& made_;
};

// In place of boundaries that follow from a spacing.
void fit_faces(Faces& faces, int axis) {
    const std::string position = fmt::format("pos({})", "xyzg"[axis]);
    for (int other = 0; other < 3 && faces.written; ++other)
        for (std::string& kind : faces.kind[static_cast<std::size_t>(other)]) {
            const bool has_slope = kind.starts_with("gradient") || kind.starts_with("robin");
            const bool has_degree = kind.starts_with("extrapolate") && kind != "extrapolate 0";
            if (kind.find(position) != std::string::npos || (other == axis && (has_slope || has_degree)))
                kind = "clamp";
        }
}

}  // namespace

void stretch_axes(RandomProgram& program) {
    std::vector<Faces*> all;
    for (FieldSpec& field : program.fields)
        all.push_back(&field.faces);
    for (StatementSpec& statement : program.statements) {
        if (statement.kind == StatementSpec::Kind::inject || statement.kind == StatementSpec::Kind::sample)
            return;
        all.push_back(&statement.faces);
    }
    Random random(program.seed ^ 0x2b7c90e1d4a35f68ULL);
    for (int axis = 0; axis < program.rank; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        std::set<bool> is_periodic;
        for (const Faces* faces : all)
            for (const std::string& kind : faces->kind[along])
                if (faces->written && kind != "free") is_periodic.insert(kind == "periodic");
        if (is_periodic.size() > 1 || random.chance(20)) continue;
        for (Faces* faces : all)
            fit_faces(*faces, axis);
        program.spacing[along] = fmt::format("h + {}/(4 + idx({}))", random.between(1, 8), "xyzg"[axis]);
    }
}

void add_fields_over_fewer_axes(RandomProgram& program, const GeneratorOptions& options) {
    AxesGenerator(program, options).run();
}

}  // namespace halo::test
