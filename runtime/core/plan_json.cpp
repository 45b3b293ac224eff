#include "runtime/core/plan_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/core/error.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_json_parts.h"

namespace halo::rt {

namespace {

using namespace json;

constexpr int kFormat = 1;

// ---- parts of the plan
// -------------------------------------------------------------------------------------------

Json field_json(const FieldPlan& field) {
    Json faces = Json::list({});
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        const auto& [low, high] = field.boundary[axis];
        if (axis == 3 && low.kind == BoundaryKind::free && high.kind == BoundaryKind::free) continue;
        for (const FacePlan& face : field.boundary[axis]) {
            Json entry = Json::object({{"kind", name_of(face.kind, kBoundaries)}});
            if (face.kind == BoundaryKind::fixed) entry["value"] = scalar_json(face.value);
            if (face.reach != 0) entry["reach"] = face.reach;
            faces.push_back(entry);
        }
    }
    Json json = Json::object({{"name", field.name},
                              {"type", name_of(field.type, kElementTypes)},
                              {"role", name_of(field.role, kRoles)},
                              {"history", field.history},
                              {"halo", by_axis_json(field.halo)},
                              {"faces", faces}});
    if (!field.grid.has_all_axes()) json["along"] = by_axis_json(field.grid.along, true);
    if (field.grid.factor != 1) json["coarse"] = field.grid.factor;
    if (field.spare_levels != 0) json["spare_levels"] = field.spare_levels;
    if (field.interleave != 1) {
        json["interleave"] = field.interleave;
        json["component"] = field.component;
    }
    return json;
}

Extent extent_from(const Json& json) {
    return by_axis_from<std::int64_t>(json, 1);
}

Lengths lengths_from(const Json& json) {
    const auto numbers = json.get<std::array<int, 3>>();
    return {numbers[0], numbers[1], numbers[2]};
}

FieldPlan field_from(const Json& json) {
    FieldPlan field;
    field.name = json.at("name");
    field.type = value_of<ElementType>(json.at("type"), kElementTypes, "element type");
    field.role = value_of<Role>(json.at("role"), kRoles, "role");
    field.history = json.at("history");
    field.halo = by_axis_from<std::array<int, 2>>(json.at("halo"));
    if (json.contains("along")) field.grid.along = by_axis_from(json.at("along"), true);
    field.grid.factor = json.value("coarse", 1);
    const std::size_t faces = json.at("faces").items().size();
    for (std::size_t face = 0; face < std::clamp<std::size_t>(faces, 6, 2 * kMaxRank); ++face) {
        const Json& entry = json.at("faces").at(face);
        FacePlan& plan = field.boundary[face / 2][face % 2];
        plan.kind = value_of<BoundaryKind>(entry.at("kind"), kBoundaries, "boundary");
        if (plan.kind == BoundaryKind::fixed) plan.value = scalar_from(entry.at("value"));
        plan.reach = entry.value("reach", 0);
    }
    field.interleave = json.value("interleave", 1);
    field.component = json.value("component", 0);
    field.spare_levels = json.value("spare_levels", 0);
    return field;
}

Json argument_json(const Argument& argument) {
    Json json = Json::object({{"kind", name_of(argument.kind, kArguments)}});
    if (argument.factor != 1) json["coarse"] = argument.factor;
    switch (argument.kind) {
        case Argument::Kind::field:
            json["field"] = argument.field;
            json["time"] = argument.time;
            if (argument.use)
                json["use"] = Json::object({{"read", argument.use->read},
                                            {"written", argument.use->written},
                                            {"reach", by_axis_json(argument.use->reach)}});
            break;
        case Argument::Kind::scalar:
            json["type"] = name_of(argument.type, kElementTypes);
            json["value"] = scalar_json(argument.scalar);
            break;
        case Argument::Kind::extent:
        case Argument::Kind::partials:
        case Argument::Kind::step_partials:
        case Argument::Kind::coefs:
        case Argument::Kind::table:
        case Argument::Kind::rows:
        case Argument::Kind::partial_count:
            json["index"] = argument.index;
            break;
        case Argument::Kind::points:
        case Argument::Kind::count:
        case Argument::Kind::exchange:
        case Argument::Kind::iterations:
            json["index"] = argument.index;
            json["part"] = argument.part;
            break;
        case Argument::Kind::planes:
            json["part"] = argument.part;
            break;
        case Argument::Kind::neighbour:
            json["field"] = argument.field;
            json["time"] = argument.time;
            json["part"] = argument.part;
            break;
        case Argument::Kind::pitch:
        case Argument::Kind::slice:
        case Argument::Kind::volume:
        case Argument::Kind::steps:
        case Argument::Kind::sent:
        case Argument::Kind::device_scalars:
            break;
    }
    return json;
}

Argument argument_from(const Json& json) {
    Argument argument;
    argument.kind = value_of<Argument::Kind>(json.at("kind"), kArguments, "kernel argument");
    argument.factor = json.value("coarse", 1);
    switch (argument.kind) {
        case Argument::Kind::field:
            argument.field = json.at("field");
            argument.time = json.at("time");
            if (json.contains("use")) {
                const Json& use = json.at("use");
                argument.use =
                    ArrayUse{use.at("read"), use.at("written"), by_axis_from<int>(use.at("reach"))};
            }
            break;
        case Argument::Kind::scalar:
            argument.type = value_of<ElementType>(json.at("type"), kElementTypes, "element type");
            argument.scalar = scalar_from(json.at("value"));
            break;
        case Argument::Kind::extent:
        case Argument::Kind::partials:
        case Argument::Kind::step_partials:
        case Argument::Kind::coefs:
        case Argument::Kind::table:
        case Argument::Kind::rows:
        case Argument::Kind::partial_count:
            argument.index = json.at("index");
            break;
        case Argument::Kind::points:
        case Argument::Kind::count:
        case Argument::Kind::exchange:
        case Argument::Kind::iterations:
            argument.index = json.at("index");
            argument.part = json.at("part");
            break;
        case Argument::Kind::planes:
            argument.part = json.at("part");
            break;
        case Argument::Kind::neighbour:
            argument.field = json.at("field");
            argument.time = json.at("time");
            argument.part = json.at("part");
            break;
        case Argument::Kind::pitch:
        case Argument::Kind::slice:
        case Argument::Kind::volume:
        case Argument::Kind::steps:
        case Argument::Kind::sent:
        case Argument::Kind::device_scalars:
            break;
    }
    return argument;
}

// A bound is a number, or ["high", number] where it counts from the cell past the last.
Json bound_json(const Bound& bound) {
    if (!bound.from_high) return bound.offset;
    return Json::list({"high", bound.offset});
}

Bound bound_from(const Json& json) {
    if (!json.is_list()) return {false, json.get<int>()};
    if (json.at(0).text() != "high") refuse(fmt::format("'{}' is no face", json.at(0).dump()));
    return {true, json.at(1).get<int>()};
}

Json domain_json(const Domain& domain) {
    Json json = Json::object({{"kind", name_of(domain.kind, kDomains)}, {"index", domain.index}});
    Json ranges = Json::list({});
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        const Range& range = domain.ranges[axis];
        if (axis < 3 || range != Range{})
            ranges.push_back(Json::list({bound_json(range.begin), bound_json(range.end)}));
    }
    json["ranges"] = ranges;
    if (domain.factor != 1) json["coarse"] = domain.factor;
    return json;
}

