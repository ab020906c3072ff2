//===- TokenRows.cpp - language models learn from a stream of tokens -------===//

#include "TokenRows.h"
#include "Batch.h"
#include "Format.h"
#include "Masking.h"
#include "colrow/Error.h"
#include "colrow/Safetensors.h"

#include <algorithm>

namespace colrow {
namespace {

/// The value at position t of an input that says nothing new about rows without padding.
std::optional<int64_t> impliedValue(const std::string &name, int64_t t) {
  if (name == "attention_mask")
    return 1;
  if (name == "token_type_ids")
    return 0;
  if (name == "position_ids")
    return t;
  return std::nullopt;
}

/// Which inputs take tokens and labels.
struct TokenInputs {
  explicit TokenInputs(const ProgramInfo &info) {
    std::vector<int64_t> shape = {info.batch, info.sequence};
    bool hasTokens = false, hasLabels = false;
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const InputInfo &input = info.inputs[i];
      if (input.shape == shape && input.name == info.labelsInput && isInteger(input)) {
        labels = i;
        hasLabels = true;
      } else if (input.shape == shape && impliedValue(input.name, 0)) {
        // Filled with what its name implies.
      } else if (input.shape == shape && isInteger(input) && !hasTokens) {
        tokens = i;
        hasTokens = true;
      } else {
        throw Error(fmt::format("input '{}' {} of '{}' does not follow from rows of tokens; give "
                                "--data FILE.safetensors with {}",
                                input.name, shapeText(input.shape), info.model,
                                neededTensors(info)));
      }
    }
    if (!hasTokens || !hasLabels)
      throw Error(fmt::format("'{}' has no input for {} of shape {}; give --data "
                              "FILE.safetensors with {}",
                              info.model, hasTokens ? "labels" : "tokens", shapeText(shape),
                              neededTensors(info)));
    for (size_t i : {tokens, labels})
      if (int64_t bound = info.inputs[i].limit; bound > 0)
        limit = limit > 0 ? std::min(limit, bound) : bound;
  }

  size_t tokens = 0, labels = 0; ///< numbers of inputs
  int64_t limit = 0;             ///< tokens must be below this; 0: not known
};

class TokenRows : public TrainingData {
public:
  TokenRows(const std::string &path, const ProgramInfo &info, const DataOptions &options,
            int64_t rowsShareTokens)
      : info(info), options(options), inputs(info), file(path, options.format, inputs.limit),
        count(std::max<int64_t>(0, file.size() - rowsShareTokens) / info.sequence) {
    if (count < info.batch)
      throw Error(fmt::format("'{}' holds {} tokens, but one batch of {} rows of {} needs {}; give "
                              "more data, or compile with a smaller --batch or --sequence",
                              path, file.size(), info.batch, info.sequence,
                              info.batch * info.sequence + rowsShareTokens));
  }

  const std::string &path() const override { return file.path(); }
  std::string_view formatName() const override { return file.formatName(); }
  std::optional<int64_t> tokens() const override { return file.size(); }
  int64_t rows() const override { return count; }
  std::string summary() const override {
    return fmt::format("{} tokens ({}) in '{}': {} rows of {}", file.size(), formatName(), path(),
                       count, info.sequence);
  }
  std::string identity() const override {
    return fmt::format("{} tokens ({}, checksum {:016x})", file.size(), formatName(), checksum());
  }
  uint64_t checksum() const override { return file.checksum(); }
  std::string ignoredLabels() const override { return "the ignored token"; }

  int64_t countLabels(const Microbatch &microbatch) const override {
    std::vector<int64_t> tokens, labels;
    take(microbatch, tokens, labels);
    return int64_t(labels.size()) - std::count(labels.begin(), labels.end(), info.ignoreLabel);
  }

  void fill(const Microbatch &microbatch, Program &program) const override {
    std::vector<int64_t> tokens, labels, implied(microbatch.rows.size() * size_t(info.sequence));
    take(microbatch, tokens, labels);
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const InputInfo &input = info.inputs[i];
      const std::vector<int64_t> *values = i == inputs.tokens ? &tokens : &labels;
      if (i != inputs.tokens && i != inputs.labels) {
        for (size_t at = 0; at < implied.size(); ++at)
          implied[at] = *impliedValue(input.name, int64_t(at) % info.sequence);
        values = &implied;
      }
      storeInput(input, values->data(), int64_t(values->size()), program.input(i));
    }
  }

protected:
  /// The tokens of all rows, and the labels that the program takes with them.
  virtual void take(const Microbatch &microbatch, std::vector<int64_t> &tokens,
                    std::vector<int64_t> &labels) const = 0;

