#include "TrainFixture.h"

#include <map>

using namespace colrow;

namespace {

struct TensorRowsTest : TrainFixture {
  static constexpr int64_t rows = 40, sequence = 16;
  bigram::Shape shape{2};
  ProgramInfo info = bigram::makeInfo(shape);
  std::vector<int64_t> tokens, labels;
  std::vector<float> mask = std::vector<float>(rows * sequence, 1);

  TensorRowsTest() {
    info.labels = LabelRule::none;
    info.objective = "next_token";
    std::string text = "the quick brown fox jumps over the lazy dog; ";
    for (int64_t i = 0; i < rows * sequence; ++i) {
      tokens.push_back(text[size_t(i) % text.size()]);
      labels.push_back(text[size_t(i + 1) % text.size()]);
    }
  }

  /// The tensors by name, so that tests can change one.
  std::map<std::string, TensorData> tensors() const {
    std::vector<int64_t> dims = {rows, sequence};
    return {{"input_ids", TensorData::integers("input_ids", dims, tokens.data())},
            {"attention_mask", TensorData::floats("attention_mask", dims, mask.data())},
            {"labels", TensorData::integers("labels", dims, labels.data())}};
  }

  std::string write(const std::map<std::string, TensorData> &named) const {
    std::vector<TensorData> all;
    for (const auto &[name, tensor] : named)
      all.push_back(tensor);
    writeSafetensors(path("data.safetensors"), all);
    return path("data.safetensors");
  }

  Result train(const std::string &run, const std::vector<std::string> &more) const {
    std::vector<std::string> all = {"train", "--init", "--out", path(run), "--lr", "0.05"};
    all.insert(all.end(), more.begin(), more.end());
    return runWith(shape, info, all);
  }

  std::string fail(const std::vector<std::string> &more) const {
    std::vector<std::string> all = {"--steps", "8"};
    all.insert(all.end(), more.begin(), more.end());
    Result result = train("bad", all);
    EXPECT_EQ(result.code, 1);
    EXPECT_FALSE(std::filesystem::exists(path("bad")));
    EXPECT_EQ(result.err.substr(0, 7), "error: ");
    return result.err.substr(7, result.err.size() - 8);
  }
  std::string fail(const std::map<std::string, TensorData> &named) const {
    return fail({"--data", write(named)});
  }
};

template <typename T> TensorData narrow(const TensorData &tensor, TensorType type) {
  TensorData result{tensor.name, type, tensor.shape, {}};
  result.bytes.resize(tensor.bytes.size() / sizeof(int64_t) * sizeof(T));
  for (size_t i = 0; i < tensor.bytes.size() / sizeof(int64_t); ++i) {
    int64_t value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(int64_t), sizeof(value));
    T other = T(value);
    std::memcpy(result.bytes.data() + i * sizeof(T), &other, sizeof(T));
  }
  return result;
}

} // namespace

// The same rows as tokens and as tensors are the same training, bit for bit.
TEST_F(TensorRowsTest, EqualsTrainingOnTokens) {
  std::string text;
  for (int64_t token : tokens)
    text += char(token);
  text += char(labels.back());
  writeTextFile(path("data.txt"), text);
  for (int64_t ranks : {1, 2}) {
    shape.ranks = ranks;
    info.grid = {{"tp", ranks}};
    info.parameters = bigram::makeInfo(shape).parameters;
    std::string run = "tensors" + std::to_string(ranks), of = "tokens" + std::to_string(ranks);
    Result result = train(run, {"--steps", "25", "--data", write(tensors()), "--eval-data",
                                path("data.safetensors")});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("40 rows of input_ids, attention_mask, labels in '"),
              std::string::npos)
        << result.out;
    result =
        train(of, {"--steps", "25", "--data", path("data.txt"), "--eval-data", path("data.txt")});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(losses(run), losses(of));
    EXPECT_EQ(metrics(run).back()["eval_loss"], metrics(of).back()["eval_loss"]);
    EXPECT_LT(losses(run).back(), 0.6 * losses(run).front());
  }
}

TEST_F(TensorRowsTest, GoesOnBitForBitAndKnowsItsData) {
  write(tensors());
  std::vector<std::string> options = {"--data", path("data.safetensors"), "--steps",
                                      "25",     "--save-every",           "10"};
  ASSERT_EQ(train("whole", options).code, 0);
  options.insert(options.end(), {"--resume-from", path("whole/checkpoint-000020.safetensors")});
  ASSERT_EQ(train("rest", options).code, 0);
  std::vector<double> whole = losses("whole");
  EXPECT_EQ(losses("rest"), std::vector<double>(whole.begin() + 20, whole.end()));

  tokens[5] = 'x';
  write(tensors());
  Result result = train("other", options);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("is of a run with other settings: the data is 40 rows (safetensors, "
                            "checksum "),
            std::string::npos)
      << result.err;
}

// PyTorch shifts the labels of a causal model, and so does training.
TEST_F(TensorRowsTest, LabelsAreShiftedWhereTheObjectiveShifts) {
  ASSERT_EQ(train("apart", {"--steps", "5", "--data", write(tensors())}).code, 0);
  std::vector<double> apart = losses("apart");
  for (size_t i = 0; i < labels.size(); ++i)
    if (i % sequence == sequence - 1)
      labels[i] = -100;
  ASSERT_EQ(train("ignoring", {"--steps", "5", "--data", write(tensors())}).code, 0);
  info.labels = LabelRule::shiftLeft;
  info.objective = "causal_lm";
  labels = tokens;
  ASSERT_EQ(train("shifted", {"--steps", "5", "--data", write(tensors())}).code, 0);
  EXPECT_EQ(losses("shifted"), losses("ignoring"));
  EXPECT_NE(losses("shifted"), apart);
}

