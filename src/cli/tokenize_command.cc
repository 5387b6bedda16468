#include <memory>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/json.h"
#include "cli/load_model.h"
#include "cli/terminal.h"
#include "text/tokenizer.h"

namespace candor::cli {
namespace {

struct TokenizeFlags {
  std::string model;
  std::optional<std::string> text;
  std::string file;
  bool parse_special = false;
  bool no_bos = false;
  bool json = false;
};

Outcome ReadText(const TokenizeFlags& flags, std::string& text) {
  if (flags.text && !flags.file.empty()) return UsageError("expected one of --text and --file, got both");
  if (flags.text) {
    text = *flags.text;
    return {};
  }
  if (flags.file.empty() && StdinIsTerminal())
    return UsageError("expected text, got none; give --text, --file or pipe it in");
  auto content = flags.file.empty() ? ReadStdin() : ReadWholeFile(flags.file);
  if (!content.ok()) return StreamFailure(content.status());
  text = std::move(*content);
  return {};
}

std::string Table(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string table;
  for (const TokenId id : ids) {
    const Json quoted = tokenizer.TokenBytes(id, true);
    table += fmt::format("{:8} {}\n", id, Dump(quoted));
  }
  return table;
}

Outcome Tokenize(const TokenizeFlags& flags) {
  CANDOR_CLI_RETURN_IF_FAILED(RequireModel(flags.model));
  std::string text;
  CANDOR_CLI_RETURN_IF_FAILED(ReadText(flags, text));
  const auto file = OpenModelFile(flags.model);
  if (!file.ok()) return LoadFailure(file.status());
  const auto tokenizer = Tokenizer::Load(*file);
  if (!tokenizer.ok()) return LoadFailure(tokenizer.status());
  const auto ids = (*tokenizer)->Encode(text, {.add_special = !flags.no_bos, .parse_special = flags.parse_special});
  if (!ids.ok()) return RunFailure(ids.status());
  return flags.json ? PrintJson({{"ids", *ids}}) : PrintText(Table(**tokenizer, *ids));
}

}  // namespace

CommandBody AddTokenizeCommand(CLI::App& app) {
  auto flags = std::make_shared<TokenizeFlags>();
  AddModel(app, flags->model);
  AddText(
      app, "--text", [flags](const std::string& text) { flags->text = text; }, "The text")
      ->type_name("TEXT");
  AddPath(app, "--file", flags->file, "A file that holds the text; - is stdin");
  AddFlag(app, "--parse-special", flags->parse_special, "Text that looks like a control token becomes that token");
  AddFlag(app, "--no-bos", flags->no_bos, "Add no BOS or EOS (default: as the model file says)");
  AddJson(app, flags->json);
  app.footer(
      "Examples:\n"
      "  candor tokenize -m model.gguf --text \"Hello world\"\n"
      "  candor tokenize -m model.gguf --file prompt.txt --parse-special --json\n"
      "  echo -n Hello | candor tokenize -m model.gguf --no-bos --json\n");
  return [flags] { return Tokenize(*flags); };
}

}  // namespace candor::cli
