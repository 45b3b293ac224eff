// haloc view: a run that is looked at, and writes nothing.
#include "compiler/driver/command/commands.h"
#include "runtime/ranks/launch.h"

namespace halo::driver {

ExitCode view(const RunArguments& arguments, const LiveArguments& live, rt::Ranks& ranks,
              const Console& console) {
    if (rt::find_launch().is_several())
        refuse_usage("haloc view is one process, and several were started", "start it without mpirun");
    RunArguments shown = arguments;
    shown.live = live;
    shown.live->stays = true;
    shown.no_files = true;
    shown.no_background = true;
    return run(shown, ranks, console);
}

}  // namespace halo::driver
