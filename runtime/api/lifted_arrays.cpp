#include "runtime/api/lifted_arrays.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace halocline::detail {

namespace rt = halo::rt;

namespace {

constexpr std::int64_t kSpareRows = 8;
constexpr std::int64_t kPartBytes = std::int64_t{8} << 20;

// Calls copy(in the array, in the dense copy of `all`, bytes) for each piece that lies together in both.
template <class Copy>
void for_rows(const halo_lift_array& array, const rt::Box& box, const rt::Box& all, const Copy& copy) {
    const auto place = [&](std::size_t axis, std::int64_t cell) {  // along it the copy may have one cell
        return array.stride[axis] != 0 ? cell - all.begin[axis] : 0;
    };
    const std::int64_t nx = array.stride[0] != 0 ? all.length(0) : 1;
    const std::int64_t ny = array.stride[1] != 0 ? all.length(1) : 1;
    for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
        for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y) {
            const std::int64_t at[3] = {0, y, z};
            char* row = static_cast<char*>(array.first);
            for (int level = 0; level <= array.level[0]; ++level) {
                std::int64_t index = 0;
                for (int axis = 1; axis < 3; ++axis)
                    if (array.level[axis] == level) index += at[axis] * array.stride[axis];
                row =
                    level < array.level[0] ? reinterpret_cast<char**>(row)[index] : row + index * array.bytes;
            }
            const std::int64_t first = (place(2, z) * ny + place(1, y)) * nx;
            if (array.stride[0] == 1) {
                copy(row + box.begin[0] * array.bytes, (first + place(0, box.begin[0])) * array.bytes,
                     static_cast<std::size_t>(box.length(0) * array.bytes));
                continue;
            }
            for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x)
                copy(row + x * array.stride[0] * array.bytes, (first + place(0, x)) * array.bytes,
                     static_cast<std::size_t>(array.bytes));
        }
}

// The parts of a box that none of the others has, of which no two share a cell.
std::vector<rt::Box> without(const rt::Box& box, const std::vector<rt::Box>& others) {
    std::vector<rt::Box> parts{box};
    for (const rt::Box& other : others) {
        std::vector<rt::Box> left;
        for (rt::Box rest : parts) {
            rt::Box shared;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                shared.begin[axis] = std::max(rest.begin[axis], other.begin[axis]);
                shared.end[axis] = std::min(rest.end[axis], other.end[axis]);
            }
            if (shared.is_empty()) {
                left.push_back(rest);
                continue;
            }
            for (std::size_t axis = 3; axis-- > 0;) {  // whole planes and rows where they are left
                rt::Box below = rest, above = rest;
                below.end[axis] = shared.begin[axis];
                above.begin[axis] = shared.end[axis];
                for (const rt::Box& part : {below, above})
                    if (!part.is_empty()) left.push_back(part);
                rest.begin[axis] = shared.begin[axis], rest.end[axis] = shared.end[axis];
            }
        }
        parts = std::move(left);
    }
    return parts;
}

bool contains(const rt::Box& all, const rt::Box& part) {
    for (int axis = 0; axis < 3; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (part.begin[a] < all.begin[a] || part.end[a] > all.end[a]) return false;
    }
    return true;
}

}  // namespace

rt::Box touched(const halo_lift_array& array) {
    rt::Box box;
    std::copy(array.from, array.from + 3, box.begin.begin());
    std::copy(array.to, array.to + 3, box.end.begin());
    return box;
}

void gather(const halo_lift_array& array, const rt::Box& box, const rt::Box& all, char* dense) {
    if (box.is_empty()) return;
    for_rows(array, box, all, [&](const char* own, std::int64_t at, std::size_t bytes) {
        std::memcpy(dense + at, own, bytes);
    });
}

void scatter(const halo_lift_array& array, const rt::Box& box, const rt::Box& all, const char* dense) {
    if (box.is_empty()) return;
    for_rows(array, box, all,
             [&](char* own, std::int64_t at, std::size_t bytes) { std::memcpy(own, dense + at, bytes); });
}

