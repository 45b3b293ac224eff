// What can be written at a place, and how the function around it is called.
#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/driver/spec/library.h"
#include "compiler/lsp/context.h"
#include "compiler/lsp/features.h"
#include "compiler/sema/builtins.h"
#include "compiler/syntax/keywords.h"

namespace halo::lsp {

namespace {

// As the protocol numbers them.
enum class ItemKind : std::uint8_t {
    function = 3,
    field = 5,
    variable = 6,
    module = 9,
    property = 10,
    keyword = 14,
    constant = 21,
    type = 25
};

class Items {
public:
    void add(const std::string& label, ItemKind kind, const std::string& detail = "") {
        if (label.empty() || !known_.insert(label).second) return;
        Json item{{"label", label}, {"kind", static_cast<int>(kind)}};
        // Names come first, then functions, then words.
        const char* const rank = kind == ItemKind::keyword ? "3" : kind == ItemKind::function ? "2" : "1";
        item["sortText"] = rank + label;
        if (!detail.empty()) item["detail"] = detail;
        items_.push_back(std::move(item));
    }
    void add_all(const std::vector<std::string>& words, ItemKind kind) {
        for (const std::string& word : words)
            add(word, kind);
    }
    void add_functions() {
        for (const sema::FunctionForm& form : sema::function_forms()) {
            const std::string name(form.name);
            if (!known_.insert(name).second) continue;
            items_.push_back({{"label", name},
                              {"kind", static_cast<int>(ItemKind::function)},
                              {"sortText", "2" + name},
                              {"detail", form.call},
                              {"documentation", form.gives}});
        }
    }
    Json take() { return std::move(items_); }

private:
    Json items_ = Json::array();
    std::set<std::string> known_;
};

ItemKind item_kind(NameKind kind) {
    switch (kind) {
        case NameKind::field:
        case NameKind::table:
        case NameKind::series:
        case NameKind::points:
            return ItemKind::field;
        case NameKind::component:
        case NameKind::column:
            return ItemKind::property;
        case NameKind::function:
            return ItemKind::function;
        case NameKind::param:
        case NameKind::constant:
        case NameKind::coef:
            return ItemKind::constant;
        default:
            return ItemKind::variable;
    }
}

// The stencil whose names are known at a place: that around it, or that of the run block around it. Where the
// text is half-written and a block ends too early, the one before.
std::string stencil_at(const syntax::File& tree, std::uint32_t offset) {
    std::string name;
    std::uint32_t begin = 0;
    const auto look = [&](const auto& blocks) {
        for (const auto& block : blocks) {
            if (block.where.begin > offset || block.where.begin < begin) continue;
            begin = block.where.begin;
            name = block.name.text;
        }
    };
    look(tree.stencils);
    look(tree.runs);
    return name;
}

bool is_known_at(const NameDefinition& each, const std::string& stencil, std::uint32_t offset) {
    const bool is_member = each.kind == NameKind::component || each.kind == NameKind::column;
    if (is_member || each.kind == NameKind::stencil) return false;
    const bool is_local = each.kind == NameKind::parameter || each.kind == NameKind::index;
    if (is_local) return each.scope.begin <= offset && offset <= each.scope.end;
    return each.stencil.empty() || each.stencil == stencil;
}

void add_names(const View& view, std::uint32_t offset, Items& items) {
    const std::string stencil = stencil_at(view.checked.spec().tree, offset);
    for (const NameDefinition& each : view.checked.names().definitions)
        if (is_known_at(each, stencil, offset)) items.add(each.name, item_kind(each.kind), each.text);
}

void add_members(const View& view, std::string_view owner, std::uint32_t offset, Items& items) {
    const std::string stencil = stencil_at(view.checked.spec().tree, offset);
    for (const NameDefinition& each : view.checked.names().definitions) {
        const bool is_member = each.owner == owner && each.stencil == stencil;
        if (is_member) items.add(each.name, ItemKind::property, each.text);
        const bool is_axis = each.kind == NameKind::axis && each.name == owner && each.stencil == stencil;
        if (is_axis) items.add_all({"low", "high"}, ItemKind::keyword);
    }
    const sema::AnalyzedStencil* const analyzed = view.checked.spec().analysis.find_stencil(stencil);
    if (analyzed == nullptr) return;
    for (const ir::Group& group : analyzed->program.groups)
        if (group.name == owner) items.add_all(group.members, ItemKind::property);
}

void add_words(BlockKind block, Items& items) {
    switch (block) {
        case BlockKind::file:
            return items.add_all(syntax::shared_words(), ItemKind::keyword);
        case BlockKind::stencil:
            return items.add_all(syntax::stencil_words(), ItemKind::keyword);
        case BlockKind::run:
            items.add_all(syntax::run_words(), ItemKind::keyword);
            return items.add("for", ItemKind::keyword);
        case BlockKind::properties:
            return items.add_all(syntax::field_words(), ItemKind::keyword);
        case BlockKind::table:
        case BlockKind::schedule:
            return;
    }
}

void add_expression(const View& view, std::uint32_t offset, Items& items) {
    add_names(view, offset, items);
    for (const char* constant : {"pi", "true", "false", "time", "step", "t"})
        items.add(constant, ItemKind::constant);
    items.add_functions();
    items.add_all(syntax::operator_words(), ItemKind::keyword);
    items.add_all(syntax::clause_words(), ItemKind::keyword);
}

// Those beside the document, and those of the library.
void add_modules(const std::string& document, Items& items) {
    namespace fs = std::filesystem;
    std::error_code trouble;
    for (fs::directory_iterator entry(fs::path(document).parent_path(), trouble), end;
         !trouble && entry != end; entry.increment(trouble)) {
        const bool is_module = entry->path().extension() == ".halo" && entry->path() != document;
        if (is_module) items.add(entry->path().filename().string(), ItemKind::module);
    }
    for (const auto& [name, text] : driver::library_modules())
        items.add(name, ItemKind::module, "of the compiler's own library");
}

}  // namespace

Json completion(const View& view, std::uint32_t offset) {
    Items items;
    const SourceFile source(view.document.path, view.document.text);
    const Context context = context_at(source, offset);
    if (context.in_comment) return Json::array();
    if (context.in_string) {
        if (context.first() == "use") {
            add_modules(view.document.path, items);
        }
        return items.take();
    }
    if (context.last() == "." && context.statement.size() > 1) {
        add_members(view, context.statement[context.statement.size() - 2], offset, items);
    } else if (context.last() == ":") {
        items.add_all(sema::type_names(), ItemKind::type);
    } else if (context.begins()) {
        if (context.block == BlockKind::stencil) add_names(view, offset, items);
        add_words(context.block, items);
    } else if (context.first() == "boundary") {
        add_names(view, offset, items);
        items.add_all(syntax::boundary_kinds(), ItemKind::keyword);
    } else if (context.first() == "layout") {
        items.add_all({"soa", "aos"}, ItemKind::keyword);
    } else if ((context.first() == "run" && context.block == BlockKind::file) ||
               (context.block == BlockKind::run && (context.last() == "do" || context.last() == "then"))) {
        for (const syntax::Stencil& stencil : view.checked.spec().tree.stencils)
            items.add(stencil.name.text, ItemKind::variable, "stencil");
    } else {
        add_expression(view, offset, items);
    }
    return items.take();
}

namespace {

// The arguments of a call as it is written in a form: "d(u, x, …)".
Json parameters_of(std::string_view call) {
    Json all = Json::array();
    const std::size_t open = call.find('(');
    const std::size_t close = call.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos) return all;
    std::string_view rest = call.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(", "), rest.size());
        all.push_back({{"label", rest.substr(0, comma)}});
        rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
    return all;
}

