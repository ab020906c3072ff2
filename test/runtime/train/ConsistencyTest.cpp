#include "TrainFixture.h"
#include "colrow/Rank.h"

using namespace colrow;

namespace {

/// The bigram model on a rank that a fault befalls.
class Faulty : public Program {
public:
  enum Fault { scaleAtStep4, momentAtStep4, otherData };

  Faulty(std::unique_ptr<Program> own, Fault fault) : own(std::move(own)), fault(fault) {}

  const ProgramInfo &info() const override { return own->info(); }
  float *parameter(size_t i) override { return own->parameter(i); }
  float *gradient(size_t i) override { return own->gradient(i); }
  float *firstMoment(size_t i) override { return own->firstMoment(i); }
  float *secondMoment(size_t i) override { return own->secondMoment(i); }
  void *input(size_t i) override {
    // Once to be filled, once to be compared.
    if (fault == otherData && i == 0 && ++inputCalls == 2)
      static_cast<int64_t *>(own->input(0))[5] ^= 1;
    return own->input(i);
  }
  const float *output(size_t i) override { return own->output(i); }
  void zeroGradients() override { own->zeroGradients(); }
  double forwardBackward(const StepScalars &scalars) override {
    return own->forwardBackward(scalars);
  }
  double update(const StepScalars &scalars) override {
    double norm = own->update(scalars);
    if (fault == scaleAtStep4 && scalars.step == 3)
      parameter(1)[7] = std::nextafter(parameter(1)[7], 1.0f); // its last bit
    if (fault == momentAtStep4 && scalars.step == 3)
      secondMoment(1)[7] *= 1.5f;
    return norm;
  }
  double evaluate(const StepScalars &scalars) override { return own->evaluate(scalars); }

private:
  std::unique_ptr<Program> own;
  Fault fault;
  int inputCalls = 0;
};

struct ConsistencyTest : TrainFixture {
  /// The error of a run of 6 steps of `ranks` ranks with this fault on rank `at`.
  std::string fail(Faulty::Fault fault, int64_t ranks, int64_t at,
                   const std::vector<std::string> &more) const {
    bigram::Shape shape{ranks};
    ProgramInfo info = bigram::makeInfo(shape);
    GeneratedProgram generated = {info, [&](Rank &rank) -> std::unique_ptr<Program> {
                                    auto program = bigram::makeProgram(shape, info, rank);
                                    if (rank.index() != at)
                                      return program;
                                    return std::make_unique<Faulty>(std::move(program), fault);
                                  }};
    std::vector<std::string> arguments = {"train",   "--init", "--data", writeText(),
                                          "--steps", "6",      "--out",  path("run")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::ostringstream out, err;
    EXPECT_EQ(trainerMain(arguments, folder.string(), generated, {out, err, false}), 1);
    return err.str();
  }
};

} // namespace

TEST_F(ConsistencyTest, AParameterThatDiffersIsNamedBeforeItIsSaved) {
  EXPECT_EQ(fail(Faulty::scaleAtStep4, 2, 1, {"--save-every", "2"}),
            "error: after step 4 'model.scale' is not the same on rank 0 and rank 1; memory or a "
            "processor may be faulty: go on from an earlier checkpoint (the last checkpoint is '" +
                path("run/checkpoint-000002.safetensors") + "')\n");
  EXPECT_FALSE(std::filesystem::exists(path("run/checkpoint-000004.safetensors")));
}

TEST_F(ConsistencyTest, EverySoManySteps) {
  EXPECT_NE(
      fail(Faulty::scaleAtStep4, 3, 0, {"--check-every", "1"})
          .find("error: after step 4 'model.scale' is not the same on rank 0 and ranks 1, 2;"),
      std::string::npos);
  EXPECT_EQ(losses("run").size(), 4u);
}

TEST_F(ConsistencyTest, MomentsAndTheEndOfTheRun) {
  EXPECT_NE(fail(Faulty::momentAtStep4, 3, 2, {})
                .find("error: after step 6 'model.scale' is not the same on rank 0 and rank 2;"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("run/final.safetensors")));
  EXPECT_NE(fail(Faulty::momentAtStep4, 3, 2, {"--check-every", "4"})
                .find("after step 4 the second moment of 'model.scale' is not the same on rank 0 "
                      "and rank 2;"),
            std::string::npos);
}

TEST_F(ConsistencyTest, RanksThatReadDifferentData) {
  EXPECT_EQ(fail(Faulty::otherData, 2, 1, {}),
            "error: 'input_ids' of step 1 is not the same on rank 0 and rank 1: ranks read "
            "different data\n");
  EXPECT_TRUE(losses("run").empty());
}
