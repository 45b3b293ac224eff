#include "compiler/driver/live/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "compiler/driver/console/exit_code.h"
#include "runtime/core/error.h"

namespace halo::driver::live {

namespace {

constexpr std::size_t kMostConnections = 32;  // a page has two or three
constexpr int kSeconds = 10;                  // for a client to send its request, or to take the answer

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

[[noreturn]] void fail(const std::string& what) {
    throw rt::Error(rt::ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno)));
}

// A socket that listens; its number.
int listen_at(int port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) fail("cannot open a socket");
    const int yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in address = loopback(port);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(listener, 16) == 0)
        return listener;
    const int error = std::exchange(errno, 0);
    ::close(listener);
    if (error == EADDRINUSE)
        refuse_usage(fmt::format("port {} of 127.0.0.1 is in use", port),
                     "give another --port; without it a free one is taken");
    if (error == EACCES)
        refuse_usage(fmt::format("port {} is not for users", port),
                     "give a --port from 1024 on; without it a free one is taken");
    errno = error;
    fail(fmt::format("cannot listen at 127.0.0.1:{}", port));
}

int port_of(int listener) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        fail("cannot ask for the port");
    return ntohs(address.sin_port);
}

// Reads on; false where nothing more comes.
bool read_some(int socket, std::string& text) {
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

// The request, the answer that refuses it, or nothing where the client went away.
std::optional<std::variant<HttpRequest, HttpResponse>> read_request(int socket) {
    std::string text;
    std::size_t end = 0;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) {
        if (text.size() > kLargestHead) return parse_head(text);
        if (!read_some(socket, text)) return std::nullopt;
    }
    std::variant<HttpRequest, HttpResponse> parsed = parse_head(std::string_view(text).substr(0, end));
    auto* const request = std::get_if<HttpRequest>(&parsed);
    if (request == nullptr) return parsed;
    request->body = text.substr(end + 4);
    while (request->body.size() < request->length)
        if (!read_some(socket, request->body)) return std::nullopt;
    request->body.resize(request->length);
    return parsed;
}

void send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;  // the client went away
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

}  // namespace

FileDescriptor::~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
}

HttpServer::HttpServer(int port, Handler handler)
    : handler_(std::move(handler)), listener_(listen_at(port)), wakes_(::eventfd(0, EFD_CLOEXEC)) {
    if (wakes_.number() < 0) fail("cannot make an event");
    port_ = port_of(listener_.number());
    acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
    const std::uint64_t one = 1;
    while (::write(wakes_.number(), &one, sizeof one) < 0 && errno == EINTR) {
    }
    acceptor_.join();
    {
        const std::scoped_lock lock(mutex_);
        for (const Connection& connection : connections_)
            ::shutdown(connection.socket.number(), SHUT_RD);
    }
    forget_done(true);
}

void HttpServer::accept_all() {
    while (true) {
        std::array<pollfd, 2> waited{pollfd{listener_.number(), POLLIN, 0},
                                     pollfd{wakes_.number(), POLLIN, 0}};
        if (::poll(waited.data(), waited.size(), -1) < 0) continue;  // a signal
        if (waited[1].revents != 0) return;
        try {
            forget_done(false);
            accept_one();
        } catch (const std::exception&) {  // no memory, or no thread: the client may ask again
        }
    }
}

void HttpServer::accept_one() {
    const int number = ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (number < 0) {
        // Without a file descriptor to spare the client stays in the queue: a moment later there may be one.
        if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return;
    }
    const timeval patience{kSeconds, 0};
    ::setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const std::scoped_lock lock(mutex_);
    if (connections_.size() >= kMostConnections) {
        ::close(number);
        return;
    }
    Connection& connection = connections_.emplace_back(number);
    try {
        connection.thread = std::thread([this, &connection] {
            answer(connection.socket);
            ::shutdown(connection.socket.number(),
                       SHUT_RDWR);  // the client's now; the thread is joined later
            const std::scoped_lock done(mutex_);
            connection.is_done = true;
        });
    } catch (...) {
        connections_.pop_back();
        throw;
    }
}

void HttpServer::forget_done(bool all) {
    std::list<Connection> gone;
    {
        const std::scoped_lock lock(mutex_);
        for (auto each = connections_.begin(); each != connections_.end();) {
            const auto next = std::next(each);
            if (all || each->is_done) gone.splice(gone.end(), connections_, each);
            each = next;
        }
    }
    for (Connection& connection : gone)
        connection.thread.join();
}

void HttpServer::answer(const FileDescriptor& socket) const {
    try {
        std::optional<std::variant<HttpRequest, HttpResponse>> asked = read_request(socket.number());
        if (!asked) return;
        HttpResponse response;
        if (auto* const request = std::get_if<HttpRequest>(&*asked)) {
            response = handler_(*request);
        } else {
            response = std::get<HttpResponse>(*asked);
        }
        send_all(socket.number(), to_bytes(response));
    } catch (const std::exception& error) {
        send_all(socket.number(),
                 to_bytes({500, "text/plain; charset=utf-8", std::string(error.what()) + "\n"}));
    }
}

}  // namespace halo::driver::live
