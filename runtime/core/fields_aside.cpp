#include "runtime/core/fields_aside.h"

#include "runtime/core/session/state.h"

namespace halo::rt {

std::unique_ptr<FieldsAside> FieldsAside::of(Session& session) {
    std::unique_ptr<CellsAside> cells = session.device().make_cells_aside();
    if (cells == nullptr) return nullptr;
    return std::unique_ptr<FieldsAside>(new FieldsAside(session, std::move(cells)));
}

bool FieldsAside::set_aside(const std::vector<Part>& parts) {
    session::Arrays& arrays = session_.state_->parts.arrays;
    std::vector<CellsOfArray> cells;
    for (const Part& part : parts) {
        const int field = session_.state_->field(part.field, part.time);
        arrays.check_box(field, bounds(part.cells));
        cells.push_back(arrays.cells_in(field, arrays.level(field, part.time), part.cells));
    }
    return cells_->set_aside(cells);
}

}  // namespace halo::rt
