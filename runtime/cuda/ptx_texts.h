// The back end's own kernels, as text. Not for other rooms.
#pragma once

namespace halo::rt::cuda {

extern const char* const kHaloLayerPtx8;
extern const char* const kHaloLayerPtx16;
extern const char* const kHaloLayerPtx32;  // halo_layer, for elements of 32 and of 64 bits
extern const char* const kHaloLayerPtx64;
extern const char* const kFinishSumPtx;  // finish_reductions
extern const char* const kFinishMinPtx;
extern const char* const kFinishMaxPtx;

}  // namespace halo::rt::cuda
