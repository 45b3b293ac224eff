// haloc info: what an HDF5 file holds, and which run wrote it.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/command/commands.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/provenance.h"
#include "runtime/core/element.h"
#include "runtime/hdf5/contents.h"
#include "runtime/hdf5/hdf5.h"

namespace halo::driver {

namespace {

using rt::json::Value;

std::string arrays_text(const rt::Hdf5Contents& contents) {
    std::string text;
    for (const rt::Hdf5Array& array : contents.arrays()) {
        std::vector<std::int64_t> shape = array.shape;
        if (array.is_complex) shape.pop_back();
        text +=
            fmt::format("  /{:<12} {}{} ({})\n", array.name, array.type ? rt::name_of(*array.type) : "other",
                        array.is_complex ? " complex" : "", fmt::join(shape, ", "));
    }
    return text;
}

std::string line(const char* title, const std::string& words) {
    return words.empty() ? "" : fmt::format("{:<10} {}\n", title, words);
}

std::string numbers_text(const Value& numbers) {
    std::string text;
    for (const auto& [name, value] : numbers.members())
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                            value.is_string() ? value.text() : value.dump());
    return text;
}

std::string list_text(const Value& list, const char* separator) {
    std::vector<std::string> words;
    for (const Value& item : list.items())
        words.push_back(item.is_string() ? item.text() : item.dump());
    return join(words, separator);
}

std::string frames_text(const ReadProvenance& read) {
    const Value& file = read.all.at("file");
    const std::string of = fmt::format("{} of {}", read.step, read.all.at("steps").dump());
    if (const Value* const every = file.find("every"))
        return fmt::format("{}, frames every {}", of, every->text());
    if (const Value* const rows = file.find("rows"))
        return rows->text().empty() ? of : fmt::format("{}, rows every {}", of, rows->text());
    return fmt::format("{}, time {}", of, file.at("time").dump());
}

std::string run_text(const ReadProvenance& read) {
    const Value& all = read.all;
    const Value& engine = all.at("engine");
    std::string text =
        line("stencil", fmt::format("{} ({})", all.at("stencil").text(), list_text(all.at("axes"), ", ")));
    text += line("grid",
                 list_text(all.at("grid"), " x ") + " cells, spacing " + list_text(all.at("spacing"), ", "));
    text += line("step", frames_text(read));
    text += line("until", all.at("until").text());
    text += line("params", numbers_text(all.at("params")));
    text += line("by hand", changes_by_hand(read));
    text += line("coefs", numbers_text(all.at("coefs")));
    text += line("seed", all.at("seed").dump());
    text +=
        line("device", fmt::format("{}: {}", engine.at("device").text(), engine.at("description").text()));
    for (const Value& schedule : engine.at("schedules").items())
        text += line("schedule", schedule.text());
    const std::string arguments = all.at("arguments").dump();
    if (arguments != "{}") text += line("arguments", arguments);
    for (const InputFile& input : read.inputs)
        text += line("input", fmt::format("{} from {}, sha256 {}", input.name, input.path, input.digest));
    text += line("haloc", fmt::format("{}, commit {}", read.version, read.commit));
    for (const auto& [name, module] : read.arguments.texts->modules)
        text += line("module", fmt::format("{}, {} lines", name, std::ranges::count(module, '\n')));
    return text + fmt::format("\n{}:\n\n{}", read.arguments.texts->name, read.arguments.texts->text);
}

}  // namespace

ExitCode info(const InfoOptions& options, const Console& console) {
    const rt::Hdf5Contents contents(options.file);
    const std::optional<std::string> provenance = contents.text(rt::kProvenance);
    if (options.json || options.spec) {
        const ReadProvenance read = read_provenance(options.file);  // refuses what says nothing
        console.result(options.json ? *provenance : read.arguments.texts->text);
        return ExitCode::ok;
    }
    std::string text = options.file + ":\n" + arrays_text(contents) + '\n';
    text += provenance ? run_text(read_provenance(options.file)) : "It does not say which run wrote it.\n";
    console.result(text);
    return ExitCode::ok;
}

}  // namespace halo::driver
