// An example of dsl_examples, run by haloc on the CPU in a folder of its own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../cli/process.h"
#include "runtime/io/npy.h"

namespace halo::test {

inline constexpr double kPi = 3.14159265358979323846;

class Example {
public:
    explicit Example(std::string name, std::string device = "cpu");

    // For long runs: threads that wait for each other, beside the tests that run at the same time, take
    // longer than one.
    void use_one_thread() { threads_ = "1"; }
    // `haloc run NAME.halo` with more options; fails the test where haloc does. Returns what --json prints.
    nlohmann::json run(std::vector<std::string> options) const;

    // The field that --save FIELD=FIELD.npy wrote: C order, the first axis fastest.
    std::vector<double> saved(const std::string& field) const;
    // Writes FIELD.npy for --load; `shape` lists the axes from slowest to fastest.
    void give(const std::string& field, const std::vector<std::int64_t>& shape,
              const std::vector<double>& values) const;

private:
    std::string name_, device_, threads_;  // threads_: as many as there are processors where empty
    Folder folder_;
};

}  // namespace halo::test
