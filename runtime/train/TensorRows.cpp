//===- TensorRows.cpp - rows of a safetensors file of named inputs ---------===//

#include "TensorRows.h"
#include "Batch.h"
#include "Format.h"
#include "Slices.h"
#include "colrow/Checksum.h"
#include "colrow/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace colrow {
namespace {

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool isFloat(TensorType type) {
  return type == TensorType::F16 || type == TensorType::BF16 || type == TensorType::F32 ||
         type == TensorType::F64;
}

std::string describe(const TensorEntry &tensor) {
  return fmt::format("'{}' {} {}", tensor.name, shapeText(tensor.shape),
                     tensorTypeName(tensor.type));
}

/// Looks at the rows of a mask for one that lets no position be seen: of zeros where the mask says
/// what is visible, of large negative numbers where it is added to scores. Which of the two a mask
/// of numbers is, its values say, or if all are zero its rank: scores have more than positions.
class MaskCheck {
public:
  template <typename T> void see(const std::vector<T> &values, int64_t row) {
    constexpr double hidden = -1e4; // what exporters add to scores at the least
    T least = *std::min_element(values.begin(), values.end());
    T most = *std::max_element(values.begin(), values.end());
    anyNegative |= least < 0;
    anyPositive |= most > 0;
    if (least == 0 && most == 0 && !zeroRow)
      zeroRow = row;
    if (double(most) <= hidden && !hiddenRow)
      hiddenRow = row;
  }

  /// The first row that is hidden.
  std::optional<int64_t> find(const InputInfo &input) const {
    bool isAdded =
        anyNegative || (input.dtype == DType::f32 && !anyPositive && input.shape.size() > 2);
    return isAdded ? hiddenRow : zeroRow;
  }

private:
  bool anyNegative = false, anyPositive = false;
  std::optional<int64_t> zeroRow, hiddenRow;
};

} // namespace

bool isTensorFile(const std::string &path, DataFormat format) {
  return format == DataFormat::safetensors ||
         (format == DataFormat::automatic && endsWith(path, ".safetensors"));
}

TensorRows::TensorRows(const std::string &path, const ProgramInfo &info, const DataOptions &options)
    : info(info), file(path) {
  if (options.ignoreToken)
    throw Error(
        fmt::format("--ignore-token is for data of tokens; in '{}' labels that do not count "
                    "are {}",
                    path, torchIgnoreLabel));
  if (options.maskToken)
    throw Error(fmt::format("--mask-token is for data of tokens; '{}' has masked inputs and their "
                            "labels already",
                            path));
  for (const InputInfo &input : info.inputs)
    bind(input);
  if (count == 0)
    throw Error(fmt::format("'{}': no input of '{}' has a dimension of rows", path, info.model));
  if (count < info.batch)
    throw Error(fmt::format("'{}' has {} rows, but one batch needs {}; give more data, or compile "
                            "with a smaller --batch",
                            path, count, info.batch));
  for (size_t i = 0; i < info.inputs.size(); ++i)
    checkValues(i);
}

/// Names, types and shapes.
void TensorRows::bind(const InputInfo &input) {
  bool isLabels = input.name == info.labelsInput && info.labels != LabelRule::inGraph;
  std::string wanted =
      fmt::format("{} '{}' of '{}'", isLabels ? "labels" : "input", input.name, info.model);
  const TensorEntry *tensor = file.find(input.name);
  if (!tensor) {
    constexpr size_t most = 12; // weights, say, are many
    std::string found;
    for (size_t i = 0; i < std::min(most, file.tensors().size()); ++i)
      found += (found.empty() ? "" : ", ") + describe(file.tensors()[i]);
    if (file.tensors().size() > most)
      found += fmt::format(" and {} more", file.tensors().size() - most);
    throw Error(fmt::format("'{}' has no tensor for the {}, {}; it has {}", path(), wanted,
                            rowsText(input, info), found.empty() ? "none" : found));
  }
  bool rowed = hasRows(input, info);
  if (isLabels && !rowed)
    throw Error(
        fmt::format("the {} have shape {}, which does not begin with the {} rows of a batch; "
                    "export the model with a dynamic batch",
                    wanted, shapeText(input.shape), info.batch));
  std::vector<int64_t> expected = input.shape;
  if (rowed && !tensor->shape.empty())
    expected[0] = tensor->shape[0];
  if (isFloat(tensor->type) != (input.dtype == DType::f32) || tensor->shape != expected)
    throw Error(fmt::format("'{}': tensor {} does not fit the {}, which takes {}", path(),
                            describe(*tensor), wanted, rowsText(input, info)));
  entries.push_back(tensor);
  if (!rowed)
    return;
  if (count != 0 && tensor->shape[0] != count)
    throw Error(fmt::format("'{}': tensor {} has {} rows, others have {}", path(),
                            describe(*tensor), tensor->shape[0], count));
  count = tensor->shape[0];
  if (count == 0)
    throw Error(fmt::format("'{}': tensor {} has no rows", path(), describe(*tensor)));
}

bool TensorRows::isLabels(size_t i) const {
  return info.inputs[i].name == info.labelsInput && info.labels != LabelRule::inGraph;
}

int64_t TensorRows::rowElements(size_t i) const {
  int64_t elements = elementCount(info.inputs[i].shape);
  return hasRows(info.inputs[i], info) ? elements / info.batch : elements;
}

