#include "runtime/hdf5/contents.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "runtime/core/file_read.h"
#include "runtime/hdf5/library.h"
#include "runtime/io/field_file.h"

namespace halo::rt {

namespace {

using hdf5::Handle;
using hdf5::Id;
using hdf5::Library;

}  // namespace

std::int64_t Hdf5Array::elements_of_row() const {
    return shape.empty()
               ? 1
               : std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1}, std::multiplies());
}

class Hdf5Contents::File {
public:
    explicit File(const std::string& path)
        : path_(path), lib_(hdf5::library_to_read(path)), file_(hdf5::open_to_read(lib_, path)) {
        list("", 0);
    }

    const std::vector<Hdf5Array>& arrays() const { return arrays_; }

    std::optional<std::string> text(const std::string& name) const {
        std::string text;
        for (std::size_t part = 1;; ++part) {
            const std::optional<std::string> piece = text_of(hdf5::part_of_text(name, part));
            if (!piece) return part == 1 ? std::nullopt : std::optional(text);
            text += *piece;
        }
    }

    void read(const Hdf5Array& array, std::int64_t first, std::int64_t rows, void* elements) const {
        std::vector<hdf5::Size> begin(array.shape.size(), 0), count(array.shape.begin(), array.shape.end());
        if (array.is_complex) {
            begin.pop_back();
            count.pop_back();
        }
        if (!begin.empty()) {
            begin.front() = static_cast<hdf5::Size>(first);
            count.front() = static_cast<hdf5::Size>(rows);
        }
        const Handle dataset = open(array.name);
        const Handle type(lib_.type_of(dataset.id()), lib_.close_type);
        const Handle space(lib_.space_of(dataset.id()), lib_.close_space);
        const Handle memory(lib_.create_space(static_cast<int>(count.size()), count.data(), nullptr),
                            lib_.close_space);
        const bool is_selected = count.empty() || lib_.select_box(space.id(), hdf5::kSelectSet, begin.data(),
                                                                  nullptr, count.data(), nullptr) >= 0;
        if (!is_selected ||
            lib_.read(dataset.id(), type.id(), memory.id(), space.id(), hdf5::kDefault, elements) < 0)
            refuse_file(path_, "it is damaged: " + lib_.trouble());
    }

private:
    std::optional<std::string> text_of(const std::string& name) const {
        if (lib_.has_attribute(file_.id(), name.c_str()) <= 0) return std::nullopt;
        const Handle attribute(lib_.open_attribute(file_.id(), name.c_str(), hdf5::kDefault),
                               lib_.close_attribute);
        const Handle type(attribute ? lib_.type_of_attribute(attribute.id()) : -1, lib_.close_type);
        if (!type || lib_.class_of(type.id()) != hdf5::kText || lib_.is_variable(type.id()) != 0)
            return std::nullopt;
        const Handle space(lib_.space_of_attribute(attribute.id()), lib_.close_space);
        std::string text(lib_.bytes_of(type.id()), '\0');
        if (lib_.rank_of(space.id()) != 0 || text.size() > hdf5::kMostOfText) return std::nullopt;
        if (lib_.read_attribute(attribute.id(), type.id(), text.data()) < 0)
            refuse_file(path_, "it is damaged: " + lib_.trouble());
        text.resize(text.find_last_not_of('\0') + 1);
        return text;
    }
    // The arrays of a group, and of those in it. A group may be its own part, hence the limits.
    void list(const std::string& group, int depth) {
        constexpr int kMostDeep = 8;
        constexpr hdf5::Size kMostNames = 10000;
        std::array<char, 1024> text{};
        for (hdf5::Size i = 0; names_ < kMostNames; ++i, ++names_) {
            if (lib_.name_of_link(file_.id(), ("/" + group).c_str(), hdf5::kByName, hdf5::kIncreasing, i,
                                  text.data(), text.size(), hdf5::kDefault) < 0)
                return;
            const std::string name = group.empty() ? text.data() : group + "/" + text.data();
            if (std::optional<Hdf5Array> array = array_of(name))
                arrays_.push_back(*std::move(array));
            else if (depth < kMostDeep)
                list(name, depth + 1);
        }
    }
    Handle open(const std::string& name) const {
        return {lib_.open_dataset(file_.id(), name.c_str(), hdf5::kDefault), lib_.close_dataset};
    }
    std::optional<Hdf5Array> array_of(const std::string& name) const {
        const Handle dataset = open(name);
        if (!dataset) return std::nullopt;  // a group
        const Handle type(lib_.type_of(dataset.id()), lib_.close_type);
        const Handle space(lib_.space_of(dataset.id()), lib_.close_space);
        const int rank = lib_.rank_of(space.id());
        std::vector<hdf5::Size> extents(static_cast<std::size_t>(std::max(rank, 0)));
        if (rank < 0 || lib_.extents_of(space.id(), extents.data(), nullptr) < 0)
            refuse_file(path_, "it is damaged: " + lib_.trouble());
        Hdf5Array array{name, {extents.begin(), extents.end()}, hdf5::is_complex_number(lib_, type.id()), {}};
        if (array.is_complex) array.shape.push_back(2);
        for (const ElementType each :
             {ElementType::f32, ElementType::f64, ElementType::u8, ElementType::i32, ElementType::i64})
            if (is_of(type.id(), each, array.is_complex)) array.type = each;
        return array;
    }
    bool is_of(Id type, ElementType element, bool is_complex) const {
        const Id number = lib_.number_type(element);
        if (!is_complex) return lib_.are_equal(type, number) > 0;
        return lib_.are_equal(
                   type, hdf5::complex_type(lib_, number, static_cast<std::size_t>(size_of(element))).id()) >
               0;
    }

    std::string path_;
    const Library& lib_;
    Handle file_;
    std::vector<Hdf5Array> arrays_;
    hdf5::Size names_ = 0;  // that were looked at
};

Hdf5Contents::Hdf5Contents(const std::string& path) : file_(std::make_unique<File>(path)) {}
Hdf5Contents::~Hdf5Contents() = default;

const std::vector<Hdf5Array>& Hdf5Contents::arrays() const {
    return file_->arrays();
}
std::optional<std::string> Hdf5Contents::text(const std::string& attribute) const {
    return file_->text(attribute);
}
void Hdf5Contents::read(const Hdf5Array& array, std::int64_t first, std::int64_t rows, void* elements) const {
    file_->read(array, first, rows, elements);
}

}  // namespace halo::rt
