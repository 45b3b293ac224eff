// The threads of a block, of a kernel that is compiled for this machine as a plain function.
#pragma once

namespace halo::lift {

// Calls the function once for each thread of a block of size[0] x size[1] x size[2], with `place` set to the
// thread's: one after the other, in turns from barrier to barrier. Ends the process where threads wait at
// different barriers, which has no meaning.
void run_block(void (*thread)(void*), void* given, const unsigned* size, unsigned* place);

// __syncthreads(): where no block runs, there is nothing to wait for.
void wait_in_block();

}  // namespace halo::lift
