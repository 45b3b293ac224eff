#include "example.h"

#include <utility>

#include "catch.h"

namespace halo::test {

Example::Example(std::string name, std::string device) : name_(std::move(name)), device_(std::move(device)) {}

nlohmann::json Example::run(std::vector<std::string> options) const {
    Invocation invocation;
    invocation.arguments = {"run", HALO_SOURCE_DIR "/dsl_examples/" + name_ + ".halo"};
    invocation.arguments.insert(invocation.arguments.end(), {"--device", device_, "--json", "-q"});
    invocation.arguments.insert(invocation.arguments.end(), options.begin(), options.end());
    invocation.folder = folder_.path();
    if (!threads_.empty()) invocation.set.push_back("HALO_NUM_THREADS=" + threads_);
    const Outcome outcome = run_haloc(invocation);
    INFO(name_ << ": " << outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
}

std::vector<double> Example::saved(const std::string& field) const {
    return rt::read_npy(folder_.path() + "/" + field + ".npy").values;
}

void Example::give(const std::string& field, const std::vector<std::int64_t>& shape,
                   const std::vector<double>& values) const {
    rt::write_npy(folder_.path() + "/" + field + ".npy", shape, values, rt::ElementType::f64);
}

}  // namespace halo::test
