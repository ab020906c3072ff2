//===- TrainingData.cpp - tokens or tensors --------------------------------===//

#include "TrainingData.h"
#include "Batch.h"
#include "TensorRows.h"
#include "TokenRows.h"

namespace colrow {

std::unique_ptr<TrainingData> openTrainingData(const std::string &path, const ProgramInfo &info,
                                               const DataOptions &options, bool evaluates) {
  if (isTensorFile(path, options.format))
    return std::make_unique<TensorRows>(path, info, options);
  return openTokenRows(path, info, options, evaluates);
}

std::string neededTensors(const ProgramInfo &info) {
  std::string text;
  for (const InputInfo &input : info.inputs)
    text += (text.empty() ? "" : ", ") + input.name + " " + rowsText(input, info);
  return text;
}

} // namespace colrow
