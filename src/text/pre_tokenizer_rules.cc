#include "text/pre_tokenizer.h"

// The expressions are those of the models' own tokenizer.json files (and of the GPT-2 and cl100k/o200k vocabularies
// that these copy), in the syntax of Rust's regex crate: `(?i:'s|…)` is spelt out. Where llama.cpp approximates
// (gpt-4o, tekken: upper and lower case of ASCII only), the model's own rule is used.

namespace candor {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CONTRACTIONS R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define BLANKS R"(\s+(?!\S)|\s+)"
// A word may begin with one other character: a space, a quote.
#define WORD R"([^\r\n\p{L}\p{N}]?\p{L}+)"
#define SYMBOLS R"( ?[^\s\p{L}\p{N}]+)"
#define LINES R"(\s*[\r\n]+)"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
// Words that change from upper to lower case once; `tail` is what may follow.
#define CASED_WORD(tail) \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" tail R"(|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" tail
#define DEEPSEEK_PUNCTUATED_WORD \
  R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"

constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|)" BLANKS;
constexpr std::string_view kLlama3 = CONTRACTIONS "|" WORD R"(|\p{N}{1,3}|)" SYMBOLS R"([\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kQwen2 = CONTRACTIONS "|" WORD R"(|\p{N}|)" SYMBOLS R"([\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kQwen2NoContractions = WORD R"(|\p{N}|)" SYMBOLS R"([\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kQwen35 =
    CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kMiniCpm5 = CONTRACTIONS "|" WORD R"(|\p{N}+|)" SYMBOLS R"([\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kSeedCoder = CONTRACTIONS "|" WORD R"(|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|)" LINES "|" BLANKS;
constexpr std::string_view kBailing =
    R"('[sSdDmMtT]|'[lL][lL]|'[vV][eE]|'[rR][eE]|)" WORD R"(|\p{N}|)" SYMBOLS R"([\r\n]*|\s*[\r\n]|)" BLANKS;
constexpr std::string_view kExaoneMoe = CONTRACTIONS
    R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)" SYMBOLS R"([\r\n/]?|\s*[\r\n]|)" BLANKS;
constexpr std::string_view kGpt4o =
    CASED_WORD("(?:" CONTRACTIONS ")?") R"(|\p{N}{1,3}|)" SYMBOLS R"([\r\n/]*|)" LINES "|" BLANKS;
constexpr std::string_view kYoutu =
    CASED_WORD("(?:" CONTRACTIONS ")?") R"(|\p{N}|)" SYMBOLS R"([\r\n/]*|)" LINES "|" BLANKS;
constexpr std::string_view kTekken = CASED_WORD("") R"(|\p{N}|)" SYMBOLS R"([\r\n/]*|)" LINES "|" BLANKS;
constexpr std::string_view kDeepSeek3 = DEEPSEEK_PUNCTUATED_WORD R"(| ?[\p{P}\p{S}]+[\r\n]*|)" LINES "|" BLANKS;
constexpr std::string_view kSpark = DEEPSEEK_PUNCTUATED_WORD R"(| ?[\p{P}\p{S}]+|[\r\n]|)" BLANKS;
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[)"
    R"(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
    R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B})"
    R"(\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})"
    R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})"
    R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"
    R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})"
    R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})"
    R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})"
    R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"
    R"(]+)";
constexpr std::string_view kDeepSeekSymbols =
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)";
constexpr std::string_view kCjkOld = R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr std::string_view kCjk = R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kYoutuScripts =
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C})"
    R"(\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{0964}\x{06D4}\x{060C})]+)";
constexpr std::string_view kPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kFalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kDigits = R"(\p{N}+)";
constexpr std::string_view kUpTo3Digits = R"(\p{N}{1,3})";
constexpr std::string_view kLineBreak = R"([\r\n])";

std::vector<PreTokenizerRule> MakeRules() {
  struct Family {
    std::vector<std::string_view> names;
    std::vector<std::string_view> patterns;
    bool ignore_merges = false;
    bool add_bos = false;
  };
  const Family families[] = {
      {{"gpt2", "gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4", "gigachat",
        "a.x-4.0", "mellum", "modern-bert", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de"},
       {kGpt2}},
      {{"default"}, {kPunctuation, kGpt2, kDigits, kThreeDigits}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"}, {kDigit, kGpt2}},
      {{"falcon"}, {kFalconPunctuation, kGpt2, kThreeDigits}},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
       {kLlama3},
       true,
       true},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, {kLlama3}},
      {{"glm4", "glm5"}, {kLlama3}, true},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "kormo", "f2llmv2", "grok-2", "solar-open"},
       {kQwen2}},
      {{"qwen35"}, {kQwen35}},
      {{"ufakzeka"}, {kQwen2NoContractions}},
      {{"laguna"}, {R"([^\n]+|[\n]+)", kQwen2}},
      {{"minicpm5"}, {kUpTo3Digits, kMiniCpm5}, true},
      {{"seed-coder"}, {kSeedCoder}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {kBailing}},
      {{"exaone-moe"}, {kExaoneMoe}},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {kGpt4o}},
      {{"tekken"}, {kTekken}, true, true},
      {{"youtu"}, {kYoutuScripts, kYoutu}, true},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, {kUpTo3Digits, kCjk, kDeepSeek3}},
      {{"spark2_5"}, {kUpTo3Digits, kCjk, kSpark, kDigit}},
      {{"deepseek-llm"}, {kLineBreak, kDeepSeekLetters, kDeepSeekSymbols, R"(\s+$)", kCjkOld, kDigits}},
      {{"deepseek-coder"}, {kLineBreak, R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCjkOld, kDigit}},
      {{"bloom", "gpt3-finnish", "poro-chat"}, {kBloom}},
      {{"viking"}, {kBloom, kDigit}},
  };
  std::vector<PreTokenizerRule> rules;
  for (const Family& family : families) {
    for (const std::string_view name : family.names) {
      rules.push_back({name, family.patterns, family.ignore_merges, family.add_bos});
    }
  }
  return rules;
}
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace

const std::vector<PreTokenizerRule>& PreTokenizerRules() {
  static const std::vector<PreTokenizerRule> rules = MakeRules();
  return rules;
}

}  // namespace candor
