#include "compiler/lower/shared/images.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/print.h"
#include "compiler/ir/shown_cells.h"
#include "compiler/kernel/build.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using rt::ImageMap;

// One axis of a field's boundary.
struct AxisImages {
    ir::BoundaryKind kind_low, kind_high;
    ImageMap low, high;
    int halo_low, halo_high;  // cells past each face that are read and are images of domain cells
    bool negates_low, negates_high;

    friend bool operator==(const AxisImages&, const AxisImages&) = default;
    bool any() const { return halo_low > 0 || halo_high > 0; }
    bool negates() const { return negates_low || negates_high; }
    bool mirrors() const { return low.reflects() || high.reflects(); }
    // Formulas keep reflections within the domain (Face::reach), others may pass the other face.
    bool may_leave() const {
        return mirrors() && kind_low != ir::BoundaryKind::formula && kind_high != ir::BoundaryKind::formula;
    }
    // Whether all images past a face are of the edge cell.
    bool repeats_edges() const {
        return (halo_low == 0 || low.inwards(halo_low) == 0) &&
               (halo_high == 0 || high.inwards(halo_high) == 0);
    }
    // The number of cells at a face that have images.
    int reach_low() const {
        if (low.wraps()) return halo_high;
        return halo_low == 0 ? 0 : low.inwards(halo_low) + 1;
    }
    int reach_high() const {
        if (low.wraps()) return halo_low;
        return halo_high == 0 ? 0 : high.inwards(halo_high) + 1;
    }
};

AxisImages axis_images(const ir::Program& program, const ir::Field& field, int axis) {
    const ir::ShownCells low = ir::shown_cells(program, field, axis, 0),
                         high = ir::shown_cells(program, field, axis, 1);
    const int halo_low = low.map.shows_cell() ? field.halo[axis][0] : 0;
    const int halo_high = high.map.shows_cell() ? field.halo[axis][1] : 0;
    return {
        field.boundary[axis][0].kind, field.boundary[axis][1].kind, low.map, high.map, halo_low, halo_high,
        low.negates && halo_low > 0,  high.negates && halo_high > 0};
}

// Whether an image of a cell has its negative.
Expr is_negated(const AxisImages& axis, const Expr& image, const Expr& own, const Expr& n) {
    if (axis.negates_low && axis.negates_high) return image != own;
    return axis.negates_low ? image < 0 : image >= n;
}

std::string kind_word(ir::BoundaryKind kind, const ImageMap& map, bool negates) {
    if (kind != ir::BoundaryKind::formula || !map.reflects()) return std::string(ir::name_of(kind));
    if (map.inwards(1) > 0) return negates ? "antimirror" : "mirror";
    return negates ? "antisymmetric" : "symmetric";
}

// A loop over the cell itself and its images along one axis, around `inner`.
Block image_loop(const AxisImages& axis, const std::string& var, const Expr& own, const Expr& n,
                 Block inner) {
    const Expr image = kernel::variable(var, Type::i32);
    if (axis.low.wraps()) {
        const Expr first = kernel::call_helper(kernel::Helper::first_image, {own, n, axis.halo_low});
        return {kernel::For{var, first, n + axis.halo_high, n, kernel::Unroll::leave, std::move(inner)}};
    }
    if (!axis.may_leave() && axis.repeats_edges()) {
        // The halo past a face has images of the edge cell.
        const Expr begin = axis.halo_low ? kernel::select(own == 0, -axis.halo_low, own) : own;
        const Expr end = axis.halo_high ? kernel::select(own == n - 1, n + axis.halo_high, own + 1) : own + 1;
        return {kernel::For{var, begin, end, 1, kernel::Unroll::leave, std::move(inner)}};
    }
    // Each halo cell is compared with the cell, in case it is an image of it; number halo_low is the cell
    // itself.
    const std::string number = var + "_number";
    const Expr at = kernel::variable(number, Type::i32);
    const Expr place = kernel::select(at < axis.halo_low, at - axis.halo_low,
                                      kernel::select(at == axis.halo_low, own, n + at - (axis.halo_low + 1)));
    Expr source;
    if (axis.may_leave()) {
        source = kernel::call_helper(kernel::Helper::face_source,
                                     {image, n, face_constant(axis.low), face_constant(axis.high)});
    } else {
        source = image;
        if (axis.halo_high > 0) source = kernel::select(image >= n, shown_cell(axis.high, image, n), source);
        if (axis.halo_low > 0) source = kernel::select(image < 0, shown_cell(axis.low, image, n), source);
    }
    Block body;
    body.push_back(kernel::Declare{Type::i32, var, place});
    body.push_back(kernel::If{source == own, std::move(inner), {}});
    return {kernel::For{number, 0, axis.halo_low + axis.halo_high + 1, 1, kernel::Unroll::leave,
                        std::move(body)}};
}

}  // namespace

