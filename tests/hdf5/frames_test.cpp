#include "runtime/hdf5/frames.h"

#include <filesystem>
#include <fstream>

#include "catch.h"
#include "contains.h"
#include "four_boxes.h"
#include "runtime/core/error.h"
#include "runtime/hdf5/contents.h"
#include "temporary_folder.h"
#include "thread_ranks.h"

using namespace halo::rt;
using halo::test::as_ranks;

namespace {

const FieldShape kCube{{5, 7, 6}, 3};

Hdf5Field cube_field(const std::string& name, const FieldShape& shape, ElementType type) {
    return {name, shape, type, "heat", 0, 0, {"z", "y", "x"}, {1, 2, 3}, {0, 0, 0.5}};
}

std::vector<float> frame_of_cube(std::int64_t frame, const Box& box) {
    std::vector<float> values;
    for_runs(box, box, whole_box(kCube.extent), [&](std::int64_t, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            values.push_back(static_cast<float>(1000 * frame + first + i));
    });
    return values;
}

void write_frames(Ranks& ranks, const std::string& path, std::int64_t count, const std::vector<Box>& boxes) {
    Hdf5Frames frames(
        ranks, path,
        {cube_field("u", kCube, ElementType::f32), cube_field("n", {{1, 1, 1}, 1}, ElementType::f32)}, "{}");
    for (std::int64_t i = 0; i < count; ++i) {
        frames.begin_frame(10 * i, 0.5 * static_cast<double>(i));
        for (const Box& box : boxes)
            frames.file().write(0, box, frame_of_cube(i, box).data());
        const auto number = static_cast<float>(i);
        if (ranks.is_first()) frames.file().write(1, whole_box({1, 1, 1}), &number);
        frames.finish_frame();
    }
    frames.commit();
}

// The frames that a file says it has, which must all be whole.
std::int64_t frames_in(const std::string& path) {
    const Hdf5Contents contents(path);
    REQUIRE(contents.arrays().size() == 4);  // n, step, time, u
    const Hdf5Array &n = contents.arrays()[0], &step = contents.arrays()[1], &time = contents.arrays()[2],
                    &u = contents.arrays()[3];
    const std::int64_t count = u.shape[0];
    CHECK(u.shape == std::vector<std::int64_t>{count, 6, 7, 5});
    CHECK(n.shape == std::vector<std::int64_t>{count, 1});
    std::vector<std::int64_t> steps(static_cast<std::size_t>(count));
    std::vector<double> times(steps.size());
    std::vector<float> cells(210), numbers(steps.size());
    contents.read(step, 0, count, steps.data());
    contents.read(time, 0, count, times.data());
    contents.read(n, 0, count, numbers.data());
    bool is_right = true;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        contents.read(u, i, 1, cells.data());
        is_right = is_right && cells == frame_of_cube(i, whole_box(kCube.extent)) && steps[at] == 10 * i &&
                   times[at] == 0.5 * static_cast<double>(i) && numbers[at] == static_cast<float>(i);
    }
    CHECK(is_right);
    return count;
}

std::string bytes_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("frames are added to one HDF5 file, few and many") {
    TemporaryFolder folder;
    for (const std::int64_t count : {1, 3, 540}) {
        write_frames(*single_rank(), folder / "f.h5", count, {whole_box(kCube.extent)});
        CHECK(frames_in(folder / "f.h5") == count);
        CHECK(Hdf5Contents(folder / "f.h5").text(kProvenance) == "{}");
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("ranks add the frames that one rank adds, bit by bit") {
    TemporaryFolder folder;
    write_frames(*single_rank(), folder / "one.h5", 20, {whole_box(kCube.extent)});
    for (const std::string& trouble : as_ranks(4, [&](Ranks& ranks) {
             write_frames(ranks, folder / "four.h5", 20,
                          {four_boxes()[static_cast<std::size_t>(ranks.rank())]});
         }))
        CHECK(trouble.empty());
    CHECK(frames_in(folder / "four.h5") == 20);
    CHECK(bytes_in(folder / "one.h5") == bytes_in(folder / "four.h5"));
}

TEST_CASE("after each frame the file that is being written has all so far") {
    TemporaryFolder folder;
    const auto ranks = single_rank();
    Hdf5Frames frames(
        *ranks, folder / "u.h5",
        {cube_field("u", kCube, ElementType::f32), cube_field("n", {{1, 1, 1}, 1}, ElementType::f32)}, "");
    for (std::int64_t i = 0; i < 4; ++i) {
        frames.begin_frame(10 * i, 0.5 * static_cast<double>(i));
        frames.file().write(0, whole_box(kCube.extent), frame_of_cube(i, whole_box(kCube.extent)).data());
        if (i > 0) {                       // a frame that is begun is not there
            const TemporaryFolder copies;  // the file itself is locked
            for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
                std::filesystem::copy_file(entry.path(), copies / "copy.h5");
                CHECK(frames_in(copies / "copy.h5") == i);
            }
        }
        const auto number = static_cast<float>(i);
        frames.file().write(1, whole_box({1, 1, 1}), &number);
        frames.finish_frame();
    }
    CHECK_FALSE(std::filesystem::exists(folder / "u.h5"));
    frames.commit();
    CHECK(frames_in(folder / "u.h5") == 4);
}

TEST_CASE("a frame that a chunk cannot hold is refused") {
    TemporaryFolder folder;
    try {
        Hdf5Frames(*single_rank(), folder / "u.h5",
                   {cube_field("u", {{1024, 1024, 1024}, 3}, ElementType::f32)}, "");
        FAIL("not refused");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        CHECK(contains(error.what(), "a frame of u takes 4 GB or more"));
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}
