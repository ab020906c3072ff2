//===- ConversionCheckTest.cpp - conversions keep the value ----------------===//
//
// A conversion changes how a value is held and nothing else: whatever states the verifier accepts
// on either side, the whole tensor comes out as it went in, and so does its gradient.
//
//===----------------------------------------------------------------------===//

#include "test/Execute/SingleOp.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::test {
namespace {

using reference::Tensor;

const char *const conversions[] = {"f",          "g",      "all_gather", "reduce_scatter",
                                   "take_shard", "gather", "place",      "all_to_all"};

Instance instanceOf(StringRef conversion, StringRef axes, StringRef type) {
  Instance instance;
  instance.text = ("colrow." + conversion + " %0 on [" + axes + "] : (" + type + ") -> " + type).str();
  instance.idsBelow = 9;
  return instance;
}

class ConversionCheck : public testing::TestWithParam<const char *> {
protected:
  /// Tries every pair of types; returns how many the verifier accepted.
  int checkAll(GridAttr grid, StringRef axes, StringRef tensor, ArrayRef<Type> types) {
    Instance instance = instanceOf(GetParam(), axes, tensor);
    SingleOp probe(testContext(), instance, grid);
    int count = 0;
    for (Type from : types)
      for (Type to : types)
        if (probe.setTypes({from}, {to})) {
          check(instance, grid, from, to);
          ++count;
        }
    return count;
  }

  void check(const Instance &instance, GridAttr grid, Type from, Type to) {
    std::string what;
    llvm::raw_string_ostream(what) << GetParam() << " from " << from << " to " << to;
    SCOPED_TRACE(what);
    try {
      SingleOp single(testContext(), instance, grid);
      ASSERT_TRUE(single.setTypes({from}, {to}));
      std::map<std::string, Tensor> arguments = randomArguments(single, instance);
      std::vector<Tensor> expected = {arguments.at("arg0")};
      bool isMaximum = llvm::any_of(getLayout(from) ? getLayout(from).getStates()
                                                    : ArrayRef<AxisState>(),
                                    [](const AxisState &s) { return s.isPartialMax(); });
      if (!isMaximum && single.addGradients()) {
        arguments = randomArguments(single, instance);
        expected = {arguments.at("arg0"), arguments.at("arg1")};
      }
      expectSame(expected, single.run(arguments, executedOps()), what);
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
  }
};

TEST_P(ConversionCheck, OneAxis) {
  auto axis = StringAttr::get(&testContext(), "tp");
  for (int64_t ranks : {2, 4})
    for (const char *tensor : {"tensor<24x8xf32>", "tensor<24x8xi64>"}) {
      SingleOp plain(testContext(), instanceOf(GetParam(), "\"tp\"", tensor), GridAttr());
      Type type = plain.op()->getResult(0).getType();
      SmallVector<Type> types;
      for (const AxisState &state : allStates(type, axis, ranks))
        types.push_back(withState(type, state));
      int count = checkAll(makeGrid({{"tp", ranks}}), "\"tp\"", tensor, types);
      // Integers are never replicated, so f and all_gather are not for them.
      bool needsReplicated =
          StringRef(GetParam()) == "f" || StringRef(GetParam()) == "all_gather";
      EXPECT_EQ(count > 0, !(needsReplicated && isa<IntegerType>(getElementTypeOrSelf(type))));
    }
}

// The other axis in any state, cutting the same dimension outside or inside too; and both axes
// converted at once.
TEST_P(ConversionCheck, TwoAxes) {
  StringRef tensor = "tensor<16x4xf32>";
  SingleOp plain(testContext(), instanceOf(GetParam(), "\"tp\"", tensor), GridAttr());
  Type type = plain.op()->getResult(0).getType();
  auto states = [](StringRef name) {
    auto axis = StringAttr::get(&testContext(), name);
    return SmallVector<AxisState>{
        AxisState::invariant(axis),      AxisState::replicated(axis),  AxisState::partial(axis),
        AxisState::shard(axis, 0),       AxisState::shard(axis, 0, 2), AxisState::shard(axis, 0, 1, 2),
        AxisState::shard(axis, 1)};
  };
  SmallVector<Type> types;
  for (const AxisState &dp : states("dp"))
    for (const AxisState &tp : states("tp")) {
      types.push_back(withState(withState(type, dp), tp));
      if (dp.isShard() && tp.isShard() && dp.dim == tp.dim)
        types.push_back(withState(withState(type, tp), dp));
    }
  GridAttr grid = makeGrid({{"dp", 2}, {"tp", 2}});
  for (const char *axes : {"\"tp\"", "\"dp\"", "\"dp\", \"tp\"", "\"tp\", \"dp\""})
    EXPECT_GT(checkAll(grid, axes, tensor, types), 0) << axes;
}

INSTANTIATE_TEST_SUITE_P(Conversions, ConversionCheck, testing::ValuesIn(conversions),
                         [](const auto &info) { return std::string(info.param); });

// Every conversion of the dialect is above.
TEST(ConversionCheckCoverage, EveryConversionIsInTheList) {
  for (RegisteredOperationName name :
       testContext().getRegisteredOperationsByDialect(ColrowDialect::getDialectNamespace()))
    if (name.hasInterface<ConversionOpInterface>()) {
      EXPECT_TRUE(llvm::is_contained(conversions, name.stripDialect()))
          << name.getStringRef().str();
    }
}

} // namespace
} // namespace colrow::test
