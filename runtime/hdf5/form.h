// What a convention asks of an HDF5 file beside the elements of fields: where their datasets lie, and what
// says how they belong together. Not for other rooms.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/hdf5/file_writer.h"
#include "runtime/hdf5/hdf5.h"

namespace halo::rt::hdf5 {

// All throw Error (io).
class Form {
public:
    Form(FileWriter& writer, bool is_series) : writer_(writer), is_series_(is_series) {}
    virtual ~Form() = default;
    Form(const Form&) = delete;
    Form& operator=(const Form&) = delete;

    // Of a field's dataset, without the axis of frames.
    virtual std::vector<Size> extents_of(const Hdf5Field& field) const;
    virtual Handle add(const Hdf5Field& field) = 0;  // its dataset; once for each field
    virtual void finish_fields() {}                  // all have been added
    // What grows with each frame beside the elements.
    virtual void add_frame(std::int64_t step, double time) = 0;

protected:
    FileWriter& writer() const { return writer_; }
    bool is_series() const { return is_series_; }

private:
    FileWriter& writer_;
    bool is_series_;
};

// The writer must outlive it.
std::unique_ptr<Form> make_form(Hdf5Form form, FileWriter& writer, const std::vector<Hdf5Field>& fields,
                                bool is_series);
std::unique_ptr<Form> make_netcdf_form(FileWriter& writer, const std::vector<Hdf5Field>& fields,
                                       bool is_series);
std::unique_ptr<Form> make_vtk_form(FileWriter& writer, const std::vector<Hdf5Field>& fields, bool is_series);

}  // namespace halo::rt::hdf5
