#include "compiler/driver/live/access.h"

#include "catch.h"

using namespace halo::driver::live;

namespace {

const Access kAccess("00112233445566778899aabbccddeeff");

HttpRequest request_for(const std::string& path, const std::string& host, const std::string& origin = {}) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.host = host;
    request.origin = origin;
    return request;
}

int status_of(HttpRequest request) {
    const std::optional<HttpResponse> refusal = kAccess.refuse(request);
    return refusal ? refusal->status : 200;
}

}  // namespace

TEST_CASE("a page is for those who know its token") {
    const std::string token = "/" + kAccess.token();
    CHECK(status_of(request_for(token + "/", "127.0.0.1:8000")) == 200);
    CHECK(status_of(request_for(token, "localhost:9000")) == 200);  // a tunnel has a port of its own
    CHECK(status_of(request_for("/", "127.0.0.1:8000")) == 403);
    CHECK(status_of(request_for("/" + std::string(32, '0') + "/", "127.0.0.1:8000")) == 403);
    CHECK(status_of(request_for(token + "0/", "127.0.0.1:8000")) == 403);
    CHECK(status_of(request_for(token.substr(0, 20) + "/", "127.0.0.1:8000")) == 403);

    HttpRequest request = request_for(token + "/frame", "127.0.0.1:8000");
    CHECK(!kAccess.refuse(request));
    CHECK(request.path == "/frame");
}

TEST_CASE("a page is for this machine and its own origin") {
    const std::string path = "/" + kAccess.token() + "/";
    CHECK(status_of(request_for(path, "rebound.example:8000")) == 403);
    CHECK(status_of(request_for(path, "")) == 403);
    CHECK(status_of(request_for(path, "127.0.0.1.example:8000")) == 403);
    CHECK(status_of(request_for(path, "127.0.0.1:8000", "http://127.0.0.1:8000")) == 200);
    CHECK(status_of(request_for(path, "127.0.0.1:8000", "http://elsewhere.example")) == 403);
    CHECK(status_of(request_for(path, "127.0.0.1:8000", "null")) == 403);
}

TEST_CASE("tokens are 128 bits that nobody has seen before") {
    const std::string token = random_token();
    CHECK(token.size() == 32);
    CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(token != random_token());
}
