#include "compiler/lower/shared/names.h"

#include "catch.h"

using halo::lower::Names;

TEST_CASE("a name is given once, as close to the wish as can be") {
    Names names;
    CHECK(names.take("u") == "u");
    CHECK(names.take("u") == "u_2");
    CHECK(names.take("u") == "u_3");
    CHECK(names.take("u_2") == "u_2_2");
    CHECK(names.take("v") == "v");
}

TEST_CASE("words of C++, CUDA and the prelude are nobody's name") {
    Names names;
    for (const char* word :
         {"float",         "int",  "template", "threadIdx", "blockDim",    "float4",  "load4",
          "block_sum",     "fmaf", "sqrt",     "min",       "face_source", "kFixed",  "kCellsX",
          "shared_memory", "sinf", "class",    "and",       "main",        "INFINITY"}) {
        const std::string name = names.take(word);
        INFO(word << " became " << name);
        CHECK(name != word);
        CHECK(name.find(word) == 0);
    }
}

TEST_CASE("functions of the C library that kernels never call are free as names of locals") {
    Names names;
    for (const char* word : {"gamma", "j1", "y0", "time", "norm", "div"})
        CHECK(names.take(word) == word);
}

TEST_CASE("names are valid identifiers that C++ leaves to programs") {
    Names names;
    CHECK(names.take("a__b") == "a_b");
    CHECK(names.take("_a") == "a");
    CHECK(names.take("a b-c") == "a_b_c");
    CHECK(names.take("3d") == "value_3d");
    CHECK(names.take("") == "value_");
    CHECK(names.take("_") != "_");
}

TEST_CASE("names of the prelude are taken, those that only some kernels need, too") {
    Names names;
    for (const char* word : {"keep_max_f32", "poll", "receive4_f32", "commit_copies"})
        CHECK(names.take(word) != word);
}
