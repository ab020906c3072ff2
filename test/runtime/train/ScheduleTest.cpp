#include "runtime/train/Progress.h"
#include "runtime/train/Schedule.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace colrow;

TEST(Schedule, WarmUpThenCosine) {
  Schedule schedule{1.0, 0.1, 4, 12};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(8), 0.55); // half way
  EXPECT_NEAR(schedule.at(11), 0.1 + 0.9 * 0.5 * (1 + std::cos(3.14159265358979323846 * 7 / 8)), 1e-12);
  EXPECT_DOUBLE_EQ(schedule.at(12), 0.1);
}

TEST(Schedule, OnlyWarmUp) {
  Schedule schedule{2.0, 0.1, 4, 4};
  EXPECT_DOUBLE_EQ(schedule.at(1), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(3), 2.0);
}

TEST(Progress, Durations) {
  EXPECT_EQ(durationText(0.2), "0:00");
  EXPECT_EQ(durationText(65), "1:05");
  EXPECT_EQ(durationText(7265), "2:01:05");
}
