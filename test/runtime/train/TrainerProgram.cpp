//===- TrainerProgram.cpp - what the compiler would emit, for Main.cpp -----===//

#include "Bigram.h"

namespace colrow {

const ProgramInfo &programInfo() {
  static const ProgramInfo info = bigram::makeInfo({/*ranks=*/2});
  return info;
}

std::unique_ptr<Program> createProgram(Rank &rank) {
  return bigram::makeProgram({/*ranks=*/2}, programInfo(), rank);
}

} // namespace colrow
