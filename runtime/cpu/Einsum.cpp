//===- Einsum.cpp - matrix products ---------------------------------------===//
#include "colrow/KernelsEinsum.h"

#include "ContextImpl.h"
#include "EinsumPlan.h"
#include "colrow/Profile.h"

// oneDNN of Debian runs on GNU OpenMP. Declared here, so that building needs no OpenMP flags, which
// under clang would bring in a second OpenMP runtime.
extern "C" void omp_set_num_threads(int threads);

namespace colrow {
namespace {

void appendNumbers(std::string &key, const Dims &dims) {
  for (int64_t value : dims)
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Writes the key of a call over what `key` held, whose memory it uses: no call but the first of a
/// program's products may allocate.
void writeKey(std::string &key, const char *equation, const ConstTensor &a, const ConstTensor &b,
              const Tensor &out, int beta) {
  key = equation;
  key += beta ? '+' : '=';
  for (const Dims *dims : {&a.shape, &a.strides, &b.shape, &b.strides, &out.shape, &out.strides})
    appendNumbers(key, *dims);
}

/// Walks `dims` from number `level` on, calling body(p, q) with pointers moved by strides 0 and 1.
template <typename P, typename Q, typename Body>
void walk(const std::vector<EinsumDim> &dims, size_t level, P *p, Q *q, const Body &body) {
  if (level == dims.size())
    return body(p, q);
  const EinsumDim &dim = dims[level];
  for (int64_t i = 0; i < dim.size; ++i)
    walk(dims, level + 1, p + i * dim.strides[0], q + i * dim.strides[1], body);
}

/// Fits the small and the odd: any strides, sums in double.
struct PlainLoops {
  const EinsumPlan &plan;
  int beta;

  double dot(size_t level, const float *a, const float *b) const {
    if (level == plan.loops.size())
      return double(*a) * double(*b);
    const EinsumDim &dim = plan.loops[level];
    double sum = 0;
    if (level + 1 == plan.loops.size()) {
      for (int64_t i = 0; i < dim.size; ++i)
        sum += double(a[i * dim.strides[0]]) * double(b[i * dim.strides[1]]);
      return sum;
    }
    for (int64_t i = 0; i < dim.size; ++i)
      sum += dot(level + 1, a + i * dim.strides[0], b + i * dim.strides[1]);
    return sum;
  }

  void run(size_t level, const float *a, const float *b, float *out) const {
    if (level == plan.loops.size() - plan.sumLoops) {
      float product = float(dot(level, a, b));
      *out = beta ? *out + product : product;
      return;
    }
    const EinsumDim &dim = plan.loops[level];
    for (int64_t i = 0; i < dim.size; ++i)
      run(level + 1, a + i * dim.strides[0], b + i * dim.strides[1], out + i * dim.strides[2]);
  }
};

/// Loops around oneDNN's product.
struct ProductLoops {
  const EinsumPlan &plan;
  dnnl::stream &stream;
  void *workspace;

  void run(size_t level, const float *a, const float *b, float *out, bool later) const {
    if (level == plan.loops.size()) {
      MatrixProduct &product = later ? *plan.next : *plan.first;
      product.a.set_data_handle(const_cast<float *>(plan.swapped ? b : a));
      product.b.set_data_handle(const_cast<float *>(plan.swapped ? a : b));
      product.out.set_data_handle(out);
      product.workspace.set_data_handle(workspace);
      // Not the C++ interface, which makes a map and a vector of the arguments in every call.
      dnnl::error::wrap_c_api(dnnl_primitive_execute(product.primitive.get(), stream.get(),
                                                     int(product.arguments.size()),
                                                     product.arguments.data()),
                              "cannot run a matrix product");
      return;
    }
    const EinsumDim &dim = plan.loops[level];
    bool isSum = level >= plan.loops.size() - plan.sumLoops;
    for (int64_t i = 0; i < dim.size; ++i)
      run(level + 1, a + i * dim.strides[0], b + i * dim.strides[1], out + i * dim.strides[2],
          later || (isSum && i > 0));
  }
};

int64_t elementsOf(const std::vector<EinsumDim> &dims) {
  int64_t product = 1;
  for (const EinsumDim &dim : dims)
    product *= dim.size;
  return product;
}

std::string shapeText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text.empty() ? "[]" : text + "]";
}

void describeProduct(ProfileScope &scope, const char *equation, const ConstTensor &a,
                     const ConstTensor &b, const Tensor &out) {
  // Every dimension is multiplied once, wherever it occurs.
  std::string seen;
  double flops = 2;
  const char *letter = equation;
  for (const ConstTensor *operand : {&a, &b})
    for (int i = 0; i < operand->rank() && *letter; ++i, ++letter) {
      if (*letter == ',')
        ++letter;
      if (seen.find(*letter) == std::string::npos)
        flops *= double(operand->shape[i]);
      seen += *letter;
    }
  scope.addFlops(flops);
  if (scope.isOutermost())
    scope.describe(equation + (" " + shapeText(a.shape)) + " " + shapeText(b.shape));
}

} // namespace

void einsum(KernelContext &ctx, const char *equation, const ConstTensor &a, const ConstTensor &b,
            const Tensor &out, int beta) {
  ProfileScope scope("einsum", a, b, out);
  if (scope.isActive())
    describeProduct(scope, equation, a, b, out);
  require(beta == 0 || beta == 1, "einsum", "expects beta to be 0 or 1");
  EinsumCache &cache = *ctx.impl().einsum;
  // For oneDNN the number of threads is a property of the calling thread.
  omp_set_num_threads(ctx.threads());

  writeKey(cache.key, equation, a, b, out, beta);
  auto known = cache.plans.find(cache.key);
  if (known == cache.plans.end())
    known = cache.plans.emplace(cache.key, planEinsum(cache, equation, a, b, out, beta != 0)).first;
  const EinsumPlan &plan = known->second;
  if (plan.nothing)
    return;
  if (plan.zero) {
    std::vector<EinsumDim> dims;
    for (int i = 0; i < out.rank(); ++i)
      dims.push_back({out.shape[i], {out.strides[i], 0, 0}});
    if (!beta)
      walk(dims, 0, out.data, out.data, [](float *to, float *) { *to = 0; });
    return;
  }
  if (plan.plain)
    return PlainLoops{plan, beta}.run(0, a.data, b.data, out.data);

  Scratch scratch(ctx);
  const float *operands[2] = {a.data, b.data};
  for (int i = 0; i < 2; ++i)
    if (plan.copies[i]) {
      float *copied = scratch.get<float>(elementsOf(plan.copyDims[i]));
      walk(plan.copyDims[i], 0, operands[i], copied,
           [](const float *from, float *to) { *to = *from; });
      operands[i] = copied;
    }
  float *result = plan.copies[2] ? scratch.get<float>(elementsOf(plan.copyDims[2])) : out.data;
  int64_t workspaceBytes = plan.first->workspaceBytes;
  if (plan.next)
    workspaceBytes = std::max(workspaceBytes, plan.next->workspaceBytes);
  void *workspace = scratch.get<char>(workspaceBytes);

  ProductLoops{plan, cache.stream, workspace}.run(0, operands[0], operands[1], result, false);
  cache.stream.wait();
  if (plan.copies[2])
    walk(plan.copyDims[2], 0, out.data, result,
         [beta](float *to, const float *from) { *to = beta ? *to + *from : *from; });
}

} // namespace colrow
