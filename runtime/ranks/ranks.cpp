// Collective operations of ranks, made of messages: all to the first rank, and from it to all.
#include "runtime/ranks/ranks.h"

#include <algorithm>

namespace halo::rt {

int Ranks::local_rank() const {
    int before = 0;
    for (int other = 0; other < rank(); ++other)
        before += host(other) == host(rank()) ? 1 : 0;
    return before;
}

int Ranks::local_count() const {
    int all = 0;
    for (int other = 0; other < count(); ++other)
        all += host(other) == host(rank()) ? 1 : 0;
    return all;
}

std::vector<std::string> Ranks::gather(const std::string& part) {
    auto length = static_cast<std::int64_t>(part.size());
    if (!is_first()) {
        const std::vector<Message> sends{{0, &length, sizeof length},
                                         {0, const_cast<char*>(part.data()), length}};
        exchange({}, sends);
        return {};
    }
    std::vector<std::string> parts(static_cast<std::size_t>(count()));
    std::vector<std::int64_t> lengths(parts.size());
    std::vector<Message> receives;
    for (int peer = 1; peer < count(); ++peer)
        receives.push_back({peer, &lengths[static_cast<std::size_t>(peer)], sizeof length});
    exchange(receives, {});
    receives.clear();
    for (int peer = 1; peer < count(); ++peer) {
        std::string& bytes = parts[static_cast<std::size_t>(peer)];
        bytes.resize(static_cast<std::size_t>(lengths[static_cast<std::size_t>(peer)]));
        receives.push_back({peer, bytes.data(), static_cast<std::int64_t>(bytes.size())});
    }
    exchange(receives, {});
    parts.front() = part;
    return parts;
}

std::string Ranks::broadcast(const std::string& bytes) {
    auto length = static_cast<std::int64_t>(bytes.size());
    if (!is_first()) {
        exchange(std::vector<Message>{{0, &length, sizeof length}}, {});
        std::string result(static_cast<std::size_t>(length), '\0');
        exchange(std::vector<Message>{{0, result.data(), length}}, {});
        return result;
    }
    std::vector<Message> sends;
    for (int peer = 1; peer < count(); ++peer) {
        sends.push_back({peer, &length, sizeof length});
        sends.push_back({peer, const_cast<char*>(bytes.data()), length});
    }
    exchange({}, sends);
    return bytes;
}

std::vector<std::string> Ranks::all_gather(const std::string& part) {
    const std::vector<std::string> parts = gather(part);
    // One after the other, each behind its length.
    std::string all;
    for (const std::string& each : parts) {
        const std::uint64_t length = each.size();
        all.append(reinterpret_cast<const char*>(&length), sizeof length);
        all += each;
    }
    all = broadcast(all);
    std::vector<std::string> result;
    for (std::size_t at = 0; at < all.size();) {
        std::uint64_t length = 0;
        std::copy_n(all.data() + at, sizeof length, reinterpret_cast<char*>(&length));
        result.push_back(all.substr(at + sizeof length, length));
        at += sizeof length + length;
    }
    return result;
}

bool Ranks::any(bool mine) {
    const std::vector<std::string> all = all_gather(mine ? "1" : "0");
    return std::ranges::find(all, "1") != all.end();
}

}  // namespace halo::rt
