//===- Parameters.h - which values of a model are trained, and their names ===//
//
// The initializer list of an exported model is not its list of parameters. Exporters
//   - write a tied weight twice, once transposed (untied ties),
//   - keep one initializer for parameters that are equal before training (false ties),
//   - drop biases that are zero (lost biases),
//   - store matrices transposed under made-up names (lost names),
//   - store what they computed from a parameter: 1 + weight, exp(logit_scale) (folded parameters),
//   - mix parameters with masks, tables and scalars.
// sortParameters undoes this on the graph. Worked example, a fresh GPT-2 from the dynamo exporter:
//
//   node_layer_norm_1 = LayerNormalization(x, h.0.ln_1.weight, h.0.ln_1.bias)
//                       metadata: layer_norm(%x, %p_h_0_ln_2_weight, %p_h_0_ln_2_bias)
//   node_Gemm_245     = Gemm(y, h.0.attn.c_attn.weight)
//                       metadata: addmm(%p_h_0_attn_c_attn_bias, %y, %p_h_0_attn_c_attn_weight)
// becomes
//   node_layer_norm_1 = LayerNormalization(x, h.0.ln_2.weight, h.0.ln_2.bias)
//   node_Gemm_245     = Gemm(y, h.0.attn.c_attn.weight, h.0.attn.c_attn.bias)
// with three parameters more: two that start as copies of the merged initializers, one as zeros.
//
// Nothing depends on the kind of model. Evidence, strongest first: torch's call that a node came
// from (metadata), an Identity of an initializer (TorchScript writes it where it merged two), the
// module path in the node's name, the values themselves.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/onnx/Model.h"

#include <string>
#include <vector>

namespace colrow {

/// A value of the original file that holds a parameter: an initializer, or an Identity of one.
struct ParameterValue {
  std::string name;
  std::vector<int64_t> shape;
  bool transposed = false; ///< relative to Parameter::shape
};

/// What a value of the file is of the parameter that an exporter computed it from.
enum class Fold { None, PlusOne, Exp };

struct Parameter {
  std::string name;                 ///< torch's where it is recoverable, else that in the file
  std::vector<std::string> aliases; ///< torch's other names of it, where it is tied
  std::vector<int64_t> shape;       ///< in torch's orientation
  int32_t dtype = 0;                ///< onnx::TensorProto_DataType

  /// The values of the file that hold it. Empty if it was dropped or merged into another's.
  std::vector<ParameterValue> values;

  /// Its value in ParameterTable::graph, and whether that is the transpose of `shape`.
  std::string valueName;
  bool transposed = false;

  /// The initializer with its initial data, in the orientation of `valueName`. Empty if restored:
  /// it starts as zeros.
  std::string source;
  Fold fold = Fold::None; ///< what `source` holds of it
  bool restored() const { return source.empty(); }

  std::vector<int64_t> valueShape() const {
    return transposed ? std::vector<int64_t>{shape[1], shape[0]} : shape;
  }
};

/// One decision, to be shown to the user.
struct ParameterRemark {
  enum Kind {
    Tied,      ///< two values of the file are one parameter
    Separated, ///< one value of the file is several parameters
    Restored,  ///< created again
    Renamed,   ///< torch's name found for a made-up one
    Constant,  ///< a float tensor that is not trained
    Doubtful   ///< could not be decided; the text names the option
  };
  Kind kind;
  std::string parameter; ///< its name, or that of the initializer
  std::string node;      ///< where the evidence is; may be empty
  std::string text;
};

/// The kind in lower case.
const char *remarkKindName(ParameterRemark::Kind kind);

/// Patterns are globs over names of parameters, torch's or the file's: `*.c_attn.bias`.
struct ParameterOptions {
  std::vector<std::string> tie;         ///< `A=B`: B becomes A, with A's data
  std::vector<std::string> untie;       ///< parameters that are not to be tied
  std::vector<std::string> restoreBias; ///< modules, weights or nodes of products that get a bias
};

/// The parameters of a model, whatever it was read from.
struct ParameterList {
  std::vector<Parameter> parameters; ///< in the order of their first use

  /// By name, alias, or name of a value. Null if there is none.
  const Parameter *find(const std::string &name) const;
};

struct ParameterTable : ParameterList {
  /// The graph with every parameter a value of its own, `valueName`. It has no initializers:
  /// the data of parameters and `constants` is that of the model. A tied value in the other
  /// orientation is computed by an added Transpose. Value infos are left out.
  onnx::GraphProto graph;

  /// Initializers that `graph` uses and that are no parameters.
  std::vector<std::string> constants;

  std::vector<ParameterRemark> remarks;
};

/// Sorts out the parameters of a model. Weights that are absent cannot be compared; what depends on
/// their values is left as it is in the file, with a remark.
/// Throws Error if an option names nothing, or ties what does not fit.
ParameterTable sortParameters(const OnnxModel &model, const ParameterOptions &options = {});

/// The data that a parameter starts with, in float32 and in the orientation of its value: that of
/// its source, or zeros if it was restored. Throws Error naming initializer and file if it is
/// absent.
std::vector<float> initialData(const OnnxModel &model, const Parameter &parameter);

} // namespace colrow
