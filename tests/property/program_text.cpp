// A random program as .halo text.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "random_program.h"
#include "runtime/core/text.h"

namespace halo::test {

namespace {

constexpr const char* kAxes[] = {"x", "y", "z", "g"};

class Writer {
public:
    explicit Writer(const RandomProgram& program) : program_(program) {}

    std::string run() {
        std::string axes = "x";
        for (int axis = 1; axis < program_.rank; ++axis)
            axes += fmt::format(", {}", kAxes[axis]);
        put("stencil random({}) {{\n", axes);
        put("    param p = 3/4, q = -5/8, k = 0.3, h = 0.75, dt = 0.4\n");
        put("    spacing ");
        for (int axis = 0; axis < program_.rank; ++axis)
            put("{}{} = {}", axis == 0 ? "" : ", ", kAxes[axis], program_.spacing[axis]);
        put("\n    coef weight[1..4] = [4/5, -1/5, 4/105, -1/280]\n");
        put("    param coef launched[1..4] = [0.8, -0.2, 0.04, -0.004]\n");
        put("    def blend(a_, b_) = a_/2 + (b_ - a_*b_/4)/4\n");
        if (std::any_of(program_.statements.begin(), program_.statements.end(),
                        [](const StatementSpec& each) { return sums_table(each.value); }))
            put("    table rows_ {{ a, b: f32; c: f64; m = p*a*b + 1/2 }}\n");
        if (reads_series()) put("    series series_\n");
        const auto is_at_points = [](const StatementSpec& each) {
            return each.kind == StatementSpec::Kind::inject || each.kind == StatementSpec::Kind::sample;
        };
        if (std::any_of(program_.statements.begin(), program_.statements.end(), is_at_points))
            put("    points shots, phones: {}\n", program_.interpolation);
        for (const FieldSpec& field : program_.fields) {
            if (!is_used(field.name)) continue;
            const std::vector<const FieldSpec*> parts = components(field);
            if (parts.size() < 2) {
                put("    field {}: {}{}{}\n", field.name, field.f64 ? "f64" : "f32",
                    over(field) + coarse(field.coarse) + position(field.name),
                    faces(field.faces, field.over));
            } else if (parts.front() == &field) {
                std::string inside;
                for (const FieldSpec* part : parts) {
                    inside += fmt::format("{}{}: {}", inside.empty() ? "" : ", ", part->name,
                                          part->f64 ? "f64" : "f32");
                }
                put("    field all_{}: ({}){}\n", field.name, inside, properties(parts));
            }
        }
        for (std::size_t i = 0; i < program_.statements.size(); ++i)
            statement(i);
        put("}}\n");
        return std::move(text_);
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }

    static bool mentions(const Node& node, const std::string& name) {
        if (node.name == name) return true;
        if (node.kind == Node::Kind::chosen && node.name.starts_with(name + " ")) return true;
        return std::any_of(node.operands.begin(), node.operands.end(),
                           [&](const Node& operand) { return mentions(operand, name); });
    }

    bool reads_series() const {
        const auto in_faces = [](const Faces& faces) {
            return std::any_of(faces.kind.begin(), faces.kind.end(), [](const auto& sides) {
                return sides[0].find("series_") != std::string::npos ||
                       sides[1].find("series_") != std::string::npos;
            });
        };
        return std::any_of(program_.statements.begin(), program_.statements.end(),
                           [&](const StatementSpec& each) {
                               return reads_series(each.value) || in_faces(each.faces);
                           }) ||
               std::any_of(program_.fields.begin(), program_.fields.end(),
                           [&](const FieldSpec& each) { return in_faces(each.faces); });
    }
    static bool reads_series(const Node& node) {
        return node.name.find("series_") != std::string::npos ||
               std::any_of(node.operands.begin(), node.operands.end(),
                           [](const Node& each) { return reads_series(each); });
    }
    static bool sums_table(const Node& node) {
        return node.kind == Node::Kind::table_sum ||
               std::any_of(node.operands.begin(), node.operands.end(), sums_table);
    }

    bool is_used(const std::string& field) const {
        return std::any_of(
            program_.statements.begin(), program_.statements.end(),
            [&](const StatementSpec& each) { return each.target == field || mentions(each.value, field); });
    }

