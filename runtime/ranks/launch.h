// Whether this process was started as one of several, by mpirun, srun or the like.
#pragma once

#include <string>

namespace halo::rt {

struct Launch {
    int count = 1;
    int rank = 0;
    std::string by;  // the launcher, for people; empty where there is none
    bool is_several() const { return count > 1; }
};

// As the launcher's environment variables say; nothing of it where they are not there or make no sense.
Launch find_launch();

}  // namespace halo::rt
