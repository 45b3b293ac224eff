// .npy files in parts: what is written and read are elements in a row, counted in C order from the array's
// first. Of complex numbers real and imaginary part are an element each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"
#include "runtime/io/shared_file.h"

namespace halo::rt {

class NpyWriter {
public:
    // Collective. The array of `shape`, slowest axis first; of complex numbers of `type` (f32 or f64) where
    // is_complex. Throws Error (io) on all ranks.
    NpyWriter(Ranks& ranks, const std::string& path, const std::vector<std::int64_t>& shape, ElementType type,
              bool is_complex = false);

    // `elements` of the type. All that ranks write comes to the whole array, each element once.
    void write(std::int64_t first, const void* elements, std::int64_t count);
    void commit();  // collective, as SharedFile has it

private:
    SharedFile file_;
    ElementType type_;
    std::int64_t begin_ = 0;  // of the values in the file
};

class NpyReader {
public:
    // Throws Error (io) as read_npy() does.
    NpyReader(const std::string& path, const std::vector<std::int64_t>& shape, const std::string& what);
    ~NpyReader();
    NpyReader(const NpyReader&) = delete;
    NpyReader& operator=(const NpyReader&) = delete;

    // As elements of `type`, to which they are rounded.
    void read(std::int64_t first, std::int64_t count, ElementType type, void* elements);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace halo::rt
