#include "client.h"

#include <algorithm>

#include "catch.h"

namespace halo::test {

Marked marked(const std::string& text) {
    const std::size_t mark = text.find('|');
    REQUIRE(mark != std::string::npos);
    return {text.substr(0, mark) + text.substr(mark + 1), mark};
}

Client::Client(const std::string& encoding, const std::string& root)
    : encoding_(encoding == "utf-8" ? lsp::Encoding::utf8 : lsp::Encoding::utf16) {
    Json params{{"capabilities", {{"general", {{"positionEncodings", Json::array({encoding, "utf-16"})}}}}}};
    if (!root.empty()) params["rootUri"] = root;
    const Json result = request("initialize", params);
    CHECK(result.at("capabilities").at("positionEncoding") == encoding);
    notify("initialized", Json::object());
}

Json Client::send(const std::string& method, Json params) {
    const Json message{
        {"jsonrpc", "2.0"}, {"id", ++next_}, {"method", method}, {"params", std::move(params)}};
    const std::vector<Json> replies = server_.handle(message);
    REQUIRE(replies.size() == 1);
    CHECK(replies.front().at("id") == next_);
    return replies.front();
}

Json Client::request(const std::string& method, Json params) {
    const Json reply = send(method, std::move(params));
    INFO(reply.dump());
    REQUIRE(reply.contains("result"));
    return reply.at("result");
}

std::string Client::refused(const std::string& method, Json params) {
    const Json reply = send(method, std::move(params));
    return reply.contains("error") ? reply.at("error").at("message").get<std::string>() : "";
}

void Client::notify(const std::string& method, Json params) {
    CHECK(server_.handle({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}).empty());
}

void Client::open(const std::string& text, const std::string& uri) {
    texts_[uri] = text;
    notify("textDocument/didOpen",
           {{"textDocument", {{"uri", uri}, {"languageId", "halocline"}, {"version", 1}, {"text", text}}}});
}

void Client::change(Json changes, const std::string& uri) {
    notify("textDocument/didChange",
           {{"textDocument", {{"uri", uri}, {"version", 2}}}, {"contentChanges", std::move(changes)}});
}

Json Client::position(std::size_t offset, const std::string& uri) const {
    return lsp::Lines(texts_.at(uri), encoding_).position(static_cast<std::uint32_t>(offset));
}

Json Client::at(std::size_t offset, const std::string& uri) const {
    Json params = document(uri);
    params["position"] = position(offset, uri);
    return params;
}

Json Client::diagnostics(const std::string& uri) {
    Json found;
    for (const Json& message : server_.settle())
        if (message.at("params").at("uri") == uri) found = message.at("params").at("diagnostics");
    return found;
}

std::string edited(std::string text, const Json& edits, lsp::Encoding encoding) {
    std::vector<std::pair<SourceRange, std::string>> all;
    const lsp::Lines lines(text, encoding);
    for (const Json& edit : edits)
        all.emplace_back(lines.offsets(edit.at("range")), edit.at("newText").get<std::string>());
    std::ranges::sort(all, [](const auto& a, const auto& b) { return a.first.begin > b.first.begin; });
    std::string result = text;
    for (const auto& [where, replacement] : all)
        result.replace(where.begin, where.end - where.begin, replacement);
    return result;
}

}  // namespace halo::test
