// haloc lsp: the streams of the language server. Messages that have come are taken before any is answered, so
// that a request can be cancelled while it waits, and diagnostics are computed when nothing waits.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <nlohmann/json.hpp>

#include "compiler/driver/command/commands.h"
#include "compiler/lsp/framing.h"
#include "compiler/lsp/server.h"

namespace halo::driver {

namespace {

class LanguageServerStreams {
public:
    explicit LanguageServerStreams(lsp::Server& server) : server_(server) {}

    int run() {
        while (!server_.has_ended() && !is_broken_) {
            if (!has_input_ended_) read(waiting_.empty() && !has_changed_);
            take_messages();
            if (server_.has_ended() || is_broken_) break;
            if (!waiting_.empty()) {
                send(server_.handle(waiting_.front()));
                waiting_.pop_front();
                has_changed_ = true;
            } else if (has_changed_) {
                send(server_.settle());
                has_changed_ = false;
            } else if (has_input_ended_) {
                break;  // the client is gone
            }
        }
        return server_.exit_code();
    }

private:
    // What there is to read; waits for it where that is wanted.
    void read(bool waits) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        const int ready = ::poll(&input, 1, waits ? -1 : 0);
        if (ready <= 0) return;
        std::array<char, 1 << 16> block{};
        const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
        if (count > 0) reader_.feed({block.data(), static_cast<std::size_t>(count)});
        if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) has_input_ended_ = true;
    }

    void take_messages() {
        while (const auto message = reader_.next()) {
            if (!message->trouble.empty()) {
                send({lsp::Server::error_reply(nullptr, lsp::kParseError, message->trouble)});
                continue;
            }
            lsp::Json json = lsp::Json::parse(message->text, nullptr, false);
            if (json.is_discarded()) {
                send(server_.handle_text(message->text));
            } else if (!cancels(json)) {
                waiting_.push_back(std::move(json));
            }
        }
        if (reader_.is_lost()) has_input_ended_ = true;
    }

    // Takes a request out that still waits.
    bool cancels(const lsp::Json& message) {
        if (!message.is_object() || message.value("method", lsp::Json()) != "$/cancelRequest") return false;
        const lsp::Json params = message.value("params", lsp::Json());
        const lsp::Json id = params.is_object() ? params.value("id", lsp::Json()) : lsp::Json();
        for (auto request = waiting_.begin(); request != waiting_.end(); ++request) {
            if (id.is_null() || !request->is_object() || request->value("id", lsp::Json()) != id) continue;
            waiting_.erase(request);
            send({lsp::Server::error_reply(id, lsp::kRequestCancelled, "the request was cancelled")});
            break;
        }
        return true;
    }

    void send(const std::vector<lsp::Json>& messages) {
        for (const lsp::Json& message : messages) {
            const std::string text =
                lsp::framed(message.dump(-1, ' ', false, lsp::Json::error_handler_t::replace));
            for (std::size_t done = 0; done < text.size() && !is_broken_;) {
                const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
                if (count > 0) done += static_cast<std::size_t>(count);
                is_broken_ = count < 0 && errno != EINTR;  // nobody reads any more
            }
        }
    }

    lsp::Server& server_;
    lsp::MessageReader reader_;
    std::deque<lsp::Json> waiting_;
    bool has_changed_ = false, has_input_ended_ = false, is_broken_ = false;
};

}  // namespace

ExitCode serve_editor(const std::vector<std::string>& include) {
    ::signal(SIGPIPE, SIG_IGN);  // an editor that is gone is seen where it is written to
    lsp::Server server(include, HALO_VERSION);
    return LanguageServerStreams(server).run() == 0 ? ExitCode::ok : ExitCode::spec;
}

}  // namespace halo::driver
