#include "compiler/adjoint/spec_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/adjoint/copy.h"
#include "compiler/adjoint/face_words.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/print.h"
#include "compiler/support/error.h"

namespace halo::adjoint {

using ir::ExprId;
using ir::FieldId;
using ir::Scalar;

namespace {

constexpr int kLeastShared = 3;  // operations of what is worth a name

class SpecWriter {
public:
    explicit SpecWriter(const ir::Program& program) : program_(program), a_(program_), names_(program) {
        words_.stands_for = [this](ExprId id) { return without_conversion(id); };
        words_.text = [this](ExprId id) { return word(id); };
    }

    std::string run(const std::string& comment) {
        is_staggered_ = std::ranges::any_of(program_.fields, [](const ir::Field& field) {
            return std::ranges::any_of(field.staggered, [](bool half) { return half; });
        });
        find_reads();
        if (!comment.empty()) put("{}", comment);
        std::string axes;
        for (const ir::Axis& axis : program_.axes)
            axes += (axes.empty() ? "" : ", ") + axis.name;
        put("stencil {}({}) {{\n", program_.name, axes);
        write_params();
        write_axes();
        write_points();
        for (std::uint32_t f = 0; f < program_.fields.size(); ++f)
            if (program_.fields[f].role != ir::Role::intermediate) write_field({f});
        put("\n");
        for (const ir::Statement& statement : program_.statements)
            std::visit([&](const auto& each) { write(each); }, statement);
        put("}}\n");
        return std::move(text_);
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    }

    bool is_uniform(ExprId id) { return a_.is_same_in_all_cells(id); }
    std::string text_of(ExprId id) { return ir::print(program_, id, words_); }

    // ---- expressions

    // Where the language converts by itself there is no word for it: what has one value per launch, what is
    // assigned, and whole numbers among reals.
    ExprId without_conversion(ExprId id) {
        while (const auto* unary = std::get_if<ir::Unary>(&program_[id].node)) {
            if (unary->op != ir::UnaryOp::convert) break;
            const bool is_silent = is_uniform(id) || id == root_ ||
                                   !ir::is_real(program_[unary->operand].type) ||
                                   !ir::is_real(program_[id].type);
            if (!is_silent) break;
            id = unary->operand;
        }
        return id;
    }

    std::optional<std::string> word(ExprId id) {
        if (const auto named = named_.find(id.index); named != named_.end() && id != defined_)
            return named->second;
        const ir::Expr& expr = program_[id];
        if (const auto* constant = std::get_if<ir::Constant>(&expr.node)) return number(expr, *constant);
        if (const auto* access = std::get_if<ir::Access>(&expr.node)) return read(*access);
        if (const auto* coef = std::get_if<ir::CoefElement>(&expr.node)) return element(*coef);
        if (const auto* reduction = std::get_if<ir::ReductionRef>(&expr.node)) return name_of(*reduction);
        if (const auto* number = std::get_if<ir::PointColumn>(&expr.node)) return name_of(*number);
        if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) return half_position(*binary);
        if (const auto* coordinate = std::get_if<ir::Coordinate>(&expr.node)) return position(*coordinate);
        const auto* call = std::get_if<ir::Call>(&expr.node);
        if (call && call->function == ir::Function::erf) throw InternalError("the language has no erf");
        return std::nullopt;
    }

    static std::string number(const ir::Expr& expr, const ir::Constant& constant) {
        if (expr.type == Scalar::boolean) return constant.value.is_zero() ? "false" : "true";
        const std::string digits = constant.value.to_string();
        const bool is_plain = constant.value.is_integer() && !constant.value.is_negative();
        return is_plain ? digits : "(" + digits + ")";
    }

    std::string read(const ir::Access& access) const {
        const ir::Field& field = program_[access.field];
        std::string inside = access.time == 0 ? "" : fmt::format("t{:+}", access.time);
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            const int moved = access.offset[a];
            const bool here = place_[a], there = field.staggered[a];
            if (moved == 0 && here == there) continue;
            inside += (inside.empty() ? "" : ", ") + program_.axes[a].name;
            // From the point that is computed: half a cell, and whole ones from there.
            const int whole = here && !there ? moved - 1 : moved;
            if (whole != 0) inside += fmt::format("{:+}", whole);
            if (here != there) inside += "+1/2";
        }
        return inside.empty() ? field.name : fmt::format("{}[{}]", field.name, inside);
    }

    std::string element(const ir::CoefElement& element) const {
        const ir::Coef& coef = program_[element.coef];
        std::string inside;
        int rest = element.element;
        for (std::size_t d = coef.low.size(); d-- > 0;) {
            const int count = coef.high[d] - coef.low[d] + 1;
            inside = fmt::format("{}{}{}", coef.low[d] + rest % count, inside.empty() ? "" : ", ", inside);
            rest /= count;
        }
        return fmt::format("{}[{}]", coef.name, inside);
    }

