#include "compiler/driver/live/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <stdexcept>

#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "contains.h"

using namespace halo::driver::live;

namespace {

// A connection to the server.
struct Client {
    explicit Client(int port) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    void send(const std::string& text) const {
        REQUIRE(::send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
    }
    std::string all() const {
        std::string text;
        std::array<char, 4096> bytes{};
        while (true) {
            const ssize_t count = ::recv(socket.number(), bytes.data(), bytes.size(), 0);
            if (count <= 0) return text;
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }
    FileDescriptor socket;
};

HttpResponse echo(const HttpRequest& request) {
    if (request.path == "/throws") throw std::runtime_error("a mistake of ours");
    return {200, "text/plain", request.method + " " + request.path + " " + request.body};
}

}  // namespace

TEST_CASE("the server answers, however a request arrives") {
    HttpServer server(0, echo);
    REQUIRE(server.port() > 0);
    const Client whole(server.port());
    whole.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(contains(whole.all(), "\r\n\r\nGET /a "));
    const Client in_parts(server.port());
    for (const char* const part : {"POST /b HT", "TP/1.1\r\nContent-Length: 6\r\n\r", "\nbod", "y.."})
        in_parts.send(part);
    CHECK(contains(in_parts.all(), "\r\n\r\nPOST /b body.."));
    const Client wrong(server.port());
    wrong.send("nonsense\r\n\r\n");
    CHECK(wrong.all().starts_with("HTTP/1.1 400 "));
    const Client unlucky(server.port());
    unlucky.send("GET /throws HTTP/1.1\r\n\r\n");
    CHECK(unlucky.all().starts_with("HTTP/1.1 500 "));
}

TEST_CASE("clients that are silent, or go away, keep nobody from being answered") {
    HttpServer server(0, echo);
    const Client silent(server.port());
    {
        const Client gone(server.port());
        gone.send("GET /a HTTP/1.1\r\n");
    }
    const Client other(server.port());
    other.send("GET /b HTTP/1.1\r\n\r\n");
    CHECK(contains(other.all(), "GET /b"));
    // The server ends, although one of them says nothing.
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
