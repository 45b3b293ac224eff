#include "compiler/driver/running/filled_fields.h"

#include <string>

#include "compiler/driver/running/field_files.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kMostFilledCells = std::int64_t{1} << 24;

}  // namespace

void FilledFields::follow() {
    for (std::string field = ranks_.broadcast({}); !field.empty(); field = ranks_.broadcast({}))
        gather_cells(ranks_, engine_, field, rt::whole_box(extent_));
}

std::optional<double> FilledFields::value(ir::FieldId field, const analysis::Cell& cell) {
    const FieldValues* values = fetch(field);
    if (values == nullptr) return std::nullopt;
    return values->at(cell[0] + extent_[0] * (cell[1] + extent_[1] * cell[2]));
}

std::optional<InputRange> FilledFields::range(ir::FieldId field) {
    const FieldValues* values = fetch(field);
    if (values == nullptr) return std::nullopt;
    std::int64_t low = 0, high = 0;
    for (std::int64_t i = 0; i < values->size(); ++i) {
        if (values->at(i) < values->at(low)) low = i;
        if (values->at(i) > values->at(high)) high = i;
    }
    return InputRange{cell(low), cell(high), values->at(low), values->at(high)};
}

analysis::Cell FilledFields::cell(std::int64_t i) const {
    return {i % extent_[0], i / extent_[0] % extent_[1], i / extent_[0] / extent_[1]};
}

const FieldValues* FilledFields::fetch(ir::FieldId field) {
    if (cell_count(extent_) > kMostFilledCells) return nullptr;
    auto [entry, is_new] = fetched_.try_emplace(field);
    if (is_new)
        entry->second =
            gather_cells(ranks_, engine_, ranks_.broadcast(program_[field].name), rt::whole_box(extent_));
    return &entry->second;
}

}  // namespace halo::driver
