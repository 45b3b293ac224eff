#include "compiler/schedule/parse.h"

#include <algorithm>
#include <cctype>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/words.h"

namespace halo::schedule {

namespace {

constexpr int kLargestLength = 1 << 15;  // so that a tile's length, threads times cells, is an int

struct Name {
    std::string_view word;
    Setting setting;
};
constexpr Name kNames[] = {{"threads", Setting::threads}, {"cells", Setting::cells},
                           {"tile", Setting::tile},       {"planes", Setting::planes},
                           {"ahead", Setting::ahead},     {"unroll", Setting::unroll},
                           {"padding", Setting::padding}, {"min_blocks", Setting::min_blocks},
                           {"chunk", Setting::chunk},     {"fuse", Setting::fuse}};
// Ways to group steps (groupings.h): a schedule that begins so is not read here.
constexpr std::string_view kGroupings[] = {"temporal", "resident"};

bool names_grouping(std::string_view word) {
    return std::ranges::find(kGroupings, word) != std::end(kGroupings);
}

struct Word {
    std::string_view word;
};

// Of strategies and groupings.
std::vector<Word> known_words() {
    std::vector<Word> words;
    for (const StrategyKind& kind : strategy_kinds())
        words.push_back({kind.name});
    for (const std::string_view grouping : kGroupings)
        words.push_back({grouping});
    return words;
}

std::string listed(const std::vector<Word>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i].word;
    }
    return text;
}

