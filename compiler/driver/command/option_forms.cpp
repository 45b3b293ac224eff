#include "compiler/driver/command/option_forms.h"

namespace halo::driver {

CLI::Option* repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                        const std::string& description) {
    return command.add_option(name, values, description)->allow_extra_args(false)->option_text("TEXT ...");
}

void modules(CLI::App& command, std::vector<std::string>& folders) {
    command
        .add_option("-I", folders,
                    "folder to look for modules in (use \"…\"), after the spec's own; HALO_PATH names more")
        ->allow_extra_args(false)
        ->option_text("DIR ...");
}

}  // namespace halo::driver
