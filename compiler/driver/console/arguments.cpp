#include "compiler/driver/console/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "compiler/driver/console/exit_code.h"
#include "compiler/support/diagnostics.h"

namespace halo::driver {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

}  // namespace

std::vector<std::int64_t> parse_grid(const std::string& text, const std::vector<std::string>& axes) {
    std::string form = fmt::format("--grid wants the cells along each axis ({})", join(axes, ", "));
    std::string example;
    for (std::size_t i = 0; i < axes.size(); ++i)
        example += i == 0 ? "128" : ",128";
    std::vector<std::int64_t> extents;
    std::string_view rest = text;
    while (true) {
        std::size_t end = rest.find_first_of(",xX");
        std::string_view word = trimmed(rest.substr(0, end));
        std::optional<std::int64_t> extent = whole_number(word);
        if (!extent)
            refuse_usage(fmt::format("{}; `{}` is no whole number", form, word),
                         "for example --grid " + example);
        if (*extent < 1)
            refuse_usage(fmt::format("a grid needs at least 1 cell along each axis, not {}", *extent));
        if (*extent > std::numeric_limits<std::int32_t>::max()) {
            refuse_usage(
                fmt::format("{} cells along an axis are more than can be indexed (2147483647)", *extent));
        }
        extents.push_back(*extent);
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    if (extents.size() != axes.size()) {
        refuse_usage(fmt::format("{}; `{}` gives {}", form, text, extents.size()),
                     "for example --grid " + example);
    }
    return extents;
}

Assignment parse_assignment(const std::string& text, const std::string& option) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
        refuse_usage(fmt::format("{} wants NAME=VALUE, not `{}`", option, text),
                     fmt::format("for example {} dt=0.1", option));
    }
    return {std::string(trimmed(std::string_view(text).substr(0, equals))), text.substr(equals + 1)};
}

FileArgument parse_file_argument(const std::string& text, const std::string& option,
                                 const std::string& extension) {
    std::size_t equals = text.find('=');
    FileArgument argument;
    argument.field = text.substr(0, equals);
    argument.path = equals == std::string::npos ? argument.field + extension : text.substr(equals + 1);
    if (argument.field.empty() || argument.path.empty()) {
        refuse_usage(fmt::format("{} wants FIELD=FILE, not `{}`", option, text),
                     fmt::format("for example {} u=result{}", option, extension));
    }
    return argument;
}

namespace {

// "10..-1:2" of @x=10..-1:2
std::optional<PartArgument> parse_part(const std::string& axis, std::string_view text) {
    PartArgument part;
    part.axis = axis;
    const std::size_t colon = text.find(':');
    const std::string_view cells = text.substr(0, colon);
    const std::size_t dots = cells.find("..");
    part.is_plane = dots == std::string_view::npos && colon == std::string_view::npos;
    const std::optional<std::int64_t> low = whole_number(cells.substr(0, dots));
    const std::optional<std::int64_t> high =
        part.is_plane ? low : whole_number(dots == std::string_view::npos ? "" : cells.substr(dots + 2));
    const std::optional<std::int64_t> stride =
        colon == std::string_view::npos ? 1 : whole_number(text.substr(colon + 1));
    if (axis.empty() || !low || !high || !stride || *stride < 1) return std::nullopt;
    part.low = *low;
    part.high = *high;
    part.stride = *stride;
    return part;
}

}  // namespace

FileArgument parse_save_argument(const std::string& text) {
    const std::size_t first = text.find_first_of("@=");
    if (first == std::string::npos || text[first] == '=') return parse_file_argument(text, "--save", ".npy");
    FileArgument argument;
    argument.field = text.substr(0, first);
    argument.path = argument.field + ".npy";
    std::size_t at = first;
    while (at < text.size() && text[at] == '@') {
        const std::size_t equals = text.find('=', at);
        const std::size_t end = equals == std::string::npos ? equals : text.find_first_of("@=", equals + 1);
        std::optional<PartArgument> part;
        if (equals != std::string::npos)
            part = parse_part(
                text.substr(at + 1, equals - at - 1),
                std::string_view(text).substr(equals + 1, end == std::string::npos ? end : end - equals - 1));
        if (!part || argument.field.empty())
            refuse_usage(
                fmt::format("--save wants FIELD@AXIS=INDEX=FILE or FIELD@AXIS=LOW..HIGH=FILE, not `{}`",
                            text),
                "for example --save u@z=64=slice.npy, or --save u@x=10..50@y=0..-1:2=part.npy");
        argument.parts.push_back(*part);
        at = std::min(end, text.size());
    }
    if (at < text.size()) argument.path = text.substr(at + 1);
    if (argument.path.empty()) refuse_usage(fmt::format("--save `{}` names no file", text));
    return argument;
}

FileArgument parse_picture_argument(const std::string& text, const std::string& option,
                                    const std::string& extension) {
    std::size_t at = text.find_first_of("@=");
    if (at == std::string::npos || text[at] == '=') return parse_file_argument(text, option, extension);
    std::size_t equals = text.find('=', at);
    std::size_t end = equals == std::string::npos ? equals : text.find('=', equals + 1);
    std::optional<std::int64_t> index;
    if (equals != std::string::npos) {
        index = whole_number(
            std::string_view(text).substr(equals + 1, end == std::string::npos ? end : end - equals - 1));
    }
    if (at == 0 || !index || equals == at + 1) {
        refuse_usage(fmt::format("{} wants FIELD@AXIS=INDEX=FILE, not `{}`", option, text),
                     fmt::format("for example {} u@z=64=slice{}", option, extension));
    }
    FileArgument argument;
    argument.field = text.substr(0, at);
    argument.axis = text.substr(at + 1, equals - at - 1);
    argument.index = *index;
    argument.path = end == std::string::npos ? argument.field + extension : text.substr(end + 1);
    if (argument.path.empty()) refuse_usage(fmt::format("{} `{}` names no file", option, text));
    return argument;
}

void throw_unknown(const std::string& owner, const std::string& what, const std::string& word,
                   const std::vector<std::string>& candidates) {
    std::string message = fmt::format("{} has no {} `{}`", owner, what, word);
    if (!candidates.empty()) message += fmt::format("; it has {}", join(candidates, ", "));
    std::optional<std::string> near = closest_name(word, candidates);
    refuse_usage(message, near ? fmt::format("did you mean `{}`?", *near) : "");
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace halo::driver
