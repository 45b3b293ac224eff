#include "compiler/driver/command/compare_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/tuning/tune_compare.h"

namespace halo::driver {

namespace {

constexpr std::int64_t kComparedBytes = std::int64_t{16} << 20;  // at a time, of each file

void compare_element(const FieldValues& expected, const FieldValues& got, std::int64_t i,
                     FieldComparison& result) {
    ++result.different;
    const double difference = std::fabs(expected.at(i) - got.at(i));
    if (!(difference <= result.largest) && !std::isnan(result.largest)) result.largest = difference;
    if (const std::optional<std::uint64_t> between = ulps_between(expected, got, i))
        result.ulps = std::max(result.ulps.value_or(0), *between);
}

void compare_rows(const FieldValues& expected, const FieldValues& got, FieldComparison& result) {
    result.elements += expected.size();
    if (expected.elements == got.elements) return;
    const auto size = static_cast<std::size_t>(rt::size_of(expected.type));
    for (std::int64_t i = 0; i < expected.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * size;
        if (std::memcmp(expected.elements.data() + at, got.elements.data() + at, size) != 0)
            compare_element(expected, got, i, result);
    }
}

FieldComparison compare_arrays(const rt::Hdf5Contents& expected, const rt::Hdf5Contents& got,
                               const rt::Hdf5Array& array) {
    FieldComparison result;
    result.name = array.name;
    const auto other = std::ranges::find(got.arrays(), array.name, &rt::Hdf5Array::name);
    if (other == got.arrays().end()) {
        result.trouble = "is not computed by the run that the file names";
    } else if (!array.type) {
        result.trouble = "has elements of a type that haloc does not write";
    } else if (array.type != other->type || array.is_complex != other->is_complex) {
        result.trouble = "is of another type now";
    } else if (array.shape != other->shape) {
        result.trouble = fmt::format("has the shape ({}) in the file, and ({}) now",
                                     fmt::join(array.shape, ", "), fmt::join(other->shape, ", "));
    }
    if (!result.trouble.empty()) return result;
    const std::int64_t rows = array.shape.empty() ? 1 : array.shape.front();
    const std::int64_t row = array.elements_of_row(),
                       bytes = std::max<std::int64_t>(1, row * rt::size_of(*array.type));
    const std::int64_t most = std::max<std::int64_t>(1, kComparedBytes / bytes);
    for (std::int64_t first = 0; first < rows; first += most) {
        const std::int64_t count = std::min(most, rows - first);
        FieldValues one = FieldValues::zeros(*array.type, count * row), two = one;
        expected.read(array, first, count, one.elements.data());
        got.read(*other, first, count, two.elements.data());
        compare_rows(one, two, result);
    }
    return result;
}

}  // namespace

std::vector<FieldComparison> compare_files(const rt::Hdf5Contents& expected, const rt::Hdf5Contents& got) {
    std::vector<FieldComparison> all;
    for (const rt::Hdf5Array& array : expected.arrays())
        all.push_back(compare_arrays(expected, got, array));
    return all;
}

std::string comparison_text(const FieldComparison& comparison) {
    if (!comparison.trouble.empty()) return fmt::format("{} {}", comparison.name, comparison.trouble);
    const std::string numbers = comparison.elements == 1 ? "number" : "numbers";
    if (comparison.different == 0)
        return fmt::format("{} agrees in all bits of {} {}", comparison.name, comparison.elements, numbers);
    std::string text = fmt::format("{} differs in {} of {} {}, by {:.6g} at most", comparison.name,
                                   comparison.different, comparison.elements, numbers, comparison.largest);
    if (comparison.ulps)
        text += fmt::format(", {} ulp{}", *comparison.ulps, *comparison.ulps == 1 ? "" : "s");
    return text;
}

}  // namespace halo::driver