    // What is stored together is of one type, and all or none of it is assigned, at one level.
    bool may_lie_beside(const FieldSpec& a, const FieldSpec& b) const {
        const auto sort = [&](const FieldSpec& field) {
            for (const StatementSpec& each : program_.statements)
                if (each.target == field.name) return static_cast<int>(each.kind);
            return -1;
        };
        return a.f64 == b.f64 && sort(a) == sort(b);
    }

    // What differs from place to place is said for each component alone.
    bool can_share(const Faces& a, const Faces& b) const {
        const std::string text = faces(a);
        return text == faces(b) && text.find("idx(") == std::string::npos &&
               text.find("pos(") == std::string::npos;
    }

    // Those that share the field's declaration, itself among them.
    std::vector<const FieldSpec*> components(const FieldSpec& field) const {
        std::vector<const FieldSpec*> parts;
        for (const FieldSpec& other : program_.fields) {
            const bool joins =
                &other == &field ||
                (field.over == other.over && field.over == kAllAxes && program_.has_components &&
                 field.coarse == 1 && other.coarse == 1 && !program_.is_staggered() && is_used(other.name) &&
                 (program_.own_faces || can_share(field.faces, other.faces)) &&
                 (!program_.interleaved || may_lie_beside(field, other)));
            if (joins) parts.push_back(&other);
        }
        return parts;
    }

    // A field as it is read and assigned: "u", or "all_u.v[x+1]", and by turns "all_u[x+1].v".
    std::string access(const std::string& name, const std::string& subscript) const {
        for (const FieldSpec& field : program_.fields) {
            if (field.name != name) continue;
            const std::vector<const FieldSpec*> parts = components(field);
            if (parts.size() < 2) break;
            const std::string whole = "all_" + parts.front()->name;
            const bool is_after = (name.size() + subscript.size()) % 2 == 0;
            return is_after ? whole + subscript + "." + name : whole + "." + name + subscript;
        }
        return name + subscript;
    }

    // Of components that are one field: boundaries for all of them, or for each.
    std::string properties(const std::vector<const FieldSpec*>& parts) const {
        std::string inside = program_.own_faces ? "" : boundary(parts.front()->faces, "");
        for (const FieldSpec* part : parts) {
            if (!program_.own_faces || !part->faces.written) continue;
            inside +=
                fmt::format("{}{}", inside.empty() ? "" : "; ",
                            boundary(part->faces, "all_" + parts.front()->name + "." + part->name + " "));
        }
        if (program_.interleaved) inside += inside.empty() ? "layout aos" : "; layout aos";
        return inside.empty() ? "" : " { " + inside + " }";
    }

    std::string faces(const Faces& faces, unsigned over = kAllAxes) const {
        return faces.written ? " { " + boundary(faces, "", over) + " }" : "";
    }

    static bool has(unsigned axes, int axis) { return ((axes >> static_cast<unsigned>(axis)) & 1u) != 0; }

    // `part`: "v.x " where it is for that component alone.
    std::string boundary(const Faces& faces, const std::string& part, unsigned over = kAllAxes) const {
        if (!faces.written) return "";
        std::string inside;
        for (int axis = 0; axis < program_.rank; ++axis) {
            if (!has(over, axis)) continue;
            const auto& [low, high] = faces.kind[axis];
            if (low == high) {
                inside += fmt::format("{}{}{} {}", inside.empty() ? "" : ", ", part, kAxes[axis], low);
            } else {
                inside += fmt::format("{}{}{}.low {}, {}{}.high {}", inside.empty() ? "" : ", ", part,
                                      kAxes[axis], low, part, kAxes[axis], high);
            }
        }
        return "boundary " + inside;
    }

    unsigned halves_of(const std::string& name) const {
        const auto found = program_.halves.find(name);
        return found == program_.halves.end() ? 0 : found->second;
    }

    bool is_field(const std::string& name) const {
        return std::any_of(program_.fields.begin(), program_.fields.end(),
                           [&](const FieldSpec& field) { return field.name == name; });
    }

