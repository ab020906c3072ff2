#include "runtime/train/Masking.h"
#include "TrainFixture.h"

#include <map>

using namespace colrow;

namespace {

constexpr int64_t vocabulary = 1000, maskToken = 999, special = 7, ignored = -100;

struct Masked {
  std::vector<int64_t> before, tokens, labels;
};

/// Rows of tokens that are neither special nor the mask token, masked.
Masked mask(const Masking &masking, int64_t step, int64_t first, int64_t rows, int64_t sequence) {
  Masked result;
  for (int64_t i = 0; i < rows * sequence; ++i)
    result.before.push_back(10 + (first + i) % 900);
  result.tokens = result.before;
  masking.apply(step, first, sequence, ignored, result.tokens, result.labels);
  return result;
}

Masking training(uint64_t seed = 1) { return {seed, "masks", maskToken, vocabulary, special}; }

} // namespace

TEST(Masking, SharesAre15And80And10And10) {
  Masked m = mask(training(), 3, 0, 1000, 200);
  int64_t chosen = 0, masked = 0, same = 0, other = 0;
  std::vector<int64_t> perTenth(10, 0); // of the vocabulary, among random tokens
  for (size_t i = 0; i < m.tokens.size(); ++i) {
    if (m.labels[i] == ignored) {
      ASSERT_EQ(m.tokens[i], m.before[i]);
      continue;
    }
    ++chosen;
    ASSERT_EQ(m.labels[i], m.before[i]);
    masked += m.tokens[i] == maskToken;
    same += m.tokens[i] == m.before[i];
    if (m.tokens[i] != maskToken && m.tokens[i] != m.before[i]) {
      ++other;
      ASSERT_GE(m.tokens[i], 0);
      ASSERT_LT(m.tokens[i], vocabulary);
      ++perTenth[size_t(m.tokens[i] * 10 / vocabulary)];
    }
  }
  // Within five standard deviations; a random token may be the mask token or the one that was
  // there.
  auto near = [](int64_t count, double of, double share) {
    EXPECT_NEAR(double(count), of * share, 5 * std::sqrt(of * share * (1 - share)));
  };
  near(chosen, 200000, 0.15);
  near(masked, double(chosen), 0.8 + 0.1 / vocabulary);
  near(same, double(chosen), 0.1 + 0.1 / vocabulary);
  near(other, double(chosen), 0.1 * (1 - 2.0 / vocabulary));
  for (int64_t count : perTenth)
    near(count, double(other), 0.1);
}

TEST(Masking, IsAFunctionOfSeedStepAndElement) {
  Masked whole = mask(training(), 5, 0, 8, 16);
  std::vector<int64_t> tokens, labels;
  for (int64_t m = 0; m < 4; ++m) { // as four microbatches
    Masked part = mask(training(), 5, m * 2 * 16, 2, 16);
    tokens.insert(tokens.end(), part.tokens.begin(), part.tokens.end());
    labels.insert(labels.end(), part.labels.begin(), part.labels.end());
  }
  EXPECT_EQ(tokens, whole.tokens);
  EXPECT_EQ(labels, whole.labels);
  EXPECT_NE(mask(training(), 6, 0, 8, 16).labels, whole.labels);
  EXPECT_NE(mask(training(2), 5, 0, 8, 16).labels, whole.labels);
  Masking evaluation(1, "masks of another kind", maskToken, vocabulary, special);
  EXPECT_NE(mask(evaluation, 5, 0, 8, 16).labels, whole.labels);
}

TEST(Masking, EveryRowHasALabelAndSpecialTokensHaveNone) {
  Masked m = mask(training(), 0, 0, 500, 4); // half of the rows would have none
  for (size_t row = 0; row < m.labels.size(); row += 4)
    ASSERT_LT(std::count(m.labels.begin() + long(row), m.labels.begin() + long(row) + 4, ignored),
              4);
  std::vector<int64_t> tokens, labels;
  for (int64_t i = 0; i < 4000; ++i)
    tokens.push_back(i % 4 == 0 ? 50 : i % 4 == 1 ? maskToken : special);
  std::vector<int64_t> before = tokens;
  training().apply(0, 0, 4, ignored, tokens, labels);
  for (size_t i = 0; i < tokens.size(); ++i)
    if (i % 4 != 0) {
      ASSERT_EQ(labels[i], ignored);
      ASSERT_EQ(tokens[i], before[i]);
    } else {
      ASSERT_EQ(labels[i], 50); // the only one that may be chosen
    }
  tokens.assign(8, special);
  training().apply(0, 0, 4, ignored, tokens, labels);
  EXPECT_EQ(labels, std::vector<int64_t>(8, ignored));
}

// The objective as a whole, on text: the loss falls, no grid and no interruption changes it.
struct MaskedTrainingTest : TrainFixture {
  std::vector<double> train(const std::string &run, int64_t ranks, int64_t batch,
                            const std::vector<std::string> &more) {
    bigram::Shape shape{ranks};
    shape.batch = batch;
    ProgramInfo info = bigram::makeInfo(shape);
    info.objective = "masked_lm";
    info.labels = LabelRule::none;
    std::vector<std::string> all = {"train", "--init", "--data", writeText(), "--mask-token",
                                    "257",   "--lr",   "0.05",   "--out",     path(run)};
    all.insert(all.end(), more.begin(), more.end());
    Result result = runWith(shape, info, all);
    EXPECT_EQ(result.code, 0) << result.err;
    return losses(run);
  }
};

TEST_F(MaskedTrainingTest, EqualOnEveryGrid) {
  std::vector<double> one = train("one", 1, 4, {"--steps", "60"});
  EXPECT_LT(one.back(), 0.75 * one.front());
  expectNear(train("two", 2, 4, {"--steps", "60"}), one, 1e-5);
  expectNear(train("split", 1, 2, {"--steps", "60", "--accumulate", "2"}), one, 1e-5);
}

TEST_F(MaskedTrainingTest, GoesOnBitForBit) {
  std::vector<std::string> options = {"--eval-data", writeText("eval.txt"), "--eval-every", "2"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return more;
  };
  std::vector<double> whole =
      train("whole", 2, 4, with({"--steps", "8", "--warmup", "8", "--min-lr", "0.05"}));
  train("parts", 2, 4,
        with({"--steps", "8", "--warmup", "8", "--min-lr", "0.05", "--save-every", "3", "--keep",
              "5"}));
  std::filesystem::create_directories(path("again"));
  std::vector<double> rest =
      train("again", 2, 4,
            with({"--steps", "8", "--warmup", "8", "--min-lr", "0.05", "--resume-from",
                  path("parts/checkpoint-000003.safetensors")}));
  EXPECT_EQ(rest, std::vector<double>(whole.begin() + 3, whole.end()));
  EXPECT_EQ(metrics("whole")[2]["eval_loss"], metrics("parts")[2]["eval_loss"]);
}
