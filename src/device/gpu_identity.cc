#include "device/gpu_identity.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>

#include "base/printable.h"

namespace candor {
namespace {

// Names under which software adapters are known, in lower case. Layers such as Venus and Zink carry the name of what is
// underneath, so it is looked for anywhere in the text.
constexpr std::string_view kSoftwareNames[] = {"llvmpipe", "lavapipe", "softpipe", "swiftshader",
                                               "microsoft basic render"};

struct Number {
  uint32_t value;
  std::string_view meaning;
};
// Khronos registry: VkDriverId and VkVendorId; PCI vendor of Google, used by SwiftShader alone.
constexpr Number kSoftwareDrivers[] = {{10, "its driver is SwiftShader"}, {13, "its driver is lavapipe (llvmpipe)"}};
constexpr Number kSoftwareVendors[] = {{0x10005, "its vendor is Mesa, not a maker of hardware"},
                                       {0x1AE0, "its vendor is SwiftShader's"}};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return lower;
}

std::string MeaningOf(const Number* begin, const Number* end, uint32_t value) {
  const Number* found = std::find_if(begin, end, [value](const Number& row) { return row.value == value; });
  return found == end ? "" : std::string(found->meaning);
}

}  // namespace

std::string SoftwareTellTale(std::string_view name, const GpuIdentity& gpu) {
  if (gpu.device_type == "cpu") return "its driver calls it a CPU";
  std::string reason = MeaningOf(std::begin(kSoftwareDrivers), std::end(kSoftwareDrivers), gpu.driver_id);
  if (reason.empty()) reason = MeaningOf(std::begin(kSoftwareVendors), std::end(kSoftwareVendors), gpu.vendor_id);
  const std::string texts = Lower(name) + '\n' + Lower(gpu.driver_name);
  for (const std::string_view known : kSoftwareNames) {
    if (reason.empty() && texts.find(known) != std::string::npos) reason = fmt::format("its name says {}", known);
  }
  return reason;
}

std::string FormatUuid(const uint8_t* bytes) {
  if (std::all_of(bytes, bytes + 16, [](uint8_t byte) { return byte == 0; })) return "";
  std::string text;
  for (int i = 0; i < 16; ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  return text;
}

std::string DriverText(const char* text, size_t size) {
  const std::string_view bounded(text, strnlen(text, size));
  const bool printable =
      std::none_of(bounded.begin(), bounded.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  return printable && IsValidUtf8(bounded) ? std::string(bounded) : Printable(bounded, size);
}

}  // namespace candor
