// The text of a resident schedule, and its choice.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "compiler/schedule/resident.h"
#include "compiler/schedule/resident_model.h"
#include "compiler/schedule/space.h"
#include "compiler/schedule/temporal.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr std::string_view kResidentWord = "resident";

// "4", "4x2" or "4x2x1"; omitted axes have 1.
std::optional<rt::Lengths> to_axes(std::string_view text, int rank) {
    rt::Lengths axes{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
        const std::size_t cross = std::min(text.find('x'), text.size());
        const auto [end, error] = std::from_chars(text.data(), text.data() + cross, axes[axis]);
        if (error != std::errc() || end != text.data() + cross || axes[axis] < 1 || axes[axis] > 1024)
            return std::nullopt;
        if (cross == text.size()) return axes;
        text.remove_prefix(cross + 1);
    }
    return std::nullopt;
}

std::string print_axes(const rt::Lengths& axes, int rank) {
    std::string text = std::to_string(axes[0]);
    for (std::size_t axis = 1; axis < static_cast<std::size_t>(rank); ++axis)
        text += "x" + std::to_string(axes[axis]);
    return text;
}

class ResidentChooser {
public:
    struct Found {
        ResidentSchedule schedule;
        double seconds = 0;
        std::int64_t blocks = 0, shared_bytes = 0;
    };

    ResidentChooser(const ir::Program& program, const Target& target, const Extent& extent,
                    const ResidentPins& pins)
        : core_(state_core(program)),
          refused_(refused_rest(program)),
          target_(target),
          extent_(extent),
          pins_(pins) {}

    // All schedules that can be built, the fastest first.
    std::vector<Found> run() {
        if (!refused_.empty()) return {};
        const auto formed = form_pipeline(core_, 1);
        if (const auto* why = std::get_if<std::string>(&formed)) {
            refused_ = *why;
            return {};
        }
        pipeline_ = &std::get<Pipeline>(formed);
        refused_ = resident_refusal(core_, *pipeline_);
        if (refused_.empty() && pins_.keep == Keep::shared && core_.rank() < 3)
            refused_ = "`keep=shared` needs three axes";
        if (!refused_.empty()) return {};
        stages_ = resident_stages(core_, *pipeline_);
        for (const ResidentSchedule& schedule : resident_schedules(core_.rank(), extent_, target_, pins_))
            try_shape(schedule);
        std::ranges::stable_sort(found_, {}, &Found::seconds);
        return std::move(found_);
    }
    std::string why_not() const {
        const std::string sms = std::to_string(target_.sms);
        if (!refused_.empty()) return refused_;
        if (!why_not_.empty() && (pins_.threads || pins_.cells)) return why_not_;
        if (!too_small_.empty()) return too_small_;
        if (pins_.threads && pins_.cells)
            return "the grid does not fit on the chip: it would take " + std::to_string(fewest_blocks_) +
                   " blocks, and " + sms + " are there at once";
        return "the grid does not fit on the chip: no shape of blocks that are there at once, " + sms +
               ", has room for it";
    }

private:
    // A shape whose cells fit one way is not tried in the ways that take less room and more time.
    void try_shape(ResidentSchedule schedule) {
        const std::int64_t blocks = blocks_of(schedule, extent_);
        if (blocks > target_.sms) {
            fewest_blocks_ = std::min(fewest_blocks_, blocks);
            return;
        }
        for (const Keep keep : {Keep::registers, Keep::in_place, Keep::shared}) {
            schedule.keep = pins_.keep.value_or(keep);
            if (try_schedule(schedule) || pins_.keep) return;
        }
    }

    // Whether it can be built.
    bool try_schedule(const ResidentSchedule& schedule) {
        const auto shaped = resident_shape(core_, *pipeline_, schedule, target_);
        if (const auto* why = std::get_if<std::string>(&shaped)) {
            if (why_not_.empty()) why_not_ = *why;
            return false;
        }
        const auto& shape = std::get<ResidentShape>(shaped);
        if (std::string why = refused_grid(shape); !why.empty()) {
            too_small_ = why;
            return false;
        }
        const int spilled = spilled_registers(resident_registers(core_, shape, schedule), schedule, target_);
        if (!pins_.cells && !pins_.threads && spilled > resident_model::kMostSpilled) {
            if (why_not_.empty()) why_not_ = "its cells do not fit in a thread's registers";
            return false;
        }
        found_.push_back(
            {schedule, resident_seconds(core_, stages_, shape, schedule) + spill_seconds(spilled, schedule),
             blocks_of(schedule, extent_), shape.shared_bytes});
        return true;
    }

