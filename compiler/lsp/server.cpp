#include "compiler/lsp/server.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "compiler/lsp/uri.h"

namespace halo::lsp {

Server::Server(std::vector<std::string> include, std::string version)
    : version_(std::move(version)), workspace_(std::move(include)) {
    add_documents();
    add_requests();
}

Json Server::error_reply(const Json& id, int code, const std::string& message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

// ---- what the client may ask for

Json Server::capabilities() const {
    const Json sync{{"openClose", true}, {"change", 2}, {"save", true}};  // 2: incremental
    const Json tokens{{"legend", {{"tokenTypes", token_types()}, {"tokenModifiers", token_modifiers()}}},
                      {"full", true}};
    return {{"positionEncoding", workspace_.encoding() == Encoding::utf8 ? "utf-8" : "utf-16"},
            {"textDocumentSync", sync},
            {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix"})}}},
            {"documentFormattingProvider", true},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"documentSymbolProvider", true},
            {"hoverProvider", true},
            {"renameProvider", {{"prepareProvider", true}}},
            {"completionProvider", {{"triggerCharacters", Json::array({".", ":", "\""})}}},
            {"signatureHelpProvider", {{"triggerCharacters", Json::array({"(", ","})}}},
            {"semanticTokensProvider", tokens},
            {"inlayHintProvider", true},
            {"codeLensProvider", Json::object()},
            {"executeCommandProvider", {{"commands", Json::array({kShowCuda, kShowPlan})}}},
            {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

void Server::add_folders(const Json& params) {
    const auto add = [&](const Json& uri) {
        const std::string path = uri.is_string() ? path_of(uri.get<std::string>()) : "";
        if (!path.empty()) workspace_.add_folder(path);
    };
    const Json folders = params.value("workspaceFolders", Json());
    if (!folders.is_array() || folders.empty()) return add(params.value("rootUri", Json()));
    for (const Json& folder : folders)
        add(folder.value("uri", Json()));
}

Json Server::initialize(const Json& params) {
    if (is_initialized_) throw RequestError(kInvalidRequest, "the server is initialized already");
    const Json::json_pointer offered("/capabilities/general/positionEncodings");
    // Texts are in UTF-8 here; UTF-16 is what all clients know.
    if (params.contains(offered) && params.at(offered).is_array()) {
        for (const Json& encoding : params.at(offered))
            if (encoding == "utf-8") workspace_.set_encoding(Encoding::utf8);
    }
    add_folders(params);
    is_initialized_ = true;
    return {{"capabilities", capabilities()}, {"serverInfo", {{"name", "haloc"}, {"version", version_}}}};
}

void Server::add_documents() {
    const auto uri = [](const Json& params) {
        return params.at("textDocument").at("uri").get<std::string>();
    };
    const auto ignore = [](const Json&) {};
    notifications_ = {
        {"initialized", ignore},
        {"$/cancelRequest", ignore},  // what still waits is taken out of the queue; what is answered is done
        {"$/setTrace", ignore},
        {"workspace/didChangeConfiguration", ignore},
        {"textDocument/didOpen",
         [this](const Json& params) {
             const Json& document = params.at("textDocument");
             workspace_.open(document.at("uri").get<std::string>(), document.at("text").get<std::string>(),
                             document.value("version", Json(0)));
         }},
        {"textDocument/didChange",
         [this, uri](const Json& params) {
             workspace_.change(uri(params), params.at("contentChanges"),
                               params.at("textDocument").value("version", Json(0)));
         }},
        {"textDocument/didClose", [this, uri](const Json& params) { workspace_.close(uri(params)); }},
        {"textDocument/didSave", [this](const Json&) { workspace_.files_changed(); }},
        {"workspace/didChangeWatchedFiles", [this](const Json&) { workspace_.files_changed(); }},
        {"workspace/didChangeWorkspaceFolders", [this](const Json& params) {
             for (const Json& folder : params.at("event").at("removed"))
                 workspace_.remove_folder(path_of(folder.at("uri").get<std::string>()));
             for (const Json& folder : params.at("event").at("added"))
                 workspace_.add_folder(path_of(folder.at("uri").get<std::string>()));
         }}};
}

void Server::on_document(const std::string& method, Json (*give)(const View&)) {
    requests_[method] = [this, give](const Json& params) { return give(view(params)); };
}

void Server::on_place(const std::string& method, Json (*give)(const View&, std::uint32_t)) {
    requests_[method] = [this, give](const Json& params) {
        const View at = view(params);
        return give(at, at.lines.offset(params.at("position")));
    };
}

void Server::add_requests() {
    requests_["initialize"] = [this](const Json& params) { return initialize(params); };
    requests_["shutdown"] = [this](const Json&) {
        is_shut_down_ = true;
        return Json();
    };
    on_document("textDocument/formatting", formatting);
    on_document("textDocument/documentSymbol", document_symbols);
    on_document("textDocument/semanticTokens/full", semantic_tokens);
    on_place("textDocument/hover", hover);
    on_place("textDocument/definition", definition);
    on_place("textDocument/prepareRename", prepare_rename);
    on_place("textDocument/completion", completion);
    on_place("textDocument/signatureHelp", signature_help);
    requests_["textDocument/codeAction"] = [this](const Json& params) {
        const View at = view(params);
        return code_actions(at, at.lines.offsets(params.at("range")));
    };
    on_document("textDocument/codeLens", code_lenses);
    requests_["textDocument/inlayHint"] = [this](const Json& params) {
        const View at = view(params);
        return inlay_hints(at, at.lines.offsets(params.at("range")));
    };
    requests_["workspace/executeCommand"] = [this](const Json& params) {
        const auto command = params.at("command").get<std::string>();
        if (command != kShowCuda && command != kShowPlan)
            throw RequestError(kInvalidParams, fmt::format("there is no command {}", command));
        const Json& arguments = params.at("arguments");
        const Json document{{"textDocument", {{"uri", arguments.at(0)}}}};
        return execute(view(document), command, arguments.at(1).get<std::string>());
    };
    requests_["textDocument/references"] = [this](const Json& params) {
        const View at = view(params);
        const bool with_declaration = params.at("context").at("includeDeclaration").get<bool>();
        return references(at, at.lines.offset(params.at("position")), with_declaration);
    };
    requests_["textDocument/rename"] = [this](const Json& params) {
        const View at = view(params);
        return rename(at, at.lines.offset(params.at("position")), params.at("newName").get<std::string>());
    };
}

const Document& Server::document(const Json& params) const {
    const auto uri = params.at("textDocument").at("uri").get<std::string>();
    const Document* const found = workspace_.find(uri);
    if (found == nullptr) throw RequestError(kInvalidParams, fmt::format("{} is not open", uri));
    return *found;
}

// ---- messages

std::vector<Json> Server::handle_text(const std::string& text) {
    const Json message = Json::parse(text, nullptr, false);
    if (message.is_discarded()) return {error_reply(nullptr, kParseError, "the message is no JSON")};
    return handle(message);
}

std::vector<Json> Server::handle(const Json& message) {
    if (!message.is_object()) return {error_reply(nullptr, kInvalidRequest, "a message is an object")};
    const Json id = message.value("id", Json());
    const bool is_request = id.is_string() || id.is_number_integer();
    const Json method = message.value("method", Json());
    if (!method.is_string()) {
        const bool is_reply = message.contains("result") || message.contains("error");
        if (is_reply) return {};  // to a request of the server
        return {error_reply(is_request ? id : Json(), kInvalidRequest, "the message has no method")};
    }
    const Json params = message.value("params", Json::object());
    if (is_request) return answer(id, method.get<std::string>(), params);
    notify(method.get<std::string>(), params);
    return {};
}

std::vector<Json> Server::answer(const Json& id, const std::string& method, const Json& params) {
    if (is_shut_down_) return {error_reply(id, kInvalidRequest, "the server is shut down")};
    if (!is_initialized_ && method != "initialize")
        return {error_reply(id, kNotInitialized, "the server is not initialized")};
    const auto request = requests_.find(method);
    if (request == requests_.end())
        return {error_reply(id, kMethodNotFound, fmt::format("there is no method {}", method))};
    try {
        const Json reply{{"jsonrpc", "2.0"}, {"id", id}, {"result", request->second(params)}};
        return {reply};
    } catch (const RequestError& error) {
        return {error_reply(id, error.code(), error.what())};
    } catch (const Json::exception& error) {
        return {error_reply(id, kInvalidParams, error.what())};
    } catch (const std::exception& error) {
        return {error_reply(id, kInternalError, error.what())};
    }
}

// Mistakes in a notification have no answer.
void Server::notify(const std::string& method, const Json& params) {
    if (method == "exit") has_ended_ = true;
    const auto notification = notifications_.find(method);
    if (!is_initialized_ || is_shut_down_ || notification == notifications_.end()) return;
    try {
        notification->second(params);
        has_changed_ =
            has_changed_ || method.starts_with("textDocument/") || method.starts_with("workspace/");
    } catch (const std::exception&) {  // parameters that are not those of the protocol: as if it had not come
    }
}

std::vector<Json> Server::settle() {
    if (!std::exchange(has_changed_, false)) return {};
    std::vector<Json> all;
    const auto publish = [&](Json params) {
        all.push_back({{"jsonrpc", "2.0"},
                       {"method", "textDocument/publishDiagnostics"},
                       {"params", std::move(params)}});
    };
    std::map<std::string, Json> open;
    for (const Document* document : workspace_.documents()) {
        Json params{{"uri", document->uri},
                    {"version", document->version},
                    {"diagnostics", diagnostics(view_of(workspace_, *document))}};
        const auto shown = shown_.find(document->uri);
        if (shown == shown_.end() || shown->second != params) publish(params);
        open[document->uri] = std::move(params);
    }
    for (const auto& [uri, params] : shown_) {
        if (!open.contains(uri)) publish({{"uri", uri}, {"diagnostics", Json::array()}});
    }
    shown_ = std::move(open);
    return all;
}

}  // namespace halo::lsp
