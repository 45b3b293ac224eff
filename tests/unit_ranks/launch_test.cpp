// What launchers tell in the environment.
#include "runtime/ranks/launch.h"

#include <cstdlib>
#include <map>
#include <string>

#include "catch.h"

using namespace halo::rt;

namespace {

Launch with(const std::map<std::string, std::string>& variables) {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                             "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS"})
        ::unsetenv(name);
    for (const auto& [name, value] : variables)
        ::setenv(name.c_str(), value.c_str(), 1);
    return find_launch();
}

}  // namespace

TEST_CASE("a launcher is known by its variables") {
    CHECK_FALSE(with({}).is_several());
    const Launch open_mpi = with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
    CHECK(open_mpi.count == 4);
    CHECK(open_mpi.rank == 3);
    CHECK(open_mpi.by == "mpirun");
    CHECK(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}}).count == 2);
    const Launch srun = with({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_PROCID", "5"}});
    CHECK(srun.count == 8);
    CHECK(srun.by == "srun");
    CHECK_FALSE(with({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}).is_several());
}

TEST_CASE("a batch script is one process") {
    CHECK_FALSE(with({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}).is_several());
}

TEST_CASE("mpirun within a job of Slurm is what counts") {
    const Launch launch = with({{"SLURM_STEP_NUM_TASKS", "2"},
                                {"SLURM_PROCID", "0"},
                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                {"OMPI_COMM_WORLD_RANK", "2"}});
    CHECK(launch.count == 4);
    CHECK(launch.rank == 2);
}

TEST_CASE("variables that make no sense are none") {
    CHECK_FALSE(with({{"PMI_SIZE", "many"}, {"PMI_RANK", "0"}}).is_several());
    CHECK_FALSE(with({{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}}).is_several());
    CHECK_FALSE(with({{"PMI_SIZE", "2"}}).is_several());
}
