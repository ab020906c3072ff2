#include "TrainFixture.h"
#include "colrow/Philox.h"

using namespace colrow;

namespace {

struct ReplayTest : TrainFixture {
  /// Batches of random tokens, some labels ignored, as PyTorch would have them.
  std::vector<TensorData> batches(int64_t count, const bigram::Shape &shape) const {
    int64_t elements = count * shape.batch * shape.sequence;
    std::vector<int64_t> tokens, labels;
    for (int64_t i = 0; i < elements; ++i) {
      tokens.push_back(int64_t(philoxUniform(5, 0, 0, uint64_t(i)) * 258));
      labels.push_back(philoxUniform(5, 0, 1, uint64_t(i)) < 0.1f ? -100 : tokens.back());
    }
    std::vector<float> mask(size_t(elements), 1);
    std::vector<int64_t> dims = {count, shape.batch, shape.sequence};
    return {TensorData::integers("batch.input_ids", dims, tokens.data()),
            TensorData::floats("batch.attention_mask", dims, mask.data()),
            TensorData::integers("batch.labels", dims, labels.data())};
  }

  void replay(const bigram::Shape &shape, const std::string &out,
              const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all = {"replay", "--batches", path("batches"), "--out", path(out),
                                    "--steps", "6", "--init", "--lr", "0.01"};
    all.insert(all.end(), more.begin(), more.end());
    Result result = run(shape, all);
    ASSERT_EQ(result.code, 0) << result.err;
  }

  std::string fail(const std::vector<TensorData> &tensors) const {
    writeSafetensors(path("batches"), tensors);
    Result result = run({2}, {"replay", "--batches", path("batches"), "--out", path("out"),
                              "--steps", "2", "--init"});
    EXPECT_EQ(result.code, 1);
    EXPECT_FALSE(std::filesystem::exists(path("out")));
    return result.err;
  }

  void expectEqual(const std::string &a, const std::string &b, double relative) const {
    SafetensorsFile one(path(a)), other(path(b));
    ASSERT_EQ(one.tensors().size(), other.tensors().size());
    for (const TensorEntry &entry : one.tensors()) {
      SCOPED_TRACE(entry.name);
      EXPECT_EQ(entry.shape, other.get(entry.name).shape);
      expectNear(other.readDoubles(other.get(entry.name)), one.readDoubles(entry), relative);
    }
  }
};

} // namespace

TEST_F(ReplayTest, HoldsEverythingUnderItsName) {
  bigram::Shape shape{2};
  writeSafetensors(path("batches"), batches(3, shape));
  replay(shape, "out");
  SafetensorsFile file(path("out"));
  EXPECT_EQ(file.get("logits").shape, (std::vector<int64_t>{4, 16, 258}));
  EXPECT_EQ(file.get("grad.model.embed.weight").shape, (std::vector<int64_t>{258, 12}));
  // Storage orientation.
  EXPECT_EQ(file.get("grad.model.head.weight").shape, (std::vector<int64_t>{12, 258}));
  EXPECT_EQ(file.get("final.model.head.weight").shape, (std::vector<int64_t>{12, 258}));
  EXPECT_EQ(file.get("losses").shape, std::vector<int64_t>{6});
  std::vector<double> losses = file.readDoubles(file.get("losses"));
  std::vector<double> norms = file.readDoubles(file.get("grad_norms"));
  EXPECT_NEAR(file.readDoubles(file.get("loss"))[0], losses[0], 1e-12);
  EXPECT_EQ(file.readDoubles(file.get("grad_norm"))[0], norms[0]);
  EXPECT_LT(losses[3], losses[0]); // the same batch again
  // The norm is that of the gradients that are in the file.
  double squares = 0;
  for (const TensorEntry &entry : file.tensors())
    if (entry.name.compare(0, 5, "grad.") == 0)
      for (double g : file.readDoubles(entry))
        squares += g * g;
  EXPECT_NEAR(std::sqrt(squares), norms[0], 1e-6 * norms[0]);
}

