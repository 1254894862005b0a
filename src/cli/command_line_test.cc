#include "src/cli/command_line.h"

#include <gtest/gtest.h>

#include "src/cli/help.h"

namespace layerscope::cli {
namespace {

CommandLine Parsed(const std::vector<std::string>& arguments) {
  base::Result<CommandLine> line = ParseCommandLine(arguments);
  EXPECT_TRUE(line.ok()) << (line.ok() ? "" : line.error().message);
  return line.ok() ? *line : CommandLine();
}

base::Error FailureOf(const std::vector<std::string>& arguments) {
  base::Result<CommandLine> line = ParseCommandLine(arguments);
  EXPECT_FALSE(line.ok());
  return line.ok() ? base::Error() : line.error();
}

TEST(CommandLine, AVerbTakesInputsAndOptionsInAnyOrder) {
  const CommandLine line =
      Parsed({"modules", "--depth", "3", "a.json", "-n", "5", "b.json", "--no-comm"});
  EXPECT_EQ(line.verb->name, "modules");
  EXPECT_EQ(line.inputs, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(line.options,
            (session::RawOptions{{"depth", "3"}, {"rows", "5"}, {"no-comm", "true"}}));
}

TEST(CommandLine, AnExistingPathOrStandardInputIsSummary) {
  EXPECT_EQ(Parsed({"-"}).verb->name, "summary");
  EXPECT_EQ(Parsed({"-"}).inputs, std::vector<std::string>{"-"});
  EXPECT_EQ(Parsed({"CMakeLists.txt", "--strict"}).verb->name, "summary");
}

TEST(CommandLine, TwoFilesForOneRecordingAreRefusedAndNotTheFirstForgotten) {
  const base::Error error =
      FailureOf({"modules", "-", "--capture-trace", "a.json", "--capture-trace=b.json"});
  EXPECT_EQ(error.code, base::ErrorCode::kUsage);
  EXPECT_EQ(error.message, "--capture-trace is given twice: a.json, b.json");
  EXPECT_EQ(error.hint, "give one, or a folder that holds them: --capture-trace DIR");
  EXPECT_EQ(FailureOf({"modules", "-", "--model-tree", "a", "--model-tree", "b"}).code,
            base::ErrorCode::kUsage);
  const CommandLine same = Parsed({"modules", "-", "--config", "c.json", "--config", "c.json"});
  EXPECT_EQ(same.options.at("config"), "c.json");
}

TEST(CommandLine, TheLaterOfTwoOppositesHolds) {
  EXPECT_EQ(Parsed({"modules", "-", "--no-collapse"}).options.at("collapse"), "false");
  EXPECT_EQ(Parsed({"modules", "-", "--no-collapse", "--collapse"}).options.at("collapse"), "true");
  EXPECT_EQ(Parsed({"kernels", "-", "--by", "op", "--by=module"}).options.at("by"), "module");
}

TEST(CommandLine, ValuesMayLookLikeOptions) {
  EXPECT_EQ(Parsed({"kernels", "-", "--from=-3ms"}).options.at("from"), "-3ms");
}

TEST(CommandLine, WrongWordsSuggestTheNearest) {
  EXPECT_EQ(FailureOf({"modles", "a.json"}).message,
            "'modles' is neither a verb nor an existing file; did you mean 'modules'?");
  EXPECT_EQ(FailureOf({"info", "--stict", "a.json"}).message,
            "'info' has no option '--stict'; did you mean '--strict'?");
  const base::Error misplaced = FailureOf({"-", "modules", "--depth", "2"});
  EXPECT_EQ(misplaced.message, "'modules' is a verb, and the verb stands first");
  EXPECT_EQ(misplaced.hint, "layerscope modules -");
  EXPECT_EQ(FailureOf({"absent.json"}).code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(FailureOf({}).code, base::ErrorCode::kUsage);
  EXPECT_EQ(FailureOf({"kernels", "-", "--by"}).code, base::ErrorCode::kUsage);
}

TEST(CommandLine, HelpAndVersionAreActions) {
  EXPECT_EQ(Parsed({"--help"}).action, CommandLine::Action::kHelp);
  EXPECT_EQ(Parsed({"--help"}).verb, nullptr);
  EXPECT_EQ(Parsed({"steps", "--help"}).verb->name, "steps");
  EXPECT_EQ(Parsed({"help"}).verb, nullptr);
  EXPECT_EQ(Parsed({"help", "steps"}).action, CommandLine::Action::kHelp);
  EXPECT_EQ(Parsed({"help", "steps"}).verb->name, "steps");
  EXPECT_EQ(FailureOf({"help", "kernel"}).message, "no verb 'kernel'; did you mean 'kernels'?");
  EXPECT_EQ(Parsed({"--version"}).action, CommandLine::Action::kVersion);
}

TEST(CommandLine, JsonIsSeenInBrokenCommandLinesToo) {
  EXPECT_TRUE(AsksForJson({"info", "--nope", "--format", "json"}));
  EXPECT_TRUE(AsksForJson({"info", "--format=json"}));
  EXPECT_FALSE(AsksForJson({"info", "--format=json", "--format", "csv"}));
  EXPECT_FALSE(AsksForJson({"info", "json"}));
}

TEST(Help, ListsEveryVerbAndItsExamplesWithinEightyColumns) {
  const auto fits = [](const std::string& text) {
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      // "…" takes three bytes and one column.
      EXPECT_LE(line.size(), line.find("…") == std::string::npos ? 80U : 84U) << line;
      if (end == std::string::npos) break;
      at = end + 1;
    }
  };
  fits(ProgramHelp());
  for (const Verb& spec : Verbs()) {
    EXPECT_NE(ProgramHelp().find(spec.name), std::string::npos);
    std::string help = VerbHelp(spec);
    fits(help);
    // An example that is too long goes on in the next line, as a shell reads it.
    const std::string continued = " \\\n    ";
    for (size_t at = help.find(continued); at != std::string::npos; at = help.find(continued)) {
      help.replace(at, continued.size(), " ");
    }
    for (const std::string& example : spec.examples) {
      EXPECT_NE(help.find(example), std::string::npos) << example;
    }
    EXPECT_EQ(help.find("--chunk-size"), std::string::npos);
  }
}

TEST(CommandLine, AnOptionWithoutItsValueSaysWhatItTakes) {
  const base::Result<CommandLine> line = ParseCommandLine({"modules", "--eager-trace"});
  ASSERT_FALSE(line.ok());
  EXPECT_NE(line.error().message.find("FILE"), std::string::npos) << line.error().message;
  EXPECT_EQ(line.error().message.find("TEXT"), std::string::npos) << line.error().message;
}

}  // namespace
}  // namespace layerscope::cli
