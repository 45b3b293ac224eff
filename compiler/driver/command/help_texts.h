// Texts of `haloc --help` and `haloc COMMAND --help` that are longer than an option's.
#pragma once

namespace halo::driver {

inline constexpr const char* kDescription =
    "haloc compiles stencil programs written as formulas (.halo files) to CUDA and C++, and runs them.";

inline constexpr const char* kFooter = R"(Start with:
  haloc check heat3d.halo              is the spec right?
  haloc run heat3d.halo                run it on the best device of this machine
  haloc run heat3d.halo --grid 64,64,64 --steps 100 --set dt=0.1
  haloc emit heat3d.halo -o heat3d.cu  write the CUDA, with a C launcher heat3d.h
  haloc doctor                         what is found on this machine, and what is missing

`haloc COMMAND --help` tells more about a command.

Exit codes: 0 done; 1 a mistake in the spec or in edited kernels; 2 the command was used wrongly; 3 device or run-time trouble (no device,
not enough memory, numbers no longer finite); 4 a file cannot be read or written; 5 a mistake in haloc itself;
130 interrupted (what was asked for has been saved).)";

inline constexpr const char* kRunFooter =
    R"(What the file's run block says is the default, and each part of it can be given here instead.
  haloc run heat3d.halo --steps 100 --set dt=0.1 --set lambda=1/2
  haloc run heat3d.halo --save u=final.npy --plot u=final.png
  haloc run heat3d.halo --save u=final.h5               # HDF5, and final.xdmf for ParaView
  haloc run heat3d.halo --plot u@z=10=low.png --device cpu --timings
  haloc run heat3d.halo --movie u@z=10=low.mp4 --movie-every 50         # or low.gif, where there is no ffmpeg
  haloc run heat3d.halo --checkpoint heat.ck --checkpoint-every 10min   # and to go on: --restart heat.ck
Files are read and written relative to the current directory. Arrays in .npy and HDF5 files list the axes from slowest
to fastest: (z, y, x) for a stencil over (x, y, z). A --save, --plot or --movie of a field replaces those of the run
block for that field. Ctrl-C finishes the step, saves what was asked for at the end, and exits with 130; a second Ctrl-C stops at
once.)";

inline constexpr const char* kSaveHelp =
    "FIELD[@AXIS=INDEX][@AXIS=LOW..HIGH[:STRIDE]][=FILE.npy]: write a field, or a part of it, at the end (or "
    "FILE.h5, FILE.nc or FILE.vtkhdf, which several fields may share); of a reduction a column of FILE.csv "
    "or "
    "FILE.h5";

inline constexpr const char* kSaveEveryHelp =
    "and --save after every so many steps, as FILE-000100.npy and so on: 100, or '100 from 0 to 500'";

inline constexpr const char* kMovieHelp =
    "FIELD[@AXIS=INDEX][=FILE.mp4]: a movie of a field (or a slice of it); .mp4 and .webm by ffmpeg, or .gif";

inline constexpr const char* kMovieEveryHelp =
    "steps between the frames of --movie; without it there are at most 250, ten seconds";

inline constexpr const char* kEditedHelp =
    "a .cu of haloc emit with kernels that were edited: they run in place of the spec's, once they "
    "have been checked against it";

inline constexpr const char* kViewFooter =
    R"(  haloc view heat3d.halo
  haloc view wave2d.halo --grid 512,512 --paused
It prints an address of this machine, http://127.0.0.1:PORT/TOKEN/, to be opened in a browser: fields as pictures, a pause,
single steps, params that can be changed, the values of a cell and the reductions as curves. The first step waits for the
page. No file is written; Ctrl-C ends it, with 130. `haloc run --live` shows a run that writes its files as always. See docs/live.md.)";

inline constexpr const char* kRerunFooter =
    R"(  haloc run heat3d.halo --save u=u.h5
  haloc rerun u.h5
The file has the spec, the arguments, and digests of the files that were read. The run is repeated until the file's step, in a
temporary folder; no file of yours is written. Exit codes: 0 all bits agree; 1 some differ; 4 the file does not say which
run wrote it, the run was changed by hand, or an input has changed or is not there. Input files are looked for relative to the current directory.)";

inline constexpr const char* kCompileFooter =
    R"(  haloc compile heat3d.halo --grid 512,512,512
  haloc compile heat3d.halo --arch sm_90       # where there is no GPU
Each kernel is named with the time that it took, or "was there". The kernel for several steps is that of a long run: even
a short one uses it once it is there. Runs that do not find it leave a process behind that does the same.)";

inline constexpr const char* kTuneFooter =
    R"(  haloc tune heat3d.halo --grid 512,512,512 --budget 120
What is measured is kept after each schedule: after Ctrl-C, or when the budget is spent, the same command goes on. Each
schedule that wins has been checked, bit for bit. `haloc explain` shows what was found. See docs/tuning.md.)";

inline constexpr const char* kBundleFooter =
    R"(  haloc bundle heat3d.halo --arch sm_90 --arch sm_80 --grid 256,256,256 -o heat3d.halobundle
  haloc bundle heat3d.halo -o heat3d.cpp
See docs/embedding.md; in CMake, halo_add_stencil() calls it.)";

inline constexpr const char* kLiftFooter =
    R"(  haloc lift solver.c --function step --no-alias -o step.halo
  haloc lift solver.c --function step --verify -- -Iinclude -DN=512
  haloc lift heat.cu --function heat_kernel --verify
  haloc lift flux_kernel.f90 --function flux_kernel --verify
  haloc lift fdtd.c --function step --assume radius=4 --verify
  haloc lift solver.c --function main -o main.halo --replace solver_halo.c
  haloc lift --all -p build --json lifted.json
What is no stencil, or what cannot be proved to be one, is refused with the place and the reason: exit code 1. So is a
lift whose --verify finds a difference. See docs/lift.md.)";

inline constexpr const char* kMeasuredHelp =
    "of a trace: what was measured in its place, steps × points; the gradient is of half the sum of the "
    "squares of "
    "what they differ by";
inline constexpr const char* kWeightsHelp =
    "of a trace: what its numbers are multiplied with before they are added, steps × points";

inline constexpr const char* kSnapshotsHelp =
    "states that are kept on the way, on a GPU in its memory first; without it as many as fit. Fewer take "
    "more "
    "steps, and give the same gradient";

inline constexpr const char* kScheduleHelp =
    "how stages run, such as 'stream threads=32x4 cells=4x2'; one for all stages, or given once for each "
    "stage in order";
inline constexpr const char* kDevicesHelp =
    "run on several: how many, such as 4, or which GPUs, such as 0,1,3";
inline constexpr const char* kExchangeHelp =
    "with several devices: steps from one exchange of ghost cells to the next; chosen, where it is not given";
inline constexpr const char* kSchemeHelp =
    "with several devices: synchronous (ghost cells are copied between steps), asynchronous (they "
    "are copied while the interior is computed) or direct (kernels store them at the neighbour)";

}  // namespace halo::driver
