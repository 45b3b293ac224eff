#include "runtime/core/session/iterations.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/plan_repeats.h"

namespace halo::rt::session {

namespace {

constexpr auto kWords = static_cast<std::size_t>(RepeatWord::words);
constexpr std::int64_t kWordBytes = sizeof(std::int64_t);

constexpr std::int64_t bytes_before(RepeatWord word) {
    return static_cast<std::int64_t>(word) * kWordBytes;
}

constexpr std::int64_t kBytesOfStep = bytes_before(RepeatWord::total);  // the words of the present step

std::int64_t word_of(const void* words, RepeatWord which) {
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(words) + bytes_before(which), sizeof value);
    return value;
}

}  // namespace

Iterations::Iterations(const Setup& setup) : setup_(setup) {
    repeats_.resize(setup.plan.repeats.size());
    for (std::size_t i = 0; i < repeats_.size(); ++i) {
        const auto& until = setup.plan.repeats[i].until;
        if (!until) continue;
        has_any_ = true;
        if (until->kernel < 0) continue;
        Repeat& repeat = repeats_[i];
        repeat.words = DeviceMemory(*setup.device, bytes_before(RepeatWord::words));
        setup.device->set_bytes(repeat.words.address(), 0, repeat.words.bytes());
        for (auto& copy : repeat.copies)
            copy = setup.device->make_early_copy(kBytesOfStep);
    }
}

void* Iterations::words(int repeat, RepeatWord from) const {
    return static_cast<char*>(repeats_[static_cast<std::size_t>(repeat)].words.address()) +
           bytes_before(from);
}

// Where a repeat around it is over, it begins as one that is, after which no copy is due.
void Iterations::begin(int repeat) {
    setup_.device->set_bytes(words(repeat), 0, kBytesOfStep);
    if (const int outer = ended_around(setup_.plan, repeat); outer >= 0)
        for (const RepeatWord word : {RepeatWord::done, RepeatWord::even})
            setup_.device->copy_on_device(words(repeat, word), words(outer), kWordBytes);
    repeats_[static_cast<std::size_t>(repeat)].begun = 0;
}

bool Iterations::is_done(int repeat) {
    Repeat& own = repeats_[static_cast<std::size_t>(repeat)];
    own.copies[static_cast<std::size_t>(own.begun % 2)]->begin(words(repeat));
    if (own.begun++ == 0) return false;
    return word_of(own.copies[static_cast<std::size_t>(own.begun % 2)]->wait(), RepeatWord::done) != 0;
}

bool Iterations::is_done_now(int repeat) {
    Repeat& own = repeats_[static_cast<std::size_t>(repeat)];
    own.copies[0]->begin(words(repeat));
    const void* const found = own.copies[0]->wait();
    if (word_of(found, RepeatWord::done) == 0) return false;
    own.last_count = word_of(found, RepeatWord::iterations);
    return true;
}

std::int64_t Iterations::last_count(int repeat) const {
    return repeats_[static_cast<std::size_t>(repeat)].last_count;
}

void Iterations::count(int repeat, std::int64_t number, bool holds) {
    RepeatCounts& counts = repeats_[static_cast<std::size_t>(repeat)].counts;
    ++counts.total;
    counts.most = std::max(counts.most, number);
    const bool is_last = number == setup_.plan.repeats[static_cast<std::size_t>(repeat)].count;
    if (is_last && !holds) ++counts.unfinished;
}

std::vector<RepeatCounts> Iterations::counts() const {
    std::vector<RepeatCounts> all;
    for (std::size_t i = 0; i < repeats_.size(); ++i) {
        const RepeatPlan& plan = setup_.plan.repeats[i];
        if (!plan.until) continue;
        RepeatCounts counts = repeats_[i].counts;
        if (plan.until->kernel >= 0) {
            std::array<std::int64_t, kWords> words{};
            setup_.device->copy_to_host(words.data(), repeats_[i].words.address(), sizeof words);
            const auto word = [&](RepeatWord which) { return words[static_cast<std::size_t>(which)]; };
            counts.total = word(RepeatWord::total);
            counts.most = word(RepeatWord::most);
            counts.unfinished = word(RepeatWord::unfinished);
        }
        counts.condition = plan.until->text;
        counts.at_most = plan.count;
        counts.is_within = std::any_of(setup_.plan.repeats.begin(),
                                       setup_.plan.repeats.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const RepeatPlan& other) { return other.past > plan.first; });
        for (const int reduction : plan.until->reductions)
            counts.reductions.push_back(setup_.plan.reductions[static_cast<std::size_t>(reduction)].name);
        all.push_back(std::move(counts));
    }
    return all;
}

}  // namespace halo::rt::session
