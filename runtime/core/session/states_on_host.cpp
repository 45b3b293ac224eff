#include "runtime/core/session/states_on_host.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace halo::rt::session {

namespace {

class ByFetches {
public:
    explicit ByFetches(Device& device) : device_(device) { device.use_stream(Device::StreamKind::fetch); }
    ~ByFetches() { device_.use_stream(Device::StreamKind::main); }
    ByFetches(const ByFetches&) = delete;
    ByFetches& operator=(const ByFetches&) = delete;

private:
    Device& device_;
};

}  // namespace

// For a level: such as copies go from and to beside the host's work, or any where the device has none.
class StatesOnHost::Memory {
public:
    Memory(Device& device, std::int64_t bytes, bool for_copies_beside)
        : device_(device), beside_(for_copies_beside ? device.allocate_on_host(bytes) : nullptr) {
        if (beside_ == nullptr) pages_.reset(new char[static_cast<std::size_t>(bytes)]);  // not filled
    }
    ~Memory() {
        if (beside_ != nullptr) device_.release_on_host(beside_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* address() const { return beside_ != nullptr ? beside_ : pages_.get(); }

private:
    Device& device_;
    void* beside_;
    std::unique_ptr<char[]> pages_;
};

StatesOnHost::StatesOnHost(Setup& setup, Arrays& arrays, KeptArrays& kept, int count, int in_transit)
    : setup_(setup), arrays_(arrays), kept_(kept), in_transit_(static_cast<std::size_t>(in_transit)) {
    for (InTransit& each : in_transit_)
        each.copied = setup.device->make_mark();
    for (int slot = 0; slot < count; ++slot) {
        states_.emplace_back();
        for (const KeptArrays::Part& part : kept.parts())
            states_.back().levels.push_back(
                std::make_unique<Memory>(*setup.device, arrays.level_bytes(part.field), can_copy_beside()));
    }
}

StatesOnHost::~StatesOnHost() {
    if (!can_copy_beside()) return;
    try {  // copies may be on their way from and to this memory
        const ByFetches fetches(*setup_.device);
        setup_.device->synchronize();
    } catch (const std::exception&) {  // of a device that failed before
    }
}

StatesOnHost::InTransit* StatesOnHost::find(int slot) {
    const auto found = std::ranges::find(in_transit_, slot, &InTransit::slot);
    return found == in_transit_.end() ? nullptr : &*found;
}

// The host does not.
void StatesOnHost::wait_for(InTransit& place) {
    if (!place.is_copied) place.copied->wait();
    place.is_copied = true;
}

// Steps may write to its arrays then.
void StatesOnHost::drop(InTransit& from) {
    if (from.slot < 0) return;
    wait_for(from);
    kept_.forget(from.state);
    from.slot = -1;
    from.arrives = false;
}

StatesOnHost::InTransit& StatesOnHost::place_for(int slot, int spared) {
    InTransit* place = find(slot);
    if (place == nullptr) place = find(-1);
    for (InTransit& each : in_transit_)
        if (place == nullptr && each.slot != spared) place = &each;
    if (place == nullptr) place = &in_transit_.front();
    drop(*place);
    place->slot = slot;
    return *place;
}

template <class Copy>
void StatesOnHost::copy_beside(InTransit& place, const Copy& copy) {
    const ByFetches fetches(*setup_.device);
    setup_.device->wait_for_stream(Device::StreamKind::main);
    const OnHost& on_host = states_[static_cast<std::size_t>(place.slot)];
    for (std::size_t i = 0; i < place.state.size(); ++i)
        copy(on_host.levels[i]->address(), place.state[i].array, arrays_.level_bytes(kept_.parts()[i].field));
    place.copied->set();
    place.is_copied = false;
}

void StatesOnHost::keep(int slot) {
    OnHost& to = states_[static_cast<std::size_t>(slot)];
    KeptArrays::State state;
    if (can_copy_beside()) {
        InTransit& place = place_for(slot, slot - 1);
        state = place.state = kept_.keep();
        copy_beside(place, [&](void* host, const void* array, std::int64_t bytes) {
            setup_.device->begin_copy_to_host(host, array, bytes);
        });
    } else {
        for (const KeptArrays::Part& part : kept_.parts()) {
            state.push_back(kept_.present(part));
            setup_.device->copy_to_host(to.levels[state.size() - 1]->address(), state.back().array,
                                        arrays_.level_bytes(part.field));
        }
    }
    to.images_due.clear();
    for (const Level& level : state)
        to.images_due.push_back(level.images_due);
}

void StatesOnHost::restore(int slot) {
    if (can_copy_beside()) {
        bring(slot);
        return kept_.put_back(*on_device(slot));
    }
    kept_.make_way_to_all(false);
    const OnHost& from = states_[static_cast<std::size_t>(slot)];
    for (std::size_t i = 0; i < from.levels.size(); ++i) {
        const KeptArrays::Part& part = kept_.parts()[i];
        Level level = kept_.present(part);
        setup_.device->copy_to_device(level.array, from.levels[i]->address(),
                                      arrays_.level_bytes(part.field));
        level.images_due = from.images_due[i];
        arrays_.exchange(part.field, part.time, level);
    }
}

const KeptArrays::State* StatesOnHost::on_device(int slot) {
    InTransit* const place = find(slot);
    if (place == nullptr) return nullptr;
    if (std::exchange(place->arrives, false)) wait_for(*place);
    return &place->state;
}

void StatesOnHost::bring(int slot) {
    bring_one(slot, slot - 1);
    if (slot > 0 && in_transit_.size() > 1) bring_one(slot - 1, slot);
}

void StatesOnHost::bring_one(int slot, int spared) {
    if (!can_copy_beside() || find(slot) != nullptr) return;
    InTransit& place = place_for(slot, spared);
    place.state = kept_.take();
    place.arrives = true;
    const std::vector<bool>& images_due = states_[static_cast<std::size_t>(slot)].images_due;
    for (std::size_t i = 0; i < place.state.size(); ++i)
        place.state[i].images_due = images_due[i];
    copy_beside(place, [&](const void* host, void* array, std::int64_t bytes) {
        setup_.device->begin_copy_to_device(array, host, bytes);
    });
}

void StatesOnHost::forget() {
    for (InTransit& each : in_transit_)
        drop(each);
}

}  // namespace halo::rt::session
