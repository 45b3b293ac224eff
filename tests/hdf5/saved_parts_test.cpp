// Random parts of fields, saved as .npy and HDF5, are those cells of the whole field.
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/io/npy.h"

using namespace halo::test;

namespace {

constexpr int kCells[3] = {11, 6, 9};  // x, y, z

const std::string kSpec = R"(stencil grown(x, y, z) {
    field u: f32 { boundary clamp }
    field v: (a: f32, b: i32)
    field psi: c64
    u[t+1] = u + 0.1 * laplacian(u)
    v[t+1] = v
    psi[t+1] = 1i * psi
}
run grown {
    grid 11, 6, 9
    steps 2
    init u = idx(x) + 20*idx(y) + 400*idx(z)
    init v.a = idx(z)
    init v.b = idx(x) * idx(y)
    init psi = idx(x) + 1i * idx(z)
)";

// Cells along an axis that are saved.
struct Along {
    int begin = 0, count = 0, stride = 1;
    bool is_plane = false;
};

struct Part {
    std::string words, option;  // of the run block, and of the command line
    Along along[3];
};

class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}
    int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

    Part part() {
        Part result;
        std::string cuts, ranges;
        const int kept = below(3);  // an axis that stays
        for (int axis = 0; axis < 3; ++axis) {
            Along& along = result.along[axis];
            along = {0, kCells[axis], 1, false};
            const std::string name(1, "xyz"[axis]);
            const int kind = below(4);
            if (kind == 0) continue;
            if (kind == 1 && axis != kept) {
                along = {below(kCells[axis]), 1, 1, true};
                cuts += (cuts.empty() ? " at " : ", ") + name + " = " + std::to_string(along.begin);
                result.option += "@" + name + "=" + std::to_string(along.begin);
                continue;
            }
            const int low = below(kCells[axis]), high = low + below(kCells[axis] - low);
            along.begin = low;
            along.stride = 1 + below(3);
            along.count = (high - low) / along.stride + 1;
            const auto end = [&](int cell) {
                return std::to_string(below(2) == 0 ? cell : cell - kCells[axis]);
            };
            const std::string range = end(low) + ".." + end(high);
            ranges += (ranges.empty() ? " on " : ", ") + name + " in " + range;
            result.option += "@" + name + "=" + range;
            if (along.stride == 1 && below(2) == 0) continue;
            ranges += " every " + std::to_string(along.stride);
            result.option += ":" + std::to_string(along.stride);
        }
        result.words = cuts + ranges;
        return result;
    }

private:
    std::mt19937 random_;
};

struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> values;
};

Array part_of(const Array& whole, const Part& part) {
    Array result;
    const std::int64_t components = whole.shape.size() > 3 ? whole.shape.back() : 1;
    for (int axis = 3; axis-- > 0;)
        if (!part.along[axis].is_plane) result.shape.push_back(part.along[axis].count);
    if (components > 1) result.shape.push_back(components);
    const auto cell = [&](int axis, int i) { return part.along[axis].begin + i * part.along[axis].stride; };
    for (int k = 0; k < part.along[2].count; ++k)
        for (int j = 0; j < part.along[1].count; ++j)
            for (int i = 0; i < part.along[0].count; ++i)
                for (std::int64_t c = 0; c < components; ++c)
                    result.values.push_back(whole.values[static_cast<std::size_t>(
                        ((cell(2, k) * kCells[1] + cell(1, j)) * kCells[0] + cell(0, i)) * components + c)]);
    return result;
}

void run(const Folder& folder, const std::string& block, std::vector<std::string> options) {
    folder.write("grown.halo", kSpec + block + "}\n");
    options.insert(options.begin(), {"run", "grown.halo", "--device", "interpreter", "-q"});
    const Outcome outcome = folder.haloc(options);
    INFO(block);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
}

Array npy(const Folder& folder, const std::string& name) {
    const halo::rt::NpyArray array = halo::rt::read_npy(folder.path() + "/" + name);
    return {array.shape, array.values};
}

}  // namespace

TEST_CASE("parts of fields are these cells of the whole") {
    const Folder folder;
    const bool has_hdf5 = halo::rt::find_hdf5().found;
    run(folder, "save u to \"u.npy\"\nsave v to \"v.npy\"\nsave psi.im to \"psi.im.npy\"\n", {});
    const std::vector<std::string> fields{"u", "v", "psi.im"};
    std::vector<Array> wholes;
    for (const std::string& field : fields)
        wholes.push_back(npy(folder, field + ".npy"));
    Random random(7);
    for (int turn = 0; turn < 12; ++turn) {
        std::string block;
        std::vector<std::string> options;
        std::vector<std::pair<std::size_t, Part>> parts;
        for (int i = 0; i < 8; ++i) {
            const std::size_t field = static_cast<std::size_t>(random.below(3));
            const Part part = random.part();
            const std::string name = std::to_string(i);
            block += "save " + fields[field] + part.words + " to \"block" + name + ".npy\"\n";
            if (has_hdf5) block += "save " + fields[field] + part.words + " to \"block" + name + ".h5\"\n";
            parts.emplace_back(field, part);
        }
        run(folder, block, options);
        for (const auto& [field, part] : parts)
            options.insert(options.end(), {"--save", fields[field] + part.option + "=option" +
                                                         std::to_string(options.size() / 2) + ".npy"});
        run(folder, "", options);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const auto& [field, part] = parts[i];
            INFO(fields[field] << part.words << ", " << part.option);
            const Array expected = part_of(wholes[field], part);
            for (const char* way : {"block", "option"}) {
                const Array found = npy(folder, way + std::to_string(i) + ".npy");
                CHECK(found.shape == expected.shape);
                CHECK(found.values == expected.values);
            }
            if (!has_hdf5) continue;
            halo::rt::FieldShape shape;
            shape.rank = 0;
            for (int axis = 0; axis < 3; ++axis)
                if (!part.along[axis].is_plane)
                    shape.extent[static_cast<std::size_t>(shape.rank++)] = part.along[axis].count;
            shape.components = wholes[field].shape.size() > 3 ? 2 : 1;
            std::vector<double> values(expected.values.size());
            halo::rt::open_hdf5_field(folder.path() + "/block" + std::to_string(i) + ".h5",
                                      "/" + fields[field], shape, "the test")
                ->read(halo::rt::whole_box(shape.extent), halo::rt::ElementType::f64, values.data());
            CHECK(values == expected.values);
        }
    }
}