std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (from[i - 1] == to[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[to.size()];
}

// The closest name by edit distance; empty where none is close, or several are as close.
template <class Names>
std::string nearest(std::string_view word, const Names& names) {
    if (word.size() > 32) return "";
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    bool unique = false;
    for (const auto& name : names) {
        const std::size_t distance = edit_distance(word, name.word);
        if (distance < best_distance) {
            best = name.word;
            best_distance = distance;
            unique = true;
        } else if (distance == best_distance) {
            unique = false;
        }
    }
    return unique ? best : "";
}

class ScheduleReader {
public:
    ScheduleReader(std::string_view text, int rank) : text_(text), rank_(std::min(rank, kMostAxesOfTile)) {}

    ParsedSchedule read() {
        for (skip_space(); at_ < text_.size(); skip_space())
            read_item();
        settle_tile();
        std::ranges::stable_sort(result_.mistakes, {},
                                 [](const Mistake& mistake) { return mistake.range.begin; });
        return std::move(result_);
    }

private:
    static bool is_space(char c) {
        return c == ',' || c == ';' || std::isspace(static_cast<unsigned char>(c)) != 0;
    }
    // Bytes of other scripts, too, so that a misspelt word is one mistake.
    static bool is_word(char c) {
        return c == '_' || static_cast<unsigned char>(c) >= 0x80 ||
               std::isalnum(static_cast<unsigned char>(c)) != 0;
    }

    void skip_space() {
        while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
            if (text_[at_] == '#') {
                while (at_ < text_.size() && text_[at_] != '\n')
                    ++at_;
            } else {
                ++at_;
            }
        }
    }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
            ++at_;
    }

    SourceRange range(std::size_t begin, std::size_t end) const {
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    }

    void mistake(SourceRange where, std::string message, std::string mend = "") {
        result_.mistakes.push_back({where, std::move(message), std::move(mend)});
    }

    // What is not a word, up to the next space.
    void read_stray() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '#')
            ++at_;
        mistake(range(begin, at_), "a schedule is a list of words such as `direct cells=4x2`; this is none");
    }

    void read_item() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_]))
            ++at_;
        if (at_ == begin) return read_stray();
        const std::string_view word = text_.substr(begin, at_ - begin);
        const std::size_t word_end = at_;
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '=') {
            ++at_;
            skip_blanks();
            read_setting(word, begin, word_end);
        } else {
            at_ = word_end;
            read_strategy(word, begin);
        }
    }

    void read_strategy(std::string_view word, std::size_t begin) {
        const SourceRange where = range(begin, at_);
        const StrategyKind* const found = find_strategy(word);
        if (found == nullptr) {
            if (std::ranges::find(kNames, word, &Name::word) != std::end(kNames)) {
                return mistake(where, "`" + std::string(word) + "` needs a value, as in `" +
                                          std::string(word) + (takes_lengths(word) ? "=32x4`" : "=2`"));
            }
            if (names_grouping(word)) {
                at_ = text_.size();  // its settings are others
                return mistake(where, "`" + std::string(word) + "` stands first, with settings of its own");
            }
            const std::vector<Word> words = known_words();
            const std::string mend = nearest(word, words);
            if (names_grouping(mend)) at_ = text_.size();
            return mistake(
                where, "there is no strategy `" + std::string(word) + "`; there are " + listed(words), mend);
        }
        if (result_.pins.strategy) return mistake(where, "a schedule has one strategy; this is a second");
        result_.pins.strategy = found->neutral;
        mark(Setting::strategy, where);
    }

    static bool takes_lengths(std::string_view word) {
        return word == "threads" || word == "cells" || word == "tile";
    }

    void read_setting(std::string_view word, std::size_t begin, std::size_t word_end) {
        const std::size_t value_begin = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '#')
            ++at_;
        const std::string_view value = text_.substr(value_begin, at_ - value_begin);
        const auto* found = std::ranges::find(kNames, word, &Name::word);
        if (found == std::end(kNames)) {
            if (find_strategy(word) != nullptr) {
                return mistake(range(begin, at_),
                               "`" + std::string(word) + "` is a strategy and takes no value",
                               std::string(word));
            }
            const std::string mend = nearest(word, kNames);
            return mistake(range(begin, word_end),
                           "a schedule has no setting `" + std::string(word) +
                               "`; there are threads, cells, tile, planes, ahead, unroll, padding, "
                               "min_blocks, chunk and fuse",
                           mend);
        }
        if (result_.pins.range(found->setting).end != 0) {
            return mistake(range(begin, at_), "`" + std::string(word) + "` is set twice");
        }
        mark(found->setting, range(begin, at_));
        const SourceRange where = range(value_begin, at_);
        switch (found->setting) {
            case Setting::threads:
                result_.pins.threads = read_lengths(word, value, where);
                break;
            case Setting::cells:
                result_.pins.cells = read_lengths(word, value, where);
                break;
            case Setting::tile:
                result_.pins.tile = read_lengths(word, value, where);
                break;
            case Setting::planes:
                result_.pins.planes = value == "all" ? 0 : read_number(word, value, where, 1);
                break;
            case Setting::ahead:
                result_.pins.ahead = read_number(word, value, where, 1);
                break;
            case Setting::unroll:
                result_.pins.unroll = read_number(word, value, where, 1);
                break;
            case Setting::padding:
                result_.pins.padding = read_number(word, value, where, 0);
                break;
            case Setting::min_blocks:
                result_.pins.min_blocks = read_number(word, value, where, 0);
                break;
            case Setting::chunk:
                result_.pins.chunk = read_number(word, value, where, 1);
                break;
            case Setting::fuse:
                result_.pins.fuse = read_number(word, value, where, 0);
                break;
            case Setting::strategy:
                break;
        }
    }

    void mark(Setting setting, SourceRange where) { result_.pins.where[static_cast<int>(setting)] = where; }

    // nullopt where it is no number that a length can be.
    static std::optional<int> to_number(std::string_view digits) {
        if (digits.empty() || digits.size() > 9) return std::nullopt;
        int value = 0;
        for (const char c : digits) {
            if (c < '0' || c > '9') return std::nullopt;
            value = value * 10 + (c - '0');
        }
        return value <= kLargestLength ? std::optional(value) : std::nullopt;
    }

    std::optional<int> read_number(std::string_view word, std::string_view value, SourceRange where,
                                   int least) {
        const std::optional<int> number = to_number(value);
        if (number && *number >= least) return number;
        std::string message = "`" + std::string(word) + "` is a whole number from " + std::to_string(least) +
                              " to " + grouped(kLargestLength);
        if (word == "planes") message += ", or `all`";
        mistake(where, std::move(message));
        return std::nullopt;
    }

    std::optional<rt::Lengths> read_lengths(std::string_view word, std::string_view value,
                                            SourceRange where) {
        rt::Lengths result{};
        int axes = 0;
        for (std::size_t begin = 0; begin <= value.size(); ++axes) {
            const std::size_t end = std::min(value.find('x', begin), value.size());
            const std::optional<int> number = to_number(value.substr(begin, end - begin));
            if (!number || *number < 1) {
                mistake(where, "`" + std::string(word) + "` is a length for each axis, 1 or more, as in `" +
                                   std::string(word) + "=" + example() + "`");
                return std::nullopt;
            }
            if (axes < 3) result[axes] = *number;
            begin = end + 1;
        }
        if (axes > rank_) {
            mistake(where,
                    "`" + std::string(word) + "` has " + counted(axes, "length") + "; the program has " +
                        (rank_ == 1 ? "1 axis" : std::to_string(rank_) + " axes"),
                    lengths(result, rank_));
            return std::nullopt;
        }
        return result;
    }

    std::string example() const { return rank_ == 1 ? "128" : rank_ == 2 ? "32x4" : "32x4x1"; }

    // Any two of tile, threads and cells give the third.
    void settle_tile() {
        Pins& pins = result_.pins;
        if (!pins.tile || (!pins.threads && !pins.cells)) return;
        const rt::Lengths tile = *pins.tile;
        const SourceRange where = pins.range(Setting::tile);
        pins.tile.reset();
        if (pins.threads && pins.cells) {
            rt::Lengths product{};
            for (int axis = 0; axis < 3; ++axis)
                product[axis] = (*pins.threads)[axis] * (*pins.cells)[axis];
            if (product == tile) return;
            return mistake(where,
                           "a tile is threads times cells: " + lengths(*pins.threads, rank_) +
                               " threads of " + lengths(*pins.cells, rank_) + " cells make a tile of " +
                               lengths(product, rank_),
                           "tile=" + lengths(product, rank_));
        }
        const bool by_cells = pins.cells.has_value();
        const rt::Lengths divisor = by_cells ? *pins.cells : *pins.threads;
        rt::Lengths quotient{}, multiple{};
        for (int axis = 0; axis < 3; ++axis) {
            quotient[axis] = std::max(1, tile[axis] / divisor[axis]);
            multiple[axis] = quotient[axis] * divisor[axis];
        }
        (by_cells ? pins.threads : pins.cells) = quotient;
        if (multiple == tile) return;
        mistake(where,
                "the tile of " + lengths(tile, rank_) + " is no multiple of " + lengths(divisor, rank_) +
                    (by_cells ? " cells a thread" : " threads"),
                "tile=" + lengths(multiple, rank_));
    }

    std::string_view text_;
    int rank_;
    std::size_t at_ = 0;
    ParsedSchedule result_;
};

}  // namespace

