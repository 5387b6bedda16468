#include "formats/gguf/gguf_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/printable.h"
#include "formats/gguf/gguf_test_file.h"
#include "platform/test_folder.h"
#include "platform/text_file.h"

namespace candor {
namespace {

using OpenedFile = Result<std::shared_ptr<const ModelFile>>;

Result<std::shared_ptr<const MappedFile>> NoFurtherParts(const std::string& path) {
  return NotFoundError("{}: no such part", path);
}

OpenedFile OpenBytes(const std::string& bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return OpenGguf(MappedFile::FromMemory("test.gguf", std::vector<std::byte>(begin, begin + bytes.size())),
                  NoFurtherParts);
}

OpenedFile OpenBytes(const GgufTestFile& file) { return OpenBytes(file.Build()); }

// The message has all parts of a good error: it begins with the file and contains every one of `words`.
void ExpectError(const OpenedFile& opened, StatusCode code, const std::vector<std::string>& words) {
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), code)
      << StatusCodeName(opened.status().code()) << ": " << opened.status().message();
  EXPECT_EQ(opened.status().message().find("test.gguf: "), 0u) << opened.status().message();
  for (const auto& word : words) {
    EXPECT_NE(opened.status().message().find(word), std::string::npos)
        << "no '" << word << "' in: " << opened.status().message();
  }
}

constexpr uint32_t kF32 = 0;
constexpr uint32_t kQ4_0 = 2;

