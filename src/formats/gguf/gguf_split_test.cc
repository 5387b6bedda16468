#include "formats/gguf/gguf_split.h"

#include <gtest/gtest.h>

#include "formats/gguf/gguf_test_file.h"
#include "formats/model_file.h"
#include "platform/test_folder.h"

namespace candor {
namespace {

// One part with a tensor of its own.
struct Part {
  uint16_t number = 0;
  uint16_t count = 3;
  int32_t tensors = 3;
  std::string tensor = "";
};

std::string Build(const Part& part) {
  GgufTestFile file;
  if (part.number == 0) file.StringKey("general.architecture", "llama");
  file.Key<uint16_t>("split.no", GgufType::kU16, part.number)
      .Key<uint16_t>("split.count", GgufType::kU16, part.count)
      .Key<int32_t>("split.tensors.count", GgufType::kI32, part.tensors)
      .Tensor(part.tensor.empty() ? fmt::format("t{}", part.number) : part.tensor, {8}, 0, 0)
      .Data(std::string(32, static_cast<char>('a' + part.number)));
  return file.Build();
}

// Three parts in a folder; `change` may spoil one of them.
class SplitModel {
 public:
  explicit SplitModel(const Part& second = {1}, const Part& third = {2}) {
    folder_.Write("m-00001-of-00003.gguf", Build({0}));
    folder_.Write("m-00002-of-00003.gguf", Build(second));
    folder_.Write("m-00003-of-00003.gguf", Build(third));
  }
  Result<std::shared_ptr<const ModelFile>> Open(std::string_view name = "m-00001-of-00003.gguf") const {
    return OpenModelFile(folder_.Path(name));
  }
  const TestFolder& folder() const { return folder_; }

 private:
  TestFolder folder_;
};

void ExpectError(const Result<std::shared_ptr<const ModelFile>>& opened, StatusCode code,
                 const std::vector<std::string>& words) {
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), code) << opened.status().message();
  for (const auto& word : words) {
    EXPECT_NE(opened.status().message().find(word), std::string::npos)
        << "no '" << word << "' in: " << opened.status().message();
  }
}

TEST(GgufSplit, AllPartsAreOneModel) {
  const SplitModel model;
  const auto opened = model.Open();
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  ASSERT_EQ((*opened)->tensors().size(), 3u);
  for (int part = 0; part < 3; ++part) {
    const TensorInfo* tensor = (*opened)->FindTensor(fmt::format("t{}", part));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->file_index, part);
    std::byte first[1];
    ASSERT_TRUE((*opened)->ReadTensor(*tensor, 0, first).ok());
    EXPECT_EQ(static_cast<char>(first[0]), 'a' + part);
  }
  EXPECT_EQ(*(*opened)->GetString("general.architecture"), "llama");
}

TEST(GgufSplit, OpenedThroughAnotherPart) {
  ExpectError(SplitModel().Open("m-00002-of-00003.gguf"), StatusCode::kInvalidArgument,
              {"m-00002-of-00003.gguf: ", "got part 2 of 3", "-00001-of-00003"});
}

TEST(GgufSplit, MissingPart) {
  const SplitModel model;
  std::filesystem::remove(model.folder().Path("m-00003-of-00003.gguf"));
  ExpectError(model.Open(), StatusCode::kNotFound, {"part 3 of 3", "m-00003-of-00003.gguf"});
}

TEST(GgufSplit, RenamedFirstPart) {
  const SplitModel model;
  std::filesystem::rename(model.folder().Path("m-00001-of-00003.gguf"), model.folder().Path("model.gguf"));
  ExpectError(model.Open("model.gguf"), StatusCode::kInvalidArgument, {"model.gguf: ", "-00001-of-00003.gguf"});
}

TEST(GgufSplit, PartsThatDoNotBelongTogether) {
  ExpectError(SplitModel({2}).Open(), StatusCode::kDataLoss,
              {"m-00002-of-00003.gguf: ", "expected part 2 of 3", "got part 3 of 3"});
  ExpectError(SplitModel({1, 4}).Open(), StatusCode::kDataLoss, {"m-00002-of-00003.gguf: ", "got part 2 of 4"});
  ExpectError(SplitModel({1, 1}).Open(), StatusCode::kDataLoss, {"m-00002-of-00003.gguf: "});
  ExpectError(SplitModel({1}, {2, 3, 3, "t1"}).Open(), StatusCode::kDataLoss,
              {"m-00003-of-00003.gguf: ", "'t1'", "m-00002-of-00003.gguf"});
}

TEST(GgufSplit, DamagedPart) {
  const SplitModel model;
  model.folder().Write("m-00002-of-00003.gguf", Build({1}).substr(0, 60));
  ExpectError(model.Open(), StatusCode::kDataLoss, {"m-00002-of-00003.gguf: "});
  model.folder().Write("m-00002-of-00003.gguf", "no model");
  ExpectError(model.Open(), StatusCode::kInvalidArgument, {"m-00002-of-00003.gguf: "});
}

TEST(GgufSplit, WrongTensorCount) {
  const TestFolder folder;
  folder.Write("m-00001-of-00002.gguf", Build({0, 2, 5}));
  folder.Write("m-00002-of-00002.gguf", Build({1, 2, 5}));
  ExpectError(OpenModelFile(folder.Path("m-00001-of-00002.gguf")), StatusCode::kDataLoss,
              {"expected 5 tensors", "got 2"});
}

TEST(GgufSplit, ContradictoryKeys) {
  const TestFolder folder;
  const auto open = [&](GgufTestFile file) {
    return OpenModelFile(folder.Write("m-00001-of-00002.gguf", file.Build()));
  };
  ExpectError(open(GgufTestFile().Key<uint16_t>("split.count", GgufType::kU16, 2)), StatusCode::kDataLoss,
              {"'split.no'", "got none"});
  ExpectError(
      open(GgufTestFile().Key<uint16_t>("split.count", GgufType::kU16, 2).Key<uint16_t>("split.no", GgufType::kU16, 2)),
      StatusCode::kDataLoss, {"'split.no'", "got 2"});
  ExpectError(
      open(GgufTestFile().Key<uint16_t>("split.count", GgufType::kU16, 2).Key<uint16_t>("split.no", GgufType::kU16, 0)),
      StatusCode::kDataLoss, {"'split.tensors.count'"});
  ExpectError(open(GgufTestFile().StringKey("split.count", "2")), StatusCode::kDataLoss, {"'split.count'"});
  ExpectError(open(GgufTestFile().Key<int32_t>("split.count", GgufType::kI32, -2)), StatusCode::kDataLoss,
              {"'split.count'"});
  ExpectError(open(GgufTestFile().Key<uint64_t>("split.count", GgufType::kU64, ~uint64_t{0})), StatusCode::kDataLoss,
              {"'split.count'", "99999"});
}

TEST(GgufSplit, AFileThatSaysItIsTheOnlyOne) {
  const TestFolder folder;
  EXPECT_TRUE(OpenModelFile(folder.Write("m.gguf", Build({0, 1, 1}))).ok());
}

TEST(GgufSplit, Paths) {
  EXPECT_EQ(*SplitPath("a/b-00001-of-00012.gguf", 11, 12), "a/b-00012-of-00012.gguf");
  EXPECT_FALSE(SplitPath("a/b-00001-of-00012.gguf", 1, 13).ok());
}

}  // namespace
}  // namespace candor
