#include "Bigram.h"
#include "colrow/ThreadRanks.h"
#include "runtime/train/NotFinite.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace colrow;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

/// A program whose forward pass is a list of numbers: value v of rank r in microbatch m.
class Listed : public Program {
public:
  using Values = std::vector<std::vector<float>>; ///< [microbatch][value]

  Listed(const ProgramInfo &info, Values values) : programInfo(info), values(std::move(values)) {
    for (std::vector<float> &p : parameters)
      p = {1, 1};
    for (std::vector<float> &g : gradients)
      g = {1, 1};
  }

  const ProgramInfo &info() const override { return programInfo; }
  float *parameter(size_t i) override { return parameters[i].data(); }
  float *gradient(size_t i) override { return gradients[i].data(); }
  float *firstMoment(size_t) override { return nullptr; }
  float *secondMoment(size_t) override { return nullptr; }
  void *input(size_t) override { return nullptr; }
  const float *output(size_t) override { return nullptr; }
  void zeroGradients() override {}
  double forwardBackward(const StepScalars &scalars) override {
    const std::vector<float> &row = values[size_t(scalars.microbatch)];
    // Shown in another order than that of their numbers, as layers that are called again are.
    for (size_t v : {2, 0, 1})
      watch(v, &row[v], 1);
    return 0;
  }
  double update(const StepScalars &) override { return 0; }
  double evaluate(const StepScalars &) override { return 0; }

  std::vector<float> parameters[3], gradients[3];

private:
  const ProgramInfo &programInfo;
  Values values;
};

ProgramInfo makeListedInfo() {
  ProgramInfo info;
  info.grid = {{"tp", 2}};
  for (const char *name : {"first.weight", "second.weight", "third.weight"}) {
    ParameterInfo parameter;
    parameter.name = name;
    parameter.dims = {{4, {{"tp", 2, 1, 1}}}};
    parameter.valid = {4};
    info.parameters.push_back(parameter);
  }
  info.values = {{"scores", "/attn/MatMul", false}, {"masked", "/attn/Add", true}, {"ids", "", false}};
  info.gradientOrder = {2, 0, 1};
  return info;
}

const ProgramInfo info = makeListedInfo();

/// What two ranks, the values of which these are, say together. `spoil` may change a rank's tensors.
std::string describe(const Listed::Values &rank0, const Listed::Values &rank1,
                     const std::function<void(int64_t rank, Listed &)> &spoil = {},
                     bool gradients = false) {
  std::string texts[2];
  runRanks(info.grid, [&](Rank &rank) {
    Listed program(info, rank.index() == 0 ? rank0 : rank1);
    if (spoil)
      spoil(rank.index(), program);
    auto repeat = [&] {
      for (size_t m = 0; m < rank0.size(); ++m) {
        StepScalars scalars;
        scalars.microbatch = int64_t(m);
        program.forwardBackward(scalars);
      }
    };
    texts[rank.index()] = (gradients ? describeGradientNotFinite(info, rank, program)
                                     : describeFirstNotFinite(info, rank, program, repeat))
                              .value_or("all finite");
  });
  EXPECT_EQ(texts[0], texts[1]); // any rank's error may be the one that is reported
  return texts[0];
}

} // namespace

TEST(NotFinite, TheFirstValueOfAllRanks) {
  EXPECT_EQ(describe({{1, 1, 1}}, {{1, 1, 1}}), "all finite");
  // Rank 0 sees it in a later value only: what was summed over the ranks.
  EXPECT_EQ(describe({{1, NAN, 1}}, {{inf, NAN, 1}}),
            "the first tensor that is not finite is 'scores' (output of node '/attn/MatMul'), which "
            "holds infinity");
  EXPECT_EQ(describe({{inf, NAN, NAN}}, {{NAN, NAN, 1}}),
            "the first tensor that is not finite is 'ids', which holds nan");
}

TEST(NotFinite, ValuesOfLaterMicrobatches) {
  EXPECT_EQ(describe({{1, 1, 1}, {1, 1, 1}}, {{1, 1, 1}, {NAN, 1, 1}}),
            "the first tensor that is not finite is 'scores' (output of node '/attn/MatMul'), which "
            "holds nan");
  EXPECT_EQ(describe({{1, 1, 1}, {1, 1, NAN}}, {{1, NAN, 1}, {1, 1, 1}}),
            "the first tensor that is not finite is 'masked' (output of node '/attn/Add'), which "
            "holds nan");
}

TEST(NotFinite, InfinitiesOfAMaskAreNoFinding) {
  EXPECT_EQ(describe({{1, -inf, 1}}, {{1, -inf, 1}}), "all finite");
  EXPECT_EQ(describe({{1, -inf, 1}, {NAN, 1, 1}}, {{1, -inf, 1}, {1, 1, 1}}),
            "the first tensor that is not finite is 'scores' (output of node '/attn/MatMul'), which "
            "holds nan");
}

TEST(NotFinite, ParametersComeFirst) {
  auto spoil = [](int64_t rank, Listed &program) {
    program.parameters[rank == 0 ? 2 : 1][1] = rank == 0 ? NAN : inf;
  };
  EXPECT_EQ(describe({{1, 1, NAN}}, {{1, 1, 1}}, spoil),
            "the parameter 'second.weight' holds infinity");
}

TEST(NotFinite, GradientsByTheOrderOfTheBackwardPass) {
  auto spoil = [](int64_t rank, Listed &program) {
    program.gradients[rank == 0 ? 1 : 0][0] = NAN;
  };
  EXPECT_EQ(describe({}, {}, {}, /*gradients=*/true), "all finite");
  EXPECT_EQ(describe({}, {}, spoil, /*gradients=*/true),
            "the first gradient that is not finite is that of 'first.weight', which holds nan");
}

TEST(NotFinite, NobodyWatchesBeforeAndAfterwards) {
  runRanks({}, [&](Rank &rank) {
    ProgramInfo alone = info;
    alone.grid.clear();
    for (ParameterInfo &parameter : alone.parameters)
      parameter.dims = {{2, {}}};
    Listed program(alone, {{1, 1, 1}});
    struct Counter : ValueObserver {
      void see(size_t, const float *, int64_t) override { ++count; }
      int count = 0;
    } counter;
    program.observe(&counter);
    program.forwardBackward({});
    EXPECT_EQ(counter.count, 3);
    describeFirstNotFinite(alone, rank, program, [&] { program.forwardBackward({}); });
    program.forwardBackward({});
    EXPECT_EQ(counter.count, 3);
  });
}
