// Libraries that are opened at run time, where a machine has them: NVIDIA's driver, NVRTC, NCCL, HDF5,
// segyio.
#pragma once

#include <string>
#include <vector>

namespace halo::rt {

// The library that the environment variable names in the place of the usual ones, for tests and for
// installations of one's own; else the usual ones.
std::vector<std::string> library_names(const char* variable, std::vector<std::string> usual);

// Stays open to the end of the process, unless it is closed.
class SharedLibrary {
public:
    // The first that opens of these names or paths; none: why() says why the last does not.
    static SharedLibrary open(const std::vector<std::string>& names);

    explicit operator bool() const { return handle_ != nullptr; }
    const std::string& file() const { return file_; }  // the last that was tried
    const std::string& why() const { return why_; }

    // Null where the library has no function or variable of that name.
    void* find(const char* name) const;

    // The function of that name, or null; missing() is then the last that was taken and is not there.
    template <class Function>
    void take(Function& function, const char* name) {
        function = Function(find(name));
        if (function == nullptr) missing_ = name;
    }
    const char* missing() const { return missing_; }  // null: all are there

    void close();

private:
    void* handle_ = nullptr;
    std::string file_, why_;
    const char* missing_ = nullptr;
};

}  // namespace halo::rt
