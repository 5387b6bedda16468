#include "models/family.h"

#include "models/families.h"

namespace candor {

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies = {
      {"llama", ReadLlamaConfig, BuildLlama},
      {"qwen2", ReadQwen2Config, BuildQwen2},
      {"qwen3", ReadQwen3Config, BuildQwen3},
      {"gemma3", ReadGemma3Config, BuildGemma3},
  };
  return kFamilies;
}

Result<const Family*> FindFamily(const ModelFile& file) {
  CANDOR_ASSIGN_OR_RETURN(const std::string_view architecture, file.GetString("general.architecture"));
  std::string known;
  for (const Family& family : Families()) {
    if (family.architecture == architecture) return &family;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", family.architecture);
  }
  return UnimplementedError("{}: expected an architecture among [{}], got '{}'; convert or choose another model",
                            file.path(), known, architecture);
}

}  // namespace candor
