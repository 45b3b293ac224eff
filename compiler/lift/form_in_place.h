// Arrays that a step may change where they lie; for form.cpp.
#pragma once

#include "compiler/lift/form.h"

namespace halo::lift {

// A state has two arrays: steps read one and write the other, whole. Where each cell that is read as it was
// is the one that the same statement writes, or one that no statement writes, one array will do: the state
// becomes an output, and what is read of it an input, `has_before`, which a caller binds to the same memory.
void change_in_place(const Model& model, Form& form);

// Makes the grid larger where reads past its high faces are not looked at: then nothing is read past them,
// and arrays of the program, which have no room there, can be worked on where they are. No cell more is
// computed.
void make_room(Form& form);

}  // namespace halo::lift
