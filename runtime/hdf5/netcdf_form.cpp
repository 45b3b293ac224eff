// NetCDF-4, which is HDF5 with dimensions: each is a dataset (a "dimension scale") that says where along an
// axis the values lie, and each field's dataset refers to its own. What they mean is said as CF has it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "runtime/hdf5/form.h"

namespace halo::rt::hdf5 {

namespace {

// What the library's own interface for dimension scales writes.
struct ScaleUser {
    Reference dataset = 0;
    std::int32_t axis = 0;
};
struct ListOfReferences {
    std::size_t count = 1;
    const Reference* first = nullptr;
};

class NetcdfForm final : public Form {
public:
    NetcdfForm(FileWriter& writer, const std::vector<Hdf5Field>& fields, bool is_series)
        : Form(writer, is_series),
          time_(fields.front().time),
          step_(fields.front().step),
          time_unit_(fields.front().time_unit) {
        if (writer.library().create_reference == nullptr)
            fail_layout(fmt::format("NetCDF needs H5Rcreate, which {} lacks", writer.library().file));
        for (const Hdf5Field& field : fields)
            names_.insert(field.name);
        names_.insert({"step", "time"});
        writer.write_exact_text(writer.top(), "Conventions", "CF-1.10");
        writer.write_exact_text(writer.top(), "title", fields.front().stencil);
        writer.write_exact_text(writer.top(), "source", "Halocline");
        if (is_series) begin_times();
    }

    Handle add(const Hdf5Field& field) override {
        std::vector<Dimension*> dimensions;
        if (is_series()) dimensions.push_back(&dimensions_.front());
        const std::vector<std::int64_t> cells = field.shape.cells();
        for (std::size_t axis = 0; axis < cells.size(); ++axis)
            dimensions.push_back(
                &dimension({field.dimensions[axis], static_cast<Size>(cells[axis]), true, field.spacing[axis],
                            field.origin[axis], field.axis_unit(axis)}));
        if (field.shape.components > 1)
            dimensions.push_back(
                &dimension({"component", static_cast<Size>(field.shape.components), false, 1, 0, ""}));
        Handle dataset = writer().create_dataset(writer().top(), field, extents_of(field), is_series());
        attach(dataset, field.name, dimensions);
        writer().write_unit(dataset.id(), kUnit, field.unit);
        if (!is_series()) writer().write_exact_text(dataset.id(), "coordinates", "time step");
        return dataset;
    }

    void finish_fields() override {
        if (!is_series()) {
            const Handle time = write_number("time", writer().library().f64, &time_);
            writer().write_unit(time.id(), kUnit, time_unit_);
            write_number("step", writer().library().i64, &step_);
        }
        const Library& lib = writer().library();
        const Handle type = writer().checked({lib.create_type(kCompound, sizeof(ScaleUser)), lib.close_type});
        if (lib.insert_member(type.id(), "dataset", offsetof(ScaleUser, dataset), lib.reference) < 0 ||
            lib.insert_member(type.id(), "dimension", offsetof(ScaleUser, axis), lib.i32) < 0)
            fail_layout(lib.trouble());
        for (const Dimension& each : dimensions_)
            writer().write_numbers(each.dataset->id(), "REFERENCE_LIST", type.id(), each.users.data(),
                                   each.users.size());
    }

    void add_frame(std::int64_t step, double time) override {
        steps_->append(&step);
        times_->append(&time);
    }

private:
    struct Dimension {
        std::string name;  // as wanted; in the file another where one of other places has it
        Size extent = 1;
        bool has_places = true;
        double spacing = 1, origin = 0;
        std::string unit = {};
        const Handle* dataset = nullptr;
        std::optional<Handle> own = std::nullopt;
        std::vector<ScaleUser> users = {};

        bool is_like(const Dimension& other) const {
            return name == other.name && extent == other.extent && has_places == other.has_places &&
                   spacing == other.spacing && origin == other.origin;
        }
    };

    void begin_times() {
        const Library& lib = writer().library();
        times_.emplace(writer(), writer().top(), "time", lib.f64);
        Dimension& time = dimensions_.emplace_back();
        time.name = "time";
        time.has_places = false;
        time.dataset = &times_->dataset();
        mark(time, "time");
        writer().write_exact_text(time.dataset->id(), "axis", "T");
        writer().write_unit(time.dataset->id(), kUnit, time_unit_);
        steps_.emplace(writer(), writer().top(), "step", lib.i64);
        attach(steps_->dataset(), "step", {&time});
    }

