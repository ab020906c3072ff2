//===- WidenConstants.cpp - the numbers a model means ---------------------===//

#include "dialect/Colrow.h"
#include "passes/raise/Passes.h"

#include <cmath>
#include <cstdio>

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_WIDENCONSTANTS
#include "passes/raise/Passes.h.inc"

namespace {

/// Whether a double rounds to this number of single precision.
bool roundsTo(double value, float rounded) { return static_cast<float>(value) == rounded; }

/// Written with few digits: 0.044715, 1e-05.
std::optional<double> shortDecimal(float rounded, int mostDigits) {
  for (int digits = 1; digits <= mostDigits; ++digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(rounded));
    double value = std::strtod(text, nullptr);
    if (roundsTo(value, rounded))
      return value;
  }
  return std::nullopt;
}

/// sqrt(p / q), the same of p / q / pi, or the fourth root of p / q: GELU's constants, 1 / sqrt(2),
/// and the scales of attention, where q is the size of a head, or p where scores are divided.
std::optional<double> rootOfFraction(float rounded) {
  constexpr int64_t maxNumerator = 4, maxDenominator = 1024;
  double x = std::abs(static_cast<double>(rounded));
  double square = x * x;
  auto fraction = [&](double value, auto form) -> std::optional<double> {
    bool isInverse = value > 1;
    for (int64_t p = 1; p <= maxNumerator; ++p) {
      double q = std::round(isInverse ? p * value : p / value);
      if (q < 1 || q > maxDenominator)
        continue;
      double exact = std::copysign(form(isInverse ? q / p : p / q), rounded);
      if (roundsTo(exact, rounded))
        return exact;
    }
    return std::nullopt;
  };
  if (x == 0 || !std::isfinite(x))
    return std::nullopt;
  if (auto found = fraction(square, [](double r) { return std::sqrt(r); }))
    return found;
  if (auto found = fraction(square * M_PI, [](double r) { return std::sqrt(r / M_PI); }))
    return found;
  return fraction(square * square, [](double r) { return std::sqrt(std::sqrt(r)); });
}

struct WidenConstants : impl::WidenConstantsBase<WidenConstants> {
  using WidenConstantsBase::WidenConstantsBase;

  void runOnOperation() override { getOperation().walk([](ConstantOp op) { widen(op); }); }

  static void widen(ConstantOp op) {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat || !splat.getElementType().isF32())
      return;
    float rounded = splat.getSplatValue<APFloat>().convertToFloat();
    // Six digits are as many as single precision keeps: some roots are such a decimal by chance.
    std::optional<double> value = shortDecimal(rounded, 5);
    if (!value)
      value = rootOfFraction(rounded);
    if (!value)
      value = shortDecimal(rounded, 6);
    if (!value || *value == static_cast<double>(rounded))
      return;
    auto type =
        RankedTensorType::get(splat.getType().getShape(), Float64Type::get(op.getContext()));
    op.setValueAttr(DenseElementsAttr::get(type, APFloat(*value)));
  }
};

} // namespace
} // namespace colrow