    // Whether anything that the text declares lies half a cell away: fields that nothing uses are left out of
    // it.
    bool has_halves() const {
        return std::any_of(program_.halves.begin(), program_.halves.end(), [&](const auto& each) {
            return each.second != 0 && (!is_field(each.first) || is_used(each.first));
        });
    }

    std::string position(const std::string& name) const {
        if (!program_.is_staggered()) return "";
        std::string result;
        for (int axis = 0; axis < program_.rank; ++axis) {
            if (!has(over_of(name), axis)) continue;
            const bool is_half = has(halves_of(name), axis);
            result +=
                fmt::format("{}{}{}", result.empty() ? " at " : ", ", kAxes[axis], is_half ? "+1/2" : "");
        }
        return result;
    }

    std::string over(const FieldSpec& field) const {
        std::string result;
        for (int axis = 0; axis < program_.rank; ++axis)
            if (has(field.over, axis))
                result += fmt::format("{}{}", result.empty() ? " over " : ", ", kAxes[axis]);
        return field.over == kAllAxes ? "" : result;
    }

    static std::string coarse(int factor) { return factor == 1 ? "" : fmt::format(" on coarse({})", factor); }

    unsigned over_of(const std::string& name) const {
        const auto found = std::find_if(program_.fields.begin(), program_.fields.end(),
                                        [&](const FieldSpec& field) { return field.name == name; });
        return found == program_.fields.end() ? kAllAxes : found->over;
    }
    // The axes along which what is read lies half a cell from the statement.
    unsigned halves_apart(const std::string& name) const {
        return (halves_of(name) ^ place_) & over_of(name);
    }

    bool joins(std::size_t index) const {
        return joins_around(index) &&
               program_.statements[index].order == program_.statements[index - 1].order;
    }
    bool joins_around(std::size_t index) const {
        return index > 0 && index < program_.statements.size() && program_.statements[index].joins &&
               program_.statements[index].around == program_.statements[index - 1].around;
    }

    void statement(std::size_t index) {
        const StatementSpec& each = program_.statements[index];
        if (!each.around.empty() && !joins_around(index)) put("    {} {{\n", each.around);
        if (!each.order.empty() && !joins(index)) put("    {} {{\n", each.order);
        statement(each);
        if (!each.order.empty() && !joins(index + 1)) put("    }}\n");
        if (!each.around.empty() && !joins_around(index + 1)) put("    }}\n");
    }

    void statement(const StatementSpec& each) {
        in_reduction_ = each.kind == StatementSpec::Kind::reduction;
        place_ = halves_of(each.target);
        const std::string value = expression(each.value);
        const bool is_block = !each.guard.empty() && each.kind != StatementSpec::Kind::reduction;
        if (is_block) put("    {} {{\n", each.guard);
        assignment(each, value);
        if (is_block) put("    }}\n");
    }

    void assignment(const StatementSpec& each, const std::string& value) {
        switch (each.kind) {
            case StatementSpec::Kind::let:
                return put("    let {}{}{} = {}\n", each.target, position(each.target), faces(each.faces),
                           value);
            case StatementSpec::Kind::output:
                return put("    {} = {}\n", access(each.target, ""), value);
            case StatementSpec::Kind::state:
                return put("    {} = {}\n", access(each.target, "[t+1]"), value);
            case StatementSpec::Kind::iterate:
                return put("    {} = {}\n", access(each.target, each.order.empty() ? "[ot+1]" : "[it+1]"),
                           value);
            case StatementSpec::Kind::reduction:
                return put("    reduce {} = {}({}) start 1/2{}{}{}\n", each.target, each.operation, value,
                           coarse(each.coarse), each.guard.empty() ? "" : " ", each.guard);
            case StatementSpec::Kind::inject:  // small, so that states stay within their bounds, more or less
                return put("    inject {} at shots += ({}) * shots.wavelet[t] * shots.gain / 64\n",
                           access(each.target, each.time == 0 ? "" : "[t+1]"), value);
            case StatementSpec::Kind::sample:
                return put("    sample {} at phones into phones.{}[t]\n", value, each.target);
        }
    }