    Dimension& dimension(Dimension wanted) {
        const auto found =
            std::ranges::find_if(dimensions_, [&](const Dimension& each) { return each.is_like(wanted); });
        if (found != dimensions_.end()) return *found;
        std::string name = wanted.name;
        for (int i = 2; !names_.insert(name).second; ++i)
            name = fmt::format("{}_{}", wanted.name, i);
        Dimension& made = dimensions_.emplace_back(std::move(wanted));
        create_scale(made, name);
        return made;
    }

    // Its places; where it has none the dataset has no elements of its own.
    void create_scale(Dimension& made, const std::string& name) {
        const Library& lib = writer().library();
        const Handle space = writer().checked({lib.create_space(1, &made.extent, nullptr), lib.close_space});
        const Handle list = writer().checked({lib.create_list(lib.of_datasets), lib.close_list});
        if (lib.set_times(list.id(), false) < 0) fail_layout(lib.trouble());
        made.own.emplace(writer().checked(
            {lib.create_dataset(writer().top(), name.c_str(), made.has_places ? lib.f64 : lib.f32, space.id(),
                                kDefault, list.id(), kDefault),
             lib.close_dataset}));
        made.dataset = &*made.own;
        if (!made.has_places) {
            // As the NetCDF library says it.
            mark(made,
                 fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", made.extent));
            return;
        }
        std::vector<double> places(made.extent);
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = made.origin + made.spacing * static_cast<double>(i);
        if (lib.write(made.own->id(), lib.f64, kDefault, kDefault, kDefault, places.data()) < 0)
            fail_layout(lib.trouble());
        mark(made, name);
        writer().write_unit(made.own->id(), kUnit, made.unit);
        const std::string axis = made.name.substr(0, made.name.find('_'));
        if (axis == "x" || axis == "y" || axis == "z")
            writer().write_exact_text(
                made.own->id(), "axis",
                std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(axis[0])))));
    }

    // That a dataset is a dimension, and the how many'th.
    void mark(const Dimension& dimension, const std::string& name) {
        const Id owner = dimension.dataset->id();
        const auto number = static_cast<std::int32_t>(dimensions_.size() - 1);
        writer().write_text(owner, "CLASS", kScaleClass);
        writer().write_text(owner, "NAME", name);
        writer().write_numbers(owner, "_Netcdf4Dimid", writer().library().i32, &number, 0);
    }

    void attach(const Handle& dataset, const std::string& name, const std::vector<Dimension*>& dimensions) {
        const Library& lib = writer().library();
        std::vector<Reference> to(dimensions.size());
        std::vector<ListOfReferences> lists(dimensions.size());
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
            ScaleUser user{0, static_cast<std::int32_t>(i)};
            if (lib.create_reference(&user.dataset, writer().top(), name.c_str(), kToObject, -1) < 0 ||
                lib.create_reference(&to[i], dimensions[i]->dataset->id(), ".", kToObject, -1) < 0)
                fail_layout(lib.trouble());
            dimensions[i]->users.push_back(user);
            lists[i].first = &to[i];
        }
        const Handle type = writer().checked({lib.create_list_type(lib.reference), lib.close_type});
        writer().write_numbers(dataset.id(), "DIMENSION_LIST", type.id(), lists.data(), lists.size());
    }

    Handle write_number(const char* name, Id type, const void* number) {
        const Library& lib = writer().library();
        const Handle space = writer().checked({lib.create_space(0, nullptr, nullptr), lib.close_space});
        const Handle list = writer().checked({lib.create_list(lib.of_datasets), lib.close_list});
        if (lib.set_times(list.id(), false) < 0) fail_layout(lib.trouble());
        Handle dataset = writer().checked(
            {lib.create_dataset(writer().top(), name, type, space.id(), kDefault, list.id(), kDefault),
             lib.close_dataset});
        if (lib.write(dataset.id(), type, kDefault, kDefault, kDefault, number) < 0)
            fail_layout(lib.trouble());
        return dataset;
    }

    double time_;
    std::int64_t step_;
    std::string time_unit_;
    std::set<std::string> names_;  // that are taken
    std::optional<GrowingList> times_, steps_;
    std::deque<Dimension> dimensions_;
};

}  // namespace

std::unique_ptr<Form> make_netcdf_form(FileWriter& writer, const std::vector<Hdf5Field>& fields,
                                       bool is_series) {
    return std::make_unique<NetcdfForm>(writer, fields, is_series);
}

}  // namespace halo::rt::hdf5
