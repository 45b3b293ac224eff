#include "runtime/hdf5/table.h"

#include <fmt/format.h>

#include "runtime/core/error.h"
#include "runtime/hdf5/file_writer.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"
#include "runtime/io/atomic_file.h"

namespace halo::rt {

namespace {

const hdf5::Library& library_to_write(const std::string& path) {
    std::string why;
    const hdf5::Library* const library = hdf5::Library::find(why);
    if (library == nullptr) throw Error(ErrorCode::io, fmt::format("cannot write \"{}\": {}", path, why));
    return *library;
}

}  // namespace

// A table is small beside fields: it is written whole, after rows that are ever further apart.
class Hdf5Table::Rows {
public:
    Rows(const std::string& path, const std::vector<Column>& columns, const std::string& time_unit,
         const std::string& provenance)
        : file_(path), writer_(library_to_write(path)) {
        const hdf5::Library& lib = writer_.library();
        if (!provenance.empty()) writer_.write_long_text(kProvenance, provenance);
        lists_.emplace_back(writer_, writer_.top(), "step", lib.i64);
        const auto add_list = [&](const std::string& name, const std::string& unit) {
            lists_.emplace_back(writer_, writer_.top(), name.c_str(), lib.f64);
            writer_.write_unit(lists_.back().dataset().id(), kUnit, unit);
        };
        add_list("time", time_unit);
        for (const Column& column : columns)
            add_list(column.name, column.unit);
        if (file_.temporary().empty())
            throw Error(ErrorCode::io,
                        "cannot write \"" + path + "\": it is no plain file, and rows are added to it");
    }

    void add(std::int64_t step, double time, const std::vector<double>& numbers) {
        lists_[0].append(&step);
        lists_[1].append(&time);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            lists_[i + 2].append(&numbers[i]);
        if (++rows_ >= next_) write();
    }

    void commit() {
        write();
        file_.commit();
    }

private:
    void write() {
        next_ = rows_ + 1 + rows_ / 8;
        writer_.flush();
        const std::string bytes = writer_.memory().read(0, writer_.memory().bytes());
        file_.write_at(0, bytes.data(), bytes.size());
    }

    AtomicFile file_;
    hdf5::FileWriter writer_;
    std::vector<hdf5::GrowingList> lists_;
    std::int64_t rows_ = 0, next_ = 1;
};

Hdf5Table::Hdf5Table(const std::string& path, const std::vector<Column>& columns,
                     const std::string& time_unit, const std::string& provenance)
    : rows_(std::make_unique<Rows>(path, columns, time_unit, provenance)) {}
Hdf5Table::~Hdf5Table() = default;

void Hdf5Table::add_row(std::int64_t step, double time, const std::vector<double>& numbers) {
    rows_->add(step, time, numbers);
}

void Hdf5Table::commit() {
    rows_->commit();
}

}  // namespace halo::rt
