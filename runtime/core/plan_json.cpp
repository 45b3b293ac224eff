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

Json stretched_json(const StretchedAxisPlan& axis) {
    Json json = Json::object({{"axis", axis.axis}, {"is_periodic", axis.is_periodic}});
    if (axis.field >= 0)
        json["field"] = axis.field;
    else
        json["distance"] = scalar_json(axis.distance);
    json["tables"] = list_json(axis.tables, [](const StretchedAxisPlan::Table& table) {
        const AxisTable& holds = table.holds;
        return Json::object({{"field", table.field},
                             {"shift", holds.shift},
                             {"at_half", holds.at_half},
                             {"derivative", holds.derivative},
                             {"cells", holds.cells},
                             {"cells_at_half", holds.cells_at_half},
                             {"node", holds.node}});
    });
    return json;
}

StretchedAxisPlan stretched_from(const Json& json) {
    StretchedAxisPlan axis;
    axis.axis = json.at("axis");
    axis.is_periodic = json.at("is_periodic");
    axis.field = json.value("field", -1);
    if (json.contains("distance")) axis.distance = scalar_from(json.at("distance"));
    axis.tables = list_from(json.at("tables"), [](const Json& table) {
        AxisTable holds;
        holds.shift = table.at("shift");
        holds.at_half = table.at("at_half");
        holds.derivative = table.at("derivative");
        holds.cells = table.at("cells").get<std::vector<int>>();
        holds.cells_at_half = table.at("cells_at_half");
        holds.node = table.at("node");
        return StretchedAxisPlan::Table{table.at("field"), std::move(holds)};
    });
    return axis;
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
    if (!repeat.ghosts_due.empty()) json["ghosts_due"] = list_json(repeat.ghosts_due, level_json);
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
    if (json.contains("ghosts_due")) repeat.ghosts_due = list_from(json.at("ghosts_due"), level_from);
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
    if (json.contains("stretched")) plan.stretched = list_from(json.at("stretched"), stretched_from);
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
    if (json.contains("fixed_grid")) plan.fixed_grid = fixed_grid_from(json.at("fixed_grid"));
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
    if (!plan.stretched.empty()) json["stretched"] = list_json(plan.stretched, stretched_json);
    if (plan.fixed_grid) json["fixed_grid"] = fixed_grid_json(*plan.fixed_grid, plan.rank);
    if (plan.device_scalars > 0) json["device_scalars"] = plan.device_scalars;
    if (!plan.full_steps.empty()) json["full_steps"] = list_json(plan.full_steps, scalar_json);
    if (!plan.repeats.empty()) json["repeats"] = list_json(plan.repeats, repeat_json);
    if (plan.time_block) json["time_block"] = time_block_json(*plan.time_block, plan.rank);
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
