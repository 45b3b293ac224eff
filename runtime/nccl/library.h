// libnccl, opened: its functions. Not for other rooms.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace halo::rt::nccl {

using Comm = struct CommTag*;
struct UniqueId {
    std::array<char, 128> bytes{};
};

// Of ncclResult_t and ncclDataType_t, those that are told apart.
constexpr int kSuccess = 0, kInProgress = 7;
constexpr int kBytes = 0;  // ncclInt8

struct Library {
    // Opened once a process; nullptr where it is not found, or lacks something: `why` then says so.
    static const Library* find(std::string& why);

#define SYMBOL(member, name, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "runtime/nccl/symbols.def"
#undef SYMBOL
};

}  // namespace halo::rt::nccl
