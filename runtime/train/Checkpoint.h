//===- Checkpoint.h - what a run needs to go on ----------------------------===//
//
// A checkpoint is a sealed safetensors file (SafetensorsWriter::seal) of whole parameters in
// torch's orientation, each under its first name, with AdamW's moments beside it:
//
//   <name>   exp_avg.<name>   exp_avg_sq.<name>
//
// Its metadata say after which step it was taken and with which settings. So it depends on no grid:
// a run goes on bit for bit on the grid it had, and within rounding on another. What else training
// depends on, dropout masks and the order of the data, is a function of seed and step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Program.h"
#include "colrow/Rank.h"
#include "colrow/Safetensors.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace colrow {

/// What must be the same when a run goes on, as words for people: {"--lr", "0.001"}.
using RunSettings = std::vector<std::pair<std::string, std::string>>;

/// Where a run was when a checkpoint was taken.
struct RunPosition {
  int64_t step = 0;    ///< steps done
  int64_t steps = 0;   ///< of the whole run, as it was planned
  int64_t samples = 0; ///< rows of data taken from RowOrder
};

class CheckpointFile {
public:
  /// Reads all of the file; throws Error if it is damaged or no checkpoint.
  explicit CheckpointFile(const std::string &path);

  const std::string &path() const { return file.path(); }
  const RunPosition &position() const { return at; }
  /// Throws Error naming what differs if the checkpoint is of another model or other settings.
  void requireSame(const ProgramInfo &info, const RunSettings &settings) const;
  /// Fills this rank's parameters and moments. Needs requireSame.
  void load(const ProgramInfo &info, const Rank &rank, Program &program) const;

private:
  SafetensorsFile file;
  RunPosition at;
};

/// Writes parameters and moments. A collective of all ranks; rank 0 writes, and no rank goes on (or
/// ends the run) before the file is whole.
void saveCheckpoint(const std::string &path, const RunPosition &position,
                    const RunSettings &settings, const ProgramInfo &info, Rank &rank,
                    Program &program);

/// "checkpoint-000010.safetensors".
std::string checkpointName(int64_t step);
/// The paths of a folder's checkpoints by step, by their names alone.
std::map<int64_t, std::string> findCheckpoints(const std::string &folder);

} // namespace colrow
