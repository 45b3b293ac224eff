// libhdf5, opened: its functions and constants. Not for other rooms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/core/launch_plan.h"

namespace halo::rt::hdf5 {

using Id = std::int64_t;
using Size = unsigned long long;
using Address = unsigned long long;

constexpr Id kDefault = 0;  // H5P_DEFAULT, H5S_ALL, H5E_DEFAULT
constexpr unsigned kReadOnly = 0, kTruncate = 2;
constexpr int kAllocateEarly = 1, kFillNever = 1;
constexpr int kSelectSet = 0, kWholeFile = 1;
constexpr Size kUnlimited = static_cast<Size>(-1);
constexpr int kInnermostFirst = 0;  // of an error's places
constexpr int kByName = 0, kIncreasing = 0;
constexpr int kInteger = 0, kFloat = 1, kText = 3, kCompound = 6, kReference = 7, kEnum = 8;  // H5T_class_t

using Reference = std::uint64_t;  // hobj_ref_t
constexpr int kToObject = 0;
constexpr unsigned kKeepsOrder = 3;  // by which links are found, too
constexpr const char* kScaleClass = "DIMENSION_SCALE";
constexpr int kUtf8 = 1, kNullPadded = 1;
// Bytes of a text in one attribute, of which an object's header has no more than 64 KB. Longer texts go on in
// NAME 2, NAME 3 and so on. A text of any length in one would be in a heap, which the library does not read
// safely where it is damaged.
constexpr std::size_t kMostOfText = 61440, kStepOfText = 4096;
std::string part_of_text(const std::string& name, std::size_t part);  // from 1

struct ErrorRecord {
    Id error_class, major, minor;
    unsigned line;
    const char *function, *file, *text;
};

// A function of the library. Not every build of it may be called by several threads at once, so that one
// lock is held during each call of any.
std::mutex& library_lock();
template <class Signature>
class Guarded;
template <class Result, class... Parameters>
class Guarded<Result(Parameters...)> {
public:
    Guarded() = default;
    Guarded(std::nullptr_t) {}
    explicit Guarded(void* address) : function_(reinterpret_cast<Result (*)(Parameters...)>(address)) {}

    Result operator()(Parameters... parameters) const {
        const std::lock_guard lock(library_lock());
        return function_(parameters...);
    }
    bool operator==(std::nullptr_t) const { return function_ == nullptr; }

private:
    Result (*function_)(Parameters...) = nullptr;
};

struct Library {
    // Opened once a process; nullptr where it is not found, or lacks something: `why` then says so.
    static const Library* find(std::string& why);

    // What a function that has failed says of it.
    std::string trouble() const;

    // Of the elements that a field of this type has in a file (type_in_hdf5()).
    Id number_type(ElementType type) const;

    std::string file, release;  // "libhdf5_serial.so.103", "1.10.8"
    // Types, once the library is open; kinds of lists.
    Id f32 = 0, f64 = 0, u8 = 0, i32 = 0, i64 = 0, text = 0, reference = 0, of_datasets = 0, of_access = 0,
       of_files = 0;

#define SYMBOL(member, name, result, ...) Guarded<result(__VA_ARGS__)> member;
#define MAYBE SYMBOL
#include "runtime/hdf5/symbols.def"
#undef MAYBE
#undef SYMBOL
};

// What the library has given, and takes back.
class Handle {
public:
    Handle(Id id, const Guarded<int(Id)>& give_back) : id_(id), close_(give_back) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&&) = delete;

    explicit operator bool() const { return id_ >= 0; }
    Id id() const { return id_; }
    bool close() { return close_(std::exchange(id_, -1)) >= 0; }

private:
    Id id_;
    Guarded<int(Id)> close_;
};

// Pairs of numbers of so many bytes, as h5py knows complex ones; none where the library refuses.
Handle complex_type(const Library& library, Id number, std::size_t bytes);
bool is_complex_number(const Library& library, Id type);

// Throws Error (io) about this file where the library is not there.
const Library& library_to_read(const std::string& path);
// Throws Error (io): there is no such file, or it is none of HDF5.
Handle open_to_read(const Library& library, const std::string& path);

}  // namespace halo::rt::hdf5
