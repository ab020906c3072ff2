#include "TrainFixture.h"

using namespace colrow;

namespace {

struct ErrorsTest : TrainFixture {
  /// The message of a run that must fail with exit code 1, without its "error: " and newline.
  std::string fail(const std::vector<std::string> &more, const ProgramInfo *info = nullptr,
                   const bigram::Shape &shape = {2}) const {
    std::vector<std::string> all = {"train", "--steps", "5"};
    all.insert(all.end(), more.begin(), more.end());
    if (std::find(all.begin(), all.end(), "--out") == all.end())
      all.insert(all.end(), {"--out", path("run")});
    ProgramInfo own = bigram::makeInfo(shape);
    Result result = runWith(shape, info ? *info : own, all);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err.substr(0, 7), "error: ");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err.substr(7, result.err.size() - 8);
  }
};

/// The bigram model, except that rank 1 fails where a function of it is called.
class Breaking : public Program {
public:
  Breaking(std::unique_ptr<Program> program, const Rank &rank, std::string where)
      : program(std::move(program)), isBroken(rank.index() == 1), where(std::move(where)) {}

  const ProgramInfo &info() const override { return program->info(); }
  float *parameter(size_t i) override { return at("parameter"), program->parameter(i); }
  float *gradient(size_t i) override { return program->gradient(i); }
  float *firstMoment(size_t i) override { return at("firstMoment"), program->firstMoment(i); }
  float *secondMoment(size_t i) override { return program->secondMoment(i); }
  void *input(size_t i) override { return program->input(i); }
  const float *output(size_t i) override { return program->output(i); }
  void zeroGradients() override { program->zeroGradients(); }
  double forwardBackward(const StepScalars &scalars) override {
    return at("forwardBackward"), program->forwardBackward(scalars);
  }
  double update(const StepScalars &scalars) override {
    return at("update"), program->update(scalars);
  }
  double evaluate(const StepScalars &scalars) override {
    return at("evaluate"), program->evaluate(scalars);
  }

private:
  void at(const char *function) const {
    if (isBroken && where == function)
      throw std::runtime_error("broken in " + where);
  }

  std::unique_ptr<Program> program;
  bool isBroken;
  std::string where;
};

} // namespace

TEST_F(ErrorsTest, Data) {
  EXPECT_EQ(fail({"--init", "--data", "/no/file"}),
            "cannot read '/no/file': no such file or directory");
  std::string data = path("short.txt");
  writeTextFile(data, "short");
  EXPECT_EQ(fail({"--init", "--data", data}),
            "'" + data +
                "' holds 5 tokens, but one batch of 4 rows of 16 needs 65; give more "
                "data, or compile with a smaller --batch or --sequence");
  EXPECT_EQ(fail({"--init", "--data", writeText(), "--eval-data", data}),
            "'" + data +
                "' holds 5 tokens, but one batch of 4 rows of 16 needs 65; give more "
                "data, or compile with a smaller --batch or --sequence");
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  bigram::Shape small{1, 100};
  EXPECT_EQ(fail({"--init", "--data", data}, nullptr, small),
            "'" + data +
                "' is text, whose bytes need a vocabulary of 256, but the model's has "
                "100; give a .bin file of its own tokens");
  std::vector<uint16_t> tokens(100, 3);
  tokens[98] = 258;
  OutputFile file(path("bad.bin"));
  file.write(tokens.data(), 200);
  file.commit();
  EXPECT_EQ(fail({"--init", "--data", path("bad.bin")}),
            "'" + path("bad.bin") +
                "': token 258 at position 98 is not below 258, the model's "
                "vocabulary; is it uint16 tokens of this model's tokenizer?");
}

TEST_F(ErrorsTest, NoLabelCounts) {
  writeTextFile(path("a.txt"), std::string(500, 'a'));
  EXPECT_EQ(fail({"--init", "--data", path("a.txt"), "--ignore-token", "97"}),
            "step 1 has no label that counts: all are the ignored token");
}

TEST_F(ErrorsTest, Weights) {
  std::string data = writeText();
  EXPECT_EQ(fail({"--data", data}), "this trainer of 'bigram.onnx' came without weights; give "
                                    "--weights FILE, or --init to start from scratch");
  EXPECT_EQ(fail({"--data", data, "--weights", "/no/file"}),
            "cannot read '/no/file': no such file or directory");
  EXPECT_EQ(fail({"--data", data, "--weights", data}).substr(0, data.size() + 46),
            "'" + data + "' is not a valid safetensors file: its header");
}

TEST_F(ErrorsTest, OutputFolder) {
  std::string data = writeText();
  EXPECT_EQ(fail({"--init", "--data", data, "--out", "/proc/colrow/run"}),
            "cannot make the folder '/proc/colrow/run': no such file or directory");
  EXPECT_EQ(fail({"--init", "--data", data, "--out", data}),
            "cannot write into '" + data + "': not a folder");
}

TEST_F(ErrorsTest, LossThatIsNoNumber) {
  std::vector<std::string> options = {"--init", "--data", writeText(), "--clip",
                                      "0",      "--lr",   "1e300"};
  std::string message = "the loss is nan at step 2: the parameter 'model.embed.weight' holds "
                        "infinity; try a smaller --lr or a longer --warmup ";
  EXPECT_EQ(fail(options), message + "(no checkpoint was written before)");
  EXPECT_EQ(losses("run").size(), 1u);
  options.insert(options.end(), {"--save-every", "1"});
  EXPECT_EQ(fail(options), message + "(the last checkpoint is '" +
                               path("run/checkpoint-000001.safetensors") + "')");
  EXPECT_TRUE(std::filesystem::exists(path("run/checkpoint-000001.safetensors")));
  EXPECT_FALSE(std::filesystem::exists(path("run/final.safetensors")));
}

