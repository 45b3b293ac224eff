// What a session's kernels read beside fields: weights of coefficients, rows of tables, and what is computed
// from series. Not for other rooms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/core/session/kernels.h"
#include "runtime/core/session/parts.h"

namespace halo::rt::session {

class Coefs {
public:
    Coefs(const Setup& setup, Kernels& kernels);
    void set(int index, std::span<const double> weights);
    void send_all();  // to modules, too, that came later
    void* address(int index) const { return arrays_[static_cast<std::size_t>(index)].address(); }

private:
    void send(std::size_t index);

    const Setup& setup_;
    Kernels& kernels_;
    std::vector<std::vector<double>> weights_;
    std::vector<DeviceMemory> arrays_;  // by CoefPlan; empty where no kernel takes a pointer
};

class Tables {
public:
    Tables(const Setup& setup, Due& due)
        : setup_(setup), due_(due), tables_(setup.plan.tables.size()), series_(setup.plan.tables.size()) {}
    void set(int index, std::span<const double> values);
    void check() const;  // throws where one was given no rows, or a series no value
    void* address(int index) const { return tables_[static_cast<std::size_t>(index)].memory.address(); }
    std::int64_t rows(int index) const { return tables_[static_cast<std::size_t>(index)].rows; }
    const std::vector<std::vector<double>>& series() const { return series_; }  // by TablePlan; others: empty

private:
    struct Table {
        DeviceMemory memory;    // rows × TablePlan::width elements, at least one row
        std::int64_t rows = 0;  // as given
        bool given = false;
    };
    const Setup& setup_;
    Due& due_;
    std::vector<Table> tables_;  // by TablePlan
    std::vector<std::vector<double>> series_;
};

}  // namespace halo::rt::session