Json signature(const std::string& call, const std::string& gives, std::size_t argument) {
    Json entry{{"label", call}, {"parameters", parameters_of(call)}};
    if (!gives.empty()) entry["documentation"] = gives;
    const std::size_t last = entry["parameters"].empty() ? 0 : entry["parameters"].size() - 1;
    return {{"signatures", Json::array({entry})},
            {"activeSignature", 0},
            {"activeParameter", std::min(argument, last)}};
}

}  // namespace

Json signature_help(const View& view, std::uint32_t offset) {
    const SourceFile source(view.document.path, view.document.text);
    const OpenCall call = call_around(source, offset);
    if (!call.is_found) return nullptr;
    const std::string name(source.text(call.callee));
    const std::string stencil = stencil_at(view.checked.spec().tree, offset);
    for (const NameDefinition& each : view.checked.names().definitions) {
        const bool is_meant = each.kind == NameKind::function && each.name == name &&
                              is_known_at(each, stencil, offset) && each.where != call.callee;
        if (!is_meant) continue;
        const std::size_t begin = std::min(each.text.find(name), each.text.size());
        const std::size_t end = std::min(each.text.find(')', begin), each.text.size() - 1) + 1;
        return signature(each.text.substr(begin, end - begin), each.text, call.argument);
    }
    for (const sema::FunctionForm& form : sema::function_forms()) {
        if (form.name == name)
            return signature(std::string(form.call), std::string(form.gives), call.argument);
    }
    return nullptr;
}

}  // namespace halo::lsp
