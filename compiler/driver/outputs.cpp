#include "compiler/driver/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "compiler/driver/agreement.h"
#include "compiler/driver/arguments.h"
#include "compiler/driver/pictures.h"
#include "runtime/io/npy.h"

namespace halo::driver {

namespace {

std::string place(const RunRequest& request, std::int64_t cell) {
    std::vector<std::string> words;
    for (int axis = 0; axis < request.rank(); ++axis) {
        words.push_back(fmt::format("{} = {}", request.axes[axis], cell % request.extent[axis]));
        cell /= request.extent[axis];
    }
    return join(words, ", ");
}

}  // namespace

std::vector<std::int64_t> RunRequest::npy_shape() const {
    std::vector<std::int64_t> shape(extent.begin(), extent.begin() + rank());
    std::reverse(shape.begin(), shape.end());
    return shape;
}

std::string describe_grid(const RunRequest& request, bool utf8) {
    return fmt::format("{}", fmt::join(request.extent.begin(), request.extent.begin() + request.rank(),
                                       utf8 ? " × " : " x "));
}

std::string frame_path(const std::string& path, std::int64_t step, std::int64_t steps) {
    std::filesystem::path whole(path);
    std::size_t digits = std::max<std::size_t>(6, std::to_string(steps).size());
    std::string name =
        fmt::format("{}-{:0{}}{}", whole.stem().string(), step, digits, whole.extension().string());
    return (whole.parent_path() / name).string();
}

std::optional<std::int64_t> Outputs::steps_to_next(std::int64_t done) const {
    std::optional<std::int64_t> next;
    for (const Output& output : request_.outputs) {
        if (output.every <= 0) continue;
        std::int64_t steps = output.every - done % output.every;
        next = next ? std::min(*next, steps) : steps;
    }
    return next;
}

void Outputs::write(Engine& engine, std::int64_t done, bool last) {
    std::map<std::string, FieldValues> fields;  // each is fetched once, by name
    const auto fetch = [&](const std::string& name) -> const FieldValues& {
        auto [entry, is_new] = fields.try_emplace(name);
        if (is_new) {
            entry->second = engine.download(name);
            look_for_trouble(name, entry->second, done);
        }
        return entry->second;
    };
    for (const Output& output : request_.outputs) {
        std::vector<std::string> paths;
        if (output.every > 0 && done > 0 && done % output.every == 0) {
            paths.push_back(frame_path(output.path, done, request_.steps));
        }
        if (last) paths.push_back(output.path);
        for (const std::string& path : paths) {
            if (!done_.insert(path).second) continue;
            if (output.trace) {
                const std::vector<double> trace = engine.trace(output.trace->points, output.trace->trace);
                if (ranks_.is_first()) write_trace(output, path, trace, done);
                continue;
            }
            if (output.field.is_single()) {
                const FieldValues& values = fetch(output.field.fields.front());
                if (ranks_.is_first()) write_file(output, path, values, done);
                continue;
            }
            std::vector<FieldValues> parts;
            for (const std::string& field : output.field.fields)
                parts.push_back(fetch(field));
            if (ranks_.is_first()) write_file(output, path, interleave(parts), done);
        }
    }
    if (!fields.empty()) trouble_ = agree(ranks_, trouble_);
}

void Outputs::write_file(const Output& output, const std::string& path, const FieldValues& values,
                         std::int64_t done) {
    if (output.kind == Output::Kind::save && output.field.is_complex) {
        rt::write_npy_complex(path, request_.npy_shape(), values.data(),
                              static_cast<std::size_t>(values.bytes()), values.type);
    } else if (output.kind == Output::Kind::save) {
        rt::write_npy(path, output.field.npy_shape(request_.npy_shape()), values.data(),
                      static_cast<std::size_t>(values.bytes()), values.type);
    } else {
        write_field_picture(path, request_, output, values, done);
    }
    written_.push_back({output.field.name, path, done});
}

void Outputs::write_trace(const Output& output, const std::string& path, const std::vector<double>& values,
                          std::int64_t done) {
    const std::int64_t points = done > 0 ? static_cast<std::int64_t>(values.size()) / done : 0;
    if (output.kind == Output::Kind::save) {
        rt::write_npy(path, {done, points}, values, rt::ElementType::f64);
    } else if (points == 0) {
        return;  // nothing to draw
    } else {
        write_trace_picture(path, request_, output, values, done);
    }
    written_.push_back({output.field.name, path, done});
}

void Outputs::look_for_trouble(const std::string& field, const FieldValues& values, std::int64_t done) {
    if (trouble_ || !request_.watch || !ranks_.is_first()) return;
    if (std::optional<std::string> found = find_trouble(request_, field, values))
        trouble_ = fmt::format("after step {}, {}", done, *found);
}

std::optional<std::string> find_trouble(const RunRequest& request, const std::string& field,
                                        const FieldValues& values) {
    const auto [count, first] = values.not_finite();
    if (count == 0) return std::nullopt;
    std::string trouble =
        fmt::format("{} is {} at {}", field, std::isnan(values.at(first)) ? "not a number" : "infinite",
                    place(request, first));
    if (count > 1) trouble += fmt::format(", and in {} more of {} cells", count - 1, values.size());
    return trouble;
}

}  // namespace halo::driver
