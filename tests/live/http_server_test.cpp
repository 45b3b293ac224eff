#include "compiler/driver/live/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "contains.h"

using namespace halo::driver::live;

namespace {

// A connection to the server.
class Client {
public:
    explicit Client(const HttpServer& server) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    ~Client() { ::close(socket_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void send(const std::string& text) const {
        REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    }
    // What comes until the server closes.
    std::string all() const {
        std::string text;
        std::array<char, 4096> bytes{};
        while (true) {
            const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
            if (count <= 0) return text;
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }

private:
    int socket_;
};

std::string answer(const HttpServer& server, const std::string& request) {
    const Client client(server);
    client.send(request);
    return client.all();
}

HttpResponse echo(const HttpRequest& request) {
    if (request.path == "/throws") throw std::runtime_error("a mistake of ours");
    return {
        200, "text/html; charset=utf-8",
        request.method + " " + request.path + " " + request.host + " " + request.origin + " " + request.body};
}

}  // namespace

TEST_CASE("the server answers, however a request arrives") {
    HttpServer server(0, echo);
    REQUIRE(server.port() > 0);
    CHECK(
        contains(answer(server, "GET /a?b HTTP/1.1\r\nhOST:  x:1 \r\nOrigin: http://x:1\r\nX: y: z\r\n\r\n"),
                 "\r\n\r\nGET /a x:1 http://x:1 "));
    const Client in_parts(server);
    for (const char* const part : {"POST /b HT", "TP/1.1\r\nContent-Length: 6\r\n\r", "\nbod", "y.."})
        in_parts.send(part);
    CHECK(contains(in_parts.all(), "\r\n\r\nPOST /b   body.."));
    CHECK(contains(
        answer(server, "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n"),
        "\r\n\r\nPOST /c   one"));
    const std::string unlucky = answer(server, "GET /throws HTTP/1.1\r\n\r\n");
    CHECK(unlucky.starts_with("HTTP/1.1 500 "));
    CHECK(unlucky.ends_with("\r\n\r\na mistake of ours\n"));
}

TEST_CASE("what is no request for the page is refused, and the handler does not see it") {
    HttpServer server(0, [](const HttpRequest&) { return HttpResponse{}; });
    const auto status = [&](const std::string& request) { return answer(server, request).substr(9, 3); };
    for (const char* const head :
         {"nonsense", "GET /%zz HTTP/1.1", "GET http://a/ HTTP/1.1", "GET / HTTP/2",
          "GET / HTTP/1.1\r\nHost: a\r\nHost: b", "GET / HTTP/1.1\r\nOrigin: a\r\nOrigin: b",
          "POST / HTTP/1.1\r\nContent-Length: -1"}) {
        INFO(head);
        CHECK(status(std::string(head) + "\r\n\r\n") == "400");
    }
    CHECK(status("PUT / HTTP/1.1\r\n\r\n") == "405");
    CHECK(status("BREW / HTTP/1.1\r\n\r\n") == "405");
    CHECK(status("POST / HTTP/1.1\r\nContent-Length: 4096\r\n\r\n" + std::string(4096, 'x')) == "200");
    CHECK(status("POST / HTTP/1.1\r\nContent-Length: 4097\r\n\r\n") == "413");
    CHECK(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n") == "413");
    CHECK(status("GET / HTTP/1.1\r\nX: " + std::string(8000, 'x') + "\r\n\r\n") == "200");
    CHECK(status("GET / HTTP/1.1\r\nX: " + std::string(9000, 'x')) == "431");
}

TEST_CASE("no other origin may read an answer, and no cache keeps it") {
    HttpServer server(0, echo);
    const std::string bytes = answer(server, "GET /a HTTP/1.1\r\n\r\n");
    CHECK(bytes.starts_with("HTTP/1.1 200 OK\r\n"));
    for (const char* const header :
         {"Content-Type: text/html; charset=utf-8", "Content-Length: 9", "Connection: close",
          "Cache-Control: no-store", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
          "X-Frame-Options: DENY", "Cross-Origin-Resource-Policy: same-origin"})
        CHECK(contains(bytes, std::string(header) + "\r\n"));
    CHECK(contains(bytes, "Content-Security-Policy: default-src 'none'; "));
    CHECK(!contains(bytes, "Access-Control-Allow-Origin"));
}

TEST_CASE("an answer that is larger than a socket's buffers arrives as a whole") {
    const std::string large(16'000'000, 'x');
    HttpServer server(0, [&](const HttpRequest&) { return HttpResponse{200, "text/plain", large}; });
    const std::string bytes = answer(server, "GET / HTTP/1.1\r\n\r\n");
    CHECK(bytes.size() > large.size());
    CHECK(bytes.compare(bytes.size() - large.size(), large.size(), large) == 0);
}

TEST_CASE("clients that are silent, or go away, keep nobody from being answered") {
    HttpServer server(0, echo);
    const Client silent(server);
    for (const char* const said : {"", "GET /a HTTP/1.1\r\n", "GET /a HTTP/1.1\r\n\r\n"}) {
        const Client gone(server);
        gone.send(said);
    }
    CHECK(contains(answer(server, "GET /b HTTP/1.1\r\n\r\n"), "GET /b"));
    // The server ends, although one of them says nothing.
}

TEST_CASE("who sends no request, or takes no answer, for too long is left") {
    HttpServer server(
        0, [](const HttpRequest&) { return HttpResponse{200, "text/plain", std::string(16'000'000, 'x')}; },
        std::chrono::milliseconds(50));
    const Client silent(server), takes_nothing(server);
    silent.send("GET / HTT");
    takes_nothing.send("GET / HTTP/1.1\r\n\r\n");
    CHECK(silent.all().empty());  // ends at all
}

TEST_CASE("a handler may wait while others are answered, and the end of the server waits for it") {
    std::promise<void> is_called, may_end;
    auto server = std::make_unique<HttpServer>(0, [&](const HttpRequest& request) {
        if (request.path == "/waits") {
            is_called.set_value();
            may_end.get_future().wait();
        }
        return HttpResponse{200, "text/plain", request.path};
    });
    const Client waits(*server);
    waits.send("GET /waits HTTP/1.1\r\n\r\n");
    is_called.get_future().wait();
    CHECK(answer(*server, "GET /other HTTP/1.1\r\n\r\n").ends_with("/other"));
    std::thread ends([&] { server.reset(); });
    may_end.set_value();
    ends.join();
    CHECK(waits.all().ends_with("/waits"));
}

TEST_CASE("there is an end to the connections that are open at once") {
    HttpServer server(0, echo);
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 32; ++i)
        silent.push_back(std::make_unique<Client>(server));
    CHECK(Client(server).all().empty());  // it is closed
    silent.front()->send("GET /a HTTP/1.1\r\n\r\n");
    CHECK(contains(silent.front()->all(), "GET /a"));
}

TEST_CASE("a port that is in use is refused with the mend") {
    const HttpServer server(0, echo);
    try {
        const HttpServer second(server.port(), echo);
        FAIL("two servers at one port");
    } catch (const halo::driver::CommandError& error) {
        CHECK(error.code() == halo::driver::ExitCode::usage);
        CHECK(contains(error.what(), "is in use"));
        CHECK(contains(error.hint(), "--port"));
    }
}