void for_parts(const rt::Box& box, std::int64_t bytes,
               const std::function<void(const rt::Box&, char*)>& visit) {
    if (box.is_empty()) return;
    const std::int64_t row = box.length(0) * bytes;
    const std::int64_t rows = std::clamp<std::int64_t>(kPartBytes / row, 1, box.length(1));
    const std::int64_t planes =
        rows < box.length(1) ? 1 : std::clamp<std::int64_t>(kPartBytes / (row * rows), 1, box.length(2));
    const auto dense = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(row * rows * planes));
    for (std::int64_t z = box.begin[2]; z < box.end[2]; z += planes)
        for (std::int64_t y = box.begin[1]; y < box.end[1]; y += rows) {
            rt::Box part = box;
            part.begin[1] = y, part.end[1] = std::min(y + rows, box.end[1]);
            part.begin[2] = z, part.end[2] = std::min(z + planes, box.end[2]);
            visit(part, dense.get());
        }
}

bool is_plain(const halo_lift_array& array, int axes) {
    if (array.level[0] != 0 || array.stride[0] != 1) return false;
    for (int axis = 1; axis < axes; ++axis)
        if (array.level[axis] != 0 || array.stride[axis] < array.stride[axis - 1]) return false;
    return true;
}

std::pair<const char*, const char*> span_of_array(const halo_lift_array& array) {
    const auto* const first = static_cast<const char*>(array.first);
    std::int64_t low = 0, high = 0;
    for (int axis = 0; axis < 3; ++axis) {
        if (array.level[axis] != 0) return {first, first};
        if (array.to[axis] <= array.from[axis]) return {first, first + array.bytes};
        low += array.from[axis] * array.stride[axis];
        high += (array.to[axis] - 1) * array.stride[axis];
    }
    return {first + std::min(low, high) * array.bytes, first + (std::max(low, high) + 1) * array.bytes};
}

KeptArray::KeptArray(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
                     rt::ElementType type, const halo::rt::Extent& extent)
    : device_(device), array_(array), axes_(axes), type_(type) {
    std::array<std::array<int, 2>, rt::kMaxRank> room{};
    for (int axis = 0; axis < axes; ++axis)
        room[static_cast<std::size_t>(axis)] = {kKeptRoom, kKeptRoom};
    geometry_ = rt::make_geometry(axes, extent, room, device->device->row_layout());
    const DeviceLock lock(*device_);
    const std::int64_t bytes = geometry_.elements * rt::size_of(type);
    memory_ = rt::DeviceMemory(*device->device, bytes);
    device->device->set_bytes(memory_.address(), 0, bytes);
}

KeptArray::~KeptArray() {
    const DeviceLock lock(*device_);
    memory_ = {};
}

void* KeptArray::first_cell() const {
    return static_cast<char*>(memory_.address()) + geometry_.origin * rt::size_of(type_);
}

bool KeptArray::is_of(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
                      rt::ElementType type) const {
    return device == device_ && array.first == array_.first && axes == axes_ && type == type_ &&
           std::equal(array.stride, array.stride + axes, array_.stride);
}

bool KeptArray::has_room(const halo::rt::Extent& extent) const {
    return std::ranges::equal(extent, geometry_.extent, std::less_equal<>());
}

std::pair<const char*, const char*> KeptArray::span_of(const rt::Box& box) const {
    halo_lift_array part = array_;
    std::ranges::copy(box.begin, part.from);
    std::ranges::copy(box.end, part.to);
    return span_of_array(part);
}

bool KeptArray::overlaps(const char* begin, const char* end) const {
    if (end <= span_.first || span_.second <= begin) return false;  // as of most arrays
    return std::ranges::any_of(valid_, [&](const rt::Box& box) {
        const auto [low, high] = span_of(box);
        return low < end && begin < high;
    });
}

void KeptArray::need(const rt::Box& cells) {
    if (cells.is_empty()) return;
    const std::vector<rt::Box> missing = without(cells, valid_);
    if (missing.empty()) return;
    const DeviceLock lock(*device_);
    for (const rt::Box& box : missing)
        for_parts(box, array_.bytes, [&](const rt::Box& part, char* dense) {
            gather(array_, part, part, dense);
            device_->device->upload_cells(memory_.address(), geometry_of(part), type_, dense);
        });
    take(cells);
}

