#include "shadow.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace halo::emulator {

namespace {

constexpr std::size_t kCellBytes = 4;
constexpr std::uint32_t kHost = 1;
constexpr int kWarp = 32;

std::uintptr_t number(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace

void Shadow::add(const void* address, std::size_t bytes, Space space, std::string name, bool initialised) {
    auto region = std::make_unique<Region>();
    region->begin = number(address);
    region->end = region->begin + bytes;
    region->space = space;
    region->name = std::move(name);
    // Zero pages that are taken when first touched: most arrays are large, most tests touch little.
    const std::size_t count = bytes / kCellBytes + 2;
    auto* cells = static_cast<Cell*>(std::calloc(count, sizeof(Cell)));
    if (cells == nullptr) throw std::bad_alloc();
    region->cells = {cells, [](Cell* memory) { std::free(memory); }};
    const auto place =
        std::lower_bound(regions_.begin(), regions_.end(), region->begin,
                         [](const auto& other, std::uintptr_t begin) { return other->begin < begin; });
    regions_.insert(place, std::move(region));
    if (initialised) mark_written(address, bytes);
}

void Shadow::remove(const void* address) {
    std::erase_if(regions_, [&](const auto& region) { return region->begin == number(address); });
    forget_hints();
}

void Shadow::resize(const void* address, std::size_t bytes) {
    for (const auto& region : regions_)
        if (region->begin == number(address)) region->end = region->begin + bytes;
}

void Shadow::swap_cells(const void* address, std::vector<Cell>& cells) {
    const Region* region = find(number(address));
    if (region == nullptr) return;  // of no bytes
    const std::size_t count = (region->end - region->begin + kCellBytes - 1) / kCellBytes;
    cells.resize(count);
    std::swap_ranges(cells.begin(), cells.end(), region->cells.get());
}

void Shadow::forget_hints() {
    std::fill(std::begin(hints_), std::end(hints_), nullptr);
}

void Shadow::mark_written(const void* address, std::size_t bytes) {
    const Region* region = find(number(address));
    if (region == nullptr || number(address) + bytes > region->end)
        throw std::logic_error("Shadow::mark_written: no such array");
    const std::size_t first = (number(address) - region->begin) / kCellBytes;
    const std::size_t last = (number(address) - region->begin + bytes + kCellBytes - 1) / kCellBytes;
    for (std::size_t i = first; i < last; ++i) {
        region->cells[i] = Cell{};
        region->cells[i].write.block = kHost;
    }
}

const Region* Shadow::find(std::uintptr_t address) const {
    auto after =
        std::upper_bound(regions_.begin(), regions_.end(), address,
                         [](std::uintptr_t place, const auto& region) { return place < region->begin; });
    if (after == regions_.begin()) return nullptr;
    const Region* region = std::prev(after)->get();
    return region->contains(address) ? region : nullptr;
}

const Region* Shadow::nearest(std::uintptr_t address) const {
    const Region* best = nullptr;
    std::uintptr_t least = 0;
    for (const auto& region : regions_) {
        if (region->begin == region->end) continue;
        const std::uintptr_t distance =
            address < region->begin ? region->begin - address : address - std::min(address, region->end - 1);
        if (best == nullptr || distance < least) {
            best = region.get();
            least = distance;
        }
    }
    return best;
}

inline bool Shadow::concurrent(const Access& earlier, Access now, bool shared) const {
    if (earlier.block < first_block_) return false;  // another launch, the host, or nobody
    // Nothing orders blocks, and each has shared memory of its own.
    if (earlier.block != now.block) return !shared;
    if (earlier.thread == now.thread || earlier.epoch != now.epoch) return false;
    return earlier.thread / kWarp != now.thread / kWarp || earlier.warp_epoch == now.warp_epoch;
}

inline bool Shadow::check_cell(Cell& cell, const Region& region, bool is_write, bool whole, Access who,
                               Violation& violation) {
    const auto race = [&](const Access& other, bool other_is_write) {
        violation.kind = FindingKind::race;
        violation.other = other;
        violation.other_is_write = other_is_write;
        return false;
    };
    const bool shared = region.space == Space::shared;
    if (!is_write) {
        const bool written = shared ? cell.write.block == who.block : cell.write.block != 0;
        if (!written && (shared ? options_.uninitialised_shared : options_.uninitialised_global)) {
            violation.kind = FindingKind::uninitialised;
            return false;
        }
    }
    if (whole && options_.races) {
        if (concurrent(cell.write, who, shared)) return race(cell.write, true);
        if (is_write) {
            for (const Access& read : cell.reads)
                if (concurrent(read, who, shared)) return race(read, false);
        }
    }
    if (is_write) {
        cell.write = who;
    } else if (whole) {
        Access& slot = concurrent(cell.reads[0], who, shared) ? cell.reads[1] : cell.reads[0];
        slot = who;
    }
    return true;
}

bool Shadow::check(std::uintptr_t address, std::size_t bytes, bool is_write, Access who,
                   Violation& violation) {
    const Region*& hint = hints_[who.site % kHints];
    if (hint == nullptr || !hint->contains(address)) {
        const Region* found = find(address);
        if (found == nullptr) {
            violation = {FindingKind::out_of_bounds, nearest(address), address, is_write, false, {}};
            return false;
        }
        hint = found;
    }
    const Region& region = *hint;
    if (address + bytes > region.end) {
        violation = {FindingKind::out_of_bounds, &region, region.end, is_write, false, {}};
        return false;
    }
    const std::size_t first = (address - region.begin) / kCellBytes;
    const std::size_t last = (address - region.begin + bytes - 1) / kCellBytes;
    for (std::size_t i = first; i <= last; ++i) {
        if (check_cell(region.cells[i], region, is_write, bytes >= kCellBytes, who, violation)) continue;
        violation.region = &region;
        violation.address = std::max(address, region.begin + i * kCellBytes);
        violation.is_write = is_write;
        return false;
    }
    return true;
}

}  // namespace halo::emulator
