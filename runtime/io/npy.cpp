#include "runtime/io/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/npy_format.h"

namespace halo::rt {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

namespace {

constexpr std::size_t kConvertedInNpy = 1 << 16;  // values converted at a time

// Fortran order has the first axis of the shape fastest; C order the last.
std::vector<double> to_c_order(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
    const std::size_t rank = shape.size();
    std::vector<std::size_t> stride(rank, 1);  // in `values`, by axis
    for (std::size_t axis = 1; axis < rank; ++axis)
        stride[axis] = stride[axis - 1] * static_cast<std::size_t>(shape[axis - 1]);
    std::vector<double> result(values.size());
    std::vector<std::int64_t> index(rank, 0);
    std::size_t from = 0;
    for (double& value : result) {
        value = values[from];
        for (std::size_t axis = rank; axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < shape[axis]) break;
            from -= stride[axis] * static_cast<std::size_t>(shape[axis]);
            index[axis] = 0;
        }
    }
    return result;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
    const NpyNumbers input = open_npy_numbers(path);
    const std::size_t count = input.count, bytes = input.element.bytes;
    NpyArray array{input.header.shape, std::vector<double>(count), input.header.descr};
    std::vector<unsigned char> chunk(kConvertedInNpy * bytes);
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(kConvertedInNpy, count - done);
        if (std::fread(chunk.data(), bytes, now, input.file.get()) != now)
            refuse_npy(path, std::ferror(input.file.get()) ? std::strerror(errno) : "it is cut short");
        for (std::size_t i = 0; i < now; ++i)
            array.values[done + i] = input.element.widen(chunk.data() + i * bytes, input.swap);
        done += now;
    }
    if (input.header.fortran_order && input.header.shape.size() > 1)
        array.values = to_c_order(array.values, input.header.shape);
    return array;
}

NpyArray read_npy(const std::string& path, const std::vector<std::int64_t>& shape, const std::string& what) {
    NpyArray array = read_npy(path);
    if (array.shape != shape) refuse_npy(path, npy_shape_mismatch(array.shape, shape, what));
    return array;
}

// ---- writing
// ---------------------------------------------------------------------------------------------------

namespace {

void write_header(AtomicFile& file, const std::vector<std::int64_t>& shape, const std::string& descr) {
    const std::string header = npy_header(shape, descr);
    file.write(header.data(), header.size());
}

}  // namespace

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, ElementType type) {
    if (values.size() != npy_count(shape))
        throw std::logic_error("write_npy: shape " + print_npy_shape(shape) + " of " +
                               std::to_string(values.size()) + " values");
    if (type == ElementType::f64) return write_npy(path, shape, values.data(), values.size() * 8, type);
    AtomicFile file(path);
    write_header(file, shape, npy_descr(type));
    const ElementType in_file = type == ElementType::bf16 ? ElementType::f32 : type;
    const auto size = static_cast<std::size_t>(size_of(in_file));
    std::vector<char> chunk(kConvertedInNpy * size);
    for (std::size_t done = 0; done < values.size();) {
        const std::size_t now = std::min(kConvertedInNpy, values.size() - done);
        encode(values.data() + done, static_cast<std::int64_t>(now), in_file, chunk.data());
        file.write(chunk.data(), now * size);
        done += now;
    }
    file.commit();
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
               std::size_t bytes, ElementType type) {
    if (bytes != npy_count(shape) * static_cast<std::size_t>(size_of(type)))
        throw std::logic_error("write_npy: shape " + print_npy_shape(shape) + " in " + std::to_string(bytes) +
                               " bytes");
    if (type == ElementType::bf16) {
        std::vector<double> widened(npy_count(shape));
        decode(values, static_cast<std::int64_t>(widened.size()), type, widened.data());
        return write_npy(path, shape, widened, ElementType::f32);
    }
    AtomicFile file(path);
    write_header(file, shape, npy_descr(type));
    file.write(values, bytes);
    file.commit();
}

void write_npy_complex(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
                       std::size_t bytes, ElementType type) {
    if (bytes != 2 * npy_count(shape) * static_cast<std::size_t>(size_of(type)))
        throw std::logic_error("write_npy_complex: shape " + print_npy_shape(shape) + " in " +
                               std::to_string(bytes) + " bytes");
    AtomicFile file(path);
    write_header(file, shape, type == ElementType::f32 ? "<c8" : "<c16");
    file.write(values, bytes);
    file.commit();
}

}  // namespace halo::rt
