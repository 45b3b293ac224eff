// The text of a temporal schedule.
#include <algorithm>
#include <bit>
#include <charconv>

#include "compiler/schedule/temporal.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr std::string_view kWord = "temporal";
constexpr int kLargest = 1 << 15;

std::optional<int> to_number(std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value >= 1 && value <= kLargest ? std::optional(value) : std::nullopt;
}

class Reader {
public:
    Reader(std::string_view text, int rank) : text_(text), rank_(rank) {}

    ParsedTemporal read() {
        std::size_t at = 0;
        while (true) {
            at = skip_space(text_, at);
            if (at == text_.size()) break;
            const std::size_t begin = at;
            while (at < text_.size() && !is_space(text_[at]) && text_[at] != '#')
                ++at;
            item(text_.substr(begin, at - begin), begin);
        }
        return std::move(result_);
    }

private:
    void mistake(std::size_t begin, std::size_t length, std::string message) {
        result_.mistakes.push_back(
            {{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + length)},
             std::move(message),
             ""});
    }

    void item(std::string_view word, std::size_t begin) {
        if (word == kWord && begin == skip_space(text_, 0)) return;
        const std::size_t equals = word.find('=');
        const std::string name(word.substr(0, equals));
        const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
        TemporalPins& pins = result_.pins;
        if (std::ranges::find(seen_, name) != seen_.end())
            return mistake(begin, word.size(), "`" + name + "` is set twice");
        seen_.push_back(name);
        if (name == "cells") return cells(value, begin, word.size());
        std::optional<int>* number = name == "steps"        ? &pins.steps
                                     : name == "passes"     ? &pins.passes
                                     : name == "warps"      ? &pins.warps
                                     : name == "ahead"      ? &pins.ahead
                                     : name == "unroll"     ? &pins.unroll
                                     : name == "min_blocks" ? &pins.min_blocks
                                     : name == "blocks"     ? &pins.blocks
                                                            : nullptr;
        if (number == nullptr)
            return mistake(
                begin, word.size(),
                "temporal has no setting `" + name +
                    "`; there are steps, passes, warps, cells, ahead, unroll, min_blocks and blocks");
        *number = to_number(value);
        const int most = name == "steps" || name == "passes" ? 64 : name == "warps" ? 32 : kLargest;
        if (!*number || **number > most) {
            number->reset();
            mistake(begin, word.size(), "`" + name + "` is a whole number from 1 to " + std::to_string(most));
        }
    }

    void cells(std::string_view value, std::size_t begin, std::size_t length) {
        const std::size_t cross = value.find('x');
        const std::optional<int> columns = to_number(value.substr(0, cross));
        const std::optional<int> rows =
            cross == std::string_view::npos ? std::optional(1) : to_number(value.substr(cross + 1));
        // Which of these a program can have is for temporal_shape() to say.
        const int most = rank_ == 3 ? 4 : 16;
        const bool fits = columns && rows && *columns <= most && std::has_single_bit(unsigned(*columns)) &&
                          *rows <= 16 && (rank_ == 3 || *rows == 1);
        if (fits) {
            result_.pins.cells = {*columns, *rows};
            return;
        }
        mistake(begin, length,
                rank_ == 3 ? "`cells` is 1, 2 or 4 columns of up to 16 rows, as in `cells=4x4`"
                           : "`cells` is 4, 8 or 16 of single bytes, else 1, 2 or 4, as in `cells=4`");
    }

    std::string_view text_;
    int rank_;
    std::vector<std::string> seen_;  // settings
    ParsedTemporal result_;
};

}  // namespace

ParsedTemporal parse_temporal(std::string_view text, int rank) {
    return Reader(text, rank).read();
}

std::string print(const TemporalSchedule& schedule, int rank) {
    std::string text = std::string(kWord) + " steps=" + std::to_string(schedule.steps) +
                       (schedule.passes > 1 ? " passes=" + std::to_string(schedule.passes) : "") +
                       " warps=" + std::to_string(schedule.warps) +
                       " cells=" + std::to_string(schedule.cells[0]);
    if (rank == 3) text += "x" + std::to_string(schedule.cells[1]);
    // Every setting: what is left out is the compiler's to choose.
    return text + " ahead=" + std::to_string(schedule.ahead) + " unroll=" + std::to_string(schedule.unroll) +
           " min_blocks=" + std::to_string(schedule.min_blocks) +
           " blocks=" + std::to_string(schedule.blocks);
}

}  // namespace halo::schedule
