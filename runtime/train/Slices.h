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

/// In which order elements of a whole parameter come: as stored, or as torch has them.
enum class Orientation { storage, torch };

/// The whole parameter from the slices of all ranks, a piece at a time, so that no rank needs
/// memory for all of it: calls `take(values, count)` with its elements, row-major. A collective over
/// the axes that cut it; a rank that needs no result gives no `take`. Pieces are whole rows, of at
/// most `pieceElements` elements where a row is no longer than that.
void gather(const ParameterInfo &info, Rank &rank, const float *slice, Orientation orientation,
            const std::function<void(const float *values, int64_t count)> &take,
            int64_t pieceElements = int64_t(1) << 20);

} // namespace colrow
