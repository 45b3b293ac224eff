#include "runtime/mpi/processes.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

namespace halo::rt {

namespace {

// The machine since it was started, and the container's own numbering of processes.
std::string place_of_ids() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    std::array<char, 64> ids{};
    const ssize_t length = ::readlink("/proc/self/ns/pid", ids.data(), ids.size());
    if (boot.empty() || length <= 0) return {};
    return boot + '/' + std::string(ids.data(), static_cast<std::size_t>(length));
}

}  // namespace

std::string process_name() {
    return std::to_string(::getpid()) + ' ' + place_of_ids();
}

bool process_has_ended(const std::string& name) {
    std::istringstream words(name);
    std::string id, place;
    words >> id >> place;
    static const std::string here = place_of_ids();
    if (place.empty() || place != here) return false;
    std::ifstream file("/proc/" + id + "/stat");
    std::string line;
    if (!std::getline(file, line)) return true;
    // "1234 (haloc) S …": a name may hold brackets. One that has ended and was not waited for is a zombie.
    const std::size_t end = line.rfind(") ");
    if (end == std::string::npos || end + 2 >= line.size()) return false;
    return line[end + 2] == 'Z' || line[end + 2] == 'X';
}

}  // namespace halo::rt
