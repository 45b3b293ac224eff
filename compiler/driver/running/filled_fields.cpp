#include "compiler/driver/running/filled_fields.h"

#include <string>

#include "compiler/driver/running/field_files.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kMostFilledCells = std::int64_t{1} << 24;

}  // namespace

void FilledFields::follow() {
    for (std::string field = ranks_.broadcast({}); !field.empty(); field = ranks_.broadcast({}))
        gather_cells(ranks_, engine_, field, engine_.whole_box_of(field));
}

std::optional<double> FilledFields::value(ir::FieldId field, const analysis::Cell& cell) {
    const FieldValues* values = fetch(field);
    if (values == nullptr) return std::nullopt;
    const rt::FieldGrid& grid = program_[field].grid;
    return values->at(rt::whole_box(grid.extent(extent_)).index(grid.offset(cell)));
}

std::optional<InputRange> FilledFields::range(ir::FieldId field) {
    const FieldValues* values = fetch(field);
    if (values == nullptr) return std::nullopt;
    std::int64_t low = 0, high = 0;
    for (std::int64_t i = 0; i < values->size(); ++i) {
        if (values->at(i) < values->at(low)) low = i;
        if (values->at(i) > values->at(high)) high = i;
    }
    return InputRange{cell(field, low), cell(field, high), values->at(low), values->at(high)};
}

analysis::Cell FilledFields::cell(ir::FieldId field, std::int64_t i) const {
    const Extent own = program_[field].grid.extent(extent_);
    return {i % own[0], i / own[0] % own[1], i / own[0] / own[1]};
}

const FieldValues* FilledFields::fetch(ir::FieldId field) {
    if (cell_count(extent_) > kMostFilledCells) return nullptr;
    auto [entry, is_new] = fetched_.try_emplace(field);
    if (is_new)
        entry->second = gather_cells(ranks_, engine_, ranks_.broadcast(program_[field].name),
                                     engine_.whole_box_of(program_[field].name));
    return &entry->second;
}

}  // namespace halo::driver