    std::string name_of(const ir::PointColumn& number) const {
        const ir::Points& points = program_[number.points];
        const auto column = static_cast<std::size_t>(number.column);
        if (column < points.columns.size()) return points.name + "." + points.columns[column];
        return fmt::format("{}.{}[t]", points.name, points.traces[column - points.columns.size()].name);
    }

    std::string name_of(const ir::ReductionRef& reference) const {
        std::uint32_t number = 0;
        for (const ir::Statement& statement : program_.statements)
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
                if (number++ == reference.reduction.index) return reduce->name;
        throw InternalError("a reduction without a statement");
    }

    // pos(x) where half a cell is added because the statement lies there: the language adds it.
    std::optional<std::string> half_position(const ir::Binary& binary) {
        const auto* coordinate = std::get_if<ir::Coordinate>(&program_[binary.left].node);
        if (binary.op != ir::BinaryOp::add || coordinate == nullptr ||
            coordinate->kind != ir::CoordinateKind::position ||
            !place_[static_cast<std::size_t>(coordinate->axis)])
            return std::nullopt;
        if (!is_uniform(binary.right)) return std::nullopt;
        return fmt::format("pos({})", program_.axes[static_cast<std::size_t>(coordinate->axis)].name);
    }

    std::optional<std::string> position(const ir::Coordinate& coordinate) {
        const bool is_half = coordinate.kind == ir::CoordinateKind::position &&
                             place_[static_cast<std::size_t>(coordinate.axis)];
        if (!is_half) return std::nullopt;
        const ir::Axis& axis = program_.axes[static_cast<std::size_t>(coordinate.axis)];
        return fmt::format("(pos({}) - ({}) / 2)", axis.name, text_of(axis.spacing));
    }

    // ---- declarations

    std::vector<ExprId> statement_roots() const {
        std::vector<ExprId> roots;
        for (const ir::Statement& statement : program_.statements)
            for (const ExprId root : ir::roots_of(statement))
                roots.push_back(root);
        return roots;
    }

    std::set<std::uint32_t> used_exprs() const {
        std::vector<ExprId> roots = statement_roots();
        for (const ir::Axis& axis : program_.axes)
            roots.insert(roots.end(), {axis.spacing, axis.origin});
        for (const ir::Field& field : program_.fields) {
            for (const auto& faces : field.boundary) {
                for (const ir::Face& face : faces) {
                    if (face.kind == ir::BoundaryKind::fixed) roots.push_back(face.value);
                    roots.insert(roots.end(), face.ghosts.begin(), face.ghosts.end());
                }
            }
        }
        const std::vector<std::uint32_t> reached = ir::reached_exprs(program_, roots);
        return {reached.begin(), reached.end()};
    }

    void write_params() {
        std::set<std::uint32_t> params, coefs;
        for (const std::uint32_t i : used_exprs()) {
            if (const auto* param = std::get_if<ir::ParamRef>(&program_.exprs[i].node))
                params.insert(param->param.index);
            if (const auto* coef = std::get_if<ir::CoefElement>(&program_.exprs[i].node))
                coefs.insert(coef->coef.index);
        }
        for (const std::uint32_t i : params) {
            const ir::Param& param = program_.params[i];
            const char* type = !param.is_integer() ? "" : param.largest > 0x7FFFFFFF ? ": i64" : ": i32";
            put("    param {}{}{}\n", param.name, type,
                param.default_value ? fmt::format(" = {}", *param.default_value) : "");
        }
        for (const std::uint32_t i : coefs)
            write_coef(program_.coefs[i]);
    }

    void write_coef(const ir::Coef& coef) {
        std::string ranges;
        for (std::size_t d = 0; d < coef.low.size(); ++d)
            ranges += fmt::format("{}{}..{}", d == 0 ? "" : ", ", coef.low[d], coef.high[d]);
        std::size_t next = 0;
        put("    param coef {}[{}]: {} = {}\n", coef.name, ranges, ir::name_of(coef.type),
            list(coef, 0, next));
    }

    static std::string list(const ir::Coef& coef, std::size_t dimension, std::size_t& next) {
        if (dimension == coef.low.size()) return fmt::format("{}", coef.defaults[next++]);
        std::string inside;
        for (int i = coef.low[dimension]; i <= coef.high[dimension]; ++i)
            inside += (inside.empty() ? "" : ", ") + list(coef, dimension + 1, next);
        return "[" + inside + "]";
    }

