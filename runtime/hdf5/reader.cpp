#include <fmt/format.h>

#include <array>

#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"

namespace halo::rt {

namespace {

using hdf5::Handle;
using hdf5::Id;
using hdf5::Library;

class Hdf5Reader final : public FieldReader {
public:
    Hdf5Reader(const std::string& path, const std::string& dataset, const FieldShape& shape,
               const std::string& what);
    void read(const Box& box, ElementType type, void* elements) override;

private:
    Handle open_dataset(const std::string& name) const;
    Handle type_in_memory() const;
    std::vector<std::int64_t> shape_of_dataset() const;
    void read_as(Id type, const Box& box, void* elements) const;

    // A field's own type, where the dataset has just that; nothing is converted then. A boolean of another
    // byte than 0 and 1 becomes one of these.
    bool is_of(ElementType type) const;

    const Library& lib_;
    std::string path_;
    FieldShape shape_;
    Handle file_, dataset_, type_;
    bool is_complex_, is_enum_;
};

Hdf5Reader::Hdf5Reader(const std::string& path, const std::string& dataset, const FieldShape& shape,
                       const std::string& what)
    : lib_(hdf5::library_to_read(path)),
      path_(path),
      shape_(shape),
      file_(hdf5::open_to_read(lib_, path)),
      dataset_(open_dataset(dataset)),
      type_(lib_.type_of(dataset_.id()), lib_.close_type),
      is_complex_(hdf5::is_complex_number(lib_, type_.id())),
      is_enum_(lib_.class_of(type_.id()) == hdf5::kEnum && lib_.bytes_of(type_.id()) == 1) {
    const int kind = lib_.class_of(type_.id());
    if (kind != hdf5::kInteger && kind != hdf5::kFloat && !is_complex_ && !is_enum_)
        refuse_file(path, fmt::format("the elements of {} are no numbers", dataset));
    const std::vector<std::int64_t> found = shape_of_dataset(), wanted = shape.elements();
    if (found != wanted) refuse_shape(path, {found, is_complex_}, shape, what);
}

Handle Hdf5Reader::open_dataset(const std::string& name) const {
    Handle dataset(lib_.open_dataset(file_.id(), name.c_str(), hdf5::kDefault), lib_.close_dataset);
    if (dataset) return dataset;
    constexpr int kShown = 8;
    std::vector<std::string> names;
    std::array<char, 256> text{};
    while (names.size() < kShown &&
           lib_.name_of_link(file_.id(), "/", hdf5::kByName, hdf5::kIncreasing, names.size(), text.data(),
                             text.size(), hdf5::kDefault) >= 0)
        names.push_back(fmt::format("/{}", text.data()));
    refuse_file(path_, fmt::format("it has no dataset {}; {}", name,
                                   names.empty() ? "it is empty"
                                                 : fmt::format("it has {} (FILE.h5:{} names another)",
                                                               fmt::join(names, ", "), names.front())));
}

// Complex numbers are an axis of 2 more.
std::vector<std::int64_t> Hdf5Reader::shape_of_dataset() const {
    const Handle space(lib_.space_of(dataset_.id()), lib_.close_space);
    const int rank = lib_.rank_of(space.id());
    std::vector<hdf5::Size> extents(static_cast<std::size_t>(std::max(rank, 0)));
    if (rank < 0 || lib_.extents_of(space.id(), extents.data(), nullptr) < 0)
        refuse_file(path_, lib_.trouble());
    std::vector<std::int64_t> shape(extents.begin(), extents.end());
    if (is_complex_) shape.push_back(2);
    return shape;
}

bool Hdf5Reader::is_of(ElementType type) const {
    return type != ElementType::boolean && type_in_hdf5(type) == type &&
           lib_.are_equal(type_.id(), lib_.number_type(type)) > 0;
}

// What values are read as where they are converted here: pairs of doubles, bytes of names, or doubles.
Handle Hdf5Reader::type_in_memory() const {
    if (is_complex_) return hdf5::complex_type(lib_, lib_.f64, sizeof(double));
    return {lib_.copy_type(is_enum_ ? type_.id() : lib_.f64), lib_.close_type};
}

void Hdf5Reader::read_as(Id type, const Box& box, void* elements) const {
    std::vector<hdf5::Size> begin, count;
    for (int axis = shape_.rank; axis-- > 0;) {
        begin.push_back(static_cast<hdf5::Size>(box.begin[static_cast<std::size_t>(axis)]));
        count.push_back(static_cast<hdf5::Size>(box.length(axis)));
    }
    if (shape_.components > 1 && !is_complex_) {
        begin.push_back(0);
        count.push_back(static_cast<hdf5::Size>(shape_.components));
    }
    const Handle space(lib_.space_of(dataset_.id()), lib_.close_space);
    const Handle memory(lib_.create_space(static_cast<int>(count.size()), count.data(), nullptr),
                        lib_.close_space);
    if (!space || !memory ||
        lib_.select_box(space.id(), hdf5::kSelectSet, begin.data(), nullptr, count.data(), nullptr) < 0 ||
        lib_.read(dataset_.id(), type, memory.id(), space.id(), hdf5::kDefault, elements) < 0)
        refuse_file(path_, lib_.trouble());
}

void Hdf5Reader::read(const Box& box, ElementType type, void* elements) {
    if (is_of(type)) return read_as(type_.id(), box, elements);
    const std::int64_t count = box.cells() * shape_.components;
    std::vector<double> values(static_cast<std::size_t>(count));
    if (is_enum_) {
        std::vector<std::int8_t> bytes(values.size());
        read_as(type_in_memory().id(), box, bytes.data());
        values.assign(bytes.begin(), bytes.end());
    } else {
        read_as(type_in_memory().id(), box, values.data());
    }
    encode(values.data(), count, type, elements);
}

}  // namespace

std::unique_ptr<FieldReader> open_hdf5_field(const std::string& path, const std::string& dataset,
                                             const FieldShape& shape, const std::string& what) {
    return std::make_unique<Hdf5Reader>(path, dataset, shape, what);
}

}  // namespace halo::rt
