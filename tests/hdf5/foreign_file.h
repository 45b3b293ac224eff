// Files as other programs write them: chunked, compressed, big-endian, of other types. Straight through
// libhdf5.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "catch.h"
#include "runtime/hdf5/library.h"

namespace halo::test {

class ForeignFile {
public:
    using Id = rt::hdf5::Id;
    using Size = rt::hdf5::Size;

    explicit ForeignFile(const std::string& path) : lib_(library()) {
        file_ = lib_.create_file(path.c_str(), rt::hdf5::kTruncate, 0, 0);
        REQUIRE(file_ >= 0);
    }
    ~ForeignFile() { lib_.close_file(file_); }

    static const rt::hdf5::Library& library() {
        std::string why;
        const rt::hdf5::Library* const found = rt::hdf5::Library::find(why);
        REQUIRE(found != nullptr);
        return *found;
    }
    // A constant of the library, such as H5T_STD_I16BE.
    Id constant(const std::string& name) const { return *static_cast<Id*>(symbol(name + "_g")); }

    // Elements of memory type `from` as a dataset of type `type`; in chunks, and compressed, where chunks are
    // given.
    void add(const std::string& name, Id type, Id from, const std::vector<Size>& shape, const void* elements,
             const std::vector<Size>& chunks = {}) {
        const Id list = lib_.create_list(lib_.of_datasets);
        const auto rank = static_cast<int>(shape.size());
        if (!chunks.empty()) {
            function<int(Id, int, const Size*)>("H5Pset_chunk")(list, rank, chunks.data());
            function<int(Id, unsigned)>("H5Pset_deflate")(list, 4);
        }
        const Id space = lib_.create_space(rank, shape.data(), nullptr);
        const Id dataset = lib_.create_dataset(file_, name.c_str(), type, space, 0, list, 0);
        REQUIRE(dataset >= 0);
        const auto write = function<int(Id, Id, Id, Id, Id, const void*)>("H5Dwrite");
        REQUIRE(write(dataset, from, 0, 0, 0, elements) >= 0);
        lib_.close_dataset(dataset);
        lib_.close_space(space);
        lib_.close_list(list);
    }
    // As h5py writes numpy's booleans.
    Id truth() const {
        const Id type = function<Id(Id)>("H5Tenum_create")(constant("H5T_STD_I8LE"));
        const auto insert = function<int(Id, const char*, const void*)>("H5Tenum_insert");
        const signed char no = 0, yes = 1;
        insert(type, "FALSE", &no);
        insert(type, "TRUE", &yes);
        return type;
    }
    void add_group(const std::string& name) {
        const Id group =
            function<Id(Id, const char*, Id, Id, Id)>("H5Gcreate2")(file_, name.c_str(), 0, 0, 0);
        function<int(Id)>("H5Gclose")(group);
    }

private:
    void* symbol(const std::string& name) const {
        void* const found = dlsym(dlopen(lib_.file.c_str(), RTLD_NOW), name.c_str());
        REQUIRE(found != nullptr);
        return found;
    }
    template <class Signature>
    Signature* function(const std::string& name) const {
        return reinterpret_cast<Signature*>(symbol(name));
    }

    const rt::hdf5::Library& lib_;
    Id file_ = -1;
};

}  // namespace halo::test
