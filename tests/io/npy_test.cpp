#include "runtime/io/npy.h"

#include <fstream>
#include <iterator>

#include "catch.h"
#include "contains.h"
#include "runtime/core/error.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

// A .npy file as numpy writes it, with a header of our choice.
std::string npy(const std::string& dictionary, const std::string& values, int version = 1) {
    std::string header = dictionary;
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    while ((8 + length_bytes + header.size() + 1) % 64 != 0)
        header += ' ';
    header += '\n';
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    for (std::size_t i = 0; i < length_bytes; ++i)
        file += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return file + header + values;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool big_endian = false) {
    std::string bytes;
    for (const T value : values) {
        std::string one(reinterpret_cast<const char*>(&value), sizeof value);
        if (big_endian) one.assign(one.rbegin(), one.rend());
        bytes += one;
    }
    return bytes;
}

std::string message(const std::string& path) {
    try {
        read_npy(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("npy: what is written is read back") {
    const TemporaryFolder folder;
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        for (const std::vector<std::int64_t>& shape :
             std::vector<std::vector<std::int64_t>>{{}, {5}, {2, 3}, {2, 1, 4}, {0}}) {
            std::int64_t count = 1;
            for (const std::int64_t extent : shape)
                count *= extent;
            std::vector<double> values;
            for (std::int64_t i = 0; i < count; ++i)
                values.push_back(0.1 * static_cast<double>(i) - 3);
            write_npy(folder / "a.npy", shape, values, type);
            const NpyArray array = read_npy(folder / "a.npy");
            CHECK(array.shape == shape);
            CHECK(array.element == (type == ElementType::f32 ? "<f4" : "<f8"));
            if (type == ElementType::f32)
                for (double& value : values)
                    value = static_cast<double>(static_cast<float>(value));
            CHECK(array.values == values);
        }
    }
}

TEST_CASE("npy: every type is saved as numpy calls it") {
    const TemporaryFolder folder;
    const std::vector<double> values{0, 1, 2.5, 200};
    const auto saved = [&](ElementType type) {
        write_npy(folder / "a.npy", {4}, values, type);
        return read_npy(folder / "a.npy");
    };
    CHECK(saved(ElementType::f16).element == "<f2");
    CHECK(saved(ElementType::f16).values == values);
    CHECK(saved(ElementType::bf16).element == "<f4");
    CHECK(saved(ElementType::u8).element == "|u1");
    CHECK(saved(ElementType::u8).values == std::vector<double>{0, 1, 2, 200});
    CHECK(saved(ElementType::i32).element == "<i4");
    CHECK(saved(ElementType::i64).element == "<i8");
    CHECK(saved(ElementType::boolean).element == "|b1");
    CHECK(saved(ElementType::boolean).values == std::vector<double>{0, 1, 1, 1});
    const std::uint16_t brain[] = {0x3f80, 0x4000};  // 1 and 2
    write_npy(folder / "b.npy", {2}, brain, sizeof brain, ElementType::bf16);
    CHECK(read_npy(folder / "b.npy").values == std::vector<double>{1, 2});
}

TEST_CASE("npy: the bytes are numpy's own") {
    const TemporaryFolder folder;
    write_npy(folder / "a.npy", {2}, {1, 2}, ElementType::f32);
    CHECK(read_bytes(folder / "a.npy") ==
          npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", bytes_of<float>({1, 2})));
    const float raw[] = {1, 2};
    write_npy(folder / "b.npy", {2}, raw, sizeof raw, ElementType::f32);
    CHECK(read_bytes(folder / "b.npy") == read_bytes(folder / "a.npy"));
}

TEST_CASE("npy: types, byte orders, array orders and versions") {
    const TemporaryFolder folder;
    const std::string path = folder / "a.npy";
    const auto read = [&](const std::string& descr, const std::string& values,
                          const std::string& shape = "(2,)", const std::string& fortran = "False",
                          int version = 1) {
        write_bytes(path, npy("{'descr': '" + descr + "', 'fortran_order': " + fortran +
                                  ", 'shape': " + shape + ", }",
                              values, version));
        return read_npy(path).values;
    };
    const std::vector<double> two{-2, 7};
    CHECK(read("<f4", bytes_of<float>({-2, 7})) == two);
    CHECK(read(">f4", bytes_of<float>({-2, 7}, true)) == two);
    CHECK(read(">f8", bytes_of<double>({-2, 7}, true)) == two);
    CHECK(read("<i4", bytes_of<std::int32_t>({-2, 7})) == two);
    CHECK(read(">i8", bytes_of<std::int64_t>({-2, 7}, true)) == two);
    CHECK(read("|i1", bytes_of<std::int8_t>({-2, 7})) == two);
    CHECK(read("|u1", bytes_of<std::uint8_t>({200, 7})) == std::vector<double>{200, 7});
    CHECK(read("|b1", bytes_of<std::uint8_t>({1, 0})) == std::vector<double>{1, 0});
    CHECK(read("<f8", bytes_of<double>({-2, 7}), "(2,)", "False", 2) == two);
    CHECK(read("<f8", bytes_of<double>({-2, 7}), "(2,)", "False", 3) == two);
    CHECK(read("<f8", bytes_of<double>({5}), "()") == std::vector<double>{5});
    // a[i][j] = 10 i + j; in Fortran order i runs fastest.
    CHECK(read("<f8", bytes_of<double>({0, 10, 1, 11, 2, 12}), "(2, 3)", "True") ==
          std::vector<double>{0, 1, 2, 10, 11, 12});
    CHECK(read("<i4", bytes_of<std::int32_t>({0, 100, 10, 110, 1, 101, 11, 111}), "(2, 2, 2)", "True") ==
          std::vector<double>{0, 1, 10, 11, 100, 101, 110, 111});
}

TEST_CASE("npy: odd files are refused with the reason") {
    const TemporaryFolder folder;
    const std::string path = folder / "odd.npy";
    const std::string good = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                                 bytes_of<double>({1, 2, 3, 4, 5, 6}));
    CHECK(contains(message(folder / "none.npy"), "there is no such file"));
    CHECK(contains(message(folder.path().string()), "it is a folder"));
    write_bytes(path, "");
    CHECK(contains(message(path), "it is no .npy file"));
    write_bytes(path, "x,y\n1,2\n3,4\n");
    CHECK(contains(message(path), "it is no .npy file"));
    write_bytes(path, good.substr(0, good.size() - 1));
    CHECK(contains(message(path), "it is cut short: shape (2, 3) of <f8 takes 48 bytes, and 47 are there"));
    write_bytes(path, good + "1");
    CHECK(contains(message(path), "it is longer than its header says"));
    write_bytes(path,
                npy("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", std::string(16, '\0')));
    CHECK(contains(message(path), "of type '<U4'"));
    write_bytes(path,
                npy("{'descr': '<c16', 'fortran_order': True, 'shape': (1, 1), }", std::string(16, '\0')));
    CHECK(contains(message(path), "in C order"));
    write_bytes(path, npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"));
    CHECK(contains(message(path), "records"));
    write_bytes(
        path, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (900000000000000000, 400), }", "1234"));
    CHECK(contains(message(path), "too large"));
    for (const char* damaged :
         {"", "{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': No, 'shape': (1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
        write_bytes(path, npy(damaged, "1234"));
        CHECK(contains(message(path), "header is damaged"));
    }
    // Every cut of the file is refused, none crashes.
    for (std::size_t length = 0; length < good.size(); ++length) {
        write_bytes(path, good.substr(0, length));
        CHECK_FALSE(message(path).empty());
    }
}

TEST_CASE("npy: a wrong shape names both, and the transposed one the mend") {
    const TemporaryFolder folder;
    write_npy(folder / "a.npy", {2, 3}, {1, 2, 3, 4, 5, 6}, ElementType::f64);
    CHECK(read_npy(folder / "a.npy", {2, 3}, "field u").values.size() == 6);
    try {
        read_npy(folder / "a.npy", {3, 2}, "field u");
        CHECK(false);
    } catch (const Error& error) {
        CHECK(contains(error.what(), "its shape is (2, 3), and field u needs (3, 2)"));
        CHECK(contains(error.what(), "array.T"));
    }
}

TEST_CASE("npy: a file that cannot be written leaves nothing behind") {
    const TemporaryFolder folder;
    const auto write = [](const std::string& path) {
        try {
            write_npy(path, {1}, {1}, ElementType::f64);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(contains(write(folder / "none/a.npy"), "does not exist"));
    CHECK(contains(write(folder.path().string()), "a folder has that name"));
    if (std::filesystem::exists("/dev/full")) CHECK(contains(write("/dev/full"), "the disk is full"));
    CHECK(std::filesystem::is_empty(folder.path()));
    // An older file is replaced at once; through a link, the file it points at.
    write_bytes(folder / "old.npy", "old");
    std::filesystem::create_symlink("old.npy", folder.path() / "link.npy");
    CHECK(write(folder / "link.npy").empty());
    CHECK(std::filesystem::is_symlink(folder.path() / "link.npy"));
    CHECK(read_npy(folder / "old.npy").values == std::vector<double>{1});
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("complex numbers are pairs, the last axis") {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "z.npy").string();
    const std::vector<double> pairs{1, -2, 3, 0.5, 0, 7};
    write_npy_complex(path, {3}, pairs.data(), pairs.size() * sizeof(double), ElementType::f64);
    CHECK(read_bytes(path).find("'<c16'") != std::string::npos);
    const NpyArray back = read_npy(path, {3, 2}, "field z");
    CHECK(back.values == pairs);
}
