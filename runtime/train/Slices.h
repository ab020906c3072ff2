//===- Slices.h - whole parameters to ranks' slices and back ---------------===//
//
// A whole parameter has its valid shape (ParameterInfo::valid), row-major in storage orientation.
// A slice is what Program::parameter points to: this rank's part of the padded storage.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Program.h"
#include "colrow/Rank.h"

#include <functional>
#include <vector>

namespace colrow {

int64_t elementCount(const std::vector<int64_t> &shape);

/// Calls `visit(local, valid, count)` for runs of elements that are consecutive on the rank of
/// this shape and in the whole parameter: `count` elements from linear index `local` of the slice
/// are those from linear index `valid` of the whole parameter. Padding is left out.
void forEachRun(const ParameterInfo &info, const LocalShape &shape,
                const std::function<void(int64_t local, int64_t valid, int64_t count)> &visit);

/// Elements of every rank's slice.
int64_t sliceElements(const ParameterInfo &info);

/// Fills this rank's slice from the whole parameter; padding becomes zero.
void scatter(const ParameterInfo &info, const Rank &rank, const float *whole, float *slice);

/// The whole parameter from the slices of all ranks. A collective over the axes that cut it:
/// every rank gets the result.
std::vector<float> gather(const ParameterInfo &info, Rank &rank, const float *slice);

} // namespace colrow