    // `halves`: the axes along which what is read lies half a cell from the statement.
    std::string subscript(int time, const Cells& offset, unsigned halves = 0) const {
        std::string inside;
        if (time >= kIterate) {
            constexpr std::array kLevels{"it", "it+1", "ot", "ot+1"};
            inside = kLevels.at(static_cast<std::size_t>(time - kIterate));
        } else if (time != 0) {
            inside = fmt::format("t{:+}", time);
        }
        for (int axis = 0; axis < program_.rank; ++axis) {
            const bool is_half = ((halves >> static_cast<unsigned>(axis)) & 1u) != 0;
            if (offset[axis] == 0 && !is_half) continue;
            inside += fmt::format("{}{}", inside.empty() ? "" : ", ", kAxes[axis]);
            if (offset[axis] != 0) inside += fmt::format("{:+}", offset[axis]);
            if (is_half) inside += "+1/2";
        }
        return inside.empty() ? inside : "[" + inside + "]";
    }

    // Of a field on another grid: each axis is named.
    std::string subscript_of_grid(const Node& node) const {
        std::string inside = node.time == 0 ? "" : fmt::format("t{:+}", node.time);
        for (int axis = 0; axis < program_.rank; ++axis) {
            const int offset = node.offset[axis];
            const std::string distance = offset == 0 ? "" : fmt::format("{:+}", offset);
            inside += inside.empty() ? "" : ", ";
            if (node.numerator > 1)
                inside += fmt::format("{}*{}{}", node.numerator, kAxes[axis], distance);
            else if (distance.empty())
                inside += fmt::format("{}/{}", kAxes[axis], node.denominator);
            else
                inside += fmt::format("({}{})/{}", kAxes[axis], distance, node.denominator);
        }
        return "[" + inside + "]";
    }

    static std::string filled(const std::string& pattern, const std::string& argument) {
        std::string result;
        for (char letter : pattern) {
            if (letter == '@') {
                result += "(" + argument + ")";
            } else {
                result += letter;
            }
        }
        return "(" + result + ")";
    }

    // name[axis+r, …] at the place of the statement.
    std::string weighted(const Node& node, const char* sign) const {
        std::string inside = fmt::format("{}{}r", kAxes[node.axis], sign);
        const unsigned halves = halves_of(node.name) ^ place_;
        for (int axis = 0; axis < program_.rank; ++axis) {
            if (((halves >> static_cast<unsigned>(axis)) & 1u) == 0) continue;
            inside += axis == node.axis ? "+1/2" : "";
        }
        for (int axis = 0; axis < program_.rank; ++axis) {
            if (axis != node.axis && ((halves >> static_cast<unsigned>(axis)) & 1u) != 0)
                inside += fmt::format(", {}+1/2", kAxes[axis]);
        }
        return access(node.name, fmt::format("[{}]", inside));
    }

    // A sum over a box across two axes whose weights depend on the distance; odd along the first where the
    // time is 3.
    std::string boxed(const Node& node) const {
        const int other = (node.axis + 1) % program_.rank;
        const unsigned halves = halves_of(node.name) ^ place_;
        std::string inside;
        for (int axis = 0; axis < program_.rank; ++axis) {
            const bool is_half = ((halves >> static_cast<unsigned>(axis)) & 1u) != 0;
            const bool is_summed = axis == node.axis || axis == other;
            if (!is_half && !is_summed) continue;
            inside += fmt::format("{}{}{}{}", inside.empty() ? "" : ", ", kAxes[axis],
                                  axis == node.axis ? "+r"
                                  : is_summed       ? "+rr"
                                                    : "",
                                  is_half ? "+1/2" : "");
        }
        const std::string range = fmt::format("in -{}..{}", node.order, node.order);
        return fmt::format("(sum(r {}{}) {}/(4 + r*r{}) * {} / 16)", range,
                           other == node.axis ? "" : ", rr " + range, node.time == 3 ? "r" : "1",
                           other == node.axis ? "" : " + rr*rr",
                           access(node.name, fmt::format("[{}]", inside)));
    }

    // "u > 1/4" with u where the statement is. A condition begins with a field's name, or with none.
    std::string condition(const std::string& text) const {
        const std::size_t end = text.find(' ');
        if (end == std::string::npos) return text;
        const std::string name = text.substr(0, end);
        if (!is_field(name)) return text;
        return access(name, subscript(0, {}, halves_of(name) ^ place_)) + text.substr(end);
    }