Domain domain_from(const Json& json) {
    Domain domain;
    domain.kind = value_of<Domain::Kind>(json.at("kind"), kDomains, "domain");
    domain.factor = json.value("coarse", 1);
    domain.index = json.at("index");
    const std::size_t ranges = json.at("ranges").items().size();
    for (std::size_t axis = 0; axis < std::clamp<std::size_t>(ranges, 3, kMaxRank); ++axis) {
        const Json& range = json.at("ranges").at(axis);
        domain.ranges[axis] = {bound_from(range.at(0)), bound_from(range.at(1))};
    }
    return domain;
}

Json level_json(const KernelPlan::Written& level) {
    return Json::object({{"field", level.field}, {"time", level.time}});
}

KernelPlan::Written level_from(const Json& json) {
    return {json.at("field").get<int>(), json.at("time").get<int>()};
}

Json kernel_json(const KernelPlan& kernel) {
    Json json = Json::object({{"name", kernel.name},
                              {"threads", kernel.threads.first_three()},
                              {"tile", kernel.tile.first_three()},
                              {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
                              {"arguments", list_json(kernel.arguments, argument_json)},
                              {"refresh_halos", list_json(kernel.refresh_halos, level_json)}});
    if (!is_whole_grid(kernel.domain)) json["domain"] = domain_json(kernel.domain);
    if (kernel.fills_halo) json["fills_halo"] = level_json(*kernel.fills_halo);
    if (kernel.fills_after_uploads) json["fills_after_uploads"] = true;
    if (kernel.blocks > 0) json["blocks"] = kernel.blocks;
    if (kernel.stands_for > 1) json["stands_for"] = kernel.stands_for;
    if (kernel.steps != Steps::all) json["steps"] = name_of(kernel.steps, kSteps);
    return json;
}

KernelPlan kernel_from(const Json& json) {
    KernelPlan kernel;
    kernel.name = json.at("name");
    kernel.threads = lengths_from(json.at("threads"));
    kernel.tile = lengths_from(json.at("tile"));
    kernel.dynamic_shared_bytes = json.at("dynamic_shared_bytes");
    kernel.arguments = list_from(json.at("arguments"), argument_from);
    kernel.refresh_halos = list_from(json.at("refresh_halos"), level_from);
    if (json.contains("domain")) kernel.domain = domain_from(json.at("domain"));
    if (json.contains("fills_halo")) kernel.fills_halo = level_from(json.at("fills_halo"));
    kernel.fills_after_uploads = json.value("fills_after_uploads", false);
    if (json.contains("blocks")) kernel.blocks = json.at("blocks");
    kernel.stands_for = json.value("stands_for", std::int64_t{1});
    if (json.contains("steps")) kernel.steps = value_of<Steps>(json.at("steps"), kSteps, "kind of steps");
    return kernel;
}

Json time_block_json(const TimeBlock& block) {
    Json json = Json::object({{"steps", block.steps},
                              {"levels", block.levels},
                              {"is_whole", block.is_whole},
                              {"least_extent", by_axis_json(block.least_extent, std::int64_t{1})},
                              {"kernel", kernel_json(block.kernel)}});
    if (!block.earlier.empty()) json["earlier"] = list_json(block.earlier, kernel_json);
    if (!block.reductions.empty()) json["reductions"] = block.reductions;
    if (const TimeBlock::OfPieces* const pieces = block.of_pieces()) {
        json["is_of_pieces"] = true;
        if (pieces->traversals != 0) json["traversals"] = pieces->traversals;
    }
    if (const TimeBlock::OfRepeat* const of_repeat = block.of_repeat()) json["repeat"] = of_repeat->repeat;
    if (const TimeBlock::Resident* const resident = block.resident()) {
        json["is_resident"] = true;
        json["exchanges"] = resident->exchanges;
        json["most_extent"] = by_axis_json(resident->most_extent, std::int64_t{1});
        json["divisors"] = by_axis_json(resident->divisors, std::int64_t{1});
        json["remainders"] = by_axis_json(resident->remainders);
    }
    return json;
}

TimeBlock time_block_from(const Json& json) {
    TimeBlock block;
    block.steps = json.at("steps");
    block.levels = json.at("levels");
    block.is_whole = json.at("is_whole");
    block.least_extent = extent_from(json.at("least_extent"));
    block.kernel = kernel_from(json.at("kernel"));
    if (json.contains("earlier")) block.earlier = list_from(json.at("earlier"), kernel_from);
    if (json.contains("reductions")) block.reductions = json.at("reductions").get<std::vector<int>>();
    if (json.value("is_of_pieces", false)) block.kind = TimeBlock::OfPieces{json.value("traversals", 0)};
    if (json.contains("repeat")) block.kind = TimeBlock::OfRepeat{json.at("repeat")};
    if (json.value("is_resident", false)) {
        TimeBlock::Resident resident;
        resident.exchanges = json.at("exchanges").get<std::vector<int>>();
        resident.most_extent = extent_from(json.at("most_extent"));
        resident.divisors = extent_from(json.at("divisors"));
        resident.remainders = by_axis_from<std::int64_t>(json.at("remainders"));
        block.kind = std::move(resident);
    }
    return block;
}

Json param_json(const ParamPlan& param) {
    Json json = Json::object({{"name", param.name}});
    if (param.default_value) json["default"] = number_json(*param.default_value);
    return json;
}

ParamPlan param_from(const Json& json) {
    ParamPlan param{json.at("name"), std::nullopt};
    if (json.contains("default")) param.default_value = number_from(json.at("default"));
    return param;
}

Json coef_json(const CoefPlan& coef) {
    return Json::object({{"name", coef.name},
                         {"symbol", coef.symbol},
                         {"type", name_of(coef.type, kElementTypes)},
                         {"low", coef.low},
                         {"high", coef.high},
                         {"defaults", list_json(coef.defaults, number_json)}});
}

CoefPlan coef_from(const Json& json) {
    CoefPlan coef;
    coef.name = json.at("name");
    coef.symbol = json.at("symbol");
    coef.type = value_of<ElementType>(json.at("type"), kElementTypes, "element type");
    coef.low = json.at("low").get<std::vector<int>>();
    coef.high = json.at("high").get<std::vector<int>>();
    coef.defaults = list_from(json.at("defaults"), number_from);
    return coef;
}

Json table_json(const TablePlan& table) {
    Json json = Json::object({{"name", table.name},
                              {"type", name_of(table.type, kElementTypes)},
                              {"columns", table.columns},
                              {"given", table.given},
                              {"width", table.width},
                              {"rows_multiple", table.rows_multiple}});
    if (table.is_series) json["series"] = true;
    return json;
}

TablePlan table_from(const Json& json) {
    TablePlan table;
    table.name = json.at("name");
    table.type = value_of<ElementType>(json.at("type"), kElementTypes, "element type");
    table.columns = json.at("columns").get<std::vector<std::string>>();
    table.given = json.at("given");
    table.width = json.at("width");
    table.rows_multiple = json.at("rows_multiple");
    table.is_series = json.value("series", false);
    return table;
}

Json window_json(const std::optional<WindowPlan>& along) {
    if (!along) return nullptr;
    return Json::object({{"first", along->first}, {"length", along->length}, {"wraps", along->wraps}});
}

std::optional<WindowPlan> window_from(const Json& json) {
    if (json.is_null()) return std::nullopt;
    return WindowPlan{json.at("first"), json.at("length"), json.at("wraps")};
}

Json points_json(const PointsPlan& points) {
    Json traces = Json::list({});
    for (const PointsPlan::Trace& trace : points.traces)
        traces.push_back(Json::object({{"name", trace.name}, {"sampled", trace.sampled}}));
    return Json::object({{"name", points.name},
                         {"columns", points.columns},
                         {"traces", traces},
                         {"interpolation", name_of(points.interpolation, kInterpolations)},
                         {"radius", points.radius}});
}

PointsPlan points_from(const Json& json) {
    PointsPlan points;
    points.name = json.at("name");
    points.columns = json.at("columns").get<std::vector<std::string>>();
    for (const Json& trace : json.at("traces").items())
        points.traces.push_back({trace.at("name"), trace.at("sampled")});
    points.interpolation =
        value_of<PointsPlan::Interpolation>(json.at("interpolation"), kInterpolations, "interpolation");
    points.radius = json.at("radius");
    return points;
}

Json reduction_json(const ReductionPlan& reduction) {
    Json json = Json::object({{"name", reduction.name},
                              {"op", name_of(reduction.op, kReductions)},
                              {"square_root", reduction.square_root},
                              {"kernel", reduction.kernel}});
    if (reduction.initial != 0) json["initial"] = number_json(reduction.initial);
    if (reduction.ahead_of >= 0) json["ahead_of"] = reduction.ahead_of;
    return json;
}

ReductionPlan reduction_from(const Json& json) {
    ReductionPlan reduction;
    reduction.name = json.at("name");
    reduction.op = value_of<ReductionPlan::Op>(json.at("op"), kReductions, "reduction");
    reduction.square_root = json.at("square_root");
    reduction.kernel = json.at("kernel");
    if (json.contains("ahead_of")) reduction.ahead_of = json.at("ahead_of");
    if (json.contains("initial")) reduction.initial = number_from(json.at("initial"));
    return reduction;
}

Json repeat_json(const RepeatPlan& repeat) {
    Json json = Json::object({{"first", repeat.first}, {"past", repeat.past}, {"count", repeat.count}});
    if (!repeat.exchanges.empty())
        json["exchanges"] = list_json(repeat.exchanges, [](const RepeatPlan::Exchange& each) {
            return Json::object(
                {{"kernel", each.kernel}, {"field", each.field}, {"time", each.time}, {"other", each.other}});
        });
    if (repeat.until)
        json["until"] = Json::object({{"condition", scalar_json(repeat.until->condition)},
                                      {"text", repeat.until->text},
                                      {"reductions", repeat.until->reductions},
                                      {"kernel", repeat.until->kernel}});
    return json;
}
RepeatPlan repeat_from(const Json& json) {
    RepeatPlan repeat{json.at("first"), json.at("past"), json.at("count"), {}};
    if (json.contains("exchanges"))
        repeat.exchanges = list_from(json.at("exchanges"), [](const Json& each) {
            return RepeatPlan::Exchange{each.at("kernel"), each.at("field"), each.at("time"),
                                        each.at("other")};
        });
    if (json.contains("until")) {
        const Json& until = json.at("until");
        repeat.until = RepeatPlan::Until{scalar_from(until.at("condition")), until.at("text"),
                                         until.at("reductions").get<std::vector<int>>(), until.at("kernel")};
    }
    return repeat;
}

LaunchPlan plan_from(const Json& json) {
    if (json.at("halocline_plan").get<int>() != kFormat)
        refuse(fmt::format("its format is {}, and this version reads {}", json.at("halocline_plan").dump(),
                           kFormat));
    LaunchPlan plan;
    plan.name = json.at("name");
    plan.rank = json.at("rank");
    plan.axes = json.at("axes").get<std::vector<std::string>>();
    plan.halo = by_axis_from<std::array<int, 2>>(json.at("halo"));
    plan.spacing = list_from(json.at("spacing"), scalar_from);
    plan.origin = list_from(json.at("origin"), scalar_from);
    plan.params = list_from(json.at("params"), param_from);
    plan.coefs = list_from(json.at("coefs"), coef_from);
    plan.fields = list_from(json.at("fields"), field_from);
    if (json.contains("tables")) plan.tables = list_from(json.at("tables"), table_from);
    if (json.contains("points")) plan.points = list_from(json.at("points"), points_from);
    const std::size_t windows = json.contains("window") ? json.at("window").items().size() : 0;
    for (std::size_t axis = 0; axis < std::min(windows, plan.window.size()); ++axis)
        plan.window[axis] = window_from(json.at("window").at(axis));
    plan.kernels = list_from(json.at("kernels"), kernel_from);
    plan.reductions = list_from(json.at("reductions"), reduction_from);
    if (json.contains("fixed_grid")) {
        const Json& grid = json.at("fixed_grid");
        plan.fixed_grid = FixedGrid{extent_from(grid.at("extent")), grid.at("pitch"), grid.at("slice"),
                                    grid.value("volume", std::int64_t{0})};
    }
    if (json.contains("device_scalars")) plan.device_scalars = json.at("device_scalars");
    if (json.contains("full_steps")) plan.full_steps = list_from(json.at("full_steps"), scalar_from);
    if (json.contains("repeats")) plan.repeats = list_from(json.at("repeats"), repeat_from);
    if (json.contains("time_block")) plan.time_block = time_block_from(json.at("time_block"));
    return plan;
}

}  // namespace

