#include "colrow/Profile.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <thread>

using namespace colrow;

namespace {

struct Values {
  const float *data;
  int64_t count;
  int64_t numel() const { return count; }
};

const float memory[8] = {};
const Values eight = {memory, 8}, two = {memory, 2}, absent = {nullptr, 1};

} // namespace

TEST(Profile, CountsCallsAndBytesByName) {
  Profile profile;
  {
    ProfileAttachment attachment(profile);
    for (int i = 0; i < 3; ++i)
      ProfileScope scope("add", eight, absent, two, two);
    ProfileScope scope("send");
    scope.addBytes(100);
    scope.describe("[2, 3]");
  }
  ASSERT_EQ(profile.entries().size(), 2u);
  const Profile::Entry &add = profile.entries().at("add");
  EXPECT_EQ(add.calls, 3);
  EXPECT_EQ(add.bytes, 3 * (8 + 2 + 2) * 4);
  EXPECT_EQ(add.flops, 0);
  EXPECT_GE(add.seconds, 0);
  EXPECT_EQ(profile.entries().at("send [2, 3]").bytes, 100);
}

TEST(Profile, WhatIsInsideAScopeIsPartOfIt) {
  Profile profile;
  ProfileAttachment attachment(profile);
  auto product = [](double flops) {
    ProfileScope scope("product", eight);
    ASSERT_TRUE(scope.isActive());
    scope.addFlops(flops);
    if (scope.isOutermost())
      scope.describe("alone");
  };
  product(7);
  for (int i = 0; i < 2; ++i) {
    ProfileScope scope("loss", two);
    EXPECT_TRUE(scope.isOutermost());
    product(10);
    product(30);
  }
  product(5);
  ASSERT_EQ(profile.entries().size(), 2u);
  const Profile::Entry &loss = profile.entries().at("loss");
  EXPECT_EQ(loss.calls, 2);
  EXPECT_EQ(loss.flops, 80);
  EXPECT_EQ(loss.bytes, 2 * 2 * 4);
  EXPECT_EQ(profile.entries().at("product alone").calls, 2);
  EXPECT_EQ(profile.entries().at("product alone").flops, 12);
}

TEST(Profile, TimeIsThatOfTheOuterScope) {
  Profile profile;
  ProfileAttachment attachment(profile);
  {
    ProfileScope outer("outer");
    ProfileScope inner("inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ASSERT_EQ(profile.entries().size(), 1u);
  EXPECT_GE(profile.entries().at("outer").seconds, 0.002);
}

TEST(Profile, NothingIsCountedElsewhere) {
  Profile profile;
  {
    ProfileScope before("before", eight);
    EXPECT_FALSE(before.isActive());
  }
  {
    ProfileAttachment attachment(profile);
    std::thread([] { ProfileScope other("other", eight); }).join();
  }
  { ProfileScope after("after", eight); }
  EXPECT_TRUE(profile.entries().empty());
}