Expr face_constant(const ImageMap& map) {
    const char* name = map.repeats_edge()  ? "kClamp"
                       : map.reflects()    ? "kMirror"
                       : map.shows_value() ? "kFixed"
                                           : "kFree";
    return kernel::variable(name, Type::i32);
}

Expr shown_cell(const ImageMap& map, const Expr& index, const Expr& n) {
    if (map.wraps()) return map.extents > 0 ? index + n : index - n;
    if (map.repeats_edge()) return map.extents > 0 ? n - -map.offset : Expr(0);
    return map.extents > 0 ? (n + n) - (index + -map.offset) : Expr(map.offset) - index;
}

// Whether a stage writes all components of an interleaved level, and their halos have images of the same
// cells, so that one loop stores them all.
bool Images::shown_alike(const Context& context, const Level& level) {
    const ir::Group* group = ir::interleave(context.program(), level.field).group;
    if (group == nullptr) return false;
    const auto same = [&](ir::FieldId field) {
        for (int axis = 0; axis < context.rank(); ++axis)
            if (const AxisImages images = axis_images(context.program(), context.program()[field], axis);
                images.negates() ||
                images != axis_images(context.program(), context.program()[level.field], axis))
                return false;
        return true;
    };
    return std::all_of(group->fields.begin(), group->fields.end(), [&](ir::FieldId field) {
        const auto& writes = context.stage().writes;
        const auto write = std::find_if(writes.begin(), writes.end(), [&](const Write& each) {
            return each.level == Level{field, level.time};
        });
        return write != writes.end() && needed(context, *write) && same(field);
    });
}

bool Images::needed(const Context& context, const Write& write) {
    const ir::Field& field = context.stage().field(write.level);
    if (context.layout().halo_kernels[write.level.field.index]) return false;
    for (int axis = 0; axis < context.rank(); ++axis) {
        if (axis_images(context.program(), field, axis).any()) return true;
    }
    return false;
}

