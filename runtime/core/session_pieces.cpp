// Stepping by time blocks of pieces of a grid (TimeBlock::OfPieces).
#include <algorithm>
#include <limits>

#include "runtime/core/session_state.h"

namespace halo::rt {

// Arrays of the pieces lie alike, so a plane's cells are as far from its first in all of them.
void* Session::State::neighbour_cell(const Argument& argument, std::int64_t phase) const {
    const Neighbour& neighbour = neighbours[static_cast<std::size_t>(argument.part)];
    if (neighbour.state == nullptr) return nullptr;
    const std::int64_t plane = plan.rank == 3 ? geometry.slice : geometry.pitch;
    const Level& level = neighbour.state->level(argument.field, argument.time, phase);
    return static_cast<char*>(neighbour.state->first_cell(argument.field, level)) +
           neighbour.given.shift * plane * size_of(plan.fields[argument.field].type);
}

void Session::State::launch_planes(std::int64_t phase, const PlaneRange& planes, bool to_neighbours) {
    const bool below = to_neighbours && neighbours[0].state != nullptr;
    const bool above = to_neighbours && neighbours[1].state != nullptr;
    const std::array<std::int64_t, 4> values{
        planes.begin, planes.end, below ? neighbours[0].given.end : 0,
        above ? neighbours[1].given.begin : std::numeric_limits<std::int32_t>::max()};
    const KernelPlan& kernel = plan.time_block->kernel;
    PreparedLaunch& launch = block_launches[static_cast<std::size_t>(modulo(phase, cycle))];
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
        if (kernel.arguments[i].kind == Argument::Kind::planes)
            launch.values[i].i32 =
                static_cast<std::int32_t>(values[static_cast<std::size_t>(kernel.arguments[i].part)]);
    const int usual = plan.time_block->of_pieces()->walks;
    const std::int64_t count =
        planes.walks == 0 || usual == 0 ? kernel.blocks : (kernel.blocks * planes.walks + usual - 1) / usual;
    device->launch(*block_kernel, {count, 1, 1}, launch.pointers.data());
}

bool Session::gives_planes() const {
    return state_->block_kernel != nullptr && state_->plan.time_block->of_pieces() != nullptr;
}

bool Session::stores_ghosts() const {
    return gives_planes() &&
           std::ranges::any_of(state_->plan.time_block->kernel.arguments, [](const Argument& argument) {
               return argument.kind == Argument::Kind::neighbour;
           });
}

void Session::set_neighbour(int side, Session& other, const GivenPlanes& given) {
    state_->neighbours[static_cast<std::size_t>(side)] = {other.state_.get(), given};
    state_->launches_due = true;
}

void Session::launch_planes(const PlaneRange& planes, bool to_neighbours) {
    state_->prepare();
    state_->launch_planes(state_->phase(), planes, to_neighbours);
}

void Session::finish_block() {
    State& s = *state_;
    s.count_blocks(1);
    s.leave_images_due();
}

}  // namespace halo::rt
