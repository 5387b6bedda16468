#include "graph/gpu_step_inputs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/attention/kv_layout.h"

namespace candor {
namespace {

template <typename T>
T At(const std::vector<std::byte>& bytes, uint64_t offset, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + offset + index * sizeof(T), sizeof(T));
  return value;
}

std::byte* Page(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

TEST(GpuStepInputs, RowsThatAreNotThereAreMarked) {
  const std::vector<int32_t> ids = {7, 8, 9}, positions = {64, 65, 3}, sequences = {0, 0, 1}, logits = {1};
  const std::vector<std::byte*> first = {Page(100), Page(200)}, second = {Page(300)};
  const std::vector<std::byte* const*> tables = {first.data(), second.data()};
  std::byte* const* const* groups[] = {tables.data()};
  StepInputs inputs;
  inputs.rows = 3;
  inputs.token_ids = ids.data();
  inputs.positions = positions.data();
  inputs.sequences = sequences.data();
  inputs.page_tables = groups;
  inputs.logits_rows = 1;
  inputs.logits_index = logits.data();
  const GpuStepLayout layout(4, 2, 1, 5);
  std::vector<std::byte> bytes(layout.bytes + 16, std::byte{0x5a});
  WriteGpuStepInputs(inputs, layout, bytes.data());

  EXPECT_EQ(At<int32_t>(bytes, layout.token_ids, 2), 9);
  EXPECT_EQ(At<int32_t>(bytes, layout.token_ids, 3), -1);
  EXPECT_EQ(At<int32_t>(bytes, layout.positions, 1), 65);
  EXPECT_EQ(At<int32_t>(bytes, layout.positions, 3), -1);
  EXPECT_EQ(At<int32_t>(bytes, layout.sequences, 2), 1);
  EXPECT_EQ(At<int32_t>(bytes, layout.logits_index, 0), 1);
  EXPECT_EQ(At<int32_t>(bytes, layout.logits_index, 1), -1);
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(0), 0), 100u);
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(0), 1), 200u);
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(0), 5), 300u) << "the second sequence's first page";
  for (size_t i = layout.bytes; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], std::byte{0x5a}) << "written past the end";
}

TEST(GpuStepInputs, EveryGroupHasItsTable) {
  const std::vector<int32_t> ids = {1}, positions = {kPageTokens}, sequences = {0};
  const std::vector<std::byte*> everything = {Page(10), Page(20)}, window = {nullptr, Page(40)};
  const std::vector<std::byte* const*> first = {everything.data()}, second = {window.data()};
  std::byte* const* const* groups[] = {first.data(), second.data()};
  StepInputs inputs;
  inputs.rows = 1;
  inputs.token_ids = ids.data();
  inputs.positions = positions.data();
  inputs.sequences = sequences.data();
  inputs.page_tables = groups;
  const GpuStepLayout layout(1, 0, 2, 3);
  std::vector<std::byte> bytes(layout.bytes);
  WriteGpuStepInputs(inputs, layout, bytes.data());
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(0), 1), 20u);
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(1), 0), 0u);
  EXPECT_EQ(At<uint64_t>(bytes, layout.page_table(1), 1), 40u);
}

}  // namespace
}  // namespace candor
