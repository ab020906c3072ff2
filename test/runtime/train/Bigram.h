//===- Bigram.h - a small hand-written Program for tests -------------------===//
//
// logits = (dropout(embed[x]) * scale) . head + bias, with the vocabulary cut over tp and padded,
// the head stored transposed, and the scale whole on every rank: every case of ParameterInfo that
// the training code must handle. Loss, gradients, clipping and AdamW are written out by hand.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Rank.h"

namespace bigram {

struct Shape {
  int64_t ranks = 1;
  int64_t vocabulary = 258; ///< 256 bytes and a bit, so that padding is in use
  int64_t hidden = 12;
  int64_t batch = 4, sequence = 16;
  double dropout = 0.2;
};

colrow::ProgramInfo makeInfo(const Shape &shape);
std::unique_ptr<colrow::Program> makeProgram(const Shape &shape, const colrow::ProgramInfo &info,
                                             colrow::Rank &rank);

} // namespace bigram
