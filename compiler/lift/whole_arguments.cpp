#include "compiler/lift/whole_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler/lift/memory.h"

namespace halo::lift {

namespace {

using c::Number;
using ValueKind = WholeValue::Kind;

constexpr std::size_t kRows = 1024, kPlanes = 32;  // behind tables of pointers

constexpr std::size_t kRoom = 64 * 1024, kLittleRoom = 16 * 1024, kPage = 4096;

bool is_one(const WholeValue& value) {
    return value.kind == ValueKind::number || value.kind == ValueKind::result;
}

// A whole number as its type holds it.
void put_number(char* at, Number type, double value) {
    if (c::is_integer(type) && type != Number::boolean) {
        const auto whole = static_cast<std::int64_t>(value);
        std::memcpy(at, &whole, bytes_of(type));
    } else {
        write_number(at, type, value);
    }
}

}  // namespace

Arguments::Arguments(const WholeHarness& harness, const std::vector<long>& global_bytes,
                     const Assumptions& assume, std::set<std::string> strides, std::set<std::string> rows,
                     std::vector<Polynomial> needs)
    : values(harness.values),
      global_values(harness.globals),
      assume_(assume),
      strides_(std::move(strides)),
      row_lengths_(std::move(rows)),
      needs_(std::move(needs)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        memory_.push_back(std::make_unique<GuardedMemory>(is_one(values[i]) ? 4096 : 2 * room(i)));
        rows_.push_back(has_tables(i) ? std::make_unique<GuardedMemory>((kPlanes + kRows) * sizeof(void*))
                                      : nullptr);
    }
    for (std::size_t i = 0; i < global_values.size(); ++i) {
        const auto bytes = static_cast<std::size_t>(global_bytes[i]);
        global_memory_.push_back(std::make_unique<GuardedMemory>((bytes + 4095) / 4096 * 4096));
        global_contents_.emplace_back(bytes);
    }
}

bool Arguments::has_tables(std::size_t i) const {
    return values[i].kind == ValueKind::rows || values[i].kind == ValueKind::planes;
}

std::size_t Arguments::room(std::size_t i) const {
    if (values[i].is_one_of_many || values[i].kind == ValueKind::end) return kLittleRoom;
    return std::max(has_tables(i) ? 4 * kRoom : kRoom, (values[i].least_bytes + kPage - 1) / kPage * kPage);
}

void Arguments::draw(Draws& draws, bool has_needs) {
    contents_.clear();
    numbers_.clear();
    const bool has_structs =
        std::ranges::any_of(values, [](const WholeValue& each) { return each.kind == ValueKind::end; });
    is_small_ = has_structs && draws.chance(0.6);
    const bool is_alike = has_structs && draws.chance(0.5);
    is_assumed_ = draws.chance(0.5);
    const bool has_lengths = draws.chance(0.4);  // behind pointers, where there are flags, too
    for (std::size_t i = 0; i < values.size(); ++i) {
        const WholeValue& each = values[i];
        const std::size_t bytes = is_one(each) ? 64 : 2 * room(i), size = bytes_of(each.number);
        std::vector<char> content(bytes, 0);
        double first = 0;
        if (each.kind == ValueKind::number) {
            first = number_of(each, draws);
            if (is_alike && each.like >= 0) first = numbers_[static_cast<std::size_t>(each.like)];
            put_number(content.data(), each.number, first);
        } else if (each.kind == ValueKind::rows && each.number == Number::i8) {  // the arguments of a command
            for (std::size_t at = 0; at < bytes; at += bytes / kRows)
                std::snprintf(content.data() + at, 8, "%d", static_cast<int>(draws.length()));
        } else if (each.kind != ValueKind::result && each.kind != ValueKind::end) {
            // Flags: most of a list are the same number of the text.
            const bool is_list = c::is_integer(each.number) && !each.is_single && draws.chance(0.6);
            const double flag = is_list ? draws.flag() : 0;
            for (std::size_t at = 0; at + size <= bytes; at += size)
                put_number(content.data() + at, each.number,
                           is_list && draws.chance(0.7) ? flag : draws.cell(each.number));
            const bool is_said = is_assumed_ && assume_.count(each.copied_to) > 0;
            if (each.is_single && (is_said || has_lengths))
                put_number(content.data() + room(i), each.number, number_of(each, draws));
        }
        numbers_.push_back(first);
        contents_.push_back(std::move(content));
    }
    for (std::size_t i = 0; i < global_values.size(); ++i) {
        const Number type = global_values[i].number;
        std::vector<char>& content = global_contents_[i];
        const std::size_t size = bytes_of(type);
        for (std::size_t at = 0; at + size <= content.size(); at += size)
            put_number(content.data() + at, type,
                       content.size() == size ? number_of(global_values[i], draws) : draws.cell(type));
    }
    if (has_needs) meet_needs(draws);
}

// Numbers that are no sizes stay as they are drawn.
bool Arguments::is_ordinary(const Polynomial& need) const {
    constexpr double kMost = 4096;
    return std::ranges::all_of(need.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first, [&](int id) {
            const auto i = static_cast<std::size_t>(id);
            return std::abs(numbers_[i]) <= kMost && bytes_of(values[i].number) >= 4;
        });
    });
}

