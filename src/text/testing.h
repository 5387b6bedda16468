// Helpers of the tests of text/: models from the cache, JSON from the repository, vocabularies made by hand.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "formats/model_file_builder.h"
#include "platform/paths.h"
#include "text/tokenizer.h"

namespace candor::text_testing {

inline std::shared_ptr<const ModelFile> OpenOrFail(const std::string& path, const std::string& remedy) {
  Result<std::shared_ptr<const ModelFile>> file = OpenModelFile(path);
  EXPECT_TRUE(file.ok()) << file.status().message() << "; " << remedy;
  return file.ok() ? *file : nullptr;
}

// A model that `make test` has fetched. A missing one is a failure, never a skip.
inline std::shared_ptr<const ModelFile> CachedModel(const std::string& name) {
  const Result<std::string> folder = CacheDirectory(ReadEnvironment());
  EXPECT_TRUE(folder.ok()) << folder.status().message();
  return OpenOrFail(folder.ok() ? *folder + "/" + name : name, "this test needs the models that `make test` fetches");
}

// A file of the repository; tests run in its root.
// Keys keep their order: templates print them.
inline nlohmann::ordered_json ReadJson(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path << ": expected a file of the repository; run the tests from its root";
  return nlohmann::ordered_json::parse(in, nullptr, /*allow_exceptions=*/false);
}

using Metadata = std::vector<std::pair<std::string, MetadataValue>>;

// A model file that has nothing but metadata. String arrays live as long as the file.
class MetadataFile {
 public:
  MetadataFile& Set(const std::string& key, MetadataValue value) {
    std::erase_if(metadata_, [&](const auto& entry) { return entry.first == key; });
    metadata_.emplace_back(key, std::move(value));
    return *this;
  }
  MetadataFile& Remove(const std::string& key) {
    std::erase_if(metadata_, [&](const auto& entry) { return entry.first == key; });
    return *this;
  }
  MetadataFile& SetStrings(const std::string& key, std::vector<std::string> values) {
    auto held = std::make_shared<const std::vector<std::string>>(std::move(values));
    held_.push_back(held);
    return Set(key, std::vector<std::string_view>(held->begin(), held->end()));
  }
  std::shared_ptr<const ModelFile> Build() const {
    ModelFileBuilder builder("test.gguf");
    for (const auto& held : held_) builder.Hold(held);
    builder.SetMetadata(metadata_);
    return builder.Build();
  }

 private:
  Metadata metadata_;
  std::vector<std::shared_ptr<const std::vector<std::string>>> held_;
};

// Byte-level BPE: the 256 bytes as tokens 0 to 255 in the order of GPT-2's characters, then what merges make, then
// special tokens.
struct SpecialEntry {
  std::string text;
  int64_t type;  // 3: control, 4: user-defined
};
MetadataFile BpeFile(const std::vector<std::string>& merges, const std::vector<SpecialEntry>& specials);

// SentencePiece BPE: <unk>, <s>, </s>, the 256 byte tokens, then pieces with scores -1, -2, ….
MetadataFile SpmFile(const std::vector<std::string>& pieces, const std::vector<SpecialEntry>& specials);

}  // namespace candor::text_testing
