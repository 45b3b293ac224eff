#include "catch.h"
#include "compiler/driver/live/http.h"
#include "contains.h"

using namespace halo::driver::live;

namespace {

HttpRequest accepted(const std::string& head) {
    const auto parsed = parse_head(head);
    const auto* const refusal = std::get_if<HttpResponse>(&parsed);
    INFO((refusal != nullptr ? refusal->body : ""));
    REQUIRE(refusal == nullptr);
    return std::get<HttpRequest>(parsed);
}

int refused(const std::string& head) {
    const auto parsed = parse_head(head);
    REQUIRE(std::holds_alternative<HttpResponse>(parsed));
    return std::get<HttpResponse>(parsed).status;
}

}  // namespace

TEST_CASE("a request is taken apart") {
    const HttpRequest request = accepted(
        "POST /token/param?field=E.x&index=10&empty=&words=a+b%2Fc HTTP/1.1\r\n"
        "hOST:  127.0.0.1:8000 \r\nContent-Length: 12\r\nOrigin: http://127.0.0.1:8000\r\nX: y: z");
    CHECK(request.method == "POST");
    CHECK(request.path == "/token/param");
    CHECK(request.query.at("field") == "E.x");
    CHECK(request.query.at("index") == "10");
    CHECK(request.query.at("empty").empty());
    CHECK(request.query.at("words") == "a b/c");
    CHECK(request.host == "127.0.0.1:8000");
    CHECK(request.origin == "http://127.0.0.1:8000");
    CHECK(request.length == 12);
}

TEST_CASE("what is no request is refused, whatever it is") {
    for (const char* const head :
         {"", "\r\n", "GET", "GET /", "GET  HTTP/1.1", "GET / HTTP/2", "GET http://a/ HTTP/1.1",
          "GET /%zz HTTP/1.1", "GET /%4 HTTP/1.1", "GET /?a=%+1 HTTP/1.1", "GET / HTTP/1.1\r\nno colon",
          "GET / HTTP/1.1\r\nContent-Length: -1", "GET / HTTP/1.1\r\nContent-Length: 1x",
          "GET / HTTP/1.1\r\nHost: a\r\nHost: b", "\x16\x03\x01\x02"}) {
        INFO(head);
        CHECK(refused(head) == 400);
    }
    CHECK(refused("PUT / HTTP/1.1") == 405);
    CHECK(refused("OPTIONS / HTTP/1.1") == 405);
    CHECK(refused("POST / HTTP/1.1\r\nContent-Length: 5000") == 413);
    CHECK(refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked") == 501);
    CHECK(refused("GET / HTTP/1.1\r\nX: " + std::string(kLargestHead, 'x')) == 431);
}

TEST_CASE("no other origin may read an answer, and no cache keeps it") {
    const std::string bytes = to_bytes({200, "text/html; charset=utf-8", "body"});
    CHECK(bytes.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(bytes.ends_with("\r\n\r\nbody"));
    CHECK(contains(bytes, "Content-Length: 4\r\n"));
    CHECK(contains(bytes, "Cache-Control: no-store\r\n"));
    CHECK(contains(bytes, "default-src 'none'"));
    CHECK(!contains(bytes, "Access-Control-Allow-Origin"));
}