// The loss is still finite where its gradient is not: the update must not be saved.
TEST_F(ErrorsTest, GradientThatIsNoNumber) {
  EXPECT_EQ(
      fail({"--init", "--data", writeText(), "--clip", "0", "--lr", "1e38", "--save-every", "1"}),
      "the gradient norm is nan at step 2, where the loss was finite: the first gradient "
      "that is not finite is that of 'model.head.weight', which holds nan; try a smaller "
      "--lr or a longer --warmup (the last checkpoint is '" +
          path("run/checkpoint-000001.safetensors") + "')");
  EXPECT_FALSE(std::filesystem::exists(path("run/checkpoint-000002.safetensors")));
  EXPECT_TRUE(metrics("run")[1]["grad_norm"].is_null());
}

TEST_F(ErrorsTest, ProgramsThatRowsOfTokensCannotTrain) {
  std::string data = writeText();
  ProgramInfo info = bigram::makeInfo({2});
  const std::string needed = "give --data FILE.safetensors with input_ids [rows, 16] int64, "
                             "attention_mask [rows, 16] float32, labels [rows, 16] int64";
  info.labels = LabelRule::none;
  info.objective = "seq2seq";
  EXPECT_EQ(fail({"--init", "--data", data}, &info),
            "the objective of 'bigram.onnx' is seq2seq, whose labels do not follow from tokens; " +
                needed);
  info.labels = LabelRule::inGraph;
  EXPECT_EQ(
      fail({"--init", "--data", data}, &info),
      "'bigram.onnx' computes its loss from inputs of its own, which tokens do not determine; " +
          needed);
  info = bigram::makeInfo({2});
  info.inputs[1] = {"pixel_values", DType::f32, {4, 3, 8, 8}, 0};
  EXPECT_EQ(fail({"--init", "--data", data}, &info),
            "input 'pixel_values' [4, 3, 8, 8] of 'bigram.onnx' does not follow from rows of "
            "tokens; give --data FILE.safetensors with input_ids [rows, 16] int64, pixel_values "
            "[rows, 3, 8, 8] float32, labels [rows, 16] int64");
  info = bigram::makeInfo({2});
  info.inputs.erase(info.inputs.begin());
  EXPECT_EQ(fail({"--init", "--data", data}, &info),
            "'bigram.onnx' has no input for tokens of shape [4, 16]; give --data FILE.safetensors "
            "with attention_mask [rows, 16] float32, labels [rows, 16] int64");
}

TEST_F(ErrorsTest, MaskTokens) {
  std::string data = writeText();
  EXPECT_EQ(fail({"--init", "--data", data, "--mask-token", "0"}),
            "--mask-token is for masked language models, but the objective of 'bigram.onnx' is "
            "causal_lm; leave it out, or give --objective masked_lm");
  ProgramInfo info = bigram::makeInfo({2});
  info.labels = LabelRule::none;
  info.objective = "masked_lm";
  EXPECT_EQ(fail({"--init", "--data", data}, &info),
            "the objective of 'bigram.onnx' is masked_lm, which hides tokens of '" + data +
                "' behind the tokenizer's mask token: give its number by --mask-token (another "
                "objective by --objective)");
  EXPECT_EQ(fail({"--init", "--data", data, "--mask-token", "258"}, &info),
            "--mask-token 258 is not in [0, 258), the vocabulary of 'bigram.onnx'");
  writeTextFile(path("short.txt"), std::string(63, 'a'));
  EXPECT_EQ(fail({"--init", "--data", path("short.txt"), "--mask-token", "0"}, &info),
            "'" + path("short.txt") +
                "' holds 63 tokens, but one batch of 4 rows of 16 needs 64; "
                "give more data, or compile with a smaller --batch or --sequence");
}

// Other ranks wait in a collective then.
TEST_F(ErrorsTest, ARankThatFailsAnywhere) {
  bigram::Shape shape{2};
  ProgramInfo info = bigram::makeInfo(shape);
  std::string data = writeText();
  // Initial values, a step, its update, evaluation, a checkpoint's moments.
  for (const char *where : {"parameter", "forwardBackward", "update", "evaluate", "firstMoment"}) {
    GeneratedProgram generated = {info, [&](Rank &rank) -> std::unique_ptr<Program> {
                                    return std::make_unique<Breaking>(
                                        bigram::makeProgram(shape, info, rank), rank, where);
                                  }};
    std::ostringstream out, err;
    EXPECT_EQ(trainerMain({"train", "--init", "--data", data, "--eval-data", data, "--eval-every",
                           "1", "--save-every", "2", "--steps", "5", "--out", path(where)},
                          folder.string(), generated, {out, err, false}),
              1);
    EXPECT_EQ(err.str(), "error: broken in " + std::string(where) + "\n");
    for (const auto &entry : std::filesystem::directory_iterator(path(where)))
      EXPECT_TRUE(entry.path().filename() == "config.json" ||
                  entry.path().filename() == "metrics.jsonl")
          << entry.path();
  }
}

TEST_F(ErrorsTest, ARankThatFails) {
  bigram::Shape shape{2};
  ProgramInfo info = bigram::makeInfo(shape);
  GeneratedProgram generated = {info, [&](Rank &rank) {
                                  if (rank.index() == 1)
                                    throw std::bad_alloc();
                                  return bigram::makeProgram(shape, info, rank);
                                }};
  std::ostringstream out, err;
  EXPECT_EQ(
      trainerMain({"train", "--init", "--data", writeText(), "--steps", "5", "--out", path("run")},
                  folder.string(), generated, {out, err, false}),
      1);
  EXPECT_EQ(err.str(), "error: out of memory\n");
}
