#include "compiler/driver/live/http.h"

#include "catch.h"

using namespace halo::driver::live;

TEST_CASE("the address of a request is taken apart") {
    HttpRequest request;
    REQUIRE(take_target("/token/param?field=E.x&index=10&empty=&bare&words=a+b%2Fc%C3%A9", request));
    CHECK(request.path == "/token/param");
    CHECK(request.query ==
          std::map<std::string, std::string>{
              {"field", "E.x"}, {"index", "10"}, {"empty", ""}, {"bare", ""}, {"words", "a b/c\xC3\xA9"}});
}

TEST_CASE("an address that is not well formed is not guessed at") {
    for (const char* const target :
         {"", "token/", "http://a/", "*", "/%zz", "/%4", "/%", "/?a=%+1", "/?%=1"}) {
        INFO(target);
        HttpRequest request;
        CHECK(!take_target(target, request));
    }
}
