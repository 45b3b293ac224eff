// Headers that a source may want and that are not on this machine: the front end brings small ones.
#pragma once

namespace halo::lift {

// What a CUDA file needs to be read without CUDA's headers: the words of the language, what kernels call, and
// so much of the run time that launches and copies are understood. With HALO_LIFT_HOST a kernel is a plain
// function that runs one thread.
extern const char kCudaPrelude[];

// Found where there is no other: declarations alone, as what they do in one process is stand_ins.cpp's
// matter.
extern const char kOmpHeader[];
extern const char kMpiHeader[];

// Found in front of any other, as its loops and views are to be run without the library.
extern const char kKokkosHeader[];
// Its marks of a loop whose iterations have no order and of a function whose body is not known, and what it
// calls for the order of loops that are run.
extern const char kAnyOrder[], kElsewhere[], kTurn[];

}  // namespace halo::lift
