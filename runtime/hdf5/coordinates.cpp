// Scales are found by what they say of who uses them, a list of plain numbers. The way back, from a dataset
// to its scales, leads through the heap of the file, in which the library does not get along with damage.
#include "runtime/hdf5/coordinates.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"
#include "runtime/io/field_file.h"

namespace halo::rt {

namespace {

using hdf5::Handle;
using hdf5::Library;

constexpr hdf5::Size kMostUsers = 100000, kMostScales = 10000;

struct User {
    hdf5::Reference dataset = 0;
    std::int32_t axis = 0;
};

class Scales {
public:
    Scales(const std::string& path, const std::string& name)
        : path_(path),
          lib_(hdf5::library_to_read(path)),
          file_(hdf5::open_to_read(lib_, path)),
          group_(name.substr(0, name.rfind('/') + 1)) {
        const Handle dataset = open(name);
        if (dataset) unit_ = unit_of(dataset);
        if (!dataset || lib_.create_reference == nullptr ||
            lib_.create_reference(&wanted_, file_.id(), name.c_str(), hdf5::kToObject, -1) < 0)
            return;
        found_.resize(extents_of(dataset).size());
        look_in(group_.empty() ? "/" : group_);
        if (group_.size() > 1) look_in("/");
    }

    Hdf5Axes take() { return {std::move(found_), std::move(unit_)}; }

private:
    Handle open(const std::string& name) const {
        return {lib_.open_dataset(file_.id(), name.c_str(), hdf5::kDefault), lib_.close_dataset};
    }
    std::vector<hdf5::Size> extents_of(const Handle& dataset) const {
        const Handle space(lib_.space_of(dataset.id()), lib_.close_space);
        const int rank = space ? lib_.rank_of(space.id()) : 0;
        std::vector<hdf5::Size> extents(static_cast<std::size_t>(rank < 0 ? 0 : rank));
        if (!extents.empty() && lib_.extents_of(space.id(), extents.data(), nullptr) < 0) extents.clear();
        return extents;
    }

    void look_in(const std::string& group) {
        std::array<char, 1024> text{};
        for (hdf5::Size i = 0; i < kMostScales; ++i) {
            if (lib_.name_of_link(file_.id(), group.c_str(), hdf5::kByName, hdf5::kIncreasing, i, text.data(),
                                  text.size(), hdf5::kDefault) < 0)
                return;
            const Handle dataset = open(group + text.data());
            if (!dataset) continue;
            for (const User& user : users_of(dataset))
                if (user.dataset == wanted_ && user.axis >= 0 &&
                    static_cast<std::size_t>(user.axis) < found_.size() &&
                    !found_[static_cast<std::size_t>(user.axis)])
                    found_[static_cast<std::size_t>(user.axis)] = {text.data(), places_of(dataset),
                                                                   unit_of(dataset)};
        }
    }

    std::vector<User> users_of(const Handle& dataset) const {
        if (lib_.has_attribute(dataset.id(), "REFERENCE_LIST") <= 0) return {};
        const Handle attribute(lib_.open_attribute(dataset.id(), "REFERENCE_LIST", hdf5::kDefault),
                               lib_.close_attribute);
        const Handle type(attribute ? lib_.type_of_attribute(attribute.id()) : -1, lib_.close_type);
        const Handle space(attribute ? lib_.space_of_attribute(attribute.id()) : -1, lib_.close_space);
        hdf5::Size count = 0;
        if (!type || !space || lib_.class_of(type.id()) != hdf5::kCompound ||
            lib_.count_members(type.id()) != 2 || lib_.class_of_member(type.id(), 0) != hdf5::kReference ||
            lib_.class_of_member(type.id(), 1) != hdf5::kInteger || lib_.rank_of(space.id()) != 1 ||
            lib_.extents_of(space.id(), &count, nullptr) < 0 || count > kMostUsers)
            return {};
        const Handle memory(lib_.create_type(hdf5::kCompound, sizeof(User)), lib_.close_type);
        std::vector<User> users(count);
        if (!memory ||
            lib_.insert_member(memory.id(), "dataset", offsetof(User, dataset), lib_.reference) < 0 ||
            lib_.insert_member(memory.id(), "dimension", offsetof(User, axis), lib_.i32) < 0 ||
            lib_.read_attribute(attribute.id(), memory.id(), users.data()) < 0)
            return {};
        return users;
    }

    // Those of a dimension that is no variable are none.
    std::vector<double> places_of(const Handle& dataset) const {
        constexpr std::string_view kNoVariable = "This is a netCDF dimension but not a netCDF variable";
        if (text_of(dataset, "NAME").starts_with(kNoVariable)) return {};
        const std::vector<hdf5::Size> extents = extents_of(dataset);
        const Handle type(lib_.type_of(dataset.id()), lib_.close_type);
        const int kind = type ? lib_.class_of(type.id()) : -1;
        if (extents.size() != 1 || (kind != hdf5::kInteger && kind != hdf5::kFloat)) return {};
        std::vector<double> places(extents.front());
        if (lib_.read(dataset.id(), lib_.f64, hdf5::kDefault, hdf5::kDefault, hdf5::kDefault, places.data()) <
            0)
            refuse_file(path_, "it is damaged: " + lib_.trouble());
        return places;
    }

    std::string unit_of(const Handle& dataset) const {
        const std::string text = text_of(dataset, kUnit);
        return text.substr(0, text.find_last_not_of('\0') + 1);
    }

    std::string text_of(const Handle& owner, const char* name) const {
        if (lib_.has_attribute(owner.id(), name) <= 0) return {};
        const Handle attribute(lib_.open_attribute(owner.id(), name, hdf5::kDefault), lib_.close_attribute);
        const Handle type(attribute ? lib_.type_of_attribute(attribute.id()) : -1, lib_.close_type);
        if (!type || lib_.class_of(type.id()) != hdf5::kText || lib_.is_variable(type.id()) != 0 ||
            lib_.bytes_of(type.id()) > hdf5::kMostOfText)
            return {};
        const Handle space(lib_.space_of_attribute(attribute.id()), lib_.close_space);
        std::string text(lib_.bytes_of(type.id()), '\0');
        if (lib_.rank_of(space.id()) != 0 || lib_.read_attribute(attribute.id(), type.id(), text.data()) < 0)
            return {};
        return text;
    }

    std::string path_;
    const Library& lib_;
    Handle file_;
    std::string group_;
    hdf5::Reference wanted_ = 0;
    std::vector<std::optional<Hdf5Coordinates>> found_;
    std::string unit_;
};

}  // namespace

Hdf5Axes read_coordinates(const std::string& path, const std::string& dataset) {
    return Scales(path, dataset).take();
}

}  // namespace halo::rt
