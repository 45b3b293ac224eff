#include "random_axes.h"

#include <fmt/format.h>

#include <utility>

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

}  // namespace

void add_fields_over_fewer_axes(RandomProgram& program, const GeneratorOptions& options) {
    AxesGenerator(program, options).run();
}

}  // namespace halo::test
