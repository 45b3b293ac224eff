#include "runtime/ranks/ranks.h"

namespace halo::rt {

namespace {

class SingleRank final : public Ranks {
public:
    int rank() const override { return 0; }
    int count() const override { return 1; }
    const std::string& host(int) const override { return host_; }
    void exchange(std::span<const Message>, std::span<const Message>) override {}
    void wait(const std::function<bool()>& done, std::span<const int>) override {
        while (!done()) {
        }
    }
    void end_all(const Failure& failure, const std::function<void(const Failure&)>& tell) override {
        tell(failure);
    }

private:
    std::string host_ = "this machine";
};

}  // namespace

std::unique_ptr<Ranks> single_rank() {
    return std::make_unique<SingleRank>();
}

}  // namespace halo::rt