TEST_F(TensorRowsTest, TakesOtherWidths) {
  ASSERT_EQ(train("wide", {"--steps", "4", "--data", write(tensors())}).code, 0);
  auto all = tensors();
  all["input_ids"] = narrow<uint8_t>(all["input_ids"], TensorType::U8);
  all["labels"] = narrow<int16_t>(all["labels"], TensorType::I16);
  std::vector<double> ones(rows * sequence, 1);
  all["attention_mask"] = TensorData::doubles("attention_mask", {rows, sequence}, ones.data());
  ASSERT_EQ(train("narrow", {"--steps", "4", "--data", write(all)}).code, 0);
  EXPECT_EQ(losses("narrow"), losses("wide"));
}

TEST_F(TensorRowsTest, TellsWhatIsNotUsed) {
  auto all = tensors();
  all["weight"] = TensorData::floats("weight", {2, 2}, mask.data());
  Result result = train("run", {"--steps", "1", "--data", write(all)});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "warning: tensor 'weight' [2, 2] F32 of '" + path("data.safetensors") +
                            "' is no input of 'bigram.onnx' and is not used\n");
}

TEST_F(TensorRowsTest, NamesTypesAndShapesThatDoNotFit) {
  std::string file = "'" + path("data.safetensors") + "'";
  auto all = tensors();
  all.erase("labels");
  all["label"] = TensorData::integers("label", {rows, sequence}, labels.data());
  EXPECT_EQ(fail(all), file + " has no tensor for the labels 'labels' of 'bigram.onnx', [rows, 16] "
                              "int64; it has 'attention_mask' [40, 16] F32, 'input_ids' [40, 16] "
                              "I64, 'label' [40, 16] I64");
  all = tensors();
  all["input_ids"] = TensorData::floats("input_ids", {rows, sequence}, mask.data());
  EXPECT_EQ(fail(all), file + ": tensor 'input_ids' [40, 16] F32 does not fit the input "
                              "'input_ids' of 'bigram.onnx', which takes [rows, 16] int64");
  all = tensors();
  all["attention_mask"] = TensorData::integers("attention_mask", {rows, sequence}, tokens.data());
  EXPECT_EQ(fail(all), file + ": tensor 'attention_mask' [40, 16] I64 does not fit the input "
                              "'attention_mask' of 'bigram.onnx', which takes [rows, 16] float32");
  all = tensors();
  all["labels"] = TensorData::integers("labels", {rows * 2, sequence / 2}, labels.data());
  EXPECT_EQ(fail(all), file + ": tensor 'labels' [80, 8] I64 does not fit the labels 'labels' of "
                              "'bigram.onnx', which takes [rows, 16] int64");
  all = tensors();
  all["labels"] = TensorData::integers("labels", {rows - 1, sequence}, labels.data());
  EXPECT_EQ(fail(all), file + ": tensor 'labels' [39, 16] I64 has 39 rows, others have 40");
  for (auto &[name, tensor] : all = tensors()) {
    tensor.shape[0] = 3;
    tensor.bytes.resize(tensor.bytes.size() / rows * 3);
  }
  EXPECT_EQ(fail(all), file + " has 3 rows, but one batch needs 4; give more data, or compile with "
                              "a smaller --batch");
  write(tensors());
  EXPECT_EQ(fail({"--data", path("data.safetensors"), "--ignore-token", "3"}),
            "--ignore-token is for data of tokens; in " + file +
                " labels that do not count are -100");
  EXPECT_EQ(fail({"--data", path("data.safetensors"), "--mask-token", "3"}),
            "--mask-token is for data of tokens; " + file +
                " has masked inputs and their labels already");
}

TEST_F(TensorRowsTest, ValuesThatDoNotFit) {
  std::string file = "'" + path("data.safetensors") + "'";
  tokens[3 * sequence + 2] = 258;
  EXPECT_EQ(fail(tensors()),
            file + ": tensor 'input_ids' holds 258, which is not in [0, 258), in row 3");
  tokens[3 * sequence + 2] = -100; // only labels may be ignored
  EXPECT_EQ(fail(tensors()),
            file + ": tensor 'input_ids' holds -100, which is not in [0, 258), in row 3");
  tokens[3 * sequence + 2] = 5;
  labels[0] = -1;
  EXPECT_EQ(fail(tensors()),
            file + ": tensor 'labels' holds -1, which is not in [0, 258), in row 0");
  labels.assign(labels.size(), -100);
  EXPECT_EQ(fail(tensors()), file + ": all labels in tensor 'labels' are ignored (-100)");
  labels[7] = 5; // of row 0, which is not in the first step
  write(tensors());
  Result result =
      train("run", {"--steps", "9", "--data", path("data.safetensors"), "--accumulate", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find(" has no label that counts: all are -100"), std::string::npos)
      << result.err;
  labels = tokens;
  mask[9] = NAN;
  EXPECT_EQ(fail(tensors()), file + ": tensor 'attention_mask' holds nan in row 0");
}

TEST_F(TensorRowsTest, MasksThatHideEverything) {
  std::string file = "'" + path("data.safetensors") + "'";
  std::fill_n(mask.begin() + 5 * sequence, sequence, 0.0f);
  EXPECT_EQ(fail(tensors()), file + ": tensor 'attention_mask' hides every position of row 5");
  // Added to scores, zeros show what large negative numbers hide.
  for (float &value : mask)
    value = value == 0 ? 0 : -1e9f;
  EXPECT_EQ(fail(tensors()), file + ": tensor 'attention_mask' hides every position of row 0");
  for (size_t i = 0; i < mask.size(); i += 2)
    mask[i] = 0;
  Result result = train("run", {"--steps", "1", "--data", write(tensors())});
  EXPECT_EQ(result.code, 0) << result.err;
}
