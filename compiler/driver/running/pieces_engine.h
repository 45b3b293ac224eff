// The pieces of a grid (runtime/pieces) as one Engine.
#pragma once

#include <memory>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/ir/program.h"
#include "runtime/pieces/pieces.h"

namespace halo::driver {

// engines: of the sessions that the pieces drive.
std::unique_ptr<Engine> make_pieces_engine(const ir::Program& program,
                                           std::vector<std::unique_ptr<Engine>> engines,
                                           std::unique_ptr<rt::Pieces> pieces);
// The pieces stay the caller's, and must outlive the engine.
std::unique_ptr<Engine> make_engine_on(const ir::Program& program, rt::Pieces& pieces);

}  // namespace halo::driver