std::string plan_to_json(const LaunchPlan& plan) {
    Json json = Json::object({{"halocline_plan", kFormat},
                              {"name", plan.name},
                              {"rank", plan.rank},
                              {"axes", plan.axes},
                              {"halo", by_axis_json(plan.halo)},
                              {"spacing", list_json(plan.spacing, scalar_json)},
                              {"origin", list_json(plan.origin, scalar_json)},
                              {"params", list_json(plan.params, param_json)},
                              {"coefs", list_json(plan.coefs, coef_json)},
                              {"fields", list_json(plan.fields, field_json)},
                              {"kernels", list_json(plan.kernels, kernel_json)},
                              {"reductions", list_json(plan.reductions, reduction_json)}});
    if (plan.fixed_grid)
        json["fixed_grid"] = Json::object({{"extent", by_axis_json(plan.fixed_grid->extent, std::int64_t{1})},
                                           {"pitch", plan.fixed_grid->pitch},
                                           {"slice", plan.fixed_grid->slice}});
    if (plan.fixed_grid && plan.rank > 3) json["fixed_grid"]["volume"] = plan.fixed_grid->volume;
    if (plan.device_scalars > 0) json["device_scalars"] = plan.device_scalars;
    if (!plan.full_steps.empty()) json["full_steps"] = list_json(plan.full_steps, scalar_json);
    if (!plan.repeats.empty()) json["repeats"] = list_json(plan.repeats, repeat_json);
    if (plan.time_block) json["time_block"] = time_block_json(*plan.time_block);
    if (!plan.tables.empty()) json["tables"] = list_json(plan.tables, table_json);
    if (!plan.points.empty()) json["points"] = list_json(plan.points, points_json);
    if (std::any_of(plan.window.begin(), plan.window.end(),
                    [](const auto& along) { return along.has_value(); }))
        for (std::size_t axis = 0; axis < kMaxRank; ++axis)
            if (axis < 3 || plan.window[axis]) json["window"].push_back(window_json(plan.window[axis]));
    return json.dump(2) + "\n";
}

LaunchPlan plan_from_json(std::string_view text) {
    try {
        LaunchPlan plan = plan_from(Json::parse(text));
        check_plan(plan);
        return plan;
    } catch (const Mistake& error) {
        refuse(error.what());
    }
}

}  // namespace halo::rt
