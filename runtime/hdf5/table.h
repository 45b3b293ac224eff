// A table of numbers in HDF5 that grows by rows: a list for each column at the top of the file, of f64,
// beside the lists `step` and `time`. So h5py and pandas read a column by its name, and rows can be added
// without an end, as they can be to frames.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halo::rt {

class Hdf5Table {
public:
    struct Column {
        std::string name;
        std::string unit;  // empty: not said
    };
    // Throws Error (io), as all here: also where the library is not there. The file has another name in its
    // folder until commit(), as AtomicFile has it.
    Hdf5Table(const std::string& path, const std::vector<Column>& columns, const std::string& time_unit,
              const std::string& provenance);
    ~Hdf5Table();

    // The rows so far are in the file now and then, and with commit().
    void add_row(std::int64_t step, double time, const std::vector<double>& numbers);
    void commit();

private:
    class Rows;
    std::unique_ptr<Rows> rows_;
};

}  // namespace halo::rt
