//===- Consistency.cpp - what all ranks must have alike --------------------===//

#include "Consistency.h"
#include "Format.h"
#include "Slices.h"
#include "colrow/Checksum.h"
#include "colrow/Error.h"

#include <algorithm>

namespace colrow {
namespace {

/// The checksums of all ranks: those of rank r begin at r * mine.size().
std::vector<int64_t> gatherChecksums(const std::vector<int64_t> &mine, Rank &rank) {
  std::vector<int64_t> all(mine.size() * size_t(rank.size()));
  rank.world().allGather(mine.data(), all.data(), int64_t(mine.size()));
  return all;
}

int64_t checksum(const void *data, size_t bytes) {
  Checksum sum;
  sum.add(data, bytes);
  return int64_t(sum.value());
}

/// Which slice of a parameter each rank holds: the first rank that holds the same.
std::vector<int64_t> firstHolders(const ParameterInfo &info, const Rank &rank) {
  std::vector<std::vector<int64_t>> coordinates;
  for (int64_t r = 0; r < rank.size(); ++r) {
    std::vector<int64_t> cut;
    for (const LocalDim &dim : LocalShape::of(info.dims, rank.grid(), r).dims)
      cut.insert(cut.end(), dim.coordinates.begin(), dim.coordinates.end());
    coordinates.push_back(cut);
  }
  std::vector<int64_t> first;
  for (const std::vector<int64_t> &cut : coordinates)
    first.push_back(std::find(coordinates.begin(), coordinates.end(), cut) - coordinates.begin());
  return first;
}

/// "rank 0 and rank 1", "rank 0 and ranks 1, 3": the first rank whose bits others differ from.
/// Empty if none do.
std::string findDifference(const std::vector<int64_t> &checksums, size_t stride, size_t offset,
                           const std::vector<int64_t> &first) {
  auto at = [&](int64_t r) { return checksums[size_t(r) * stride + offset]; };
  for (size_t r = 0; r < first.size(); ++r) {
    std::vector<int64_t> others;
    for (size_t other = r; other < first.size(); ++other)
      if (first[other] == int64_t(r) && at(int64_t(other)) != at(int64_t(r)))
        others.push_back(int64_t(other));
    if (!others.empty())
      return fmt::format("rank {} and rank{} {}", r, others.size() == 1 ? "" : "s",
                         fmt::join(others, ", "));
  }
  return "";
}

int64_t elementBytes(DType type) { return type == DType::i64 ? 8 : type == DType::b1 ? 1 : 4; }

} // namespace

void requireEqualSettings(const RunSettings &settings, Rank &rank) {
  std::vector<int64_t> mine;
  for (const auto &[name, value] : settings)
    mine.push_back(checksum(value.data(), value.size()));
  std::vector<int64_t> all = gatherChecksums(mine, rank);
  std::vector<int64_t> everyone(size_t(rank.size()), 0);
  for (size_t i = 0; i < mine.size(); ++i) {
    std::string ranks = findDifference(all, mine.size(), i, everyone);
    if (!ranks.empty())
      throw Error(fmt::format("{} is not the same on {}: all processes of a run have to have the "
                              "same command line and see the same files",
                              settings[i].first, ranks));
  }
}

void requireEqualParameters(const ProgramInfo &info, Rank &rank, Program &program, int64_t step) {
  if (rank.size() == 1)
    return;
  constexpr const char *names[] = {"", "the first moment of ", "the second moment of "};
  std::vector<int64_t> mine;
  for (size_t p = 0; p < info.parameters.size(); ++p)
    for (const float *slice :
         {program.parameter(p), program.firstMoment(p), program.secondMoment(p)})
      mine.push_back(checksum(slice, size_t(sliceElements(info.parameters[p])) * sizeof(float)));
  std::vector<int64_t> all = gatherChecksums(mine, rank);
  for (size_t i = 0; i < mine.size(); ++i) {
    const ParameterInfo &parameter = info.parameters[i / 3];
    std::string ranks = findDifference(all, mine.size(), i, firstHolders(parameter, rank));
    if (!ranks.empty())
      throw Error(fmt::format("after step {} {}'{}' is not the same on {}; memory or a processor "
                              "may be faulty: go on from an earlier checkpoint",
                              step, names[i % 3], parameter.name, ranks));
  }
}

void requireEqualInputs(const ProgramInfo &info, Rank &rank, Program &program, int64_t step) {
  if (rank.size() == 1)
    return;
  std::vector<int64_t> mine;
  for (size_t i = 0; i < info.inputs.size(); ++i)
    mine.push_back(checksum(program.input(i), size_t(elementCount(info.inputs[i].shape) *
                                                     elementBytes(info.inputs[i].dtype))));
  std::vector<int64_t> all = gatherChecksums(mine, rank);
  std::vector<int64_t> everyone(size_t(rank.size()), 0);
  for (size_t i = 0; i < mine.size(); ++i) {
    std::string ranks = findDifference(all, mine.size(), i, everyone);
    if (!ranks.empty())
      throw Error(fmt::format("'{}' of step {} is not the same on {}: ranks read different data",
                              info.inputs[i].name, step, ranks));
  }
}

} // namespace colrow
