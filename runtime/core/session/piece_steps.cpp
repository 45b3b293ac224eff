// Stepping by time blocks of pieces of a grid (TimeBlock::OfPieces).
#include <algorithm>
#include <limits>

#include "runtime/core/session/block_steps.h"

namespace halo::rt::session {

void PieceSteps::set_neighbour(int side, Parts& other, const GhostPlanes& given) {
    neighbours_[static_cast<std::size_t>(side)] = {&other, given};
    parts_.due.launches = true;
}

bool PieceSteps::stores_ghosts() const {
    return std::ranges::any_of(block().kernel.arguments, [](const Argument& argument) {
        return argument.kind == Argument::Kind::neighbour;
    });
}

// Arrays of the pieces lie alike, so a plane's cells are as far from its first in all of them.
void* PieceSteps::neighbour_cell(const Argument& argument, std::int64_t phase) const {
    const Neighbour& neighbour = neighbours_[static_cast<std::size_t>(argument.part)];
    if (neighbour.parts == nullptr) return nullptr;
    const Geometry& geometry = parts_.setup.geometry;
    const std::int64_t plane = geometry.strides()[static_cast<std::size_t>(geometry.rank - 1)];
    Arrays& arrays = neighbour.parts->arrays;
    const Level& level = arrays.level(argument.field, argument.time, phase);
    const FieldPlan& field = parts_.setup.plan.fields[static_cast<std::size_t>(argument.field)];
    return static_cast<char*>(arrays.first_cell(argument.field, level)) +
           neighbour.given.shift * plane * size_of(field.type);
}

void PieceSteps::give_arguments(PreparedLaunch& launch, std::int64_t phase) {
    const std::vector<Argument>& arguments = block().kernel.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].kind == Argument::Kind::neighbour)
            launch.values[i].address = neighbour_cell(arguments[i], phase);
}

void PieceSteps::launch(std::int64_t phase, std::int64_t /*number*/) {  // these give no reductions
    launch_planes(phase, {0, parts_.setup.geometry.extent[parts_.setup.plan.rank - 1]}, false);
}

void PieceSteps::launch_planes(std::int64_t phase, const PlaneRange& planes, bool to_neighbours) {
    const bool below = to_neighbours && neighbours_[0].parts != nullptr;
    const bool above = to_neighbours && neighbours_[1].parts != nullptr;
    const std::array<std::int64_t, 4> values{
        planes.begin, planes.end, below ? neighbours_[0].given.end : 0,
        above ? neighbours_[1].given.begin : std::numeric_limits<std::int32_t>::max()};
    const KernelPlan& kernel = block().kernel;
    PreparedLaunch& launch = launch_at(phase);
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
        if (kernel.arguments[i].kind == Argument::Kind::planes)
            launch.values[i].i32 =
                static_cast<std::int32_t>(values[static_cast<std::size_t>(kernel.arguments[i].part)]);
    const int usual = block().of_pieces()->traversals;
    const std::int64_t count = planes.traversals == 0 || usual == 0
                                   ? kernel.blocks
                                   : (kernel.blocks * planes.traversals + usual - 1) / usual;
    parts_.setup.device->launch(kernel_, {count, 1, 1}, launch.pointers.data());
}

}  // namespace halo::rt::session
