// VTKHDF: the ImageData of VTK, which ParaView opens. A static image is version 1.0 of the format, and one
// with steps 2.0, as older readers know no steps.
//
// Fields are PointData: a value is that of a place, as finite differences and the page of XDMF have it. As
// CellData it would be the mean of a box around the place, and filters that need points would first spread
// it, and lose half a cell at each face. A plane or a line is CellData all the same, boxes around the places:
// readers before VTK 9.6 write past their memory where an image has a single point along an axis.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "runtime/hdf5/form.h"

namespace halo::rt::hdf5 {

namespace {

constexpr std::size_t kAxes = 3;  // of an image of VTK, whatever the grid

std::size_t flat_axes(const Extent& extent) {
    return static_cast<std::size_t>(std::count(extent.begin(), extent.begin() + kAxes, 1));
}

class VtkForm final : public Form {
public:
    VtkForm(FileWriter& writer, const Hdf5Field::Place& place, bool is_series)
        : Form(writer, is_series),
          is_flat_(flat_axes(place.extent) > 0),
          top_(writer.create_group(writer.top(), "VTKHDF")),
          data_(writer.create_group(top_.id(), is_flat_ ? "CellData" : "PointData")) {
        const Library& lib = writer.library();
        const std::array<std::int64_t, 2> version{is_series ? 2 : 1, 0};
        writer.write_numbers(top_.id(), "Version", lib.i64, version.data(), version.size());
        writer.write_exact_text(top_.id(), "Type", "ImageData");
        std::array<std::int64_t, 2 * kAxes> whole{};  // of points
        std::array<double, kMaxRank> origin = place.origin;
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            whole[2 * axis + 1] = is_flat_ ? place.extent[axis] : place.extent[axis] - 1;
            if (is_flat_) origin[axis] -= place.spacing[axis] / 2;
        }
        writer.write_numbers(top_.id(), "WholeExtent", lib.i64, whole.data(), whole.size());
        writer.write_numbers(top_.id(), "Origin", lib.f64, origin.data(), kAxes);
        writer.write_numbers(top_.id(), "Spacing", lib.f64, place.spacing.data(), kAxes);
        const std::array<double, kAxes * kAxes> upright{1, 0, 0, 0, 1, 0, 0, 0, 1};
        writer.write_numbers(top_.id(), "Direction", lib.f64, upright.data(), upright.size());
        if (is_series) begin_steps();
    }

    // Three axes in any case, and the components.
    std::vector<Size> extents_of(const Hdf5Field& field) const override {
        const Extent& cells = field.place.extent;
        std::vector<Size> extents(cells.rend() - kAxes, cells.rend());
        if (field.shape.components > 1) extents.push_back(static_cast<Size>(field.shape.components));
        return extents;
    }

    Handle add(const Hdf5Field& field) override {
        Handle dataset = writer().create_dataset(data_.id(), field, extents_of(field), is_series());
        writer().describe(dataset, field, is_series());
        if (is_series())
            offsets_.emplace_back(writer(), offsets_group_->id(), field.name.c_str(), writer().library().i64);
        return dataset;
    }

    void add_frame(std::int64_t step, double time) override {
        step_list_->append(&step);
        times_->append(&time);
        for (GrowingList& offsets : offsets_)
            offsets.append(&frames_);
        ++frames_;
        if (writer().library().write_attribute(count_->id(), writer().library().i64, &frames_) < 0)
            fail_layout(writer().library().trouble());
    }

private:
    void begin_steps() {
        const Library& lib = writer().library();
        steps_.emplace(writer().create_group(top_.id(), "Steps"));
        count_.emplace(writer().write_numbers(steps_->id(), "NSteps", lib.i64, &frames_, 0));
        times_.emplace(writer(), steps_->id(), "Values", lib.f64);
        offsets_group_.emplace(
            writer().create_group(steps_->id(), is_flat_ ? "CellDataOffsets" : "PointDataOffsets"));
        step_list_.emplace(writer(), writer().top(), "step", lib.i64);  // VTK has times alone
    }

    bool is_flat_;
    Handle top_, data_;
    std::optional<Handle> steps_, count_, offsets_group_;
    std::optional<GrowingList> times_, step_list_;
    std::vector<GrowingList> offsets_;  // by field: which frame of the dataset a step is
    std::int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<Form> make_vtk_form(FileWriter& writer, const std::vector<Hdf5Field>& fields,
                                    bool is_series) {
    return std::make_unique<VtkForm>(writer, fields.front().place, is_series);
}

}  // namespace halo::rt::hdf5