// Every value type, two tensors.
GgufTestFile SmallFile() {
  GgufTestFile file;
  file.StringKey("general.architecture", "llama")
      .Key<uint8_t>("t.u8", GgufType::kU8, 200)
      .Key<int8_t>("t.i8", GgufType::kI8, -100)
      .Key<uint16_t>("t.u16", GgufType::kU16, 60'000)
      .Key<int16_t>("t.i16", GgufType::kI16, -30'000)
      .Key<uint32_t>("t.u32", GgufType::kU32, 4'000'000'000)
      .Key<int32_t>("t.i32", GgufType::kI32, -2'000'000'000)
      .Key<float>("t.f32", GgufType::kF32, 0.25f)
      .Key<uint8_t>("t.bool", GgufType::kBool, 1)
      .Key<uint64_t>("t.u64", GgufType::kU64, uint64_t{1} << 40)
      .Key<int64_t>("t.i64", GgufType::kI64, -(int64_t{1} << 40))
      .Key<double>("t.f64", GgufType::kF64, 1e300)
      .Strings("t.strings", {"a", "", std::string("b\0\xff", 3)})
      .Array<int32_t>("t.i32s", GgufType::kI32, {1, -2, 3})
      .Array<uint16_t>("t.u16s", GgufType::kU16, {7, 8})
      .Array<float>("t.f32s", GgufType::kF32, {0.5f, -1.0f})
      .Array<uint8_t>("t.bools", GgufType::kBool, {1, 0})
      .Array<uint8_t>("t.nothing", GgufType::kU8, {})
      .Tensor("a.weight", {4, 2}, kF32, 0)
      .Tensor("b.weight", {32, 1, 1, 2}, kQ4_0, 32)
      .Data(std::string(32, 'A') + std::string(36, 'B'));
  return file;
}

TEST(GgufReader, EveryValueType) {
  const auto opened = OpenBytes(SmallFile());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.metadata().size(), 18u);
  EXPECT_EQ(*file.GetString("general.architecture"), "llama");
  EXPECT_EQ(*file.GetU32("t.u8"), 200u);
  EXPECT_EQ(std::get<int64_t>(*file.FindMetadata("t.i8")), -100);
  EXPECT_EQ(*file.GetU32("t.u16"), 60'000u);
  EXPECT_EQ(std::get<int64_t>(*file.FindMetadata("t.i16")), -30'000);
  EXPECT_EQ(*file.GetU32("t.u32"), 4'000'000'000u);
  EXPECT_EQ(std::get<int64_t>(*file.FindMetadata("t.i32")), -2'000'000'000);
  EXPECT_EQ(*file.GetF32("t.f32"), 0.25f);
  EXPECT_TRUE(*file.GetBool("t.bool"));
  EXPECT_EQ(std::get<uint64_t>(*file.FindMetadata("t.u64")), uint64_t{1} << 40);
  EXPECT_EQ(std::get<int64_t>(*file.FindMetadata("t.i64")), -(int64_t{1} << 40));
  EXPECT_EQ(std::get<double>(*file.FindMetadata("t.f64")), 1e300);
  const auto strings = *file.GetStrings("t.strings");
  ASSERT_EQ(strings.size(), 3u);
  EXPECT_EQ(strings[1], "");
  EXPECT_EQ(strings[2], std::string_view("b\0\xff", 3));
  EXPECT_EQ(*file.GetI32Array("t.i32s"), (std::vector<int32_t>{1, -2, 3}));
  EXPECT_EQ(*file.GetI32Array("t.u16s"), (std::vector<int32_t>{7, 8}));
  EXPECT_EQ(*file.GetF32Array("t.f32s"), (std::vector<float>{0.5f, -1.0f}));
  EXPECT_EQ(std::get<std::vector<bool>>(*file.FindMetadata("t.bools")), (std::vector<bool>{true, false}));
  EXPECT_TRUE(file.GetI32Array("t.nothing")->empty());
}

TEST(GgufReader, Tensors) {
  const auto opened = OpenBytes(SmallFile());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const ModelFile& file = **opened;
  ASSERT_EQ(file.tensors().size(), 2u);
  const TensorInfo* b = file.FindTensor("b.weight");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->dtype, DType::kQ4_0);
  EXPECT_EQ(b->shape, (std::vector<int64_t>{32, 1, 1, 2}));
  EXPECT_EQ(b->bytes, 36u);
  EXPECT_EQ(file.FindTensor("c.weight"), nullptr);
  EXPECT_EQ(file.TotalTensorBytes(), 68u);
  std::byte part[3];
  ASSERT_TRUE(file.ReadTensor(*b, 33, part).ok());
  EXPECT_EQ(part[2], std::byte{'B'});
  EXPECT_EQ(file.Data(*file.FindTensor("a.weight"))[31], std::byte{'A'});
}

TEST(GgufReader, Getters) {
  const auto opened =
      OpenBytes(SmallFile().Key<float>("t.nan", GgufType::kF32, std::numeric_limits<float>::quiet_NaN()));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.GetU32("absent").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(*file.GetU32Or("absent", 7), 7u);
  EXPECT_EQ(*file.GetF32Or("absent", 0.5f), 0.5f);
  EXPECT_FALSE(*file.GetBoolOr("absent", false));
  EXPECT_EQ(*file.GetStringOr("absent", "x"), "x");
  EXPECT_EQ(*file.GetU32Or("t.u8", 7), 200u);
  const Status mistyped = file.GetU32Or("t.f32", 7).status();
  EXPECT_EQ(mistyped.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(mistyped.message(),
            "test.gguf: metadata key 't.f32': expected an integer from 0 to 4294967295, got the float 0.25; "
            "the file is damaged or was made wrongly");
  for (const char* key : {"t.i8", "t.u64", "t.strings", "t.bool", "general.architecture"}) {
    EXPECT_EQ(file.GetU32(key).status().code(), StatusCode::kInvalidArgument) << key;
  }
  for (const char* key : {"t.u8", "t.f64", "t.nan"})
    EXPECT_EQ(file.GetF32(key).status().code(), StatusCode::kInvalidArgument) << key;
  EXPECT_EQ(file.GetBool("t.u8").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetString("t.strings").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetStrings("general.architecture").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetF32Array("t.i32s").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetI32Array("t.f32s").status().code(), StatusCode::kInvalidArgument);
}

TEST(GgufReader, PerLayerNumbers) {
  const auto opened = OpenBytes(SmallFile());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const ModelFile& file = **opened;
  EXPECT_EQ(*file.GetU32PerLayer("t.u8", 3), (std::vector<uint32_t>{200, 200, 200}));
  EXPECT_EQ(*file.GetU32PerLayer("t.u16s", 2), (std::vector<uint32_t>{7, 8}));
  EXPECT_EQ(file.GetU32PerLayer("t.u16s", 3).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetU32PerLayer("t.i32s", 3).status().code(), StatusCode::kInvalidArgument);  // one is negative
  EXPECT_EQ(file.GetU32PerLayer("t.f32s", 2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file.GetU32PerLayer("absent", 2).status().code(), StatusCode::kNotFound);
}

TEST(GgufReader, NotAGgufFile) {
  ExpectError(OpenBytes(SmallFile().Magic("GGML")), StatusCode::kInvalidArgument, {"'GGUF'", "'GGML'"});
  ExpectError(OpenBytes(std::string("\x7f"
                                    "E")),
              StatusCode::kInvalidArgument, {"\\x7fE"});
}

TEST(GgufReader, Versions) {
  EXPECT_TRUE(OpenBytes(SmallFile().Version(2)).ok());
  ExpectError(OpenBytes(SmallFile().Version(1)), StatusCode::kUnimplemented, {"version 2 or 3", "got version 1"});
  ExpectError(OpenBytes(SmallFile().Version(0)), StatusCode::kUnimplemented, {"got version 0"});
  ExpectError(OpenBytes(SmallFile().Version(4)), StatusCode::kUnimplemented, {"got version 4"});
  ExpectError(OpenBytes(SmallFile().Version(0x03000000)), StatusCode::kUnimplemented, {"big-endian"});
}

TEST(GgufReader, LyingCounts) {
  for (const uint64_t count : {uint64_t{1'000'001}, ~uint64_t{0}, uint64_t{1} << 63}) {
    ExpectError(OpenBytes(SmallFile().TensorCount(count)), StatusCode::kDataLoss,
                {"number of tensors", fmt::format("got {}", count)});
    ExpectError(OpenBytes(SmallFile().KeyCount(count)), StatusCode::kDataLoss,
                {"number of metadata keys", fmt::format("got {}", count)});
  }
  ExpectError(OpenBytes(SmallFile().KeyCount(900'000)), StatusCode::kDataLoss, {"number of metadata keys"});
  ExpectError(OpenBytes(SmallFile().TensorCount(900'000)), StatusCode::kDataLoss, {"number of tensors"});
  EXPECT_FALSE(OpenBytes(SmallFile().TensorCount(3)).ok());
  EXPECT_FALSE(OpenBytes(SmallFile().KeyCount(17)).ok());
}

TEST(GgufReader, BadMetadata) {
  const auto array = static_cast<uint32_t>(GgufType::kArray);
  ExpectError(OpenBytes(SmallFile().RawKey("x", 13, "12345678")), StatusCode::kDataLoss,
              {"'x'", "from 0 to 12", "got 13"});
  ExpectError(OpenBytes(SmallFile().RawArray("x", 99, 1, "12345678")), StatusCode::kDataLoss, {"'x'", "got 99"});
  ExpectError(OpenBytes(SmallFile().RawArray("x", array, 1, "12345678")), StatusCode::kUnimplemented,
              {"'x'", "array of arrays"});
  ExpectError(OpenBytes(SmallFile().StringKey("t.u8", "again")), StatusCode::kDataLoss, {"'t.u8'", "got two"});
  ExpectError(OpenBytes(SmallFile().Key<uint8_t>("x", GgufType::kBool, 2)), StatusCode::kDataLoss,
              {"'x'", "0 or 1", "got 2"});
  ExpectError(OpenBytes(SmallFile().Array<uint8_t>("x", GgufType::kBool, {0, 3})), StatusCode::kDataLoss,
              {"'x'", "0 or 1", "got 3"});
  ExpectError(OpenBytes(SmallFile().StringKey("", "v")), StatusCode::kDataLoss, {"key 19 of 19", "got 0 bytes"});
  ExpectError(OpenBytes(SmallFile().StringKey("a\nb", "v")), StatusCode::kDataLoss, {"a\\x0ab"});
  ExpectError(OpenBytes(SmallFile().StringKey("\xff", "v")), StatusCode::kDataLoss, {"\\xff"});
  ExpectError(OpenBytes(SmallFile().StringKey(std::string(70'000, 'k'), "v")), StatusCode::kDataLoss,
              {"got 70000 bytes"});
}

TEST(GgufReader, LyingLengths) {
  const auto string = static_cast<uint32_t>(GgufType::kString);
  for (const uint64_t length :
       {uint64_t{100'000}, ~uint64_t{0}, ~uint64_t{0} - 7, uint64_t{1} << 61, uint64_t{1} << 63}) {
    ExpectError(OpenBytes(SmallFile().RawKey("x", string, GgufTestFile::Bytes(length))), StatusCode::kDataLoss,
                {"'x'", fmt::format("{}", length)});
    for (const uint32_t type : {0u, 3u, 6u, 7u, 8u, 12u}) {
      ExpectError(OpenBytes(SmallFile().RawArray("x", type, length, "")), StatusCode::kDataLoss,
                  {"'x'", fmt::format("{}", length)});
    }
  }
}

TEST(GgufReader, Alignment) {
  GgufTestFile file;
  file.Key<uint32_t>("general.alignment", GgufType::kU32, 256)
      .Tensor("a", {4}, kF32, 256)
      .Data(std::string(272, 'x'), 256);
  const auto opened = OpenBytes(file);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ((*opened)->tensors()[0].offset % 256, 0u);
  for (const uint32_t alignment : {0u, 24u, 33u}) {
    ExpectError(OpenBytes(SmallFile().Key<uint32_t>("general.alignment", GgufType::kU32, alignment)),
                StatusCode::kDataLoss, {"'general.alignment'", "power of two", fmt::format("got {}", alignment)});
  }
  ExpectError(OpenBytes(SmallFile().Key<uint64_t>("general.alignment", GgufType::kU64, uint64_t{1} << 63)),
              StatusCode::kDataLoss, {});
  ExpectError(OpenBytes(SmallFile().StringKey("general.alignment", "32")), StatusCode::kDataLoss,
              {"'general.alignment'"});
}

TEST(GgufReader, BadShapes) {
  const std::string data(4096, 'x');
  const auto with = [&](const std::vector<uint64_t>& shape, uint32_t type) {
    return OpenBytes(GgufTestFile().Tensor("bad.weight", shape, type, 0).Data(data));
  };
  EXPECT_TRUE(with({4, 2}, kF32).ok());
  ExpectError(with({}, kF32), StatusCode::kDataLoss, {"'bad.weight'", "1 to 4 dimensions", "got 0"});
  ExpectError(with({1, 1, 1, 1, 1}, kF32), StatusCode::kDataLoss, {"'bad.weight'", "got 5"});
  ExpectError(with({0}, kF32), StatusCode::kDataLoss, {"'bad.weight'", "dimension 0", "at least 1", "got 0"});
  ExpectError(with({4, 0}, kF32), StatusCode::kDataLoss, {"'bad.weight'", "dimension 1"});
  ExpectError(with({4, ~uint64_t{0}}, kF32), StatusCode::kDataLoss, {"'bad.weight'", "got -1"});
  ExpectError(with({uint64_t{1} << 62}, kF32), StatusCode::kDataLoss, {"'bad.weight'"});
  ExpectError(with({uint64_t{1} << 31, uint64_t{1} << 31, 4}, kF32), StatusCode::kDataLoss,
              {"'bad.weight'", "[2147483648, 2147483648, 4]"});
  ExpectError(with({uint64_t{1} << 32, uint64_t{1} << 32, uint64_t{1} << 32}, kF32), StatusCode::kDataLoss,
              {"'bad.weight'"});
  // 2^63 elements are 2^62 bytes and a half in Q4_0: the bytes fit 64 bits, the count does not fit an int64.
  ExpectError(with({uint64_t{1} << 32, uint64_t{1} << 31}, kQ4_0), StatusCode::kDataLoss, {"'bad.weight'", "63 bits"});
  ExpectError(with({33}, kQ4_0), StatusCode::kDataLoss, {"'bad.weight'", "multiple of 32", "Q4_0", "got 33"});
}

TEST(GgufReader, TypesThatCannotBeRead) {
  const auto with = [&](uint32_t type) {
    return OpenBytes(GgufTestFile().Tensor("blk.0.ffn_up.weight", {256}, type, 0).Data(std::string(2048, 'x')));
  };
  ExpectError(with(16), StatusCode::kUnimplemented, {"'blk.0.ffn_up.weight'", "IQ2_XXS"});
  ExpectError(with(40), StatusCode::kUnimplemented, {"'blk.0.ffn_up.weight'", "NVFP4"});
  ExpectError(with(4), StatusCode::kUnimplemented, {"'blk.0.ffn_up.weight'", "removed"});
  ExpectError(with(99), StatusCode::kUnimplemented, {"'blk.0.ffn_up.weight'", "type 99"});
}

TEST(GgufReader, BadOffsets) {
  const std::string data(256, 'x');
  const auto with = [&](uint64_t offset) {
    return OpenBytes(
        GgufTestFile().Tensor("a.weight", {16}, kF32, 0).Tensor("b.weight", {16}, kF32, offset).Data(data));
  };
  EXPECT_TRUE(with(64).ok());
  EXPECT_TRUE(with(192).ok());
  ExpectError(with(65), StatusCode::kDataLoss, {"'b.weight'", "multiple of 32", "got 65"});
  ExpectError(with(32), StatusCode::kDataLoss, {"'a.weight'", "'b.weight'", "overlap"});
  ExpectError(with(0), StatusCode::kDataLoss, {"overlap"});
  ExpectError(with(224), StatusCode::kDataLoss, {"'b.weight'", "64 bytes at offset 224", "truncated"});
  ExpectError(with(~uint64_t{31}), StatusCode::kDataLoss, {"'b.weight'"});
  ExpectError(with(uint64_t{1} << 40), StatusCode::kDataLoss, {"'b.weight'"});
}

TEST(GgufReader, BadTensorNames) {
  const auto with = [&](const std::string& name) {
    return OpenBytes(GgufTestFile().Tensor("a", {8}, kF32, 0).Tensor(name, {8}, kF32, 32).Data(std::string(64, 'x')));
  };
  EXPECT_TRUE(with(std::string(63, 'n')).ok());
  ExpectError(with("a"), StatusCode::kDataLoss, {"tensor 'a'", "another"});
  ExpectError(with(""), StatusCode::kDataLoss, {"tensor 2 of 2"});
  ExpectError(with(std::string(64, 'n')), StatusCode::kDataLoss, {"1 to 63 bytes", "got 64"});
  ExpectError(with("\x1b[31m"), StatusCode::kDataLoss, {"\\x1b[31m"});
}

TEST(GgufReader, AHeaderLargerThanAnyRealOne) {
  const TestFolder folder;
  // A sparse file: an array that would fit the file, but not our patience.
  const std::string path = folder.Write("huge.gguf", GgufTestFile().RawArray("x", 0, uint64_t{1} << 30, "").Build());
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 32), 0);
  const auto opened = OpenModelFile(path);
  EXPECT_EQ(opened.status().code(), StatusCode::kResourceExhausted) << opened.status().message();
}

// Every prefix of a file is an error with a sentence, but for one that only lacks nothing.
TEST(GgufReader, TruncatedAtEveryByte) {
  const std::string whole = SmallFile().Build();
  ASSERT_TRUE(OpenBytes(whole).ok());
  for (size_t length = 1; length < whole.size(); ++length) {
    const auto opened = OpenBytes(whole.substr(0, length));
    ASSERT_FALSE(opened.ok()) << "opened although cut after " << length << " of " << whole.size() << " bytes";
    ASSERT_EQ(opened.status().message().find("test.gguf: "), 0u) << opened.status().message();
  }
}

// Any byte may be anything: an error or a file that is consistent, never a crash (run under sanitizers in CI).
TEST(GgufReader, FlippedBytes) {
  const std::string whole = SmallFile().Build();
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      const auto opened = OpenBytes(damaged);
      if (!opened.ok()) ++refused;
      if (opened.ok()) {
        for (const TensorInfo& tensor : (*opened)->tensors()) ASSERT_EQ((*opened)->Data(tensor).size(), tensor.bytes);
      }
    }
  }
  EXPECT_GT(refused, whole.size());  // most of them matter
}

TEST(GgufReader, TinyModelCutAndShaken) {
  const TestFolder folder;
  std::ifstream stream("tests/models/llama_rope3.gguf", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  ASSERT_GT(whole.size(), 100'000u);
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    // More cuts in the header than in the data.
    const size_t length = 1 + random() % (round % 3 == 0 ? whole.size() - 1 : 60'000);
    const std::string path = folder.Write("cut.gguf", whole.substr(0, length));
    const auto opened = OpenModelFile(path);
    ASSERT_FALSE(opened.ok()) << length;
    ASSERT_EQ(opened.status().message().find(path), 0u) << opened.status().message();
  }
  for (int round = 0; round < 60; ++round) {
    std::string damaged = whole;
    for (int flip = 0; flip < 4; ++flip) damaged[random() % 60'000] = static_cast<char>(random());
    (void)OpenModelFile(folder.Write("shaken.gguf", damaged));
  }
}

TEST(GgufReader, TinyModels) {
  for (const char* name : {"llama", "llama-f16", "llama_rope3", "gemma3", "qwen2", "qwen3", "qwen3-f16"}) {
    const auto opened = OpenModelFile(fmt::format("tests/models/{}.gguf", name));
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const ModelFile& file = **opened;
    EXPECT_EQ(file.GetStrings("tokenizer.ggml.tokens")->size(), 1024u);
    const TensorInfo* embedding = file.FindTensor("token_embd.weight");
    ASSERT_NE(embedding, nullptr);
    EXPECT_EQ(embedding->shape[1], 1024);
    EXPECT_EQ(embedding->shape[0],
              *file.GetU32(std::string(*file.GetString("general.architecture")) + ".embedding_length"));
    EXPECT_LT(file.TotalTensorBytes(), file.FileBytes());
    for (const TensorInfo& tensor : file.tensors()) {
      std::vector<std::byte> bytes(tensor.bytes);
      ASSERT_TRUE(file.ReadTensor(tensor, 0, bytes).ok());
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), file.Data(tensor).begin()));
      file.WillNeed(tensor);
      file.DropPages(tensor);
    }
  }
}

TEST(GgufReader, AFileThatShrinksWhileInUse) {
  const TestFolder folder;
  const std::string path = folder.Path("model.gguf");
  std::filesystem::copy_file("tests/models/llama_rope3.gguf", path);
  const auto opened = OpenModelFile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  const TensorInfo& last = (*opened)->tensors().back();
  std::vector<std::byte> bytes(last.bytes);
  EXPECT_EQ((*opened)->CheckUnchanged().code(), StatusCode::kDataLoss);
  const Status status = (*opened)->ReadTensor(last, 0, bytes);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find(last.name), std::string::npos) << status.message();
  // The vocabulary lay behind the new end of the file, and is still there.
  size_t letters = 0;
  const auto tokens = *(*opened)->GetStrings("tokenizer.ggml.tokens");
  for (const std::string_view token : tokens) letters += token.size();
  EXPECT_GT(letters, 1024u);
}

TEST(OpenModelFile, WhatIsNoModel) {
  const TestFolder folder;
  EXPECT_EQ(OpenModelFile(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenModelFile(folder.Write("empty.gguf", "")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenModelFile(folder.Write("text.gguf", "hello, I am a text")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenModelFile(folder.Path("absent.gguf")).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace candor
