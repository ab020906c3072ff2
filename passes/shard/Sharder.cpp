//===- Sharder.cpp - chooses regions and writes them into the types --------===//

#include "passes/shard/Sharder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Wishes
//===----------------------------------------------------------------------===//

llvm::Expected<Wish> Wish::parse(StringRef text) {
  auto wrong = [&](const Twine &what) {
    return llvm::createStringError("expects PATTERN=shard<DIMENSION> or PATTERN=whole, such as "
                                   "'*.c_fc.weight=shard<1>'; got '" +
                                   text + "'" + what);
  };
  auto [pattern, layout] = text.rsplit('=');
  Wish wish{text.str(), pattern.str(), -1};
  if (pattern.empty())
    return wrong("");
  if (llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern); !glob)
    return wrong(": " + llvm::toString(glob.takeError()));
  if (layout == "whole")
    return wish;
  if (!layout.consume_front("shard<") || !layout.consume_back(">") ||
      layout.getAsInteger(10, wish.dim) || wish.dim < 0)
    return wrong("");
  return wish;
}

bool Wish::matches(StringRef parameter) const {
  return llvm::cantFail(llvm::GlobPattern::create(pattern)).match(parameter);
}

/// Whether a region gives the parameter what the wish wants; nothing where it leaves it alone.
static std::optional<bool> grants(const Region &region, BlockArgument parameter,
                                  const Wish &wish) {
  auto cut = region.cuts.find(parameter);
  if (cut == region.cuts.end())
    return std::nullopt;
  return cut->second.dim == wish.dim;
}

static bool disagree(const Region &a, const Region &b) {
  return llvm::any_of(a.ops, [&](auto &entry) { return b.ops.contains(entry.first); });
}

static std::string textOf(const Obstacle &obstacle) {
  std::string name;
  if (obstacle.op)
    name = "'" + getUserName(obstacle.op->getResult(0), obstacle.op->getName().getStringRef()) +
           "' ";
  return name + obstacle.text;
}

std::vector<Region> Sharder::withoutUnwanted(std::vector<Region> regions) {
  for (BlockArgument parameter : function.getArguments())
    for (const Wish &wish : wishes) {
      if (!wish.matches(getName(function, parameter.getArgNumber())))
        continue;
      if (wish.dim < 0)
        obstacles[parameter] = "asked for by '" + wish.text + "'";
      for (Region &region : regions)
        if (grants(region, parameter, wish) == false && !region.obstacle)
          region.obstacle = {nullptr, Value(), "goes against '" + wish.text + "'"};
    }
  return regions;
}

/// The regions that grant the wishes, the best for each. `mustHave`: it is an error if none does.
FailureOr<std::vector<size_t>> Sharder::wantedRegions(ArrayRef<Region> regions, bool mustHave) {
  std::vector<size_t> wanted;
  for (const Wish &wish : wishes) {
    if (wish.dim < 0)
      continue;
    for (BlockArgument parameter : function.getArguments()) {
      StringRef name = getName(function, parameter.getArgNumber());
      if (getRole(function, parameter.getArgNumber()) != "parameter" || !wish.matches(name))
        continue;
      if (llvm::any_of(wanted,
                       [&](size_t i) { return grants(regions[i], parameter, wish) == true; }))
        continue;
      std::optional<size_t> best;
      std::string reason = "no product or lookup has a factor there";
      for (auto [i, region] : llvm::enumerate(regions)) {
        if (grants(region, parameter, wish) != true)
          continue;
        if (!region.isLegal()) {
          reason = region.obstacle ? textOf(*region.obstacle) : "would cut the data";
          continue;
        }
        auto rival = llvm::find_if(wanted, [&, &region = region](size_t other) {
          return disagree(region, regions[other]);
        });
        if (rival != wanted.end()) {
          reason = "disagrees with another wish, which cuts " + describe(regions[*rival]);
          continue;
        }
        if (!best || region.flops > regions[*best].flops)
          best = i;
      }
      if (best)
        wanted.push_back(*best);
      else if (mustHave)
        return function.emitError("layout '")
               << wish.text << "' cannot be had for '" << name << "': " << reason;
    }
  }
  return wanted;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// The values of an axis that divide the units, in a sentence.
static std::string divisorsOf(int64_t units) {
  std::string text;
  for (int64_t ranks = 1; ranks <= units; ++ranks)
    if (units % ranks == 0)
      text += (text.empty() ? "" : ", ") + std::to_string(ranks);
  return text;
}

LogicalResult Sharder::cut() {
  for (const Wish &wish : wishes)
    if (llvm::none_of(function.getArguments(), [&](BlockArgument argument) {
          return getRole(function, argument.getArgNumber()) == "parameter" &&
                 wish.matches(getName(function, argument.getArgNumber()));
        }))
      return function.emitError("layout '") << wish.text << "' matches no parameter: 'colrow "
                                               "inspect' lists their names";
  for (size_t i = 0; i < axes.size(); ++i)
    if (failed(cutAxis(i)))
      return failure();
  return success();
}

LogicalResult Sharder::cutAxis(size_t number) {
  StringAttr axis = axes[number];
  GridAttr grid = getGrid(function);
  int64_t ranks = grid.sizeOf(axis.getValue()), inside = 1;
  for (StringAttr inner : ArrayRef(axes).drop_front(number + 1))
    inside *= grid.sizeOf(inner.getValue());
  RegionGrower grower(function, axis, ArrayRef(axes).take_front(number));
  std::vector<Region> regions = withoutUnwanted(grower.growAll());
  if (number == 0)
    for (const Region &region : regions)
      if (region.obstacle)
        for (BlockArgument parameter : region.parameters)
          obstacles.try_emplace(parameter, textOf(*region.obstacle));
  FailureOr<std::vector<size_t>> wanted = wantedRegions(regions, /*mustHave=*/number == 0);
  if (failed(wanted))
    return failure();
  for (size_t index : chooseRegions(regions, *wanted)) {
    Cut cut{axis, ranks, std::move(regions[index]), "", 0};
    Region &region = cut.region;
    cut.text = describe(region); // with the sizes that its user knows
    if (region.isVocabulary) {
      if (failed(padVocabulary(region, grower, pending, ranks * inside)))
        return failure();
    } else if (region.units % ranks != 0) {
      // To what the axes inside divide as well: nothing is filled up twice.
      cut.padded = llvm::alignTo(region.units, ranks * inside);
      if (failed(padUnits(region, grower, pending, ranks * inside)))
        return region.seed->emitError("'")
               << getUserName(region.seed->getResult(0), "an unnamed product") << "': "
               << region.units << " heads or units of a block do not divide over "
               << axis.getValue() << " = " << ranks
               << "; values that would do: " << divisorsOf(region.units);
    }
    chosen.push_back(std::move(cut));
  }
  for (const Cut &cut : chosen)
    if (cut.axis == axis)
      writeTypes(cut.region, axis, pending);
  return success();
}

double Sharder::rankFlops() const {
  double flops = 0;
  function->walk([&](MatrixProductOpInterface product) {
    double whole = product.getProductFlops();
    for (const Cut &cut : chosen)
      if (cut.region.ops.contains(product))
        whole /= static_cast<double>(cut.ranks);
    flops += whole;
  });
  return flops;
}

std::string Sharder::whyWhole(BlockArgument parameter) const {
  auto found = obstacles.find(parameter);
  return found == obstacles.end() ? "no product is divided by cutting it" : found->second;
}

} // namespace colrow
