// Kernels of a launch plan, what they take and the cells that they are for, as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/core/plan_json_parts.h"

namespace halo::rt::json {

namespace {

Lengths lengths_from(const Json& json) {
    const auto numbers = json.get<std::array<int, 3>>();
    return {numbers[0], numbers[1], numbers[2]};
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

}  // namespace

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
    if (kernel.within.first != 0) json["from_step"] = kernel.within.first;
    if (kernel.within.past != StepRange::kNoEnd) json["before_step"] = kernel.within.past;
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
    kernel.within.first = json.value("from_step", std::int64_t{0});
    kernel.within.past = json.value("before_step", StepRange::kNoEnd);
    return kernel;
}

Json fixed_grid_json(const FixedGrid& grid, int rank) {
    Json json = Json::object({{"extent", by_axis_json(grid.extent, std::int64_t{1})},
                              {"pitch", grid.pitch},
                              {"slice", grid.slice}});
    if (rank > 3) json["volume"] = grid.volume;
    return json;
}

FixedGrid fixed_grid_from(const Json& json) {
    return {extent_from(json.at("extent")), json.at("pitch"), json.at("slice"),
            json.value("volume", std::int64_t{0})};
}

Json time_block_json(const TimeBlock& block, int rank) {
    Json json = Json::object({{"steps", block.steps},
                              {"levels", block.levels},
                              {"is_whole", block.is_whole},
                              {"least_extent", by_axis_json(block.least_extent, std::int64_t{1})},
                              {"kernel", kernel_json(block.kernel)}});
    if (block.fixed_grid) json["fixed_grid"] = fixed_grid_json(*block.fixed_grid, rank);
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
    if (json.contains("fixed_grid")) block.fixed_grid = fixed_grid_from(json.at("fixed_grid"));
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

}  // namespace halo::rt::json
