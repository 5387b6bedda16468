#include "base/printable.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

TEST(Printable, EscapesAndCuts) {
  EXPECT_EQ(Printable("blk.0.attn_q"), "blk.0.attn_q");
  EXPECT_EQ(Printable(std::string_view("a\0\x1b[31m\xff", 8)), "a\\x00\\x1b[31m\\xff");
  EXPECT_EQ(Printable("abcdef", 3), "abc…");
}

TEST(Printable, EscapesControlsAlone) {
  EXPECT_EQ(EscapeControls("höchstens 3 日本…"), "höchstens 3 日本…");
  EXPECT_EQ(EscapeControls(std::string_view("a\0b\n\r\t\x1b[2J\x7f", 11)), "a\\x00b\\x0a\\x0d\\x09\\x1b[2J\\x7f");
  EXPECT_EQ(EscapeControls("\xC2\x9B\x31mA\xC2\xA0"), "\\xc2\\x9b1mA\xC2\xA0");  // CSI as one character of C1
  EXPECT_EQ(EscapeControls("a\xE2\x80\xA8z"), "a\\xe2\\x80\\xa8z");
  EXPECT_EQ(EscapeControls("\xFF\xC3(\xE6\x97"), "\\xff\\xc3(\\xe6\\x97");
  EXPECT_EQ(EscapeControls("a\n\tb\x1b", "\n\t"), "a\n\tb\\x1b");
}

TEST(Printable, Utf8) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("aé日👋"));
  EXPECT_TRUE(IsValidUtf8("\xF4\x8F\xBF\xBF"));
  for (const char* bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\xE6\x97",
                          "\xE6\x97"
                          "a"}) {
    EXPECT_FALSE(IsValidUtf8(bad)) << Printable(bad);
  }
}

TEST(Printable, Bytes) {
  EXPECT_EQ(FormatBytes(12), "12 bytes");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(FormatBytes(~uint64_t{0}), "16.0 EiB");
}

}  // namespace
}  // namespace candor
