#include "TrainFixture.h"
#include "colrow/Philox.h"
#include "colrow/ThreadRanks.h"
#include "runtime/train/Weights.h"
#include "runtime/train/Slices.h"

#include <csignal>
#include <sys/resource.h>

using namespace colrow;

namespace {

struct WeightsTest : TrainFixture {
  /// Initialises at so many ranks and saves.
  std::string saveInitial(int64_t ranks, const std::string &name) const {
    bigram::Shape shape{ranks};
    ProgramInfo info = bigram::makeInfo(shape);
    runRanks(info.grid, [&](Rank &rank) {
      auto program = bigram::makeProgram(shape, info, rank);
      initializeWeights(7, info, rank, *program);
      saveWeights(path(name), 3, info, rank, *program);
    });
    return path(name);
  }

  /// The error of loading a file into the bigram model.
  std::string loadError(const std::vector<TensorData> &tensors) const {
    writeSafetensors(path("w"), tensors);
    ProgramInfo info = bigram::makeInfo({});
    try {
      WeightsFile weights(path("w"), info);
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }
};

TensorData zeros(const std::string &name, const std::vector<int64_t> &shape) {
  std::vector<float> values(size_t(elementCount(shape)));
  return TensorData::floats(name, shape, values.data());
}

} // namespace

TEST_F(WeightsTest, InitialWeightsAreTheSameBitsOnEveryGrid) {
  std::string one = readTextFile(saveInitial(1, "1"));
  for (int64_t ranks : {2, 3, 4})
    EXPECT_EQ(one, readTextFile(saveInitial(ranks, "n"))) << ranks;
}

TEST_F(WeightsTest, InitialWeightsFollowTheirRule) {
  SafetensorsFile file(saveInitial(2, "2"));
  std::vector<float> head = file.readFloats(file.get("model.head.weight"));
  // Torch's orientation [vocabulary, hidden]; the stream counts the storage [hidden, vocabulary].
  EXPECT_EQ(file.get("model.head.weight").shape, (std::vector<int64_t>{258, 12}));
  for (int64_t v = 0; v < 258; ++v)
    for (int64_t h = 0; h < 12; ++h)
      ASSERT_EQ(head[size_t(v * 12 + h)],
                0.5f * philoxNormal(7, 0, stableId("model.head.weight"), h * 258 + v));
  for (float x : file.readFloats(file.get("model.scale")))
    EXPECT_EQ(x, 1);
  for (float x : file.readFloats(file.get("model.head.bias")))
    EXPECT_EQ(x, 0);
  EXPECT_EQ(file.metadata().at("step"), "3");
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

TEST_F(WeightsTest, TiedParametersAreUnderEachName) {
  SafetensorsFile file(saveInitial(2, "2"));
  EXPECT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.readFloats(file.get("model.embed.weight")),
            file.readFloats(file.get("model.tied.weight")));
}

TEST_F(WeightsTest, RoundTripOnOtherGrids) {
  std::string saved = saveInitial(2, "saved");
  for (int64_t ranks : {1, 4}) {
    bigram::Shape shape{ranks};
    ProgramInfo info = bigram::makeInfo(shape);
    WeightsFile weights(saved, info);
    runRanks(info.grid, [&](Rank &rank) {
      auto program = bigram::makeProgram(shape, info, rank);
      loadWeights(weights, info, rank, *program);
      saveWeights(path("again"), 3, info, rank, *program);
    });
    EXPECT_EQ(readTextFile(saved), readTextFile(path("again")));
  }
}

TEST_F(WeightsTest, PaddingIsZero) {
  bigram::Shape shape{4};
  ProgramInfo info = bigram::makeInfo(shape);
  ASSERT_EQ(info.parameters[3].dims[0].size, 288); // 258 words, padded
  WeightsFile weights(saveInitial(1, "w"), info);
  runRanks(info.grid, [&](Rank &rank) {
    auto program = bigram::makeProgram(shape, info, rank);
    std::fill_n(program->parameter(0), 72 * 12, 5.0f);
    loadWeights(weights, info, rank, *program);
    for (int64_t word = 0; word < 72; ++word)
      for (int64_t h = 0; h < 12; ++h)
        if (rank.index() * 72 + word >= 258) {
          ASSERT_EQ(program->parameter(0)[word * 12 + h], 0);
        }
  });
}

/// All that gather gives one rank; the others take part only.
std::vector<float> gathered(const ParameterInfo &info, Rank &rank, const float *slice,
                            Orientation orientation = Orientation::storage,
                            int64_t pieceElements = 1000) {
  std::vector<float> all;
  std::function<void(const float *, int64_t)> take;
  if (rank.index() == 0)
    take = [&](const float *values, int64_t count) {
      EXPECT_LE(count, std::max<int64_t>(pieceElements, 24));
      all.insert(all.end(), values, values + count);
    };
  gather(info, rank, slice, orientation, take, pieceElements);
  return all;
}

// Blocks, two axes on one dimension and both dimensions cut: each element lands where Layout.h
// says, and comes back.
TEST(Slices, BlocksAndSeveralAxes) {
  ParameterInfo info;
  info.dims = {{8, {{"dp", 2, 1, 1}}}, {24, {{"tp", 2, 3, 2}, {"cp", 2, 3, 1}}}};
  info.valid = {7, 24};
  std::vector<float> whole(7 * 24);
  for (size_t i = 0; i < whole.size(); ++i)
    whole[i] = float(i + 1);
  runRanks({{"dp", 2}, {"cp", 2}, {"tp", 2}}, [&](Rank &rank) {
    std::vector<float> slice(size_t(sliceElements(info)), -1);
    ASSERT_EQ(slice.size(), 4u * 6);
    scatter(info, rank, whole.data(), slice.data());
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t c = 0; c < 6; ++c) {
        int64_t row = info.dims[0].globalIndex(r, rank.coordinates(info.dims[0]));
        int64_t column = info.dims[1].globalIndex(c, rank.coordinates(info.dims[1]));
        EXPECT_EQ(slice[size_t(r * 6 + c)], row < 7 ? float(row * 24 + column + 1) : 0);
      }
    ParameterInfo transposed = info;
    transposed.transposed = true;
    std::vector<float> turned; // the transpose
    for (size_t c = 0; c < 24; ++c)
      for (size_t r = 0; r < 7; ++r)
        turned.push_back(whole[r * 24 + c]);
    for (int64_t elements : {1, 25, 50, 1000}) {
      auto stored = gathered(transposed, rank, slice.data(), Orientation::storage, elements);
      auto torch = gathered(transposed, rank, slice.data(), Orientation::torch, elements);
      auto plain = gathered(info, rank, slice.data(), Orientation::torch, elements);
      if (rank.index() != 0)
        continue;
      EXPECT_EQ(stored, whole) << elements;
      EXPECT_EQ(torch, turned) << elements;
      EXPECT_EQ(plain, whole) << elements;
    }
  });
}

