#include "runtime/hdf5/form.h"

#include <optional>

namespace halo::rt::hdf5 {

namespace {

// A dataset for each field at the top of the file.
class PlainForm final : public Form {
public:
    PlainForm(FileWriter& writer, bool is_series) : Form(writer, is_series) {}

    Handle add(const Hdf5Field& field) override {
        Handle dataset = writer().create_dataset(writer().top(), field, extents_of(field), is_series());
        writer().describe(dataset, field, is_series());
        return dataset;
    }
    void finish_fields() override {
        if (!is_series()) return;
        steps_.emplace(writer(), writer().top(), "step", writer().library().i64);
        times_.emplace(writer(), writer().top(), "time", writer().library().f64);
    }
    void add_frame(std::int64_t step, double time) override {
        steps_->append(&step);
        times_->append(&time);
    }

private:
    std::optional<GrowingList> steps_, times_;
};

}  // namespace

std::vector<Size> Form::extents_of(const Hdf5Field& field) const {
    const std::vector<std::int64_t> shape =
        field.shape.is_complex ? field.shape.cells() : field.shape.elements();
    return {shape.begin(), shape.end()};
}

std::unique_ptr<Form> make_form(Hdf5Form form, FileWriter& writer, const std::vector<Hdf5Field>& fields,
                                bool is_series) {
    switch (form) {
        case Hdf5Form::netcdf:
            return make_netcdf_form(writer, fields, is_series);
        case Hdf5Form::vtk:
            return make_vtk_form(writer, fields, is_series);
        case Hdf5Form::plain:
            break;
    }
    return std::make_unique<PlainForm>(writer, is_series);
}

}  // namespace halo::rt::hdf5
