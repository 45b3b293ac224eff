// Building offline files into a small C program and running it against the interpreter.
#pragma once

#include <functional>
#include <string>

#include "offline_files.h"

namespace halo::test {

// The shell command that makes `program` of main.c and NAME.cu, NAME.h in the working directory.
using BuildCommand = std::function<std::string(const std::string& name)>;

// Empty where the program computes what the interpreter does, fields bit for bit; else what went wrong.
// change_source may rewrite the .cu first.
std::string offline_difference(const OfflineCase& offline_case, const BuildCommand& build,
                               const std::function<std::string(std::string)>& change_source = nullptr);

}  // namespace halo::test
