// Arrays of programs in which loops are replaced by stencils (include/halocline/lifted.h): their cells,
// copied row by row, and the copies that stay on a device. Not for users.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "halocline/lifted.h"
#include "runtime/api/device_state.h"
#include "runtime/core/box.h"
#include "runtime/core/geometry.h"

namespace halocline::detail {

// Cells around a kept array that kernels may read, and whose values nobody uses.
constexpr int kKeptRoom = 4;

// The cells of the array that the loops touch.
halo::rt::Box touched(const halo_lift_array& array);
// Between a dense copy of `all` cells, x fastest, and the array: the cells of the box alone.
void gather(const halo_lift_array& array, const halo::rt::Box& box, const halo::rt::Box& all, char* dense);
void scatter(const halo_lift_array& array, const halo::rt::Box& box, const halo::rt::Box& all,
             const char* dense);

// Calls visit(part, its dense cells) for parts of the box, whose cells stay in a cache and whose memory is
// the same for all: fresh pages for a large box take longer than its copy.
void for_parts(const halo::rt::Box& box, std::int64_t bytes,
               const std::function<void(const halo::rt::Box&, char*)>& visit);

// Whether cells (0, y, z) are `stride` elements apart, and those of a row side by side, for all of so many
// axes.
bool is_plain(const halo_lift_array& array, int axes);

// An array's copy on a device.
class KeptArray {
public:
    KeptArray(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
              halo::rt::ElementType type, const halo::rt::Extent& extent);
    ~KeptArray();
    KeptArray(const KeptArray&) = delete;
    KeptArray& operator=(const KeptArray&) = delete;

    const halo::rt::Geometry& geometry() const { return geometry_; }
    void* first_cell() const;
    bool is_of(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
               halo::rt::ElementType type) const;
    bool has_room(const halo::rt::Extent& extent) const;
    bool overlaps(const char* begin, const char* end) const;

    void need(const halo::rt::Box& cells);  // up to date in these
    void take(const halo::rt::Box& cells);  // whatever they hold, as they are going to be overwritten
    void changed() { is_newer_ = true; }    // by the device
    void fetch();                           // the program's array is up to date
    const std::vector<halo::rt::Box>& valid() const { return valid_; }

private:
    halo::rt::Geometry geometry_of(const halo::rt::Box& cells) const;               // as if these were all
    std::pair<const char*, const char*> span_of(const halo::rt::Box& cells) const;  // in the program's memory

    const std::shared_ptr<DeviceState> device_;
    const halo_lift_array array_;
    const int axes_;
    const halo::rt::ElementType type_;
    halo::rt::Geometry geometry_;
    halo::rt::DeviceMemory memory_;
    std::vector<halo::rt::Box> valid_;            // no two share a cell
    std::pair<const char*, const char*> span_{};  // within which these are
    bool is_newer_ = false;
};

// Of the process. Locked by `mutex`, which every call of a stencil holds.
class KeptArrays {
public:
    static KeptArrays& all();
    std::recursive_mutex mutex;
    bool keeps = false;
    void keep(bool wanted);
    // How often `keeps` or the copies that there are have become others.
    std::uint64_t changes() const { return changes_; }

    // Up to date in the cells that are touched. Another copy of some of its cells is given up.
    std::shared_ptr<KeptArray> on(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array,
                                  int axes, halo::rt::ElementType type, const halo::rt::Extent& extent);
    bool has(const std::shared_ptr<DeviceState>& device, const halo_lift_array& array, int axes,
             halo::rt::ElementType type) const;
    bool holds(const std::shared_ptr<KeptArray>& kept) const;
    // Brings the program's arrays up to date, and gives the copies up.
    void give_up(const char* begin, const char* end);
    void give_up_all();

private:
    using Kept = std::list<std::shared_ptr<KeptArray>>;
    Kept::iterator erase(Kept::iterator kept);
    const std::shared_ptr<KeptArray>& add(std::shared_ptr<KeptArray> kept);

    Kept kept_;
    std::uint64_t changes_ = 0;
};

// From the first cell that is touched to the end of the last one; nothing where rows are reached by pointers.
std::pair<const char*, const char*> span_of_array(const halo_lift_array& array);

}  // namespace halocline::detail
