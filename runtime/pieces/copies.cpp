// Copies between the devices of one process. The receiving piece's device copies to its ghosts.
#include "runtime/pieces/transport.h"

namespace halo::rt {

namespace {

class Copies final : public Transport {
public:
    std::string name() const override { return "copies between devices"; }

    // Exchanges along one axis. A piece copies when its neighbour has reached the same step, and the
    // neighbour goes on when it has copied.
    void exchange(const std::vector<Transfer>& along, const std::vector<PieceArrays>& pieces) override {
        const auto each = [&](const auto& work) {
            for (const Transfer& transfer : along)
                work(transfer, pieces[static_cast<std::size_t>(transfer.from)],
                     pieces[static_cast<std::size_t>(transfer.to)]);
        };
        const auto mark_all = [&] {
            for (const PieceArrays& piece : pieces)
                piece.device->record_event();
        };
        mark_all();
        each([](const Transfer&, const PieceArrays& from, const PieceArrays& to) {
            if (from.device != to.device) to.device->wait_for_event(*from.device);
        });
        each([](const Transfer& transfer, const PieceArrays& from, const PieceArrays& to) {
            for (std::size_t i = 0; i < from.levels.size(); ++i)
                to.device->copy_from(*from.device,
                                     box_copy(transfer, *from.geometry, from.levels[i].array, *to.geometry,
                                              to.levels[i].array, from.levels[i].element));
        });
        mark_all();
        each([](const Transfer&, const PieceArrays& from, const PieceArrays& to) {
            if (from.device != to.device) from.device->wait_for_event(*to.device);
        });
    }
};

}  // namespace

std::unique_ptr<Transport> make_copies() {
    return std::make_unique<Copies>();
}

}  // namespace halo::rt