// One need after the other: what is raised for one may break another, so that there are a few rounds.
void Arguments::meet_needs(Draws& draws) {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
        for (const Polynomial& need : needs_) {
            if (!is_ordinary(need)) continue;
            const std::int64_t short_by = 1 - need.evaluate([&](int id) {
                return static_cast<std::int64_t>(numbers_[static_cast<std::size_t>(id)]);
            });
            if (short_by <= 0) continue;
            std::vector<std::pair<std::size_t, std::int64_t>> raised, lowered;  // a number, and its factor
            for (const auto& [monomial, factor] : need.terms()) {
                if (monomial.size() == 1)
                    (factor > 0 ? raised : lowered)
                        .emplace_back(static_cast<std::size_t>(monomial[0]), std::abs(factor));
            }
            const auto& choice = raised.empty() ? lowered : raised;
            if (choice.empty()) continue;
            const auto [i, factor] = choice[static_cast<std::size_t>(draws.small()) % choice.size()];
            const auto by = static_cast<double>((short_by + factor - 1) / factor);
            numbers_[i] += raised.empty() ? -by : by + (draws.chance(0.5) ? draws.small() : 0);
            put_number(contents_[i].data(), values[i].number, numbers_[i]);
        }
    }
}

double Arguments::number_of(const WholeValue& value, Draws& draws) const {
    const std::string member = value.name.substr(value.name.find_last_of(".>:") + 1);
    if (strides_.count(member) && draws.chance(is_small_ ? 0.8 : 0.5)) return draws.length() * draws.length();
    if (is_small_ && row_lengths_.count(member)) return draws.length();
    if (is_small_ && c::is_integer(value.number) && draws.chance(0.8)) return draws.small();
    const auto assumed = assume_.find(value.copied_to.empty() ? value.name : value.copied_to);
    const bool is_said = assumed != assume_.end() && draws.chance(is_assumed_ ? 0.95 : 0.5);
    return is_said ? static_cast<double>(assumed->second) : draws.number(value.number);
}

char* Arguments::place_of(std::size_t i, Layout layout, const std::vector<Region>& touched) const {
    if (values[i].kind == ValueKind::end) return memory_[i]->end();
    if (is_one(values[i]) || has_tables(i)) return memory_[i]->begin();
    char* middle = memory_[i]->begin() + room(i);
    if (layout == Layout::roomy || touched[i].high <= touched[i].low) return middle;
    return middle +
           (layout == Layout::high ? touched[i].end - touched[i].high : touched[i].begin - touched[i].low);
}

std::vector<void*> Arguments::place(Layout layout, const std::vector<Region>& touched, RunRecord& record) {
    std::vector<void*> places;
    record.region_count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        GuardedMemory& memory = *memory_[i];
        char* at = place_of(i, layout, touched);
        // The same numbers lie around the pointer, wherever it is.
        const bool is_array = !is_one(values[i]) && !has_tables(i) && values[i].kind != ValueKind::end;
        char* first = at - (is_array ? room(i) : 0);
        char* from = std::max(memory.begin(), first);
        char* to = std::min(memory.end(), first + contents_[i].size());
        std::memset(memory.begin(), 0, memory.size());
        std::memcpy(from, contents_[i].data() + (from - first), static_cast<std::size_t>(to - from));
        if (rows_[i]) {
            char** planes = reinterpret_cast<char**>(rows_[i]->begin());
            char** rows = planes + kPlanes;
            for (std::size_t row = 0; row < kRows; ++row)
                rows[row] = memory.begin() + row * (memory.size() / kRows);
            for (std::size_t plane = 0; plane < kPlanes; ++plane)
                planes[plane] = reinterpret_cast<char*>(rows + plane * (kRows / kPlanes));
            at = reinterpret_cast<char*>(values[i].kind == ValueKind::rows ? rows : planes);
        }
        record.first = i == 0 ? memory.begin() : std::min(record.first, memory.begin());
        record.last = i == 0 ? memory.end() : std::max(record.last, memory.end());
        if (record.region_count < RunRecord::kMostRegions)
            record.regions[record.region_count++] = {
                memory.begin(), memory.end(), memory.end(), memory.begin(), memory.end(), memory.begin(), 0};
        places.push_back(at);
    }
    return places;
}

std::vector<GlobalPlace> Arguments::globals() const {
    std::vector<GlobalPlace> all;
    for (std::size_t i = 0; i < global_values.size(); ++i)
        all.push_back({&global_contents_[i], global_memory_[i].get()});
    return all;
}

std::vector<std::vector<char>> Arguments::memory() const {
    std::vector<std::vector<char>> all;
    for (const auto& each : memory_)
        all.emplace_back(each->begin(), each->end());
    return all;
}

std::string Arguments::text() const {
    std::string all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].kind == ValueKind::number)
            all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", values[i].name, numbers_[i]);
    }
    return all.empty() ? "no arguments" : all;
}

}  // namespace halo::lift
