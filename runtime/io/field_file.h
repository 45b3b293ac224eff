// Files with fields of one grid, written and read box by box: by several ranks side by side, and with a part
// at a time in the host's memory. What a format adds is where in the file the elements lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/box.h"
#include "runtime/io/shared_file.h"

namespace halo::rt {

// A field as an array: cells along each axis, and past them the components, which lie side by side.
struct FieldShape {
    rt::Extent extent{};  // x first; 1 past the rank
    int rank = kMaxRank;
    std::int64_t components = 1;
    bool is_complex = false;  // the two components are one complex number

    std::vector<std::int64_t> cells() const;  // slowest axis first
    std::vector<std::int64_t> elements()
        const;  // the same, and an axis of components where there are several
};

// What a file holds: elements in C order, array after array, and the bytes that say what they are.
struct FieldLayout {
    struct Array {
        std::int64_t begin = 0;                       // byte of its first element
        std::int64_t components = 1;                  // elements of a cell
        ElementType type = ElementType::f32;          // of what is written
        ElementType type_in_file = ElementType::f32;  // what it becomes
        rt::Extent extent{};
    };
    std::vector<Array> arrays;
    std::vector<std::pair<std::int64_t, std::string>> rest;  // by place; the first rank's are written
};

class FieldFile {
public:
    // Collective. The ranks must outlive it. Throws Error (io) on all ranks.
    FieldFile(Ranks& ranks, const std::string& path, FieldLayout layout);

    // `elements`: of the box's cells, x fastest, in the array's type. All that ranks write comes to the whole
    // array, each cell once. What goes wrong is thrown by commit().
    void write(std::size_t array, const Box& box, const void* elements);
    void commit();  // collective, as SharedFile has it

    // Of a file that grows: where an array's next elements begin, and bytes beside the elements.
    void move_array(std::size_t array, std::int64_t begin) { layout_.arrays[array].begin = begin; }
    void write_rest(std::int64_t begin, const std::string& bytes);
    void flush() { file_.flush(); }  // collective
    bool is_plain() const { return !file_.temporary().empty(); }

private:
    void write_row(const FieldLayout::Array& array, std::int64_t first, const void* elements,
                   std::int64_t count);

    SharedFile file_;
    FieldLayout layout_;
};

class FieldReader {
public:
    virtual ~FieldReader() = default;
    // The cells of a box with their components, as elements of `type`, to which they are rounded. Throws
    // Error (io).
    virtual void read(const Box& box, ElementType type, void* elements) = 0;
};

// Throw Error (io): a file cannot be read, and why; it holds an array of this shape, and `what` ("field u")
// needs another.
[[noreturn]] void refuse_file(const std::string& path, const std::string& why);
struct ShapeInFile {
    std::vector<std::int64_t> extents;  // complex numbers are an axis of 2 more
    bool is_complex = false;
};
[[noreturn]] void refuse_shape(const std::string& path, const ShapeInFile& found, const FieldShape& wanted,
                               const std::string& what);

}  // namespace halo::rt
