// The back end's own kernels, as text. Not for other rooms.
#pragma once

namespace halo::rt::cuda {

// By the bytes of an element: 1, 2, 4 and 8.
extern const char* const kHaloLayerPtx[4];
extern const char* const kCompareCellsPtx[4];
extern const char* const kFindNotFinitePtx[4];
extern const char* const kGatherCellsPtx[4];

extern const char* const kFinishSumPtx;  // finish_reductions
extern const char* const kFinishMinPtx;
extern const char* const kFinishMaxPtx;

}  // namespace halo::rt::cuda
