#include "runtime/pieces/messages.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace halo::rt {

namespace {

std::int64_t cells_of(const Transfer& transfer) {
    return Extent(transfer.count).cells();
}

std::int64_t bytes_of(const Transfer& transfer, const PieceArrays& piece) {
    std::int64_t element = 0;
    for (const LevelArray& level : piece.levels)
        element += level.element;
    return element * cells_of(transfer);
}

// Calls copy(box) for each level, between its cells from `first` on and their place in the packed message.
template <class Copy>
void for_levels(const Transfer& transfer, const Cells& first, const PieceArrays& piece, void* message,
                bool is_packed, const Copy& copy) {
    const Geometry& geometry = *piece.geometry;
    char* packed = static_cast<char*>(message);
    for (const LevelArray& level : piece.levels) {
        const std::int64_t element = level.element;
        const CellsInMemory cells = cells_of(level.array, geometry, element, first);
        const std::int64_t plane = transfer.count[0] * transfer.count[1];
        const CellsInMemory dense{packed, transfer.count[0], plane, plane * transfer.count[2]};
        const BoxCopy box = is_packed ? copy_of_cells(cells, dense, transfer.count, element)
                                      : copy_of_cells(dense, cells, transfer.count, element);
        copy(box);
        packed += box.row_bytes * box.rows * box.planes * box.volumes;
    }
}

class HostMessages final : public Messages {
public:
    using Messages::Messages;
    std::string name() const override { return "MPI over the host"; }

private:
    void move(Device& device, const MessageList& receives, const MessageList& sends) override {
        if (device.is_host_memory()) return ranks().exchange(receives, sends);
        MessageList here = receives, there = sends;
        std::size_t number = 0;
        const auto stage = [&](Ranks::Message& message) {
            if (stages_.size() <= number) stages_.emplace_back();
            std::vector<char>& bytes = stages_[number++];
            if (bytes.size() < static_cast<std::size_t>(message.count))
                bytes.resize(static_cast<std::size_t>(message.count));
            message.bytes = bytes.data();
        };
        for (std::size_t i = 0; i < there.size(); ++i) {
            stage(there[i]);
            device.copy_to_host(there[i].bytes, sends[i].bytes, sends[i].count);
        }
        std::ranges::for_each(here, stage);
        ranks().exchange(here, there);
        for (std::size_t i = 0; i < here.size(); ++i)
            device.copy_to_device(receives[i].bytes, here[i].bytes, here[i].count);
    }

    std::vector<std::vector<char>> stages_;
};

}  // namespace

void* Messages::buffer(Device& device, std::size_t number, std::int64_t bytes) {
    if (buffers_.size() <= number) buffers_.resize(number + 1);
    if (buffers_[number].bytes() < bytes) buffers_[number] = DeviceMemory(device, bytes);
    return buffers_[number].address();
}

void Messages::exchange(const std::vector<Transfer>& along, const std::vector<PieceArrays>& pieces) {
    const PieceArrays& piece = pieces.front();
    if (piece.levels.empty()) return;  // no level is exchanged
    Device& device = *piece.device;
    MessageList receives, sends;
    std::vector<std::pair<const Transfer*, void*>> packed;  // transfers that are received, and their buffers
    std::size_t number = 0;
    for (const Transfer& transfer : along) {
        if (transfer.from != piece.number && transfer.to != piece.number) continue;
        const bool is_sent = transfer.from == piece.number;
        const int peer = is_sent ? transfer.to : transfer.from;
        const Cells& cells = is_sent ? transfer.source : transfer.target;
        MessageList& messages = is_sent ? sends : receives;
        if (const std::optional<ElementRange> planes = whole_planes(transfer, cells, *piece.geometry)) {
            for (const LevelArray& level : piece.levels)
                messages.push_back({peer, static_cast<char*>(level.array) + planes->first * level.element,
                                    planes->count * level.element});
            continue;
        }
        const std::int64_t bytes = bytes_of(transfer, piece);
        void* const message = buffer(device, number++, bytes);
        if (is_sent)
            for_levels(transfer, cells, piece, message, false,
                       [&](const BoxCopy& box) { device.copy_from(device, box); });
        else
            packed.emplace_back(&transfer, message);
        messages.push_back({peer, message, bytes});
    }
    if (receives.empty() && sends.empty()) return;
    move(device, receives, sends);
    for (const auto& [transfer, message] : packed)
        for_levels(*transfer, transfer->target, piece, message, true,
                   [&](const BoxCopy& box) { device.copy_from(device, box); });
}

std::unique_ptr<Transport> make_host_messages(Ranks& ranks) {
    return std::make_unique<HostMessages>(ranks);
}

}  // namespace halo::rt
