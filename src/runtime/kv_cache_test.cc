#include "runtime/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>

namespace candor {
namespace {

const std::vector<KvLayer> kLayers = {{2, 8, 8, 0}, {2, 8, 16, 100}, {1, 8, 8, 0}};

TEST(KvGeometry, LayersWithOneWindowShareAGroup) {
  const KvGeometry geometry = MakeKvGeometry(kLayers, DType::kF16);
  ASSERT_EQ(geometry.groups.size(), 2u);
  EXPECT_EQ(geometry.layers[0].group, geometry.layers[2].group);
  EXPECT_EQ(geometry.groups[0].page_bytes, (2 * 2 * 8 + 1 * 2 * 8) * kPageTokens * 2u);
  EXPECT_EQ(geometry.groups[1].page_bytes, (2 * 8 + 2 * 16) * kPageTokens * 2u);
  EXPECT_EQ(geometry.layers[2].layout.key_offset, 2 * 2 * 8 * kPageTokens * 2u);
  // 1000 tokens: 16 pages where everything is seen; at most 3 pages behind a window of 100.
  EXPECT_EQ(geometry.BytesFor(1000), 16 * geometry.groups[0].page_bytes + 3 * geometry.groups[1].page_bytes);
}

TEST(KvPages, PagesBehindAWindowAreGivenBackAndUsedAgain) {
  KvCache cache(MakeKvGeometry(kLayers, DType::kF32));
  KvPages pages(cache);
  for (int64_t length = 0; length < 1000; ++length) {
    ASSERT_TRUE(pages.Prepare(length, length + 1).ok());
    pages.ReleaseBehindWindows(length + 1);
    EXPECT_LE(cache.pool(1).pages_in_use(), 3u);
    // Every position that the next row can see is there.
    for (int64_t seen = std::max<int64_t>(0, length + 1 - 99); seen <= length; ++seen) {
      EXPECT_NE(pages.table(1)[seen / kPageTokens], nullptr);
    }
  }
  EXPECT_EQ(cache.pool(0).pages_in_use(), 16u);
}

TEST(KvPages, TruncateGivesPagesBackAndRefusesWhatAWindowHasLost) {
  KvCache cache(MakeKvGeometry(kLayers, DType::kF32));
  KvPages pages(cache);
  ASSERT_TRUE(pages.Prepare(0, 640).ok());
  pages.ReleaseBehindWindows(640);
  EXPECT_TRUE(pages.Truncate(630).ok());
  const Status refused = pages.Truncate(300);
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(cache.pool(0).pages_in_use(), 10u) << "a refused truncation changes nothing";

  KvCache full(MakeKvGeometry({{1, 8, 8, 0}}, DType::kF32));
  KvPages all(full);
  ASSERT_TRUE(all.Prepare(0, 640).ok());
  ASSERT_TRUE(all.Truncate(65).ok());
  EXPECT_EQ(full.pool(0).pages_in_use(), 2u);
  ASSERT_TRUE(all.Truncate(0).ok());
  EXPECT_EQ(full.BytesInUse(), 0u);
}

TEST(KvPages, ACloneCopiesOnlyWhatItWrites) {
  KvCache cache(MakeKvGeometry({{1, 8, 8, 0}}, DType::kF32));
  KvPages first(cache);
  ASSERT_TRUE(first.Prepare(0, 100).ok());
  std::memset(first.table(0)[1], 0x5a, 16);
  KvPages second(cache);
  second.ShareFrom(first, 100);
  EXPECT_EQ(cache.pool(0).pages_in_use(), 2u);
  ASSERT_TRUE(second.Prepare(100, 101).ok());
  EXPECT_EQ(cache.pool(0).pages_in_use(), 3u);
  EXPECT_EQ(first.table(0)[0], second.table(0)[0]);
  EXPECT_NE(first.table(0)[1], second.table(0)[1]);
  EXPECT_EQ(std::memcmp(first.table(0)[1], second.table(0)[1], 16), 0);
}

TEST(KvPages, AReusedPageIsZeroed) {
  KvCache cache(MakeKvGeometry({{1, 8, 8, 0}}, DType::kF32));
  {
    KvPages pages(cache);
    ASSERT_TRUE(pages.Prepare(0, 1).ok());
    std::memset(pages.table(0)[0], 0xff, cache.pool(0).page_bytes());  // NaN
  }
  KvPages pages(cache);
  ASSERT_TRUE(pages.Prepare(0, 1).ok());
  for (uint64_t i = 0; i < cache.pool(0).page_bytes(); ++i) ASSERT_EQ(pages.table(0)[0][i], std::byte{0});
}

}  // namespace
}  // namespace candor
