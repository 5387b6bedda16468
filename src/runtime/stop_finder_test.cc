#include "runtime/stop_finder.h"

#include <gtest/gtest.h>

namespace candor {
namespace {

struct Outcome {
  std::string text;
  std::string stop;
  bool operator==(const Outcome&) const = default;
};

Outcome FindAll(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopFinder finder(stops);
  Outcome outcome;
  for (const std::string& piece : pieces) {
    outcome.text += finder.Push(piece);
    if (finder.found()) break;
  }
  if (!finder.found()) outcome.text += finder.Flush();
  outcome.stop = finder.stop();
  return outcome;
}

TEST(StopFinderTest, WithoutStopsTextPassesAtOnce) {
  StopFinder finder({});
  EXPECT_EQ(finder.Push("hello"), "hello");
  EXPECT_EQ(finder.Flush(), "");
  EXPECT_FALSE(finder.found());
}

TEST(StopFinderTest, HoldsBackOnlyWhatMayBecomeAStop) {
  StopFinder finder({"<end>"});
  EXPECT_EQ(finder.Push("a<"), "a");
  EXPECT_EQ(finder.Push("b<en"), "<b");
  EXPECT_EQ(finder.Push("x"), "<enx");
  EXPECT_EQ(finder.Push("y<<en"), "y<");
  EXPECT_EQ(finder.Push("d> rest"), "");
  EXPECT_TRUE(finder.found());
  EXPECT_EQ(finder.stop(), "<end>");
}

TEST(StopFinderTest, WhatWasHeldBackComesOutAtTheEnd) {
  StopFinder finder({"\n\n"});
  EXPECT_EQ(finder.Push("line\n"), "line");
  EXPECT_EQ(finder.Flush(), "\n");
}

TEST(StopFinderTest, SelfOverlappingStopIsFound) {
  EXPECT_EQ(FindAll({"aab"}, {"a", "a", "a", "b", "c"}), (Outcome{"a", "aab"}));
  EXPECT_EQ(FindAll({"abab"}, {"xaba", "abab"}), (Outcome{"xaba", "abab"}));
}

TEST(StopFinderTest, TheResultDoesNotDependOnWhereThePiecesAreCut) {
  const std::string text = "one two<|x|>three ## four";
  const std::vector<std::vector<std::string>> stop_sets = {
      {"<|x|>"},  {"three", "##"}, {"##", "three ##"},  {"o t", "two<", "wo"},
      {"absent"}, {" four"},       {"<|x|>three", "|x"}};
  for (const auto& stops : stop_sets) {
    const Outcome whole = FindAll(stops, {text});
    for (size_t a = 0; a <= text.size(); ++a) {
      for (size_t b = a; b <= text.size(); ++b) {
        EXPECT_EQ(FindAll(stops, {text.substr(0, a), text.substr(a, b - a), text.substr(b)}), whole)
            << stops[0] << " " << a << " " << b;
      }
    }
  }
}

TEST(StopFinderTest, TheStopThatIsCompleteFirstWinsThenTheOneThatBeganFirst) {
  EXPECT_EQ(FindAll({"two three", "two"}, {"one two three"}), (Outcome{"one ", "two"}));
  EXPECT_EQ(FindAll({"wo", "two"}, {"one two three"}), (Outcome{"one ", "two"}));
}

TEST(StopFinderTest, NeverCutsACharacter) {
  // U+00E9 is C3 A9; a stop string that begins with A9 alone cannot hold back half of it.
  StopFinder finder({"\xA9zz"});
  EXPECT_EQ(finder.Push("caf\xC3\xA9"), "caf\xC3\xA9");
}

}  // namespace
}  // namespace candor