bool Pins::any() const {
    return strategy || threads || cells || tile || planes || ahead || unroll || padding || min_blocks ||
           chunk || fuse;
}

std::optional<int> Pins::own(Setting setting) const {
    switch (setting) {
        case Setting::planes:
            return planes;
        case Setting::ahead:
            return ahead;
        case Setting::unroll:
            return unroll;
        case Setting::padding:
            return padding;
        case Setting::chunk:
            return chunk;
        case Setting::fuse:
            return fuse;
        case Setting::strategy:
        case Setting::threads:
        case Setting::cells:
        case Setting::tile:
        case Setting::min_blocks:
            break;
    }
    return std::nullopt;
}

ParsedSchedule parse(std::string_view text, int rank) {
    return ScheduleReader(text, rank).read();
}

Schedule apply(const Pins& pins, Schedule base) {
    if (pins.strategy && pins.strategy->index() != base.strategy.index()) base.strategy = *pins.strategy;
    for (const OwnSetting& own : kind_of(base).settings)
        if (const std::optional<int> value = pins.own(own.setting)) own.in(base.strategy) = *value;
    if (pins.threads) base.threads = *pins.threads;
    if (pins.cells) base.cells = *pins.cells;
    if (pins.min_blocks) base.min_blocks = *pins.min_blocks;
    if (pins.tile) {
        for (int axis = 0; axis < 3; ++axis) {
            if ((*pins.tile)[axis] % base.cells[axis] != 0) base.cells[axis] = 1;
            base.threads[axis] = (*pins.tile)[axis] / base.cells[axis];
        }
    }
    return base;
}

}  // namespace halo::schedule