  /// Tokens [from, from + T) of all rows.
  std::vector<int64_t> read(const Microbatch &microbatch, int64_t from) const {
    std::vector<int64_t> tokens;
    for (int64_t row : microbatch.rows)
      for (int64_t t = 0; t < info.sequence; ++t)
        tokens.push_back(file[row * info.sequence + from + t]);
    return tokens;
  }

  const ProgramInfo &info;
  DataOptions options;
  TokenInputs inputs;
  TokenFile file;
  int64_t count;
};

/// A row is T + 1 tokens, T of which it shares with no other row: row r begins at token r * T.
class CausalRows : public TokenRows {
public:
  CausalRows(const std::string &path, const ProgramInfo &info, const DataOptions &options)
      : TokenRows(path, info, options, /*rowsShareTokens=*/1) {
    if (options.maskToken)
      throw Error(fmt::format("--mask-token is for masked language models, but the objective of "
                              "'{}' is {}; leave it out, or give --objective masked_lm",
                              info.model, info.objective));
  }

private:
  void take(const Microbatch &microbatch, std::vector<int64_t> &tokens,
            std::vector<int64_t> &labels) const override {
    tokens = read(microbatch, 0);
    labels = read(microbatch, 1);
    if (options.ignoreToken)
      std::replace(labels.begin(), labels.end(), *options.ignoreToken, info.ignoreLabel);
  }
};

class MaskedRows : public TokenRows {
public:
  MaskedRows(const std::string &path, const ProgramInfo &info, const DataOptions &options,
             bool evaluates)
      : TokenRows(path, info, options, /*rowsShareTokens=*/0),
        masking(options.seed, evaluates ? "masks of the evaluation" : "masks of training",
                checkedMaskToken(), inputs.limit, options.ignoreToken) {}

private:
  int64_t checkedMaskToken() const {
    if (!options.maskToken)
      throw Error(fmt::format("the objective of '{}' is masked_lm, which hides tokens of '{}' "
                              "behind the tokenizer's mask token: give its number by --mask-token "
                              "(another objective by --objective)",
                              info.model, path()));
    if (inputs.limit == 0)
      throw Error(fmt::format("'{}' does not say how many tokens there are, of which masking takes "
                              "random ones; give --data FILE.safetensors with {}",
                              info.model, neededTensors(info)));
    if (*options.maskToken < 0 || *options.maskToken >= inputs.limit)
      throw Error(fmt::format("--mask-token {} is not in [0, {}), the vocabulary of '{}'",
                              *options.maskToken, inputs.limit, info.model));
    return *options.maskToken;
  }

  void take(const Microbatch &microbatch, std::vector<int64_t> &tokens,
            std::vector<int64_t> &labels) const override {
    tokens = read(microbatch, 0);
    masking.apply(microbatch.step, microbatch.number * int64_t(tokens.size()), info.sequence,
                  info.ignoreLabel, tokens, labels);
  }

  Masking masking;
};

} // namespace

std::unique_ptr<TrainingData> openTokenRows(const std::string &path, const ProgramInfo &info,
                                            const DataOptions &options, bool evaluates) {
  if (info.labels == LabelRule::inGraph)
    throw Error(fmt::format("'{}' computes its loss from inputs of its own, which tokens do not "
                            "determine; give --data FILE.safetensors with {}",
                            info.model, neededTensors(info)));
  if (info.objective == "masked_lm")
    return std::make_unique<MaskedRows>(path, info, options, evaluates);
  if (info.objective != "causal_lm" && info.objective != "next_token")
    throw Error(fmt::format("the objective of '{}' is {}, whose labels do not follow from tokens; "
                            "give --data FILE.safetensors with {}",
                            info.model, info.objective, neededTensors(info)));
  return std::make_unique<CausalRows>(path, info, options);
}

} // namespace colrow