std::string Images::helper(Context& context, const Write& write, bool all_components) {
    const ir::Field& field = context.stage().field(write.level);
    const ir::Interleave place = ir::interleave(context.program(), write.level.field);
    const int components = place.count();
    const Type type = storage_type(field.storage);
    const int rank = context.rank();
    std::string key =
        fmt::format("{} {} {}{}", static_cast<int>(type), rank, components, all_components ? "all" : "");
    std::string words;
    for (int axis = 0; axis < rank; ++axis) {
        const AxisImages images = axis_images(context.program(), field, axis);
        const std::string low = kind_word(images.kind_low, images.low, images.negates_low);
        const std::string high = kind_word(images.kind_high, images.high, images.negates_high);
        key += fmt::format(" {}{}{}{}", low, images.halo_low, high, images.halo_high);
        if (!images.any()) continue;
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", context.program().axes[axis].name, low);
        if (low != high) words += " and " + high;
    }
    if (const auto known = helpers_.find(key); known != helpers_.end()) return known->second;

    kernel::KernelFunction function;
    function.kind = kernel::KernelFunction::Kind::helper;
    function.name = names_.take("store_images_" + (place.group == nullptr ? field.name : place.group->name));
    function.comment = {fmt::format("Stores a cell once more wherever the halo shows it: {}.", words)};
    function.parameters.push_back({type, "u", kernel::Parameter::Kind::output, false});
    CellIndex own, n, image;
    static constexpr const char* kImageNames[] = {"x", "y", "z", "w"};
    for (int axis = 0; axis < rank; ++axis) {
        function.parameters.push_back({Type::i32, Context::kIndexNames[axis]});
        own[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
    }
    for (int axis = 0; axis < rank; ++axis) {
        const AxisImages images = axis_images(context.program(), field, axis);
        const std::string extent = fmt::format("n{}", kImageNames[axis]);
        function.parameters.push_back({Type::i32, extent});
        n[axis] = kernel::variable(extent, Type::i32);
        image[axis] = images.any() ? kernel::variable(kImageNames[axis], Type::i32) : own[axis];
    }
    if (rank > 1) function.parameters.push_back({Type::i32, "pitch"});
    if (rank > 2) function.parameters.push_back({Type::i64, "slice"});
    if (rank > 3) function.parameters.push_back({Type::i64, "volume"});
    const auto at = [&](const CellIndex& cell, const Expr& component) {
        Expr offset;
        const auto add = [&](const Expr& part) { offset = offset.has_value() ? offset + part : part; };
        if (rank > 3) add(cell[3] * kernel::variable("volume", Type::i64));
        if (rank > 2) add(cell[2] * kernel::variable("slice", Type::i64));
        if (rank > 1) add(kernel::convert(cell[1], Type::i64) * kernel::variable("pitch", Type::i32));
        add(cell[0]);
        return kernel::element("u", {offset * components + component}, type);
    };
    Expr away;
    for (int axis = 0; axis < rank; ++axis) {
        const AxisImages images = axis_images(context.program(), field, axis);
        if (images.reach_low() > 0) away = away && own[axis] >= images.reach_low();
        if (images.reach_high() > 0) away = away && own[axis] < n[axis] - images.reach_high();
    }
    function.body.push_back(kernel::If{away, {kernel::Return{}}, {}});
    // The value that is stored: each axis past whose face the image lies may change its sign once more. The
    // loops over the last axis are the outer ones.
    const Expr value = kernel::variable("value", type);
    CellIndex signed_values;
    Expr stored_value = value;
    for (int axis = rank - 1; axis >= 0; --axis) {
        if (axis_images(context.program(), field, axis).negates())
            stored_value = kernel::variable(fmt::format("past_{}", kImageNames[axis]), type);
        signed_values[static_cast<std::size_t>(axis)] = stored_value;
    }
    Block inner;
    if (all_components) {
        const Expr c = kernel::variable("c", Type::i32);
        constexpr int kFew = 32;
        const auto unroll = components <= kFew ? kernel::Unroll::full : kernel::Unroll::leave;
        inner = {kernel::For{"c", 0, components, 1, unroll, {kernel::Assign{at(image, c), at(own, c)}}}};
    } else {
        function.body.push_back(kernel::Declare{type, "value", at(own, 0)});
        inner = {kernel::Assign{at(image, 0), stored_value}};
    }
    for (int axis = 0; axis < rank; ++axis) {
        const auto here = static_cast<std::size_t>(axis);
        const AxisImages images = axis_images(context.program(), field, axis);
        if (images.negates()) {
            const Expr before = axis + 1 < rank ? signed_values[here + 1] : value;
            const Expr negative = stored(-loaded(before, field), field);
            inner.insert(inner.begin(),
                         kernel::Declare{type, std::get<kernel::Variable>(signed_values[here]->kind).name,
                                         kernel::select(is_negated(images, image[axis], own[axis], n[axis]),
                                                        negative, before)});
        }
        if (images.any()) inner = image_loop(images, kImageNames[axis], own[axis], n[axis], std::move(inner));
    }
    for (kernel::Statement& statement : inner)
        function.body.push_back(std::move(statement));
    program_->functions.push_back(std::move(function));
    return helpers_[key] = program_->functions.back().name;
}

void Images::append(Context& context, const CellIndex& first, const rt::Lengths& cells,
                    const rt::Lengths& strides, Block& body) {
    const int rank = context.rank();
    // The loop variables over the thread's cells; an axis of one cell has no loop.
    static constexpr const char* kLoopNames[] = {"x", "y", "z", "w"};
    CellIndex cell;
    Expr inside;
    for (int axis = 0; axis < rank; ++axis) {
        const bool loops = cells[axis] > 1;
        cell[axis] =
            loops ? first[axis] + kernel::variable(kLoopNames[axis], Type::i32) * strides[axis] : first[axis];
        if (loops) inside = inside && cell[axis] < context.extent(axis);
    }
    for (const Write& write : context.stage().writes) {
        if (!needed(context, write)) continue;
        const ir::Field& field = context.stage().field(write.level);
        const bool all_components = shown_alike(context, write.level);
        if (all_components && ir::interleave(context.program(), write.level.field).component > 0) continue;
        const std::string function = helper(context, write, all_components);
        std::vector<Expr> arguments{context.address(write.level, 0)};
        // Few of a thread's cells are at a face across x: where no other face is close, the loop covers only
        // these.
        Expr near_x, near_others, cell_near_x;
        for (int axis = 0; axis < rank; ++axis) {
            arguments.push_back(cell[axis]);
            const AxisImages images = axis_images(context.program(), field, axis);
            const int last = (cells[axis] - 1) * strides[axis];
            Expr& near = axis == 0 ? near_x : near_others;
            const auto near_face = [&](const Expr& lowest, const Expr& highest) {
                Expr either;
                if (images.reach_low() > 0) either = lowest < images.reach_low();
                if (images.reach_high() > 0)
                    either = either || highest >= context.extent(axis) - images.reach_high();
                return either;
            };
            near = near || near_face(first[axis], first[axis] + last);
            if (axis == 0 && cells[0] > 1) cell_near_x = near_face(cell[0], cell[0]);
        }
        for (int axis = 0; axis < rank; ++axis)
            arguments.push_back(context.extent(axis));
        if (rank > 1) arguments.push_back(context.pitch());
        if (rank > 2) arguments.push_back(context.slice());
        if (rank > 3) arguments.push_back(context.volume());
        Block store{kernel::CallFunction{function, std::move(arguments)}};
        if (inside.has_value()) store = {kernel::If{inside, std::move(store), {}}};
        for (int axis = 1; axis < rank; ++axis) {
            if (cells[axis] == 1) continue;
            store = {
                kernel::For{kLoopNames[axis], 0, cells[axis], 1, kernel::Unroll::none, std::move(store)}};
        }
        if (!body.empty()) body.push_back(kernel::BlankLine{});
        body.push_back(kernel::Comment{
            fmt::format("Cells of {} near a face are shown by halo cells, too.",
                        all_components ? context.array(write.level) : context.label(write.level))});
        context.note(context.stage().field(write.level).where, body);
        if (near_others.has_value() && near_x.has_value()) {
            const std::string name = context.names().take("near_face");
            body.push_back(kernel::Declare{Type::boolean, name, near_others});
            near_others = kernel::variable(name, Type::boolean);
        }
        if (cells[0] > 1) {
            if (cell_near_x.has_value())
                store = {kernel::If{near_others || cell_near_x, std::move(store), {}}};
            store = {kernel::For{"x", 0, cells[0], 1, kernel::Unroll::none, std::move(store)}};
        }
        body.push_back(kernel::If{near_others || near_x, std::move(store), {}});
    }
}

}  // namespace halo::lower
