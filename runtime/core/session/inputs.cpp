#include "runtime/core/session/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/core/plan_check.h"

namespace halo::rt::session {

namespace {

// Pads rows of `given` values to `width` elements; what is computed or padding is 0.
template <class Element>
std::vector<Element> padded_rows(const TablePlan& table, std::span<const double> values, std::int64_t rows) {
    const auto given = static_cast<std::size_t>(table.given), width = static_cast<std::size_t>(table.width);
    std::vector<Element> result(static_cast<std::size_t>(rows) * width);
    for (std::size_t i = 0; i < values.size(); ++i)
        result[i / given * width + i % given] = static_cast<Element>(values[i]);
    return result;
}

}  // namespace

Coefs::Coefs(const Setup& setup, Kernels& kernels) : setup_(setup), kernels_(kernels) {
    const LaunchPlan& plan = setup.plan;
    std::vector<bool> by_pointer(plan.coefs.size(), false);
    for (const KernelPlan& kernel : plan.kernels)
        for (const Argument& argument : kernel.arguments)
            if (argument.kind == Argument::Kind::coefs)
                by_pointer[static_cast<std::size_t>(argument.index)] = true;
    for (std::size_t i = 0; i < plan.coefs.size(); ++i) {
        const CoefPlan& coef = plan.coefs[i];
        weights_.push_back(coef.defaults);
        arrays_.emplace_back();
        if (by_pointer[i])
            arrays_.back() = DeviceMemory(*setup.device, element_count(coef) * size_of(coef.type));
    }
    send_all();
}

void Coefs::set(int index, std::span<const double> weights) {
    const auto place = static_cast<std::size_t>(index);
    const CoefPlan& coef = setup_.plan.coefs[place];
    if (static_cast<std::int64_t>(weights.size()) != element_count(coef))
        throw Error(ErrorCode::bad_argument, fmt::format("coefficient '{}' has {} weights, but {} were given",
                                                         coef.name, element_count(coef), weights.size()));
    weights_[place].assign(weights.begin(), weights.end());
    send(place);
}

void Coefs::send_all() {
    for (std::size_t i = 0; i < weights_.size(); ++i)
        send(i);
}

void Coefs::send(std::size_t index) {
    const CoefPlan& coef = setup_.plan.coefs[index];
    const std::vector<double>& weights = weights_[index];
    const std::vector<float> narrow(weights.begin(), weights.end());
    const void* data =
        coef.type == ElementType::f32 ? static_cast<const void*>(narrow.data()) : weights.data();
    const std::int64_t bytes = static_cast<std::int64_t>(weights.size()) * size_of(coef.type);
    if (arrays_[index].address() != nullptr)
        setup_.device->copy_to_device(arrays_[index].address(), data, bytes);
    if (!coef.symbol.empty()) kernels_.set_constant(coef.symbol, data, bytes);
}

void Tables::set(int index, std::span<const double> values) {
    Device& device = *setup_.device;
    const TablePlan& table = setup_.plan.tables[static_cast<std::size_t>(index)];
    Table& state = tables_[static_cast<std::size_t>(index)];
    if (table.is_series) {  // the host reads it
        if (values.empty())
            throw Error(ErrorCode::bad_argument,
                        fmt::format("series '{}' needs one value at least", table.name));
        series_[static_cast<std::size_t>(index)].assign(values.begin(), values.end());
        state.given = true;
        due_.scalars = true;
        return;
    }
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
            device.synchronize();  // a step may still read the old rows
            state.memory = DeviceMemory();
            state.memory = DeviceMemory(device, bytes);
        }
        state.rows = rows;
        state.given = true;
        due_.scalars = true;  // launches hold the address and the number
    }
    if (table.type == ElementType::f32) {
        device.copy_to_device(state.memory.address(), padded_rows<float>(table, values, padded).data(),
                              bytes);
    } else {
        device.copy_to_device(state.memory.address(), padded_rows<double>(table, values, padded).data(),
                              bytes);
    }
    due_.columns = true;
}

void Tables::check() const {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (tables_[i].given) continue;
        const TablePlan& table = setup_.plan.tables[i];
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{} '{}' of '{}' was given no {}", table.is_series ? "series" : "table",
                                table.name, setup_.plan.name, table.is_series ? "values" : "rows"));
    }
}

}  // namespace halo::rt::session
