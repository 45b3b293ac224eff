// The language server: messages of the Language Server Protocol 3.17 in, messages out. It reads files and
// knows nothing of streams (compiler/driver/command/cmd_lsp.cpp has them).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/lsp/features.h"
#include "compiler/lsp/workspace.h"

namespace halo::lsp {

class Server {
public:
    // include: folders to look for modules in; version: of haloc.
    explicit Server(std::vector<std::string> include = {}, std::string version = "");

    // What there is to send: the answer of a request, with what goes before it. Never throws for what a
    // client says: mistakes are answered.
    std::vector<Json> handle(const Json& message);
    // The same of a message's text, which may be no JSON.
    std::vector<Json> handle_text(const std::string& text);

    // Diagnostics of what has changed since. Called when no message waits, so that they are not computed for
    // each letter that is typed.
    std::vector<Json> settle();

    bool has_ended() const { return has_ended_; }                          // `exit` has come
    int exit_code() const { return is_shut_down_ && has_ended_ ? 0 : 1; }  // as the protocol has it

    static Json error_reply(const Json& id, int code, const std::string& message);

private:
    using Request = std::function<Json(const Json& params)>;
    using Notification = std::function<void(const Json& params)>;

    Json initialize(const Json& params);
    Json capabilities() const;
    void add_folders(const Json& params);
    void add_documents();
    void add_requests();
    std::vector<Json> answer(const Json& id, const std::string& method, const Json& params);
    void notify(const std::string& method, const Json& params);

    const Document& document(const Json& params) const;  // throws RequestError where it is not open
    View view(const Json& params) { return view_of(workspace_, document(params)); }
    // A request for a document, or for a place in it.
    void on_document(const std::string& method, Json (*give)(const View&));
    void on_place(const std::string& method, Json (*give)(const View&, std::uint32_t));

    std::string version_;
    Workspace workspace_;
    std::map<std::string, Request> requests_;
    std::map<std::string, Notification> notifications_;
    std::map<std::string, Json> shown_;  // what the client has been told of each URI
    bool has_changed_ = false;
    bool is_initialized_ = false, is_shut_down_ = false, has_ended_ = false;
};

}  // namespace halo::lsp
