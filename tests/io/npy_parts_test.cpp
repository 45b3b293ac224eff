#include "runtime/io/npy_parts.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "catch.h"
#include "four_boxes.h"
#include "runtime/core/box.h"
#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/io/npy.h"
#include "runtime/ranks/together.h"
#include "temporary_folder.h"
#include "thread_ranks.h"

using namespace halo::rt;
using halo::test::as_ranks;

namespace {

const halo::rt::Extent kExtent{5, 7, 6};
const Box kWhole = whole_box(kExtent);
const FieldShape kGrid{kExtent, 3};

std::vector<double> numbers() {
    std::vector<double> values(static_cast<std::size_t>(kWhole.cells()));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

FieldFile open_file(Ranks& ranks, const std::string& path, const FieldShape& shape, ElementType type) {
    return {ranks, path, npy_layout(shape, type)};
}

void write_box(FieldFile& file, const Box& box, ElementType type) {
    const std::vector<double> values = numbers();
    std::vector<char> elements;
    for_runs(box, box, kWhole, [&](std::int64_t, std::int64_t in_whole, std::int64_t count) {
        const std::size_t before = elements.size();
        elements.resize(before + static_cast<std::size_t>(count * size_of(type)));
        encode(values.data() + in_whole, count, type, elements.data() + before);
    });
    file.write(0, box, elements.data());
}

int files_in(const TemporaryFolder& folder) {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

}  // namespace

TEST_CASE("ranks write their parts of one array") {
    TemporaryFolder folder;
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::i64}) {
        const std::string path = folder / "u.npy";
        const auto troubles = as_ranks(4, [&](Ranks& ranks) {
            FieldFile file = open_file(ranks, path, kGrid, type);
            write_box(file, four_boxes()[static_cast<std::size_t>(ranks.rank())], type);
            file.commit();
        });
        for (const std::string& trouble : troubles)
            CHECK(trouble.empty());
        const NpyArray array = read_npy(path, {6, 7, 5}, "u");
        std::vector<double> expected = numbers();
        for (double& value : expected) {
            std::array<char, 8> element{};
            encode(value, type, element.data());
            value = decode(element.data(), type);
        }
        CHECK(array.values == expected);
        CHECK(files_in(folder) == 1);
    }
}

TEST_CASE("what one rank cannot write fails on all, and leaves nothing behind") {
    TemporaryFolder folder;
    for (const std::string& trouble :
         as_ranks(3, [&](Ranks& ranks) { open_file(ranks, folder / "none/u.npy", kGrid, ElementType::f32); }))
        CHECK(trouble.find("does not exist") != std::string::npos);
    for (const std::string& trouble : as_ranks(3, [&](Ranks& ranks) {
             FieldFile file = open_file(ranks, folder / "u.npy", {{3, 1, 1}, 1}, ElementType::f64);
             const double value = 1;
             const std::int64_t cell = ranks.rank() == 2 ? -1000 : ranks.rank();  // before the file's begin
             file.write(0, {{cell, 0, 0}, {cell + 1, 1, 1}}, &value);
             file.commit();
         }))
        CHECK(trouble.find("cannot write") != std::string::npos);
    CHECK(files_in(folder) == 0);
    for (const std::string& trouble : as_ranks(2, [&](Ranks& ranks) {
             together(ranks, [&] {
                 if (ranks.rank() == 1) throw Error(ErrorCode::out_of_memory, "no room");
             });
         }))
        CHECK(trouble.find("no room") != std::string::npos);
}

TEST_CASE("a part of an array is read as the elements that are wanted") {
    TemporaryFolder folder;
    const std::string path = folder / "u.npy";
    for (const ElementType in_file : {ElementType::f32, ElementType::f64, ElementType::i32}) {
        write_npy(path, {6, 7, 5}, numbers(), in_file);
        const auto reader = open_npy_field(path, kGrid, "field u");
        for (const ElementType type :
             {ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::i64}) {
            const Box box{{1, 2, 3}, {4, 7, 5}};
            std::vector<double> values(static_cast<std::size_t>(box.cells())), expected;
            std::vector<char> elements(values.size() * static_cast<std::size_t>(size_of(type)));
            reader->read(box, type, elements.data());
            decode(elements.data(), box.cells(), type, values.data());
            for_runs(box, box, kWhole, [&](std::int64_t, std::int64_t first, std::int64_t count) {
                for (std::int64_t i = 0; i < count; ++i)
                    expected.push_back(static_cast<double>(first + i + 1));
            });
            CHECK(values == expected);
        }
    }
    std::string refused;
    try {
        open_npy_field(path, {{6, 7, 5}, 3}, "field u");
    } catch (const Error& error) {
        refused = error.what();
    }
    CHECK(refused.find("opposite order") != std::string::npos);

    const std::int64_t large = (std::int64_t{1} << 60) + 1;  // no double holds it
    write_npy(path, {1}, &large, sizeof large, ElementType::i64);
    std::int64_t back = 0;
    open_npy_field(path, {{1, 1, 1}, 1}, "n")->read(whole_box({1, 1, 1}), ElementType::i64, &back);
    CHECK(back == large);
}

TEST_CASE("complex numbers for a real field, and real ones for a complex field, are told apart from shapes") {
    TemporaryFolder folder;
    const std::string path = folder / "z.npy";
    const std::vector<float> pairs(6, 1);
    const auto refusal = [&](const FieldShape& shape) {
        try {
            open_npy_field(path, shape, "field u");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const FieldShape real{{3, 1, 1}, 1}, complex{{3, 1, 1}, 1, 2, true};
    write_npy_complex(path, {3}, pairs.data(), pairs.size() * sizeof(float), ElementType::f32);
    CHECK(refusal(real).find("its elements are complex numbers, and field u has real ones") !=
          std::string::npos);
    CHECK(refusal(complex).empty());
    CHECK(refusal({{3, 1, 1}, 1, 2}).empty());  // two components are as good
    write_npy(path, {3}, {1, 2, 3}, ElementType::f32);
    CHECK(refusal(complex).find("its elements are real numbers, and field u has complex ones") !=
          std::string::npos);
    CHECK(refusal(real).empty());
}

TEST_CASE("slabs and runs have each cell of a box once") {
    for (const std::int64_t cells : {1, 4, 12, 36, 80, 1000}) {
        std::vector<int> seen(static_cast<std::size_t>(kWhole.cells()));
        const Box box{{1, 2, 1}, {5, 6, 6}};
        for (const Box& slab : slabs(box, cells)) {
            CHECK(slab.cells() <= std::max<std::int64_t>(cells, box.length(0)));
            std::int64_t next = 0;
            for_runs(slab, slab, kWhole, [&](std::int64_t here, std::int64_t there, std::int64_t count) {
                CHECK(here == next);
                next += count;
                for (std::int64_t i = 0; i < count; ++i)
                    ++seen[static_cast<std::size_t>(there + i)];
            });
            CHECK(next == slab.cells());
        }
        for (std::int64_t i = 0; i < kWhole.cells(); ++i) {
            const std::array<std::int64_t, kMaxRank> cell{i % 5, i / 5 % 7, i / 35};
            const bool is_inside =
                intersection({cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, box).cells() == 1;
            CHECK(seen[static_cast<std::size_t>(i)] == (is_inside ? 1 : 0));
        }
    }
}