// A fused QKV of 4 heads of 2 over 3 ranks: 6 heads are stored in each block, of which the last rank
// has none that is valid.
TEST(Slices, PaddedBlocks) {
  ParameterInfo info;
  info.dims = {{3, {}}, {36, {{"tp", 3, 3, 2}}, /*filled=*/3}};
  info.valid = {3, 24};
  std::vector<float> whole(3 * 24);
  for (size_t i = 0; i < whole.size(); ++i)
    whole[i] = float(i + 1);
  runRanks({{"tp", 3}}, [&](Rank &rank) {
    std::vector<float> slice(size_t(sliceElements(info)), -1);
    scatter(info, rank, whole.data(), slice.data());
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t i = 0; i < 12; ++i) {
        int64_t block = i / 4, head = 2 * rank.index() + i % 4 / 2;
        EXPECT_EQ(slice[size_t(row * 12 + i)],
                  head < 4 ? float(row * 24 + block * 8 + head * 2 + i % 2 + 1) : 0);
      }
    std::vector<float> back = gathered(info, rank, slice.data());
    if (rank.index() == 0) {
      EXPECT_EQ(back, whole);
    }
  });
}

TEST(Slices, ScalarsAndWholeParameters) {
  ParameterInfo scalar, whole;
  whole.dims = {{3, {}}};
  whole.valid = {3};
  runRanks({{"tp", 2}}, [&](Rank &rank) {
    float x = 5;
    float values[3] = {1, 2, 3};
    std::vector<float> one = gathered(scalar, rank, &x), three = gathered(whole, rank, values);
    if (rank.index() != 0)
      return;
    EXPECT_EQ(one, std::vector<float>{5});
    EXPECT_EQ(three, (std::vector<float>{1, 2, 3}));
  });
}

