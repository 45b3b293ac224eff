#include "compiler/driver/live/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/driver/console/exit_code.h"
#include "runtime/core/error.h"

namespace halo::driver::live {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Message = http::request<http::string_body>;

constexpr std::size_t kMostConnections = 32;                       // a page has two or three
constexpr std::uint32_t kLargestHead = 8192, kLargestBody = 4096;  // bytes

HttpResponse refusal(int status, const std::string& why) {
    return {status, "text/plain; charset=utf-8", why + "\n"};
}

// What Beast refuses; nullopt where the client went away, or said too little for too long.
std::optional<HttpResponse> refusal_for(const error_code& error) {
    if (error == http::error::header_limit) return refusal(431, "too many headers");
    if (error == http::error::body_limit) return refusal(413, "the body is too long");
    const bool is_of_http = error.category() == http::make_error_code(http::error::bad_method).category();
    if (!is_of_http || error == http::error::end_of_stream || error == http::error::partial_message)
        return std::nullopt;
    return refusal(400, "this is no request of HTTP/1.1: " + error.message());
}

// The request, or the answer that refuses it.
std::variant<HttpRequest, HttpResponse> request_of(Message message) {
    const auto text = [](const auto& view) { return std::string(view.data(), view.size()); };
    if (message.method() != http::verb::get && message.method() != http::verb::post)
        return refusal(405, "only GET and POST are answered");
    for (const http::field once : {http::field::host, http::field::origin})
        if (message.count(once) > 1) return refusal(400, "two headers " + text(http::to_string(once)));
    HttpRequest request;
    request.method = text(message.method_string());
    if (!take_target(text(message.target()), request)) return refusal(400, "the address is not well formed");
    request.host = text(message[http::field::host]);
    request.origin = text(message[http::field::origin]);
    request.body = std::move(message.body());
    return request;
}

// Pages of other origins can neither read nor embed an answer, and no cache keeps it.
http::response<http::string_body> message_of(HttpResponse response) {
    http::response<http::string_body> message;
    message.result(static_cast<unsigned>(response.status));
    message.body() = std::move(response.body);
    message.set(http::field::content_type, response.type);
    message.set(http::field::cache_control, "no-store");
    message.set("Referrer-Policy", "no-referrer");
    message.set("X-Content-Type-Options", "nosniff");
    message.set("X-Frame-Options", "DENY");
    message.set("Cross-Origin-Resource-Policy", "same-origin");
    message.set("Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src "
                "'self'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'");
    message.keep_alive(false);
    message.prepare_payload();
    return message;
}

// Asio lets the commands that a run starts inherit its sockets, which would keep the port.
void keep_from_children(int socket) {
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

// What all connections share.
struct Service {
    HttpServer::Handler handler;
    std::chrono::milliseconds patience;
    asio::io_context io{1};                      // read and write, in one thread
    asio::thread_pool makers{kMostConnections};  // call the handler, which may wait for the run
};

// Lives as long as something is awaited for it: each callback holds it. Except for make() all is done in the
// thread of Service::io.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Tcp::socket socket, Service& service)
        : service_(service), work_(service.io.get_executor()), stream_(std::move(socket)) {
        parser_.header_limit(kLargestHead);
        parser_.body_limit(kLargestBody);
    }

    void read() {
        stream_.expires_after(service_.patience);
        http::async_read(
            stream_, buffer_, parser_,
            [self = shared_from_this()](const error_code& error, std::size_t) { self->take(error); });
    }

    // What has not been asked is not answered any more.
    void end_reading() {
        error_code ignored;
        stream_.socket().shutdown(Tcp::socket::shutdown_receive, ignored);
    }

private:
    void take(const error_code& error) {
        if (error) {
            if (std::optional<HttpResponse> why = refusal_for(error)) write(std::move(*why));
            return;
        }
        std::variant<HttpRequest, HttpResponse> asked = request_of(parser_.release());
        if (auto* const why = std::get_if<HttpResponse>(&asked)) return write(std::move(*why));
        asio::post(service_.makers,
                   [self = shared_from_this(), request = std::get<HttpRequest>(std::move(asked))]() mutable {
                       HttpResponse response = self->make(request);
                       asio::io_context& io = self->service_.io;
                       asio::post(io, [self = std::move(self), response = std::move(response)]() mutable {
                           self->write(std::move(response));
                       });
                   });
    }

    HttpResponse make(HttpRequest& request) const {
        try {
            return service_.handler(request);
        } catch (const std::exception& error) {
            return refusal(500, error.what());
        }
    }

    void write(HttpResponse response) {
        message_ = message_of(std::move(response));
        write_some();
    }

    // In pieces, so that a client which takes some now and then, as through a slow tunnel, is given all.
    void write_some() {
        stream_.expires_after(service_.patience);
        http::async_write_some(stream_, serializer_,
                               [self = shared_from_this()](const error_code& error, std::size_t) {
                                   if (error) return;  // the client went away
                                   if (!self->serializer_.is_done()) return self->write_some();
                                   error_code ignored;
                                   self->stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
                               });
    }

    Service& service_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;  // io runs on while an answer is made
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request_parser<http::string_body> parser_;
    http::response<http::string_body> message_;
    http::response_serializer<http::string_body> serializer_{message_};
};

}  // namespace

