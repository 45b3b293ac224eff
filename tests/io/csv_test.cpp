#include "runtime/io/csv.h"

#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/core/error.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

std::vector<double> read(const std::string& text, std::size_t columns) {
    const TemporaryFolder folder;
    const std::string path = folder / "rows.csv";
    std::ofstream(path) << text;
    return read_csv(path, columns, "table t");
}

}  // namespace

TEST_CASE("rows of numbers are read from text") {
    CHECK(read("1,2\n3,4\n", 2) == std::vector<double>{1, 2, 3, 4});
    CHECK(read("x, y\n# charges\n 1.5e3;-2\r\n\n+3\t.25  # last", 2) ==
          std::vector<double>{1500, -2, 3, 0.25});
    CHECK(read("", 2).empty());
    CHECK(read("x,y\n", 2).empty());
}

TEST_CASE("text that is no rows is refused with its line") {
    for (const char* text : {"1,2\n3\n", "1,2\n3,four\n", "1,2,3\n", "1,2\nx,y\n"})
        CHECK_THROWS_AS(read(text, 2), Error);
    CHECK_THROWS_AS(read_csv("/nowhere/rows.csv", 2, "table t"), Error);
    try {
        read("1,2\n3\n", 2);
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("rows.csv:2:") != std::string::npos);
    }
}