    // The operand of a derivative: by turns where the statement is and half a cell away.
    std::string differentiated(const Node& node) {
        const unsigned outer = place_;
        const bool is_away = has_halves() && !in_reduction_ && (node.order / 2 + node.axis) % 2 == 0;
        if (is_away) place_ ^= 1u << static_cast<unsigned>(node.axis);
        std::string text = expression(node.operands[0]);
        place_ = outer;
        return text;
    }

    std::string expression(const Node& node) {
        using Kind = Node::Kind;
        const auto a = [&] { return expression(node.operands[0]); };
        const auto b = [&] { return expression(node.operands[1]); };
        const char* axis = kAxes[node.axis];
        switch (node.kind) {
            case Kind::number:
                return node.denominator == 1 ? fmt::format("({})", node.numerator)
                                             : fmt::format("({}/{})", node.numerator, node.denominator);
            case Kind::param:
                return node.name;
            case Kind::access:
                return access(node.name, node.numerator == node.denominator
                                             ? subscript(node.time, node.offset, halves_apart(node.name))
                                             : subscript_of_grid(node));
            case Kind::coordinate:
                return node.order == 0 ? fmt::format("(idx({0}) / len({0}))", axis)
                                       : fmt::format("(pos({0}) / (1 + abs(pos({0}))))", axis);
            case Kind::sum:
                return fmt::format("({} + {})", a(), b());
            case Kind::difference:
                return fmt::format("({} - {})", a(), b());
            case Kind::product:
                return fmt::format("{} * {}", factor(node.operands[0]), factor(node.operands[1]));
            case Kind::minimum:
                return fmt::format("min({}, {})", a(), b());
            case Kind::maximum:
                return fmt::format("max({}, {})", a(), b());
            case Kind::negation:
                return fmt::format("(-{})", factor(node.operands[0]));
            case Kind::quotient:
                return fmt::format("({} / (2 + abs({})))", factor(node.operands[0]), b());
            case Kind::power:
                return fmt::format("({})^{}", a(), node.order);
            case Kind::function:
                return filled(node.name, a());
            case Kind::blend:
                return fmt::format("blend({}, {})", a(), b());
            case Kind::chosen:
                return fmt::format("(if {} then {} else {})", condition(node.name), a(), b());
            case Kind::capped:
                return fmt::format("(if {0} < 1/4 then {0} else 1/4)", a());
            case Kind::shifted: {
                const std::string at = subscript(0, node.offset);
                return fmt::format("({}){}", a(), at);
            }
            case Kind::weighted:
                if (node.time >= 2) return boxed(node);
                return fmt::format("(sum(r in 1..{}) {}[r] * ({} - {}))", node.order,
                                   node.time == 1 ? "launched" : "weight", weighted(node, "+"),
                                   weighted(node, "-"));
            case Kind::derivative:
                return fmt::format("d({}, {}, order={})", differentiated(node), axis, node.order);
            case Kind::second_derivative:
                return fmt::format("d2({}, {}, order={})", differentiated(node), axis, node.order);
            case Kind::laplacian:
                return fmt::format("laplacian({}, order={})", a(), node.order);
            case Kind::table_sum:
                return fmt::format("(sum(s_ in rows_) {{ let e_ = {}; (s_.{} * e_ + s_.a) / 512 }})", a(),
                                   node.name);
        }
        return "0";
    }

    // Products group to the left in text; a product on the right keeps its brackets.
    std::string factor(const Node& node) {
        const std::string text = expression(node);
        return node.kind == Node::Kind::product ? "(" + text + ")" : text;
    }

    const RandomProgram& program_;
    std::string text_;
    unsigned place_ = 0;  // of what is written
    bool in_reduction_ = false;
};

}  // namespace

std::string RandomProgram::text() const {
    return Writer(*this).run() + chained;
}

std::string RandomProgram::describe() const {
    return fmt::format("seed {}, grid {}\n{}", seed, rt::extent_text(rank, grid), text());
}

}  // namespace halo::test