void KeptArray::take(const rt::Box& cells) {
    // Few and large: those that are within the new one are part of it.
    std::erase_if(valid_, [&](const rt::Box& box) { return contains(cells, box); });
    for (const rt::Box& box : without(cells, valid_)) {
        const auto [low, high] = span_of(box);
        span_ = valid_.empty() ? std::pair(low, high)
                               : std::pair(std::min(span_.first, low), std::max(span_.second, high));
        valid_.push_back(box);
    }
}

void KeptArray::fetch() {
    if (!is_newer_) return;
    const DeviceLock lock(*device_);
    for (const rt::Box& box : valid_)
        for_parts(box, array_.bytes, [&](const rt::Box& part, char* dense) {
            device_->device->download_cells(dense, memory_.address(), geometry_of(part), type_);
            scatter(array_, part, part, dense);
        });
    is_newer_ = false;
}

rt::Geometry KeptArray::geometry_of(const rt::Box& box) const {
    rt::Geometry part = geometry_;
    part.extent = box.extent();
    part.origin += box.begin[0] + box.begin[1] * geometry_.pitch + box.begin[2] * geometry_.slice;
    return part;
}

KeptArrays& KeptArrays::all() {
    static auto& arrays = *new KeptArrays;  // outlives all that a program does at its end
    return arrays;
}

std::shared_ptr<KeptArray> KeptArrays::on(const std::shared_ptr<DeviceState>& device,
                                          const halo_lift_array& array, int axes, rt::ElementType type,
                                          const halo::rt::Extent& extent) {
    // Rows of the device's copy are as long as those of the program, so that copies for different loops, and
    // those of its other arrays, lie alike.
    halo::rt::Extent wanted = extent;
    for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(axes); ++axis) {
        const std::int64_t cells = array.stride[axis + 1] / array.stride[axis];
        if (cells <= 2 * extent[axis]) wanted[axis] = std::max(extent[axis], cells);
    }
    // Loops over the same array differ by some rows at its end.
    wanted[static_cast<std::size_t>(axes) - 1] += kSpareRows;
    const auto [begin, end] = span_of_array(array);
    const auto found =
        std::ranges::find_if(kept_, [&](const auto& each) { return each->is_of(device, array, axes, type); });
    std::shared_ptr<KeptArray> kept = found == kept_.end() ? nullptr : *found;
    if (kept != nullptr && !kept->has_room(extent)) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            wanted[axis] = std::max(wanted[axis], kept->geometry().extent[axis]);
        kept->fetch();
        const std::vector<rt::Box> valid = kept->valid();
        erase(found);
        kept = nullptr;
        auto larger = std::make_shared<KeptArray>(device, array, axes, type, wanted);
        for (const rt::Box& box : valid)
            larger->need(box);
        kept = add(std::move(larger));
    }
    for (auto each = kept_.begin(); each != kept_.end();) {
        if (*each != kept && (*each)->overlaps(begin, end)) {
            (*each)->fetch();
            each = erase(each);
        } else {
            ++each;
        }
    }
    if (kept == nullptr) kept = add(std::make_shared<KeptArray>(device, array, axes, type, wanted));
    if (array.is_overwritten != 0)
        kept->take(touched(array));
    else
        kept->need(touched(array));
    return kept;
}

void KeptArrays::keep(bool wanted) {
    keeps = wanted;
    ++changes_;
}

KeptArrays::Kept::iterator KeptArrays::erase(Kept::iterator kept) {
    ++changes_;
    return kept_.erase(kept);
}

const std::shared_ptr<KeptArray>& KeptArrays::add(std::shared_ptr<KeptArray> kept) {
    ++changes_;
    kept_.push_back(std::move(kept));
    return kept_.back();
}

bool KeptArrays::has(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
                     rt::ElementType type) const {
    return std::ranges::any_of(kept_,
                               [&](const auto& each) { return each->is_of(device, array, axes, type); });
}

bool KeptArrays::holds(const std::shared_ptr<KeptArray>& kept) const {
    return std::ranges::find(kept_, kept) != kept_.end();
}

void KeptArrays::give_up(const char* begin, const char* end) {
    for (auto each = kept_.begin(); each != kept_.end();) {
        if ((*each)->overlaps(begin, end)) {
            (*each)->fetch();
            each = erase(each);
        } else {
            ++each;
        }
    }
}

void KeptArrays::give_up_all() {
    for (const auto& each : kept_)
        each->fetch();
    kept_.clear();
    ++changes_;
}

}  // namespace halocline::detail
