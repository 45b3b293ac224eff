// Messages: a Transport between ranks, of which each has the piece of its number. Whole planes go from array
// to array, a message for each level. The cells of other transfers are packed side by side, all levels in one
// message, sent, and taken apart.
#pragma once

#include "runtime/pieces/transport.h"

namespace halo::rt {

// What every way to send messages shares.
class Messages : public Transport {
public:
    explicit Messages(Ranks& ranks) : ranks_(ranks) {}
    void exchange(const std::vector<Transfer>& along, const std::vector<PieceArrays>& pieces) final;

protected:
    // The memory of the piece's device.
    using MessageList = std::vector<Ranks::Message>;
    // In the order of the device's work.
    virtual void move(Device& device, const MessageList& receives, const MessageList& sends) = 0;
    Ranks& ranks() const { return ranks_; }

private:
    void* buffer(Device& device, std::size_t number, std::int64_t bytes);

    Ranks& ranks_;
    std::vector<DeviceMemory> buffers_;  // for packed messages, by their number in an exchange
};

// By Ranks::exchange, over the host's memory. Devices whose memory is the host's need no copies for that.
std::unique_ptr<Transport> make_host_messages(Ranks& ranks);

}  // namespace halo::rt
