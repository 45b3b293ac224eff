// haloc check: is a spec right, and if not, where and why.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/commands.h"
#include "compiler/driver/spec.h"

namespace halo::driver {

ExitCode check(const CheckOptions& options, const Console& console) {
    bool all_well = true;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::string& path : options.files) {
        CheckedSpec checked = check_spec(path);
        all_well = all_well && checked.ok;
        if (options.json) {
            for (auto& diagnostic :
                 nlohmann::ordered_json::parse(render_json(checked.diagnostics, checked.source))) {
                all.push_back(std::move(diagnostic));
            }
            continue;
        }
        show_diagnostics(checked.diagnostics, checked.source, console);
        if (checked.ok) console.message(fmt::format("{}: no mistakes", checked.source.name()));
    }
    if (options.json) console.result(all.dump(2) + '\n');
    return all_well ? ExitCode::ok : ExitCode::spec;
}

}  // namespace halo::driver
