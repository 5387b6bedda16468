#include "runtime/placement_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace candor {
namespace {

PlacementReport Example() {
  PlacementReport report;
  report.device = "cpu";
  report.device_name = "Some \"CPU\" \xFF";  // a name is not ours: quotes and broken bytes must not break the JSON
  report.isa = "avx2";
  report.threads = 1;
  report.kv_type = "f16";
  report.ops = {{"matmul", "avx2 Q4_1", "cpu", 210, 3u << 20}, {"rms_norm", "avx2", "cpu", 61, 0}};
  report.weight_bytes = 5u << 20;
  report.kv_bytes = 1u << 20;
  report.scratch_bytes = 1u << 19;
  report.steps = 7;
  report.rows = 12;
  return report;
}

TEST(PlacementReportTest, JsonHoldsEveryField) {
  const auto json = nlohmann::json::parse(Example().ToJson());
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["isa"], "avx2");
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["kv_type"], "f16");
  EXPECT_EQ(json["ops"].size(), 2u);
  EXPECT_EQ(
      json["ops"][0],
      (nlohmann::json{
          {"op", "matmul"}, {"variant", "avx2 Q4_1"}, {"device", "cpu"}, {"count", 210}, {"weight_bytes", 3u << 20}}));
  EXPECT_EQ(json["weight_bytes"], 5u << 20);
  EXPECT_EQ(json["kv_bytes"], 1u << 20);
  EXPECT_EQ(json["scratch_bytes"], 1u << 19);
  EXPECT_EQ(json["steps"], 7);
  EXPECT_EQ(json["rows"], 12);
}

TEST(PlacementReportTest, TextNamesEveryOpFamilyAndTheBytes) {
  const std::string text = Example().ToText();
  EXPECT_NE(text.find("avx2, 1 thread, kv cache f16"), std::string::npos) << text;
  EXPECT_NE(text.find("matmul           x 210  avx2 Q4_1            cpu            3.0 MiB"), std::string::npos)
      << text;
  EXPECT_NE(text.find("rms_norm"), std::string::npos) << text;
  EXPECT_NE(text.find("weights 5.0 MiB, kv cache 1.0 MiB, scratch 0.5 MiB; 7 steps, 12 rows"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace candor
