//===- Batch.cpp - values and shapes of a program's inputs -----------------===//

#include "Batch.h"
#include "Format.h"

#include <algorithm>

namespace colrow {

static const char *typeName(DType type) {
  static constexpr const char *names[] = {"float32", "int64", "int32", "bool"};
  return names[int(type)];
}

std::string rowsText(const InputInfo &input, const ProgramInfo &info) {
  std::string sizes;
  for (size_t d = 0; d < input.shape.size(); ++d)
    sizes += (d ? ", " : "") +
             (d == 0 && hasRows(input, info) ? "rows" : std::to_string(input.shape[d]));
  return fmt::format("[{}] {}", sizes, typeName(input.dtype));
}

template <typename T>
void storeInput(const InputInfo &input, const T *from, int64_t count, void *to) {
  switch (input.dtype) {
  case DType::f32:
    std::copy_n(from, count, static_cast<float *>(to));
    break;
  case DType::i64:
    std::copy_n(from, count, static_cast<int64_t *>(to));
    break;
  case DType::i32:
    std::copy_n(from, count, static_cast<int32_t *>(to));
    break;
  case DType::b1:
    std::copy_n(from, count, static_cast<uint8_t *>(to));
    break;
  }
}
template void storeInput(const InputInfo &, const float *, int64_t, void *);
template void storeInput(const InputInfo &, const int64_t *, int64_t, void *);

void prepareLabels(std::vector<int64_t> &labels, int64_t sequence, const ProgramInfo &info) {
  std::replace(labels.begin(), labels.end(), torchIgnoreLabel, info.ignoreLabel);
  if (info.labels != LabelRule::shiftLeft)
    return;
  for (auto row = labels.begin(); row != labels.end(); row += sequence) {
    std::copy(row + 1, row + sequence, row);
    row[sequence - 1] = info.ignoreLabel;
  }
}

} // namespace colrow
