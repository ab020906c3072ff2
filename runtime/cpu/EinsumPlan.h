//===- EinsumPlan.h - prepared matrix products of a context ---------------===//
//
// Written with oneDNN's C++ interface, version 2.6 (Debian 12).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsTensor.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace colrow {

/// One dimension, or several that compose to one, with its stride in a, b and out (0: not there).
struct EinsumDim {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
};

/// An oneDNN product of two matrices with fixed sizes and strides.
struct MatrixProduct {
  dnnl::matmul primitive;
  dnnl::memory a, b, out, workspace;
  int64_t workspaceBytes = 0;
  std::array<dnnl_exec_arg_t, 4> arguments; ///< refers to the four above
};

/// How one equation at one set of shapes and strides is computed.
struct EinsumPlan {
  bool nothing = false; ///< the result has no elements
  bool zero = false;    ///< nothing to sum over: the product is 0
  bool plain = false;   ///< small: by plain loops over `loops`, without oneDNN
  bool swapped = false; ///< computed as the transposed product, b before a

  /// Operands that go through scratch: sizes, and strides [0] as given and [1] in scratch.
  bool copies[3] = {false, false, false};
  std::vector<EinsumDim> copyDims[3];

  /// Loops around the product; the last `sumLoops` of them are summed over.
  std::vector<EinsumDim> loops;
  size_t sumLoops = 0;

  std::unique_ptr<MatrixProduct> first; ///< writes, or adds if the call adds
  std::unique_ptr<MatrixProduct> next;  ///< adds: for later rounds of the summed loops
};

struct EinsumCache {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::unordered_map<std::string, EinsumPlan> plans;
  std::string key; ///< of the call that runs
};

/// Throws std::invalid_argument, quoting the equation, if it does not fit the operands.
EinsumPlan planEinsum(EinsumCache &cache, const char *equation, const ConstTensor &a,
                      const ConstTensor &b, const Tensor &out, bool add);

} // namespace colrow