TEST_F(WeightsTest, WeightsUnderOtherNames) {
  SafetensorsFile file(saveInitial(1, "w"));
  auto tensor = [&](const char *from, const std::string &to) {
    const TensorEntry &entry = file.get(from);
    return TensorData::floats(to, entry.shape, file.readFloats(entry).data());
  };
  ProgramInfo info = bigram::makeInfo({});
  // Under an alias, and without the leading "model." throughout; more tensors do not matter.
  writeSafetensors(path("b"), {tensor("model.embed.weight", "tied.weight"),
                               tensor("model.scale", "scale"),
                               tensor("model.head.weight", "head.weight"),
                               tensor("model.head.bias", "head.bias"), zeros("mask", {4})});
  WeightsFile renamed(path("b"), info), plain(path("w"), info);
  for (size_t i = 0; i < info.parameters.size(); ++i)
    EXPECT_EQ(renamed.read(i), plain.read(i));
  // The head as it is stored, which its shape tells.
  std::vector<float> stored = plain.read(2);
  writeSafetensors(path("c"), {tensor("model.embed.weight", "model.embed.weight"),
                               tensor("model.scale", "model.scale"),
                               TensorData::floats("model.head.weight", {12, 258}, stored.data()),
                               tensor("model.head.bias", "model.head.bias")});
  EXPECT_EQ(WeightsFile(path("c"), info).read(2), stored);
}

TEST_F(WeightsTest, WeightsThatDoNotFit) {
  std::vector<TensorData> tensors = {
      zeros("model.embed.weight", {258, 12}), zeros("model.scale", {12}),
      zeros("model.head.weight", {258, 12}), zeros("model.head.bias", {258})};
  EXPECT_EQ(loadError(tensors), "no error");
  std::vector<TensorData> wrong = tensors;
  wrong[2] = zeros("model.head.weight", {200, 12});
  EXPECT_EQ(loadError(wrong), "'" + path("w") + "': tensor 'model.head.weight' has shape "
                              "[200, 12], the parameter needs [258, 12]");
  wrong = tensors;
  wrong[1] = TensorData::integers("model.scale", {12}, std::vector<int64_t>(12).data());
  EXPECT_EQ(loadError(wrong), "'" + path("w") + "': tensor 'model.scale' has dtype I64, expected "
                              "a floating type");
  // "model." is in use, so "scale" is another tensor.
  wrong = tensors;
  wrong[1] = zeros("scale", {12});
  EXPECT_EQ(loadError(wrong),
            "'" + path("w") + "' has no tensor for the parameter 'model.scale'");
}

// The disk fills while rank 0 writes: all ranks end, and no part of the file stays.
TEST_F(WeightsTest, FailingWrites) {
  bigram::Shape shape{2};
  ProgramInfo info = bigram::makeInfo(shape);
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 1000;
  auto previous = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    saveInitial(2, "full");
  } catch (const Error &error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, previous);
  EXPECT_EQ(message, "cannot write '" + path("full") + "': file too large");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}
