#include "runtime/hdf5/hdf5.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "catch.h"
#include "foreign_file.h"
#include "four_boxes.h"
#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/hdf5/contents.h"
#include "skip.h"
#include "temporary_folder.h"
#include "thread_ranks.h"

using namespace halo::rt;
using halo::test::as_ranks;
using halo::test::ForeignFile;

namespace {

const SkipUnless library(find_hdf5().found, find_hdf5().detail);

const FieldShape kGrid{{5, 7, 6}, 3};
const Box kWhole = whole_box(kGrid.extent);

Hdf5Field field_of(const std::string& name, const FieldShape& shape, ElementType type) {
    Hdf5Field field{name, shape, type, "heat", 12, 1.5, {"z", "y", "x"}, {1, 2, 3}, {0, 0, 0.5}};
    field.axes.resize(static_cast<std::size_t>(shape.rank));
    field.spacing.resize(field.axes.size());
    return field;
}

std::vector<double> numbers(std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(i % 200) + 0.25 * static_cast<double>(i % 3);
    return values;
}

std::vector<char> encoded(const std::vector<double>& values, ElementType type) {
    std::vector<char> elements(values.size() * static_cast<std::size_t>(size_of(type)));
    encode(values.data(), static_cast<std::int64_t>(values.size()), type, elements.data());
    return elements;
}

std::vector<double> decoded(const std::vector<char>& elements, ElementType type) {
    std::vector<double> values(elements.size() / static_cast<std::size_t>(size_of(type)));
    decode(elements.data(), static_cast<std::int64_t>(values.size()), type, values.data());
    return values;
}

std::vector<double> read_all(const std::string& path, const std::string& dataset, const FieldShape& shape,
                             ElementType type) {
    const Box whole = whole_box(shape.extent);
    std::vector<char> elements(static_cast<std::size_t>(whole.cells() * shape.components * size_of(type)));
    open_hdf5_field(path, dataset, shape, "field u")->read(whole, type, elements.data());
    return decoded(elements, type);
}

std::string refusal(const std::string& path, const std::string& dataset, const FieldShape& shape) {
    try {
        open_hdf5_field(path, dataset, shape, "field u");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        return error.what();
    }
    return "none";
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("fields of each type and rank come back from one HDF5 file") {
    TemporaryFolder folder;
    const auto ranks = single_rank();
    const std::string path = folder / "all.h5";
    for (const FieldShape& shape :
         {FieldShape{{9, 1, 1}, 1}, FieldShape{{5, 7, 1}, 2}, kGrid, FieldShape{{5, 7, 6}, 3, 4}}) {
        std::vector<Hdf5Field> fields;
        for (const ElementType type :
             {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16, ElementType::u8,
              ElementType::i32, ElementType::i64, ElementType::boolean})
            fields.push_back(field_of(name_of(type), shape, type));
        const Box whole = whole_box(shape.extent);
        const std::vector<double> values = numbers(whole.cells() * shape.components);
        FieldFile file(*ranks, path, hdf5_layout(*ranks, fields));
        for (std::size_t i = 0; i < fields.size(); ++i)
            file.write(i, whole, encoded(values, fields[i].type).data());
        file.commit();
        for (const Hdf5Field& field : fields) {
            const std::vector<double> expected = decoded(encoded(values, field.type), field.type);
            INFO(field.name);
            CHECK(read_all(path, "/" + field.name, shape, field.type) == expected);
            CHECK(read_all(path, "/" + field.name, shape, ElementType::f64) == expected);
        }
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("what a file says of its run comes back, of any length, and the elements with it") {
    TemporaryFolder folder;
    const auto ranks = single_rank();
    const std::string path = folder / "said.h5";
    const FieldShape shape{{6, 1, 1}, 1};
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    for (const std::size_t length : {1UL, 4096UL, 61440UL, 61441UL, 400000UL}) {
        std::string said(length, 'a');
        for (std::size_t i = 0; i < length; ++i)
            said[i] = static_cast<char>('a' + i % 23);
        FieldFile file(*ranks, path, hdf5_layout(*ranks, {field_of("u", shape, ElementType::f32)}, said));
        file.write(0, whole_box(shape.extent), values.data());
        file.commit();
        const Hdf5Contents contents(path);
        INFO(length);
        CHECK(contents.text(kProvenance) == said);
        REQUIRE(contents.arrays().size() == 1);
        CHECK(contents.arrays()[0].shape == std::vector<std::int64_t>{6});
        std::vector<float> back(3);
        contents.read(contents.arrays()[0], 2, 3, back.data());
        CHECK(back == std::vector<float>{3, 4, 5});
    }
    CHECK(Hdf5Contents(path).text("other") == std::nullopt);
}

TEST_CASE("an i64 that no double holds comes back") {
    TemporaryFolder folder;
    const auto ranks = single_rank();
    const FieldShape shape{{1, 1, 1}, 1};
    const std::int64_t large = (std::int64_t{1} << 60) + 1;
    FieldFile file(*ranks, folder / "n.h5", hdf5_layout(*ranks, {field_of("n", shape, ElementType::i64)}));
    file.write(0, whole_box(shape.extent), &large);
    file.commit();
    std::int64_t back = 0;
    open_hdf5_field(folder / "n.h5", "/n", shape, "n")
        ->read(whole_box(shape.extent), ElementType::i64, &back);
    CHECK(back == large);
}

TEST_CASE("ranks write the file that one rank writes, bit by bit") {
    TemporaryFolder folder;
    const std::vector<double> values = numbers(kWhole.cells());
    const auto write = [&](Ranks& ranks, const std::string& path, const std::vector<Box>& boxes) {
        FieldFile file(ranks, path,
                       hdf5_layout(ranks, {field_of("u", kGrid, ElementType::f32),
                                           field_of("v", kGrid, ElementType::bf16)}));
        for (const Box& box : boxes) {
            std::vector<double> part;
            for_runs(box, box, kWhole, [&](std::int64_t, std::int64_t first, std::int64_t count) {
                part.insert(part.end(), values.begin() + first, values.begin() + first + count);
            });
            file.write(0, box, encoded(part, ElementType::f32).data());
            file.write(1, box, encoded(part, ElementType::bf16).data());
        }
        file.commit();
    };
    write(*single_rank(), folder / "one.h5", {kWhole});
    for (const std::string& trouble : as_ranks(4, [&](Ranks& ranks) {
             write(ranks, folder / "four.h5", {four_boxes()[static_cast<std::size_t>(ranks.rank())]});
         }))
        CHECK(trouble.empty());
    CHECK(bytes_of(folder / "one.h5") == bytes_of(folder / "four.h5"));
    for (const Box& box : four_boxes()) {
        std::vector<double> part(static_cast<std::size_t>(box.cells()));
        open_hdf5_field(folder / "four.h5", "/u", kGrid, "u")->read(box, ElementType::f64, part.data());
        for_runs(box, box, kWhole, [&](std::int64_t here, std::int64_t first, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
                CHECK(part[static_cast<std::size_t>(here + i)] ==
                      values[static_cast<std::size_t>(first + i)]);
        });
    }
}

TEST_CASE("a file is laid out without room for its elements") {
    const FieldShape large{{8192, 8192, 8192}, 3};  // 4 TB
    const FieldLayout layout = hdf5_layout(
        *single_rank(), {field_of("u", large, ElementType::f64), field_of("v", large, ElementType::f64)});
    std::size_t rest = 0;
    for (const auto& [begin, bytes] : layout.rest)
        rest += bytes.size();
    CHECK(rest < 16384);
    CHECK(std::abs(layout.arrays[0].begin - layout.arrays[1].begin) >= std::int64_t{1} << 42);
}

TEST_CASE("what one rank cannot write fails on all, and leaves nothing behind") {
    TemporaryFolder folder;
    for (const std::string& trouble : as_ranks(3, [&](Ranks& ranks) {
             FieldFile(ranks, folder / "none/u.h5",
                       hdf5_layout(ranks, {field_of("u", kGrid, ElementType::f32)}));
         }))
        CHECK(trouble.find("does not exist") != std::string::npos);
    for (const std::string& trouble : as_ranks(3, [&](Ranks& ranks) {
             FieldLayout layout = hdf5_layout(ranks, {field_of("u", kGrid, ElementType::f32)});
             if (ranks.rank() == 2) layout.arrays[0].begin = -4000;  // before the file's begin
             FieldFile file(ranks, folder / "u.h5", layout);
             file.write(0, kWhole, std::vector<float>(210).data());
             file.commit();
         }))
        CHECK(trouble.find("cannot write") != std::string::npos);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("datasets of other programs are read, whatever their type and layout") {
    TemporaryFolder folder;
    const std::string path = folder / "other.h5";
    std::vector<double> values = numbers(kWhole.cells());
    {
        ForeignFile file(path);
        const auto f64 = file.constant("H5T_NATIVE_DOUBLE");
        file.add("chunked", file.constant("H5T_IEEE_F32LE"), f64, {6, 7, 5}, values.data(), {4, 4, 4});
        file.add("big", file.constant("H5T_IEEE_F64BE"), f64, {6, 7, 5}, values.data());
        file.add("short", file.constant("H5T_STD_I16BE"), f64, {6, 7, 5}, values.data());
        file.add_group("run");
        file.add("run/u", file.constant("H5T_IEEE_F32BE"), f64, {6, 7, 5}, values.data());
        const std::vector<signed char> truth{0, 1, 1, 0, 1};
        file.add("truth", file.truth(), file.truth(), {5}, truth.data());
        file.add("text", file.constant("H5T_C_S1"), file.constant("H5T_C_S1"), {5}, "abcde");
    }
    std::vector<double> whole_numbers = values;
    std::ranges::transform(values, whole_numbers.begin(), [](double value) { return std::trunc(value); });
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
        CHECK(read_all(path, "/chunked", kGrid, type) == values);
        CHECK(read_all(path, "/big", kGrid, type) == values);
        CHECK(read_all(path, "/run/u", kGrid, type) == values);
        CHECK(read_all(path, "/short", kGrid, type) == whole_numbers);
    }
    const FieldShape five{{5, 1, 1}, 1};
    CHECK(read_all(path, "/truth", five, ElementType::boolean) == std::vector<double>{0, 1, 1, 0, 1});
    CHECK(refusal(path, "/text", five).find("are no numbers") != std::string::npos);
    CHECK(refusal(path, "/run", five).find("it has no dataset /run; it has /big, /chunked, /run") !=
          std::string::npos);
}

TEST_CASE("complex numbers are compounds of r and i") {
    TemporaryFolder folder;
    const auto ranks = single_rank();
    const FieldShape shape{{3, 2, 1}, 2, 2, true};
    std::vector<std::complex<float>> values;
    for (int i = 0; i < 6; ++i)
        values.emplace_back(static_cast<float>(i), 0.5F);
    FieldFile file(*ranks, folder / "c.h5", hdf5_layout(*ranks, {field_of("c", shape, ElementType::f32)}));
    file.write(0, whole_box(shape.extent), values.data());
    file.commit();
    std::vector<double> expected;
    for (const std::complex<float>& value : values)
        expected.insert(expected.end(), {value.real(), value.imag()});
    CHECK(read_all(folder / "c.h5", "/c", shape, ElementType::f32) == expected);
    CHECK(refusal(folder / "c.h5", "/c", {{3, 2, 1}, 2}).find("its elements are complex numbers") !=
          std::string::npos);
}

TEST_CASE("what cannot be read is refused with the reason") {
    TemporaryFolder folder;
    const std::string path = folder / "u.h5";
    {
        ForeignFile file(path);
        const std::vector<double> values = numbers(kWhole.cells());
        file.add("u", file.constant("H5T_IEEE_F32LE"), file.constant("H5T_NATIVE_DOUBLE"), {6, 7, 5},
                 values.data());
    }
    const auto has = [](const std::string& text, const std::string& part) {
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
    };
    has(refusal(folder / "none.h5", "/u", kGrid), "there is no such file");
    has(refusal(folder / "", "/u", kGrid), "it is a folder");
    has(refusal(path, "/w", kGrid), "it has no dataset /w; it has /u (FILE.h5:/u names another)");
    has(refusal(path, "/u", {{5, 7, 5}, 3}), "its shape is (6, 7, 5), and field u needs (5, 7, 5)");
    has(refusal(path, "/u", {{6, 7, 5}, 3}), "opposite order");
    has(refusal(path, "/u", {{5, 7, 1}, 2}), "needs (7, 5)");
    std::ofstream(folder / "text.h5") << "no HDF5 at all";
    has(refusal(folder / "text.h5", "/u", kGrid), "it is no HDF5 file, or a damaged one");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 100);
    has(refusal(path, "/u", kGrid), "truncated file");
}
