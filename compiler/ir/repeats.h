// Statements that are done several times in a step (Repeat in program.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// The repeats that a statement is part of, outermost first; the innermost of them, nullptr where there is
// none.
const std::vector<Repeat>& repeats_of(const Statement& statement);
const Repeat* repeat_of(const Statement& statement);
bool is_within(const Statement& statement, int repeat);  // its number

// The index past the last statement of the repeat that has the one at `first`, and is within `depth` others;
// of a statement of none, the next.
std::size_t end_of_repeat(const Program& program, std::size_t first, std::size_t depth = 0);

// The index of the first statement of the repeat that has the one at `last`; `last` where that is of none.
std::size_t first_of_repeat(const Program& program, std::size_t last, std::size_t depth = 0);

// How many times a step does the statement, and how many iterations of a repeat it does; at most.
std::int64_t times_in_step(const Statement& statement);
std::int64_t iterations_in_step(const Program& program, int repeat);  // its number

// What a statement copies to its target as it ends an iteration, so that exchanging the two does as well: all
// of a field with equal halos and the same boundaries, which nothing but this writes within the repeat, and
// no other repeat is within that. nullopt: it does something else, or has to copy.
std::optional<FieldId> exchanged_with(const Program& program, std::size_t statement);

bool has_repeats(const Program& program);

// What ends the repeat before all its iterations are done; nullptr: nothing does.
const RepeatEnd* end_condition(const Program& program, const Repeat& repeat);

// Whether the device may find the condition that ends the repeat, after iterations that the host launched
// ahead. It computes what follows from the repeat's own reductions by operations that are exact; where
// statements of the repeat read more, the host computes that between them, waits in any case, and finds the
// condition, too. So it does where it ends a repeat within this one, and where the condition is of all parts
// of a grid.
bool may_end_on_device(const Program& program, const Repeat& repeat);

// The reductions that the condition reads; those of them that its repeat finds, and the names of these.
std::vector<ReductionId> reductions_of(const Program& program, const RepeatEnd& end);
std::vector<ReductionId> own_reductions_of(const Program& program, const RepeatEnd& end);
std::vector<std::string> own_reductions(const Program& program, const RepeatEnd& end);
bool is_within_another(const Program& program, const RepeatEnd& end);  // its repeat is
// How many iterations there are at most, each time that its repeat is done.
std::int64_t most_iterations(const Program& program, const RepeatEnd& end);

}  // namespace halo::ir
