// JSON values as plain data: what is written is read again as it was, and what is no such thing is a Mistake.
#include "runtime/core/json_value.h"

#include <cmath>
#include <limits>

#include "catch.h"

namespace {

using halo::rt::json::json_string;
using halo::rt::json::Mistake;
using halo::rt::json::Value;

std::string nested(int lists) {
    return std::string(static_cast<std::size_t>(lists), '[') +
           std::string(static_cast<std::size_t>(lists), ']');
}

}  // namespace

TEST_CASE("JSON values are written as they were read", "[json]") {
    const std::string text =
        R"({"a":[1,-2,9223372036854775807,-9223372036854775808],"b":{"c":null,"d":true},)"
        R"("e":[],"f":{},"g":"\"\\\n\t\u0001é","h":[0.1,1.0,-0.0,1e+300,5e-324]})";
    const Value value = Value::parse(text);
    CHECK(value.dump() == text);
    CHECK(Value::parse(value.dump(2)).dump() == text);
    CHECK(value.at("a").get<std::vector<std::int64_t>>().size() == 4);
    CHECK(value.at("a").at(2).get<std::int64_t>() == std::numeric_limits<std::int64_t>::max());
    CHECK(std::signbit(value.at("h").at(2).get<double>()));
    CHECK_FALSE(value.at("h").at(1).is_integer());
    CHECK(value.at("b").at("c").is_null());
    CHECK(Value::parse(R"("\u00e9\ud83d\ude00")").text() == "é😀");
}

TEST_CASE("JSON values are built member by member", "[json]") {
    Value value;
    value["name"] = "heat";
    value["size"].push_back(3);
    value["size"].push_back(4.0);
    value["name"] = std::string("wave");
    CHECK(value.dump() == R"({"name":"wave","size":[3,4.0]})");
    CHECK(value.dump(1) == R"({"name": "wave", "size": [3, 4.0]})");
    value["words"] = std::string(100, 'x');
    CHECK(value.dump(2) == "{\n  \"name\": \"wave\",\n  \"size\": [3, 4.0],\n  \"words\": \"" +
                               std::string(100, 'x') + "\"\n}");
    CHECK(value.value("steps", 7) == 7);
    CHECK(value.contains("size"));
    CHECK_FALSE(value.contains("steps"));
    CHECK(Value(std::vector<std::string>{"x", "y"}).dump() == R"(["x","y"])");
}

TEST_CASE("of members by one name the last one counts", "[json]") {
    Value value = Value::parse(R"({"a":{"x":1},"a":{"y":2}})");
    CHECK_FALSE(value.at("a").contains("x"));
    CHECK(value.at("a").at("y").get<int>() == 2);
    value["a"] = 5;
    CHECK(value.at("a").get<int>() == 5);
}

TEST_CASE("what is no JSON, or another value, is a mistake", "[json]") {
    for (const std::string text :
         {"", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1 2", "nan", "1e999", "\"a", "\"\x01\"",
          "\"\xff\"", "'a'", "18446744073709551615", "-9223372036854775809000"}) {
        INFO(text);
        CHECK_THROWS_AS(Value::parse(text).get<std::int64_t>(), Mistake);
    }
    CHECK(Value::parse(nested(64)).is_list());
    CHECK_THROWS_AS(Value::parse(nested(65)), Mistake);
    CHECK_THROWS_AS(Value::parse(nested(100'000)), Mistake);
    const Value value = Value::parse(R"({"a":300,"b":[1],"c":1.5})");
    CHECK_THROWS_AS(value.at("a").get<std::uint8_t>(), Mistake);
    CHECK_THROWS_AS(value.at("a").text(), Mistake);
    CHECK_THROWS_AS(value.at("a").get<bool>(), Mistake);
    CHECK_THROWS_AS(value.at("b").at(1), Mistake);
    CHECK_THROWS_AS(value.at("b").find("a"), Mistake);
    CHECK_THROWS_AS(value.at("c").get<int>(), Mistake);
    CHECK_THROWS_AS(value.at("d"), Mistake);
    CHECK_THROWS_AS((value.at("b").get<std::array<int, 2>>()), Mistake);
    CHECK(value.at("a").get<double>() == 300);
}

TEST_CASE("texts are quoted for JSON", "[json]") {
    CHECK(json_string("a\"b\\\x1f/\n") == "\"a\\\"b\\\\\\u001f/\\n\"");
    CHECK(Value::parse(json_string(std::string("a\0b", 3))).text() == std::string("a\0b", 3));
}