// The loss in the file is the one that its logits and the batch's own labels give: position t is
// held against labels[t + 1], and the last position against nothing.
TEST_F(ReplayTest, LabelsAreShifted) {
  bigram::Shape shape{2};
  writeSafetensors(path("batches"), batches(2, shape));
  replay(shape, "out");
  SafetensorsFile file(path("out")), input(path("batches"));
  std::vector<double> logits = file.readDoubles(file.get("logits"));
  std::vector<int64_t> labels = input.readIntegers(input.get("batch.labels"));
  double sum = 0, count = 0;
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t t = 0; t + 1 < 16; ++t) {
      int64_t label = labels[size_t(b * 16 + t + 1)];
      if (label == -100)
        continue;
      const double *row = logits.data() + (b * 16 + t) * 258;
      double total = 0;
      for (int64_t v = 0; v < 258; ++v)
        total += std::exp(row[v]);
      sum += std::log(total) - row[label];
      ++count;
    }
  EXPECT_NEAR(file.readDoubles(file.get("loss"))[0], sum / count, 1e-6);
}

TEST_F(ReplayTest, GridsAgree) {
  writeSafetensors(path("batches"), batches(3, {}));
  for (int64_t ranks : {1, 2, 4})
    replay({ranks}, std::to_string(ranks));
  expectEqual("1", "2", 1e-5);
  expectEqual("1", "4", 1e-5);
}

TEST_F(ReplayTest, AccumulationEqualsALargerBatch) {
  bigram::Shape whole{2}, half{2};
  whole.batch = 6;
  half.batch = 3;
  writeSafetensors(path("batches"), batches(3, whole));
  replay(whole, "whole");
  replay(half, "half", {"--accumulate", "2"});
  expectEqual("whole", "half", 1e-5);
}

TEST_F(ReplayTest, DropoutIsOff) {
  bigram::Shape with{1}, without{1};
  without.dropout = 0;
  writeSafetensors(path("batches"), batches(2, with));
  replay(with, "with");
  replay(without, "without");
  EXPECT_EQ(readTextFile(path("with")), readTextFile(path("without")));
}

TEST_F(ReplayTest, BadBatches) {
  std::vector<TensorData> good = batches(3, {}), bad = good;
  std::string file = "error: '" + path("batches") + "'";
  bad.erase(bad.begin());
  EXPECT_EQ(fail(bad), file + " has no tensor 'batch.input_ids'\n");
  bad = good;
  bad[0].shape = {3, 8, 8};
  EXPECT_EQ(fail(bad), file + ": tensor 'batch.input_ids' has shape [3, 8, 8], expected a number "
                              "of batches and then [4, 16]\n");
  bad = good;
  bad[2] = batches(2, {})[2];
  EXPECT_EQ(fail(bad), file + ": tensor 'batch.labels' has 2 batches, the other inputs have 3\n");
  bad = good;
  reinterpret_cast<int64_t *>(bad[0].bytes.data())[70] = 258;
  EXPECT_EQ(fail(bad), file + ": tensor 'batch.input_ids' has 258 at position 70, which is not in "
                              "[0, 258)\n");
  bad = good;
  reinterpret_cast<int64_t *>(bad[0].bytes.data())[1] = -100; // fine for labels only
  EXPECT_EQ(fail(bad), file + ": tensor 'batch.input_ids' has -100 at position 1, which is not in "
                              "[0, 258)\n");
  bad = good;
  std::vector<int64_t> ignored(3 * 4 * 16, -100);
  bad[2] = TensorData::integers("batch.labels", {3, 4, 16}, ignored.data());
  EXPECT_EQ(fail(bad), file + ": batch 0 has no label that counts\n");
}

TEST_F(ReplayTest, OutputCannotBeWritten) {
  writeSafetensors(path("batches"), batches(1, {}));
  Result result = run({2}, {"replay", "--batches", path("batches"), "--out", "/proc/x/out",
                            "--steps", "2", "--init"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "error: cannot write '/proc/x/out': no such file or directory\n");
}
