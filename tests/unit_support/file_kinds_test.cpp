// What the ending of a name says of a file.
#include "compiler/support/file_kinds.h"

#include "catch.h"

using namespace halo;

TEST_CASE("the ending of a name says what a file can hold") {
    CHECK(serves("run/u.npy", FileUse::save_field));
    CHECK(!serves("u.npy", FileUse::frames));
    CHECK(serves("u.hdf5", FileUse::frames));
    CHECK(serves("log.csv", FileUse::save_column));
    CHECK(!serves("u.npy.bak", FileUse::save_field));
    CHECK(kind_of_file(".npy") == nullptr);  // an ending is no name
    CHECK(kind_of_file("") == nullptr);
    CHECK(needs_hdf5("u.h5"));
    CHECK(!needs_hdf5("u.npy"));
    CHECK(is_of("a.webm", FileFormat::movie));
}

TEST_CASE("a message names the endings once each") {
    CHECK(endings_for(FileUse::movie) == ".mp4, .webm or .gif");
    CHECK(endings_for(FileUse::plot) == ".png");
    CHECK(endings_for(FileUse::save_field).find(".hdf5") == std::string::npos);
    CHECK(usual_ending(FileUse::save_column) == ".csv");
}

TEST_CASE("the name of a file may have that of a dataset in it") {
    CHECK(parse_array_name("in.h5:/run/u").file == "in.h5");
    CHECK(parse_array_name("in.h5:/run/u").dataset == "/run/u");
    CHECK(parse_array_name("in.h5:/").dataset.empty());
    CHECK(parse_array_name("in.npy:/u").file == "in.npy:/u");
}
