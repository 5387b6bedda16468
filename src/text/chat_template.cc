#include "text/chat_template.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "text/provenance.h"
#include "text/rust_buffer.h"
#include "text/utf8.h"

namespace candor {
namespace {

using Json = nlohmann::ordered_json;

struct FreeTemplate {
  void operator()(CandorTextTemplate* chat_template) const { candor_text_template_free(chat_template); }
};

std::string Repaired(std::string_view text) { return ReplaceInvalidUtf8(text, ReplaceUnit::kPart); }

// Seconds on the local clock face: what strftime_now prints needs no time zone then.
int64_t LocalSeconds(int64_t utc_seconds) {
  const auto now = static_cast<std::time_t>(utc_seconds);
  std::tm local{};
  if (localtime_r(&now, &local) == nullptr) return utc_seconds;
  return utc_seconds + local.tm_gmtoff;
}

// Parses the caller's variables. Nesting is limited because readers and writers of JSON recurse.
Result<Json> ParseVariables(const std::string& text) {
  constexpr int kDeepest = 64;
  if (text.empty()) return Json::object();
  bool too_deep = false;
  const auto limit = [&too_deep](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  Json parsed = Json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep)
    return InvalidArgumentError("template variables: expected at most {} levels of nesting, got more", kDeepest);
  if (!parsed.is_object()) {
    return InvalidArgumentError("template variables: expected a JSON object, got {}; write it as {{\"name\": value}}",
                                parsed.is_discarded() ? "text that is not JSON" : parsed.type_name());
  }
  return parsed;
}

void CollectText(const Json& value, std::string& used) {
  if (value.is_string()) {
    used += value.get_ref<const std::string&>();
  } else if (value.is_structured()) {
    for (const auto& [key, item] : value.items()) {
      used += key;
      CollectText(item, used);
    }
  }
}

}  // namespace

struct ChatTemplate::Impl {
  Impl(std::string source_text, const Tokenizer& tokenizer, CandorTextTemplate* made)
      : source(std::move(source_text)),
        provenance(tokenizer, source),
        bos(Repaired(tokenizer.TokenText(tokenizer.bos()))),
        eos(Repaired(tokenizer.TokenText(tokenizer.eos()))),
        compiled(made) {}

  // Marks every string of a value that came from outside, in place.
  Json Marked(const Json& value, const Provenance::StandIns& stand_ins) const;
  Json Variables(const std::vector<ChatMessage>& messages, const ChatRenderOptions& options, const Json& extra,
                 const Provenance::StandIns& stand_ins) const;

  std::string source;
  Provenance provenance;
  std::string bos;
  std::string eos;
  std::unique_ptr<CandorTextTemplate, FreeTemplate> compiled;
};

ChatTemplate::ChatTemplate() = default;
ChatTemplate::~ChatTemplate() = default;

const std::string& ChatTemplate::source() const { return impl_->source; }

Result<std::unique_ptr<const ChatTemplate>> ChatTemplate::Load(std::shared_ptr<const ModelFile> file,
                                                               const Tokenizer& tokenizer) {
  constexpr std::string_view kKey = "tokenizer.chat_template";
  if (file->FindMetadata(kKey) == nullptr) {
    return NotFoundError(
        "{}: expected a chat template, got none: this is a base model; give it a raw prompt to complete", kKey);
  }
  CANDOR_ASSIGN_OR_RETURN(const std::string_view source, file->GetString(kKey));
  return FromSource(std::string(source), tokenizer);
}

Result<std::unique_ptr<const ChatTemplate>> ChatTemplate::FromSource(const std::string& source,
                                                                     const Tokenizer& tokenizer) {
  RustBuffer error;
  CandorTextTemplate* compiled = candor_text_template_new(RustSlice(source), error.out());
  if (compiled == nullptr) {
    return InvalidArgumentError("chat template: expected a Jinja template, got one that does not compile: {}",
                                error.view());
  }
  std::unique_ptr<ChatTemplate> made(new ChatTemplate());
  made->impl_ = std::make_unique<Impl>(source, tokenizer, compiled);
  return std::unique_ptr<const ChatTemplate>(std::move(made));
}

Json ChatTemplate::Impl::Marked(const Json& value, const Provenance::StandIns& stand_ins) const {
  if (value.is_string()) return provenance.Mark(Repaired(value.get_ref<const std::string&>()), stand_ins);
  if (!value.is_structured()) return value;
  Json marked = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      marked.push_back(Marked(item, stand_ins));
    } else {
      marked[provenance.Mark(Repaired(key), stand_ins)] = Marked(item, stand_ins);
    }
  }
  return marked;
}

Json ChatTemplate::Impl::Variables(const std::vector<ChatMessage>& messages, const ChatRenderOptions& options,
                                   const Json& extra, const Provenance::StandIns& stand_ins) const {
  Json variables = {{"bos_token", bos},        {"eos_token", eos},
                    {"tools", nullptr},        {"documents", nullptr},
                    {"__keep", stand_ins.all}, {"add_generation_prompt", options.add_generation_prompt}};
  variables["__now"] = LocalSeconds(options.clock_seconds.value_or(static_cast<int64_t>(std::time(nullptr))));
  for (const auto& [key, value] : extra.items()) variables[Repaired(key)] = Marked(value, stand_ins);
  Json list = Json::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", provenance.Mark(Repaired(message.role), stand_ins)},
                    {"content", provenance.Mark(Repaired(message.content), stand_ins)}});
  }
  variables["messages"] = std::move(list);
  return variables;
}

Result<std::vector<TextSegment>> ChatTemplate::Render(const std::vector<ChatMessage>& messages,
                                                      const ChatRenderOptions& options) const {
  CANDOR_ASSIGN_OR_RETURN(const Json extra, ParseVariables(options.extra_json));
  std::string used = impl_->source + impl_->bos + impl_->eos;
  CollectText(extra, used);
  for (const ChatMessage& message : messages) used += message.role + message.content;
  const Provenance::StandIns stand_ins = impl_->provenance.Choose(Repaired(used));
  if (!impl_->provenance.IsComplete(stand_ins)) {
    return InvalidArgumentError(
        "chat: expected text that leaves some of U+100000 to U+10FFFD free, got all of them; remove some");
  }
  const std::string variables =
      impl_->Variables(messages, options, extra, stand_ins).dump(-1, ' ', false, Json::error_handler_t::replace);
  RustBuffer output;
  if (candor_text_template_render(impl_->compiled.get(), RustSlice(variables), output.out()) == 0) {
    return InvalidArgumentError("chat template: {}", output.view());
  }
  return impl_->provenance.Unmark(output.view(), stand_ins);
}

}  // namespace candor
