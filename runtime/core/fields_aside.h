// Cells of a session's fields as they were after a step, set aside on its device, and fetched while later
// steps go on.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/session.h"

namespace halo::rt {

class FieldsAside {
public:
    struct Part {
        std::string field;
        int time = 0;
        Lattice cells;
    };
    // Null where the session's device can set nothing aside. The session must outlive it, and stay where it
    // is.
    static std::unique_ptr<FieldsAside> of(Session& session);

    // As CellsAside has them (device.h). Throws bad_argument where the session has no such cells.
    bool set_aside(const std::vector<Part>& parts);
    bool are_finite() { return cells_->are_finite(); }
    // To a dense array of the field's element type, x fastest.
    void fetch(std::size_t part, void* elements) { cells_->fetch(part, elements); }

private:
    FieldsAside(Session& session, std::unique_ptr<CellsAside> cells)
        : session_(session), cells_(std::move(cells)) {}

    Session& session_;
    std::unique_ptr<CellsAside> cells_;
};

}  // namespace halo::rt
