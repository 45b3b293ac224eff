// Fields to and from .npy files, by parts: each process writes the cells that it has, and reads those that it
// needs. Only a part at a time lies in the host's memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/engine.h"
#include "compiler/driver/groups.h"
#include "runtime/io/npy_parts.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Boxes that are looked at one at a time, none of more bytes than about 64 MB: all cells of `boxes`.
std::vector<rt::Box> in_parts(const std::vector<rt::Box>& boxes, std::int64_t bytes_per_cell);

// Sees each part of each field that is written.
using PartSeen = std::function<void(const std::string& field, const rt::Box& box, const FieldValues& values)>;

// Collective. The set's level `time` as one array, as groups.h says. Throws rt::Error (io) on all ranks.
void save_fields(rt::Ranks& ranks, const std::string& path, Engine& engine, const FieldSet& set, int rank,
                 int time = 0, const PartSeen& seen = {});

// Reads the set's cells that this process needs, for the levels `times` of each field. Throws rt::Error (io).
void load_fields(const std::string& path, const std::string& what, Engine& engine, const FieldSet& set,
                 int rank, const std::vector<std::vector<int>>& times);

// Collective. The cells of a box that lies in the grid, at the first rank; elsewhere nothing.
FieldValues gather_cells(rt::Ranks& ranks, Engine& engine, const std::string& field, const rt::Box& box);

}  // namespace halo::driver
