// The flags that several commands share, with one name, one check and one help text each. Values are checked while they
// are parsed: a bad one throws CLI::ValidationError, which app.cc turns into exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "runtime/model.h"

namespace candor::cli {

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

struct IntegerRange {
  int64_t min = 0;
  int64_t max = kNoLimit;
};

// A whole number and a finite number, strict about range and spelling (number.h); `set` gets the checked value.
CLI::Option* AddInteger(CLI::App& app, const std::string& names, IntegerRange range, std::function<void(int64_t)> set,
                        const std::string& help);
CLI::Option* AddNumber(CLI::App& app, const std::string& names, double min, double max, std::function<void(double)> set,
                       const std::string& help);
// A switch without a value.
void AddFlag(CLI::App& app, const std::string& name, bool& target, const std::string& help);
// A text; nothing in it is interpreted. Repeatable texts are collected one per use of the flag.
CLI::Option* AddText(CLI::App& app, const std::string& names, std::function<void(const std::string&)> set,
                     const std::string& help);
CLI::Option* AddRepeatableText(CLI::App& app, const std::string& names, std::function<void(const std::string&)> add,
                               const std::string& help);

// A path, not empty.
CLI::Option* AddPath(CLI::App& app, const std::string& names, std::string& path, const std::string& help);

void AddModel(CLI::App& app, std::string& path);
void AddJson(CLI::App& app, bool& json);
void AddDevice(CLI::App& app, LoadOptions& options);           // -d/--device and --allow-software-adapter
void AddSoftwareAdapter(CLI::App& app, LoadOptions& options);  // the second alone
void AddThreads(CLI::App& app, LoadOptions& options);
void AddContext(CLI::App& app, LoadOptions& options);
void AddKernelFlags(CLI::App& app, LoadOptions& options);  // --precision, --cpu-isa, --kv-type, --prefill-chunk
void AddLoadFlags(CLI::App& app, LoadOptions& options);    // the four above

}  // namespace candor::cli
