#include "random_rewrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace halo::test {

namespace {

Node half_of(Node operand) {
    Node half, product;
    half.kind = Node::Kind::number;
    half.denominator = 2;
    product.kind = Node::Kind::product;
    product.operands = {std::move(half), std::move(operand)};
    return product;
}

Node mean(Node a, Node b) {
    Node sum;
    sum.kind = Node::Kind::sum;
    sum.operands = {half_of(std::move(a)), half_of(std::move(b))};
    return sum;
}

Node read(const std::string& name, int time = 0) {
    Node access;
    access.kind = Node::Kind::access;
    access.name = name;
    access.time = time;
    return access;
}

class Rewriter {
public:
    explicit Rewriter(RandomProgram& program) : made_(program), random_(program.seed * 32 + 17) {}

    void run() {
        for (std::size_t index = 0; index < made_.statements.size(); ++index) {
            if (!can_be_written_again(index) || !random_.chance(70)) continue;
            const std::string target = made_.statements[index].target;
            const std::size_t state = state_behind(index);
            // Before a state that then depends on what is written again, or at the end.
            const std::size_t at =
                state < made_.statements.size() && random_.chance(60) ? state : made_.statements.size();
            if (at < made_.statements.size()) {
                StatementSpec& reader = made_.statements[at];
                reader.value = mean(std::move(reader.value), read(target));
            }
            index = write_again(target, at);
        }
    }

private:
    using Kind = StatementSpec::Kind;

    bool can_be_written_again(std::size_t index) const {
        const StatementSpec& statement = made_.statements[index];
        const bool is_declared =
            std::ranges::find(made_.fields, statement.target, &FieldSpec::name) != made_.fields.end();
        return statement.kind == Kind::output && statement.guard.empty() && is_plain(statement) &&
               is_declared &&
               std::ranges::count(made_.statements, statement.target, &StatementSpec::target) == 1;
    }
    static bool is_plain(const StatementSpec& statement) {
        return statement.order.empty() && statement.around.empty() && !statement.joins &&
               statement.coarse == 1;
    }

    unsigned halves(const std::string& name) const {
        const auto found = made_.halves.find(name);
        return found == made_.halves.end() ? 0 : found->second;
    }

    // The first state that is written behind it, where the output lies.
    std::size_t state_behind(std::size_t index) const {
        const std::string& target = made_.statements[index].target;
        std::size_t at = index + 1;
        while (at < made_.statements.size() &&
               !(made_.statements[at].kind == Kind::state && is_plain(made_.statements[at]) &&
                 halves(made_.statements[at].target) == halves(target)))
            ++at;
        return at;
    }

    // `seen` reads the output, also at neighbours where its statement's value has such; the output is written
    // anew from it; `late` reads both. Gives the place of the last.
    std::size_t write_again(const std::string& target, std::size_t at) {
        const auto field = std::ranges::find(made_.fields, target, &FieldSpec::name);
        const FieldSpec like = *field;
        const auto add = [&](const std::string& name, Node value) {
            if (name != target) {
                FieldSpec made = like;
                made.name = name;
                made_.fields.push_back(std::move(made));
                if (halves(target) != 0) made_.halves[name] = halves(target);
            }
            StatementSpec statement;
            statement.kind = Kind::output;
            statement.target = name;
            statement.value = std::move(value);
            made_.statements.insert(made_.statements.begin() + static_cast<std::ptrdiff_t>(at++), statement);
        };
        Node beside = read(target);
        // Past a free face there is nothing to read; all others have a value.
        const bool has_faces =
            like.faces.written && std::ranges::none_of(like.faces.kind, [](const auto& axis) {
                return std::ranges::count(axis, "free") > 0;
            });
        if (has_faces && made_.rank > 1) beside.offset[0] = random_.pick<int>({-1, 0, 1});
        const std::string seen = target + "seen", late = target + "late";
        add(seen, half_of(std::move(beside)));
        add(target, mean(read(seen), half_of(read(input_like(target).value_or(seen)))));
        add(late, mean(read(target), read(seen)));
        return at - 1;
    }

    // A field that nothing writes, where the output lies.
    std::optional<std::string> input_like(const std::string& target) const {
        for (const FieldSpec& field : made_.fields) {
            const bool is_written =
                std::ranges::count(made_.statements, field.name, &StatementSpec::target) > 0;
            if (!is_written && field.over == kAllAxes && field.coarse == 1 &&
                halves(field.name) == halves(target))
                return field.name;
        }
        return std::nullopt;
    }

    RandomProgram& made_;
    Random random_;
};

}  // namespace

void add_rewrites(RandomProgram& program) {
    Rewriter(program).run();
}

}  // namespace halo::test