    std::string refused_grid(const ResidentShape& shape) const {
        for (int axis = 0; axis < core_.rank(); ++axis) {
            const auto index = static_cast<std::size_t>(axis);
            if (extent_[index] < shape.least_extent[index])
                return "a grid of " + std::to_string(extent_[index]) + " cells along " +
                       core_.axes[index].name + " is too small";
        }
        return "";
    }

    const ir::Program core_;
    std::string refused_;  // why, whatever the grid and the shape
    const Target& target_;
    const Extent& extent_;
    const ResidentPins& pins_;
    const Pipeline* pipeline_ = nullptr;
    std::vector<ResidentStage> stages_;
    std::vector<Found> found_;
    std::string why_not_, too_small_;
    std::int64_t fewest_blocks_ = std::numeric_limits<std::int64_t>::max();  // of shapes that have too many
};

}  // namespace

std::string_view keep_word(Keep keep) {
    return keep == Keep::registers ? "registers" : keep == Keep::in_place ? "in_place" : "shared";
}

double cells_of(const Extent& extent) {
    return static_cast<double>(extent[0]) * static_cast<double>(extent[1]) * static_cast<double>(extent[2]);
}

ParsedResident parse_resident(std::string_view text, int rank) {
    ParsedResident result;
    std::size_t begin = skip_space(text, 0);
    for (bool is_first = true; begin < text.size(); is_first = false) {
        std::size_t end = begin;
        while (end < text.size() && !is_space(text[end]))
            ++end;
        const std::string_view item = text.substr(begin, end - begin);
        const auto mistake = [&](std::string message) {
            result.mistakes.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                                       std::move(message),
                                       ""});
        };
        const std::size_t equals = std::min(item.find('='), item.size());
        const std::string name(item.substr(0, equals));
        const std::string_view value = item.substr(std::min(equals + 1, item.size()));
        auto* axes = name == "threads" ? &result.pins.threads
                     : name == "cells" ? &result.pins.cells
                                       : nullptr;
        if (is_first && item == kResidentWord) {
        } else if (name == "keep") {
            for (const Keep keep : {Keep::registers, Keep::in_place, Keep::shared})
                if (value == keep_word(keep)) result.pins.keep = keep;
            if (!result.pins.keep) mistake("`keep` is `registers`, `in_place` or `shared`");
        } else if (axes == nullptr) {
            mistake("resident has no setting `" + name + "`; there are threads, cells and keep");
        } else {
            *axes = to_axes(value, rank);
            if (!*axes)
                mistake("`" + name + "` is a number for each axis, as in `" + name +
                        (rank == 3 ? "=32x4x2`" : "=32x4`"));
        }
        begin = skip_space(text, end);
    }
    return result;
}

std::string print(const ResidentSchedule& schedule, int rank) {
    return std::string(kResidentWord) + " threads=" + print_axes(schedule.threads, rank) +
           " cells=" + print_axes(schedule.cells, rank) +
           (schedule.keep != Keep::registers ? " keep=" + std::string(keep_word(schedule.keep)) : "");
}

ResidentChoice choose_resident(const ir::Program& program, const Target& target, const Extent& extent,
                               const ResidentPins& pins) {
    ResidentChooser chooser(program, target, extent, pins);
    const std::vector<ResidentChooser::Found> found = chooser.run();
    ResidentChoice choice;
    if (found.empty()) {
        choice.reason = chooser.why_not();
        return choice;
    }
    choice.schedule = found.front().schedule;
    choice.seconds_per_step = found.front().seconds;
    choice.reason = "the grid stays on the chip, in " +
                    counted(static_cast<int>(found.front().blocks), "block") + " with " +
                    std::to_string(found.front().shared_bytes / 1024) + " KB of shared memory";
    return choice;
}

ResidentCandidates list_resident_candidates(const ir::Program& program, const Target& target,
                                            const Extent& extent, const ResidentPins& pins,
                                            std::size_t most) {
    ResidentChooser chooser(program, target, extent, pins);
    ResidentCandidates list;
    for (const ResidentChooser::Found& found : chooser.run()) {
        if (list.found.size() == most) break;
        list.found.push_back({Grouping(found.schedule), found.seconds, found.seconds / cells_of(extent)});
    }
    if (list.found.empty()) list.why_none = chooser.why_not();
    return list;
}

}  // namespace halo::schedule
