// The page, the pictures and the JSON of `haloc bench --scaling`, all of them made from results.
#pragma once

#include <string>

#include "compiler/bench/scaling_results.h"

namespace halo::bench {

struct ScalingPictures {  // relative to the page; empty: no such picture
    std::string lengths, beyond;
};

std::string scaling_page(const ScalingResults& results, const ScalingPictures& pictures);
// Its parts; empty where nothing of them was measured.
std::string scaling_lengths_section(const ScalingResults& results, const ScalingPictures& pictures);
std::string scaling_beyond_section(const ScalingResults& results, const ScalingPictures& pictures);
std::string scaling_mistakes_section(const ScalingResults& results);

std::string scaling_json(const ScalingResults& results);

// PNG, whole or not at all; throws rt::Error where a file cannot be written.
// For each number of devices and each scheme: the time of a step against the length, by width of the halos;
// and below it what that is over the synchronous scheme's, or, of that one, how many times as fast as one
// device.
void write_lengths(const std::string& path, const ScalingResults& results);
// What was measured, and what the model says beyond.
void write_beyond(const std::string& path, const ScalingResults& results);

}  // namespace halo::bench