std::vector<int64_t> TensorRows::integers(size_t i, int64_t row) const {
  int64_t elements = rowElements(i);
  std::vector<int64_t> values = file.readIntegers(*entries[i], row * elements, elements);
  if (isLabels(i))
    prepareLabels(values, info.inputs[i].shape.size() > 1 ? info.inputs[i].shape.back() : 1, info);
  return values;
}

std::vector<float> TensorRows::floats(size_t i, int64_t row) const {
  int64_t elements = rowElements(i);
  return file.readFloats(*entries[i], row * elements, elements);
}

// The whole file is looked at before training, so that a bad value does not end a run of hours.
void TensorRows::checkValues(size_t i) const {
  const InputInfo &input = info.inputs[i];
  bool isMask = endsWith(input.name, "attention_mask") && elementCount(input.shape) > 0;
  bool anyCounts = false;
  MaskCheck mask;
  int64_t least = 0, limit = input.limit;
  if (input.dtype == DType::b1)
    limit = 2;
  if (limit <= 0) {
    least = input.dtype == DType::i32 ? std::numeric_limits<int32_t>::min()
                                      : std::numeric_limits<int64_t>::min();
    limit = input.dtype == DType::i32 ? int64_t(std::numeric_limits<int32_t>::max()) + 1
                                      : std::numeric_limits<int64_t>::max();
  }
  // What a loss in the graph ignores, only the graph knows.
  int64_t ignored = isLabels(i) ? info.ignoreLabel : torchIgnoreLabel;
  bool mayBeIgnored = isLabels(i) || info.labels == LabelRule::inGraph;
  for (int64_t row = 0; row < (hasRows(input, info) ? count : 1); ++row) {
    auto fail = [&](const std::string &what) {
      throw Error(fmt::format("'{}': tensor '{}' {} row {}", path(), input.name, what, row));
    };
    if (input.dtype == DType::f32) {
      std::vector<float> values = floats(i, row);
      for (float value : values)
        if (std::isnan(value))
          fail("holds nan in");
      if (isMask)
        mask.see(values, row);
    } else {
      std::vector<int64_t> values = integers(i, row);
      for (int64_t value : values) {
        bool counts = !mayBeIgnored || value != ignored;
        anyCounts |= counts;
        if (counts && (value < least || value >= limit))
          fail(fmt::format("holds {}, which is not in [{}, {}), in", value, least, limit));
      }
      if (isMask)
        mask.see(values, row);
    }
  }
  if (std::optional<int64_t> row = mask.find(input))
    throw Error(
        fmt::format("'{}': tensor '{}' hides every position of row {}", path(), input.name, *row));
  if (isLabels(i) && !anyCounts)
    throw Error(fmt::format("'{}': all labels in tensor '{}' are ignored ({})", path(), input.name,
                            ignoredLabels()));
}

int64_t TensorRows::countLabels(const Microbatch &microbatch) const {
  if (info.labels == LabelRule::inGraph)
    return 1;
  int64_t labels = 0;
  for (size_t i = 0; i < info.inputs.size(); ++i)
    if (isLabels(i))
      for (int64_t row : microbatch.rows)
        for (int64_t label : integers(i, row))
          labels += label != info.ignoreLabel;
  return labels;
}

void TensorRows::fill(const Microbatch &microbatch, Program &program) const {
  auto fillAll = [&](size_t i, auto valuesOf) {
    const InputInfo &input = info.inputs[i];
    if (!hasRows(input, info)) {
      auto values = valuesOf(0);
      storeInput(input, values.data(), int64_t(values.size()), program.input(i));
      return;
    }
    decltype(valuesOf(0)) batch;
    for (int64_t row : microbatch.rows) {
      auto values = valuesOf(row);
      batch.insert(batch.end(), values.begin(), values.end());
    }
    storeInput(input, batch.data(), int64_t(batch.size()), program.input(i));
  };
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    if (info.inputs[i].dtype == DType::f32)
      fillAll(i, [&](int64_t row) { return floats(i, row); });
    else
      fillAll(i, [&](int64_t row) { return integers(i, row); });
  }
}

uint64_t TensorRows::checksum() const {
  Checksum sum;
  for (const TensorEntry *entry : entries) {
    sum.add(entry->name.data(), entry->name.size());
    sum.add(entry->data, entry->bytes);
  }
  return sum.value();
}

std::string TensorRows::summary() const {
  std::string names;
  for (const TensorEntry *entry : entries)
    names += (names.empty() ? "" : ", ") + entry->name;
  return fmt::format("{} rows of {} in '{}'", count, names, path());
}

std::string TensorRows::identity() const {
  return fmt::format("{} rows (safetensors, checksum {:016x})", count, checksum());
}

std::string TensorRows::ignoredLabels() const {
  return info.labels == LabelRule::shiftLeft
             ? fmt::format("{}, or the first of a row, which nothing predicts", torchIgnoreLabel)
             : std::to_string(torchIgnoreLabel);
}

std::vector<std::string> TensorRows::warnings() const {
  std::vector<std::string> texts;
  for (const TensorEntry &tensor : file.tensors())
    if (std::find(entries.begin(), entries.end(), &tensor) == entries.end() &&
        tensor.name != sealName)
      texts.push_back(fmt::format("tensor {} of '{}' is no input of '{}' and is not used",
                                  describe(tensor), path(), info.model));
  return texts;
}

} // namespace colrow
