#include "runtime/core/error.h"

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

namespace halo::rt {

Error as_error(const std::exception& exception) {
    if (const auto* own = dynamic_cast<const Error*>(&exception)) return *own;
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
        dynamic_cast<const std::length_error*>(&exception) != nullptr)
        return {ErrorCode::out_of_memory, "this machine has not enough memory for that"};
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
        return {ErrorCode::io, "cannot use \"" + file->path1().string() + "\": " + file->code().message()};
    if (const auto* system = dynamic_cast<const std::system_error*>(&exception);
        system != nullptr && (system->code().value() == EAGAIN || system->code().value() == ENOMEM))
        return {
            ErrorCode::out_of_memory,
            "this machine starts no more threads: memory, or the number of processes (ulimit -u), is used "
            "up"};
    return {ErrorCode::internal, exception.what()};
}

}  // namespace halo::rt
