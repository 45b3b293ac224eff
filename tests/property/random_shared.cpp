#include "random_shared.h"

#include <fmt/format.h>

#include <utility>

#include "random_expression.h"

namespace halo::test {

namespace {

class SharedGenerator : private ExpressionGenerator {
public:
    SharedGenerator(RandomProgram& program, const GeneratorOptions& options)
        : ExpressionGenerator(program.seed ^ 0x5b8d21f6c3e7a904ULL, options), made_(program) {}

    void run() {
        if (made_.is_staggered() || made_.interleaved || !random_.chance(50)) return;
        const std::string axis(1, "xyzg"[random_.between(0, made_.rank - 1)]);
        const std::vector<std::string> guards{
            fmt::format("on {} in 1..-2", axis),
            std::string(axis == "x" ? "on x in 2..-3" : "on x in 2..-3, " + axis + " in 2..-3"),
            fmt::format("on {}.low", axis), fmt::format("where not idx({}) == 1", axis),
            fmt::format("where idx({}) > 1", axis)};
        const std::string guard = random_.pick(guards);
        const int members = random_.between(2, 5);
        for (int m = 0; m < members; ++m)
            add(random_.chance(85) ? guard : random_.pick(guards));
        StatementSpec reader;
        reader.target = "after_shared";
        reader.value = half(read(1));
        declare(reader.target);
        made_.statements.push_back(std::move(reader));
    }

private:
    void add(const std::string& guard) {
        StatementSpec statement;
        statement.guard = guard;
        statement.value = binary(Kind::sum, half(read(1)), half(read(0)));
        if (options_.reductions && !outputs_.empty() && random_.chance(45)) {
            statement.kind = StatementSpec::Kind::reduction;
            statement.target = fmt::format("of_shared{}", reductions_made_++);
            statement.operation = random_.pick<std::string>({"sum", "sum", "min", "max"});
            made_.statements.push_back(std::move(statement));
            return;
        }
        if (!outputs_.empty() && random_.chance(25)) {  // for the same cells again, or for others
            statement.target = random_.pick(outputs_);
            own_ = statement.target;
            statement.value =
                binary(Kind::sum, random_.chance(70) ? access(own_, 0, {}) : half(read(1)), half(read(1)));
            own_.clear();
            made_.statements.push_back(std::move(statement));
            return;
        }
        const bool is_named = random_.chance(25);
        if (is_named) {  // by a let, which others may read, too
            StatementSpec let;
            let.kind = StatementSpec::Kind::let;
            let.target = fmt::format("let_shared{}", outputs_.size());
            let.value = std::exchange(statement.value, access(let.target, 0, {}));
            if (random_.chance(60)) {  // which takes long, where it is chosen
                let.value = binary(Kind::quotient, std::move(let.value),
                                   binary(Kind::sum, number(2, 1), half(read(0))));
                statement.value = binary(Kind::chosen, std::move(statement.value), half(read(0)));
                statement.value.name = random_.pick<std::string>(
                    {"idx(x) < 3", "sqrt(idx(x)) > 2 or idx(x) == 1", "idx(x) != 3 and sqrt(idx(x)) <= 2"});
            }
            if (!made_.fields.empty()) let.faces = made_.fields.front().faces;
            made_.statements.push_back(std::move(let));
        }
        statement.target = fmt::format("shared{}", outputs_.size());
        declare(statement.target);
        outputs_.push_back(statement.target);
        made_.statements.push_back(std::move(statement));
    }

    void declare(const std::string& name) {
        made_.fields.push_back({name, options_.f64 && random_.chance(25), made_.fields.front().faces});
    }

    // A field, or what a statement before has left, at the cell or beside it.
    Node read(int reach) {
        Cells offset{};
        for (int axis = 0; axis < made_.rank && reach > 0; ++axis)
            if (random_.chance(30)) offset[static_cast<std::size_t>(axis)] = random_.between(-reach, reach);
        if (outputs_.empty() || random_.chance(40)) return access(made_.fields.front().name, 0, offset);
        const std::string& output = random_.pick(outputs_);
        if (output == own_ || random_.chance(70)) offset = {};
        return access(output, 0, offset);
    }

    RandomProgram& made_;
    std::vector<std::string> outputs_;
    std::string own_;  // that the statement writes again, which it reads at the cell alone
    int reductions_made_ = 0;
};

}  // namespace

void add_shared_cells(RandomProgram& program, const GeneratorOptions& options) {
    SharedGenerator(program, options).run();
}

}  // namespace halo::test
