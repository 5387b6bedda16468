#include "probe/device_json.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

DeviceInfo Sample() {
  DeviceInfo info;
  info.kind = DeviceKind::kCuda;
  info.index = 3;
  info.name = "NVIDIA H200";
  info.memory_total = uint64_t{141} << 30;
  info.features = {"float16", "wgmma"};
  info.gpu.uuid = "8f010203-0405-0607-0809-0a0b0c0d0eff";
  info.gpu.vendor_id = 0x10DE;
  info.gpu.limits.max_buffer = UINT64_MAX;
  info.gpu.heaps = {{1, 2, true}, {3, 4, false}};
  info.gpu.cooperative_matrix = {"16x16x16 f16,f16,f32,f32 subgroup"};
  info.gpu.timestamp_period = 0.5;
  info.verdict = {ProbeVerdict::State::kHung, "device", "it hung", true};
  return info;
}

TEST(DeviceJson, ComesBackAsItWas) {
  const Json json = DeviceToJson(Sample());
  const auto back = DeviceFromJson(ParseJson(JsonLine(json)));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(JsonLine(DeviceToJson(*back)), JsonLine(json));
  EXPECT_EQ(back->gpu.limits.max_buffer, UINT64_MAX);
  EXPECT_EQ(back->gpu.heaps.size(), 2u);
  EXPECT_EQ(back->verdict.state, ProbeVerdict::State::kHung);
}

TEST(DeviceJson, EveryFieldOfAWrongTypeIsAnErrorAndNoCrash) {
  const Json good = DeviceToJson(Sample());
  const Json wrong_values[] = {nullptr, "text", -1, 1.5, true, Json::array({1}), Json::object()};
  size_t refused = 0;
  for (const auto& [key, value] : good.items()) {
    for (const Json& wrong : wrong_values) {
      Json bad = good;
      bad[key] = wrong;
      if (!DeviceFromJson(bad).ok()) ++refused;
    }
  }
  EXPECT_GT(refused, good.size() * 4);
  Json large = good;
  large["vendor_id"] = uint64_t{1} << 40;
  EXPECT_EQ(DeviceFromJson(large).status().code(), StatusCode::kDataLoss);
  for (const char* text : {"", "{", "[]", "null", "7", "{\"kind\": \"tpu\", \"index\": 0}", "{\"kind\": \"cuda\"}"}) {
    EXPECT_FALSE(DeviceFromJson(ParseJson(text)).ok()) << text;
  }
}

}  // namespace
}  // namespace candor
