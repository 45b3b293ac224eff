// Renaming: the edits are tried first, and are given only where the names of all texts mean afterwards what
// they meant before.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "compiler/lsp/features.h"
#include "compiler/lsp/library_copy.h"

namespace halo::lsp {

namespace {

struct Renamed {
    const NameDefinition* definition = nullptr;
    SourceRange where;  // the word that the cursor is at
};

// What can be renamed at an offset; throws RequestError where there is nothing, with the reason.
Renamed renamed_at(const View& view, std::uint32_t offset) {
    const std::vector<const NameUse*> uses = view.checked.names().at(offset);
    if (uses.empty()) throw RequestError(kRequestFailed, "there is no name here that the file declares");
    const NameUse& use = *uses.front();
    const NameDefinition& definition = view.checked.names().definitions[use.definition];
    const SourceFile& source = view.checked.spec().source;
    if (source.text(use.where) != definition.name || source.text(definition.where) != definition.name)
        throw RequestError(kRequestFailed, "this name is made by a loop over names, and is renamed by hand");
    if (is_of_library(source.name(definition.where.begin)))
        throw RequestError(kRequestFailed,
                           fmt::format("`{}` is of the compiler's own library", definition.name));
    return {&definition, use.where};
}

bool is_name(const std::string& word) {
    const auto is_letter = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
           std::ranges::all_of(word, is_letter);
}

using Places = std::map<std::string, std::vector<SourceRange>>;  // by path, in order

std::string edited(const std::string& text, const std::vector<SourceRange>& places, const std::string& name) {
    std::string result;
    std::uint32_t at = 0;
    for (const SourceRange where : places) {
        result += text.substr(at, where.begin - at) + name;
        at = where.end;
    }
    return result + text.substr(at);
}

// A place in a text before it was edited so, in the text afterwards.
std::uint32_t moved(std::uint32_t offset, const std::vector<SourceRange>& places, std::size_t length) {
    std::uint32_t result = offset;
    for (const SourceRange where : places) {
        if (where.begin >= offset) break;
        result += static_cast<std::uint32_t>(length) - (where.end - where.begin);
    }
    return result;
}

// For each use of a text its declaration, both by place, as they are after an edit.
std::vector<std::pair<Location, Location>> meaning(const Checked& checked, const Places* edits,
                                                   std::size_t length) {
    const auto place = [&](SourceRange where) {
        Location location = checked.location(where);
        const auto places = edits != nullptr ? edits->find(location.path) : Places::const_iterator{};
        if (edits != nullptr && places != edits->end())
            location.where.begin = moved(location.where.begin, places->second, length);
        location.where.end = 0;
        return location;
    };
    std::vector<std::pair<Location, Location>> all;
    for (const NameUse& use : checked.names().uses)
        all.emplace_back(place(use.where), place(checked.names().definitions[use.definition].where));
    std::ranges::sort(all);
    const auto same = std::ranges::unique(all);
    all.erase(same.begin(), same.end());
    return all;
}

std::string first_mistake(const Checked& checked) {
    for (const Diagnostic& diagnostic : checked.spec().diagnostics)
        if (severity_of(diagnostic.kind) == Severity::error) return diagnostic.message;
    return {};
}

std::size_t mistakes(const Checked& checked) {
    return static_cast<std::size_t>(std::ranges::count_if(
        checked.spec().diagnostics,
        [](const Diagnostic& diagnostic) { return severity_of(diagnostic.kind) == Severity::error; }));
}

void try_edits(const Workspace& workspace, const Places& edits,
               const std::map<std::string, std::string>& texts, const std::string& name) {
    for (const auto& [path, text] : texts) {
        const Checked before = workspace.check(path, workspace.text(path), {});
        const Checked after = workspace.check(path, text, texts);
        if (mistakes(after) > mistakes(before))
            throw RequestError(kRequestFailed, fmt::format("with `{}`, {} would have a mistake: {}", name,
                                                           path, first_mistake(after)));
        if (meaning(before, &edits, name.size()) != meaning(after, nullptr, 0))
            throw RequestError(kRequestFailed,
                               fmt::format("with `{}`, another name of {} would be meant", name, path));
    }
}

}  // namespace

Json prepare_rename(const View& view, std::uint32_t offset) {
    const Renamed renamed = renamed_at(view, offset);
    return {{"range", view.lines.range(renamed.where)}, {"placeholder", renamed.definition->name}};
}

Json rename(const View& view, std::uint32_t offset, const std::string& name) {
    const Renamed renamed = renamed_at(view, offset);
    const std::string before = renamed.definition->name;
    if (!is_name(name)) throw RequestError(kRequestFailed, fmt::format("`{}` is not a name", name));
    Places edits;
    const Location declaration = view.checked.location(renamed.definition->where);
    for (const Location& place : all_uses(view.workspace, declaration, before)) {
        const std::string text = view.workspace.text(place.path);
        if (text.substr(place.where.begin, place.where.end - place.where.begin) != before)
            throw RequestError(kRequestFailed,
                               fmt::format("a loop over names in {} makes `{}`, which is renamed by hand",
                                           place.path, before));
        edits[place.path].push_back(place.where);
    }
    std::map<std::string, std::string> texts;
    for (const auto& [path, places] : edits)
        texts[path] = edited(view.workspace.text(path), places, name);
    try_edits(view.workspace, edits, texts, name);
    Json changes = Json::object();
    for (const auto& [path, places] : edits) {
        const std::string text = view.workspace.text(path);
        const Lines lines(text, view.workspace.encoding());
        Json& file = changes[view.workspace.uri(path)] = Json::array();
        for (const SourceRange where : places)
            file.push_back({{"range", lines.range(where)}, {"newText", name}});
    }
    return {{"changes", changes}};
}

}  // namespace halo::lsp