class HttpServer::Sockets {
public:
    Sockets(int port, Handler handler, std::chrono::milliseconds patience)
        : service_{std::move(handler), patience},
          acceptor_(service_.io,
                    Tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port))) {
        keep_from_children(acceptor_.native_handle());
        accept();
        thread_ = std::thread([this] { serve(); });
    }

    ~Sockets() {
        asio::post(service_.io, [this] {
            acceptor_.close();
            retry_.cancel();
            for (const std::weak_ptr<Connection>& each : connections_)
                if (const std::shared_ptr<Connection> connection = each.lock()) connection->end_reading();
        });
        thread_.join();
        service_.makers.join();
    }

    int port() const { return port_; }

private:
    void serve() {
        while (true) {
            try {
                service_.io.run();
                return;
            } catch (const std::exception&) {  // no memory for a connection: the client may ask again
            }
        }
    }

    void accept() {
        acceptor_.async_accept([this](const error_code& error, Tcp::socket socket) {
            if (!acceptor_.is_open()) return;
            if (error) {
                // Without a file descriptor to spare the client stays in the queue: a moment later there may
                // be one.
                retry_.expires_after(std::chrono::milliseconds(100));
                retry_.async_wait([this](const error_code&) {
                    if (acceptor_.is_open()) accept();
                });
                return;
            }
            accept();
            keep_from_children(socket.native_handle());
            std::erase_if(connections_, [](const auto& each) { return each.expired(); });
            if (connections_.size() >= kMostConnections) return;
            const auto connection = std::make_shared<Connection>(std::move(socket), service_);
            connections_.push_back(connection);
            connection->read();
        });
    }

    Service service_;
    Tcp::acceptor acceptor_;
    asio::steady_timer retry_{service_.io};
    std::vector<std::weak_ptr<Connection>> connections_;
    int port_ = acceptor_.local_endpoint().port();
    std::thread thread_;
};

HttpServer::HttpServer(int port, Handler handler, std::chrono::milliseconds patience) try
    : sockets_(std::make_unique<Sockets>(port, std::move(handler), patience)) {
} catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::address_in_use)
        refuse_usage(fmt::format("port {} of 127.0.0.1 is in use", port),
                     "give another --port; without it a free one is taken");
    if (error.code() == asio::error::access_denied)
        refuse_usage(fmt::format("port {} is not for users", port),
                     "give a --port from 1024 on; without it a free one is taken");
    throw rt::Error(rt::ErrorCode::io,
                    fmt::format("cannot listen at 127.0.0.1:{}: {}", port, error.code().message()));
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
    return sockets_->port();
}

}  // namespace halo::driver::live
