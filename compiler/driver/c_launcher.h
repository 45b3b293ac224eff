// The host side of emitted CUDA: a plain C interface to the kernels of a LaunchPlan, for programs that are
// compiled with nvcc and need nothing of ours.
//
// The header declares, for a stencil `heat`: a type `heat_run`, its parameters, and functions to create one,
// set and get fields, step, read reductions and destroy it. The source defines them; it follows the kernels
// in the .cu file.
#pragma once

#include <string>
#include <vector>

#include "runtime/core/launch_plan.h"

namespace halo::driver {

struct CLauncher {
    std::string header;
    std::string source;
};

// file_stem: of the files, "heat3d" for heat3d.cu and heat3d.h.
CLauncher make_c_launcher(const rt::LaunchPlan& plan, const std::string& file_stem);

// Names in the generated C: the plan's own, made valid and unique (c_names.cpp).
struct CNames {
    std::string stencil;              // prefix of everything
    std::vector<std::string> params;  // by index in the plan; members of the parameters
    std::vector<std::string> fields;  // likewise; members of the run, in use behind a prefix
    std::vector<std::string> coefs;
    std::vector<std::string> reductions;
    std::vector<std::string> axes;  // nx, ny, nz by the axes' names
};
CNames make_c_names(const rt::LaunchPlan& plan);

// A host scalar as an expression of C: params as `params.NAME`, extents as `(double)EXTENT`.
std::string c_expression(const rt::HostScalar& scalar, const CNames& names);

}  // namespace halo::driver