    void write_points() {
        std::set<std::uint32_t> used;
        for (const ir::Statement& statement : program_.statements) {
            if (const auto* inject = std::get_if<ir::Inject>(&statement)) used.insert(inject->points.index);
            if (const auto* sample = std::get_if<ir::Sample>(&statement)) used.insert(sample->points.index);
        }
        for (const std::uint32_t i : used) {
            const ir::Points& points = program_.points[i];
            const bool is_linear = points.interpolation == ir::Interpolation::linear;
            put("    points {}: {}\n", points.name,
                is_linear ? "linear" : fmt::format("sinc {}", points.radius));
        }
    }

    void write_axes() {
        for (const ir::Axis& axis : program_.axes) {
            const std::string spacing = text_of(axis.spacing), origin = text_of(axis.origin);
            if (spacing != "1") put("    spacing {} = {}\n", axis.name, spacing);
            if (origin != "0") put("    origin {} = {}\n", axis.name, origin);
        }
    }

    std::string position_of(const ir::Field& field) const {
        if (!is_staggered_) return "";
        std::string text;
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            text += fmt::format("{}{}{}", text.empty() ? " at " : ", ", program_.axes[a].name,
                                field.staggered[a] ? "+1/2" : "");
        }
        return text;
    }

    std::string type_of(const ir::Field& field) const {
        const bool is_natural = field.storage == ir::natural_storage(field.type);
        if (is_natural) return std::string(ir::name_of(field.type));
        return fmt::format("{} as {}", ir::name_of(field.storage), ir::name_of(field.type));
    }

    void find_reads() {
        is_read_.resize(program_.fields.size());
        for (const std::uint32_t i : ir::reached_exprs(program_, statement_roots())) {
            const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
            if (access == nullptr) continue;
            for (std::size_t a = 0; a < access->offset.size(); ++a)
                if (access->offset[a] != 0)
                    is_read_[access->field.index][a][access->offset[a] < 0 ? 0 : 1] = true;
        }
    }

    // What is written of a face; empty where nothing is read past it.
    std::string words_of(FieldId id, int axis, int side) {
        const ir::Field field = program_[id];
        const auto& read = is_read_[id.index][static_cast<std::size_t>(axis)];
        // What a reflection shows on a thin grid is the other face's affair; a let's face of which nothing is
        // said may be periodic.
        const bool is_other_read = read[static_cast<std::size_t>(1 - side)];
        const bool counts = read[static_cast<std::size_t>(side)] || field.image(axis, side).wraps() ||
                            (is_other_read && (field.image(axis, 1 - side).reflects() ||
                                               field.role == ir::Role::intermediate));
        if (!counts) return "";
        set_place(field);
        return face_words(a_, id, axis, side, [this](ExprId e) { return text_of(e); });
    }

    std::string boundary_of(FieldId id) {
        std::vector<std::string> entries;
        std::set<std::string> all;
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const std::string low = words_of(id, axis, 0), high = words_of(id, axis, 1);
            const std::string& name = program_.axes[static_cast<std::size_t>(axis)].name;
            all.insert({low, high});
            if (low == high && !low.empty()) {
                entries.push_back(name + " " + low);
                continue;
            }
            if (!low.empty()) entries.push_back(name + ".low " + low);
            if (!high.empty()) entries.push_back(name + ".high " + high);
        }
        if (entries.empty()) return "";
        if (all.size() == 1) return fmt::format(" {{ boundary {} }}", *all.begin());
        return fmt::format(" {{ boundary {} }}", fmt::join(entries, ", "));
    }

    void write_field(FieldId id) {
        const ir::Field& field = program_[id];
        put("    field {}: {}{}{}\n", field.name, type_of(field), position_of(field), boundary_of(id));
    }

    // ---- statements

    void set_place(const ir::Field& field) { place_ = field.staggered; }

    // Names what the statement computes more than once.
    void name_shared(const std::vector<ExprId>& roots, const std::string& at) {
        named_.clear();
        const std::vector<std::uint32_t> reached = ir::reached_exprs(program_, roots);
        std::map<std::uint32_t, int> uses, size;
        for (const std::uint32_t i : reached) {
            size[i] = 0;
            ir::for_each_operand(program_.exprs[i], [&](ExprId operand) {
                ++uses[operand.index];
                size[i] = std::min(size[i] + 1 + size[operand.index], 1000);
            });
        }
        for (const std::uint32_t i : reached) {
            const ir::Expr& expr = program_.exprs[i];
            const bool is_root = std::ranges::find(roots, ExprId{i}) != roots.end();
            if (is_root || uses[i] < 2 || size[i] < kLeastShared || !ir::is_real(expr.type) ||
                !a_.reads_field({i}))
                continue;
            defined_ = {i};
            const std::string name = names_.take("part");
            put("    let {}{} = {}\n", name, at, text_of({i}));
            defined_.reset();
            named_[i] = name;
        }
    }

    void write(const ir::Assign& assign) {
        const ir::Field& field = program_[assign.target];
        set_place(field);
        const std::string at = position_of(field);
        name_shared(ir::roots_of(ir::Statement(assign)), at);
        root_ = assign.value;
        const std::string value = text_of(assign.value);
        root_.reset();
        if (field.role == ir::Role::intermediate) {
            put("    let {}{}{} = {}\n", field.name, at, boundary_of(assign.target), value);
        } else {
            const std::vector<std::string> guards = guards_of(assign.region, assign.condition);
            std::string indent = "    ";
            for (const std::string& guard : guards) {
                put("{}{} {{\n", indent, guard);
                indent += "    ";
            }
            put("{}{}{} = {}\n", indent, field.name, assign.time == 1 ? "[t+1]" : "", value);
            for (std::size_t i = guards.size(); i-- > 0;)
                put("{}}}\n", std::string(4 * (i + 1), ' '));
        }
        named_.clear();
    }

    void write(const ir::Reduce& reduce) {
        set_place_of(reduce.value);
        name_shared(ir::roots_of(ir::Statement(reduce)), is_staggered_ ? place_text() : "");
        std::string guards;
        for (const std::string& guard : guards_of(reduce.region, reduce.condition))
            guards += " " + guard;
        std::string operation(ir::name_of(reduce.op));
        root_ = reduce.value;
        std::string value;
        const ExprId inner = without_conversion(reduce.value);
        const auto* square = std::get_if<ir::Binary>(&program_[inner].node);
        if (reduce.square_root) {
            operation = "norm2";
            if (square != nullptr && square->op == ir::BinaryOp::mul && square->left == square->right) {
                root_ = square->left;
                value = text_of(square->left);
            } else {
                value = "sqrt(" + text_of(reduce.value) + ")";
            }
        } else {
            value = text_of(reduce.value);
        }
        root_.reset();
        put("    reduce {} = {}({}){}{}\n", reduce.name, operation, value,
            reduce.initial == 0 ? "" : fmt::format(" start {}", reduce.initial), guards);
        named_.clear();
    }

    void write(const ir::Inject& inject) {
        const ir::Field& field = program_[inject.target];
        set_place(field);
        root_ = inject.value;
        put("    inject {}{} at {} += {}\n", field.name, inject.time == 1 ? "[t+1]" : "",
            program_[inject.points].name, text_of(inject.value));
        root_.reset();
    }

    void write(const ir::Sample& sample) {
        place_ = {};
        const ir::Points& points = program_[sample.points];
        put("    sample {} at {} into {}.{}[t]\n", text_of(sample.value), points.name, points.name,
            points.traces[static_cast<std::size_t>(sample.trace)].name);
    }

    // A reduction is where its fields are.
    void set_place_of(ExprId root) {
        place_ = {};
        for (const std::uint32_t i : ir::reached_exprs(program_, {root})) {
            const auto* access = std::get_if<ir::Access>(&program_.exprs[i].node);
            if (access == nullptr) continue;
            place_ = program_[access->field].staggered;
            if (access->offset == ir::Offset{}) return;
        }
    }

    std::string place_text() const {
        ir::Field here;
        here.staggered = place_;
        return position_of(here);
    }

    std::vector<std::string> guards_of(const ir::Region& region, const std::optional<ExprId>& condition) {
        std::vector<std::string> guards;
        std::string on;
        for (int axis = 0; axis < program_.rank(); ++axis) {
            const ir::Region::Range& range = region.ranges[static_cast<std::size_t>(axis)];
            if (range == ir::Region::Range{}) continue;
            // Both ends belong to a range in text; -1 is the last cell.
            on += fmt::format("{} {} in {}..{}", on.empty() ? "on" : ",",
                              program_.axes[static_cast<std::size_t>(axis)].name, place_text(range.begin),
                              place_text({range.end.from_high, range.end.offset - 1}));
        }
        if (!on.empty()) guards.push_back(on);
        if (condition) guards.push_back("where " + text_of(*condition));
        return guards;
    }

    static std::string place_text(const ir::Region::Bound& bound) { return fmt::format("{}", bound.offset); }

    ir::Program program_;  // a copy: words for faces are found by computing with their formulas
    Algebra a_;
    Names names_;
    ir::PrintWords words_;
    std::string text_;
    bool is_staggered_ = false;
    std::array<bool, ir::kMaxRank> place_{};  // of what is written
    std::vector<std::array<std::array<bool, 2>, ir::kMaxRank>>
        is_read_;                                 // by field: whether a face is read past
    std::map<std::uint32_t, std::string> named_;  // lets of the statement that is written
    std::optional<ExprId> root_, defined_;
};

}  // namespace

std::string spec_text(const ir::Program& program, const std::string& comment) {
    return SpecWriter(program).run(comment);
}

}  // namespace halo::adjoint
