// Tables of a session: their rows on the device, and the columns that are computed there.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/core/session_state.h"

namespace halo::rt {

namespace {

// Rows of `width` elements from rows of `given` values; what is computed or padding is 0.
template <class Element>
std::vector<Element> padded_rows(const TablePlan& table, std::span<const double> values, std::int64_t rows) {
    const auto given = static_cast<std::size_t>(table.given), width = static_cast<std::size_t>(table.width);
    std::vector<Element> result(static_cast<std::size_t>(rows) * width);
    for (std::size_t i = 0; i < values.size(); ++i)
        result[i / given * width + i % given] = static_cast<Element>(values[i]);
    return result;
}

}  // namespace

void Session::State::set_table(int index, std::span<const double> values) {
    const TablePlan& table = plan.tables[index];
    TableState& state = tables[index];
    const auto given = static_cast<std::size_t>(table.given);
    if (values.size() % given != 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("table '{}' has {} columns to give; {} values are no whole rows", table.name,
                                given, values.size()));
    const auto rows = static_cast<std::int64_t>(values.size() / given);
    const std::int64_t multiple = table.rows_multiple;
    const std::int64_t padded = std::max<std::int64_t>(1, (rows + multiple - 1) / multiple) * multiple;
    if (padded > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::bad_argument, fmt::format("table '{}' cannot have {} rows", table.name, rows));
    const std::int64_t bytes = padded * table.width * size_of(table.type);
    if (!state.given || state.rows != rows) {
        if (state.memory.bytes() != bytes) {
            device->synchronize();  // a step may still read the old rows
            state.memory = DeviceMemory();
            state.memory = DeviceMemory(*device, bytes);
        }
        state.rows = rows;
        state.given = true;
        scalars_due = true;  // launches hold the address and the number
    }
    if (table.type == ElementType::f32) {
        device->copy_to_device(state.memory.address(), padded_rows<float>(table, values, padded).data(),
                               bytes);
    } else {
        device->copy_to_device(state.memory.address(), padded_rows<double>(table, values, padded).data(),
                               bytes);
    }
    columns_due = true;
}

void Session::State::check_tables() const {
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (tables[i].given) continue;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("table '{}' of '{}' was given no rows", plan.tables[i].name, plan.name));
    }
}

void Session::State::compute_columns() {
    columns_due = false;
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
        const KernelPlan& kernel = plan.kernels[k];
        if (kernel.domain.kind != Domain::Kind::rows) continue;
        const std::int64_t rows = tables[kernel.domain.index].rows;
        if (rows == 0) continue;
        const std::int64_t count = (rows + kernel.tile[0] - 1) / kernel.tile[0];
        device->launch(*kernels[k], {count, 1, 1}, launches.front()[k].pointers.data());
    }
}

}  // namespace halo::rt
