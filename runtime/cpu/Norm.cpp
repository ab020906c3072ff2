//===- Norm.cpp - layer norm and RMS norm ---------------------------------===//
//
// With g = dy * w and n = (x - mean) * rstd, the gradient of a row is
//
//   dx = rstd * (g - mean(g) - n * mean(g * n))        layer norm
//   dx = rstd * (g - n * mean(g * n))                  RMS norm, n = x * rstd
//
// and dw, db are sums over rows of dy * n and dy, kept in double until the last row.
//
//===----------------------------------------------------------------------===//
#include "colrow/KernelsNorm.h"

#include "ContextImpl.h"
#include "Rows.h"
#include "Strided.h"
#include "colrow/Profile.h"

#include <cmath>

namespace colrow {
namespace {

/// The rows of a tensor, by the number of statistics.
struct NormRows {
  int64_t rows, columns;

  NormRows(const char *kernel, const ConstTensor &x, const ConstTensor &statistic,
           const ConstTensor &w)
      : rows(statistic.numel()), columns(rows ? x.numel() / rows : x.shape.back()) {
    require(x.rank() > 0 && rows * columns == x.numel(), kernel,
            "expects one mean and rstd for each row");
    require(!w || w.numel() == columns, kernel, "expects one weight for each column");
  }
};

/// Column sums of the gradient of a weight or bias; nothing if it is not wanted.
class ColumnSums {
public:
  ColumnSums(Scratch &scratch, const Tensor &result, int64_t columns)
      : result(result), columns(columns) {
    if (!result)
      return;
    sums = scratch.get<double>(columns);
    for (int64_t j = 0; j < columns; ++j)
      sums[j] = 0;
  }

  template <typename Term> void add(const Term &term) {
    if (sums)
      for (int64_t j = 0; j < columns; ++j)
        sums[j] += double(term(j));
  }

  void store() {
    if (sums)
      for (int64_t j = 0; j < columns; ++j)
        result.data[j] = float(sums[j]);
  }

private:
  const Tensor &result;
  int64_t columns;
  double *sums = nullptr;
};

} // namespace

void layerNorm(KernelContext &, const ConstTensor &x, const ConstTensor &w, const ConstTensor &b,
               double epsilon, const Tensor &y, const Tensor &mean, const Tensor &rstd) {
  ProfileScope scope("layerNorm", x, w, b, y, mean, rstd);
  requireContiguous("layerNorm", x, w, b, y, mean, rstd);
  NormRows shape("layerNorm", x, mean, w);
  require(x.shape == y.shape && mean.numel() == rstd.numel() && (!b || b.numel() == shape.columns),
          "layerNorm", "expects operands and results that fit");
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float *in = x.data + row * shape.columns;
    float *out = y.data + row * shape.columns;
    double average = sumOf(shape.columns, [=](int64_t j) { return in[j]; }) / shape.columns;
    double variance = sumOf(shape.columns,
                            [=](int64_t j) {
                              double away = double(in[j]) - average;
                              return away * away;
                            }) /
                      shape.columns;
    float m = float(average), r = float(1 / std::sqrt(variance + epsilon));
    mean.data[row] = m;
    rstd.data[row] = r;
    for (int64_t j = 0; j < shape.columns; ++j)
      out[j] = (in[j] - m) * r;
    if (w)
      for (int64_t j = 0; j < shape.columns; ++j)
        out[j] *= w.data[j];
    if (b)
      for (int64_t j = 0; j < shape.columns; ++j)
        out[j] += b.data[j];
  }
}

void layerNormGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x,
                   const ConstTensor &w, const ConstTensor &mean, const ConstTensor &rstd,
                   const Tensor &dx, const Tensor &dw, const Tensor &db) {
  ProfileScope scope("layerNormGrad", dy, x, w, mean, rstd, dx, dw, db);
  requireContiguous("layerNormGrad", dy, x, w, mean, rstd, dx, dw, db);
  NormRows shape("layerNormGrad", x, mean, w);
  int64_t columns = shape.columns;
  require(dy.shape == x.shape && dx.shape == x.shape && mean.numel() == rstd.numel() &&
              (!dw || (w && dw.numel() == columns)) && (!db || db.numel() == columns),
          "layerNormGrad", "expects operands and results that fit");
  Scratch scratch(ctx);
  ColumnSums weight(scratch, dw, columns), bias(scratch, db, columns);
  float *g = scratch.get<float>(columns), *n = scratch.get<float>(columns);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float *in = x.data + row * columns, *dOut = dy.data + row * columns;
    float *dIn = dx.data + row * columns;
    float m = mean.data[row], r = rstd.data[row];
    for (int64_t j = 0; j < columns; ++j) {
      n[j] = (in[j] - m) * r;
      g[j] = w ? dOut[j] * w.data[j] : dOut[j];
    }
    weight.add([=](int64_t j) { return dOut[j] * n[j]; });
    bias.add([=](int64_t j) { return dOut[j]; });
    float gMean = float(sumOf(columns, [=](int64_t j) { return g[j]; }) / columns);
    float gnMean = float(dotProduct(g, n, columns) / columns);
    for (int64_t j = 0; j < columns; ++j)
      dIn[j] = r * (g[j] - gMean - n[j] * gnMean);
  }
  weight.store();
  bias.store();
}

void rmsNorm(KernelContext &, const ConstTensor &x, const ConstTensor &w, double epsilon,
             const Tensor &y, const Tensor &rstd) {
  ProfileScope scope("rmsNorm", x, w, y, rstd);
  requireContiguous("rmsNorm", x, w, y, rstd);
  NormRows shape("rmsNorm", x, rstd, w);
  require(x.shape == y.shape, "rmsNorm", "expects operand and result of one shape");
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float *in = x.data + row * shape.columns;
    float *out = y.data + row * shape.columns;
    float r = float(1 / std::sqrt(dotProduct(in, in, shape.columns) / shape.columns + epsilon));
    rstd.data[row] = r;
    for (int64_t j = 0; j < shape.columns; ++j)
      out[j] = in[j] * r;
    if (w)
      for (int64_t j = 0; j < shape.columns; ++j)
        out[j] *= w.data[j];
  }
}

void rmsNormGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x,
                 const ConstTensor &w, const ConstTensor &rstd, const Tensor &dx,
                 const Tensor &dw) {
  ProfileScope scope("rmsNormGrad", dy, x, w, rstd, dx, dw);
  requireContiguous("rmsNormGrad", dy, x, w, rstd, dx, dw);
  NormRows shape("rmsNormGrad", x, rstd, w);
  int64_t columns = shape.columns;
  require(dy.shape == x.shape && dx.shape == x.shape && (!dw || (w && dw.numel() == columns)),
          "rmsNormGrad", "expects operands and results that fit");
  Scratch scratch(ctx);
  ColumnSums weight(scratch, dw, columns);
  float *g = scratch.get<float>(columns), *n = scratch.get<float>(columns);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float *in = x.data + row * columns, *dOut = dy.data + row * columns;
    float *dIn = dx.data + row * columns;
    float r = rstd.data[row];
    for (int64_t j = 0; j < columns; ++j) {
      n[j] = in[j] * r;
      g[j] = w ? dOut[j] * w.data[j] : dOut[j];
    }
    weight.add([=](int64_t j) { return dOut[j] * n[j]; });
    float gnMean = float(dotProduct(g, n, columns) / columns);
    for (int64_t j = 0; j < columns; ++j)
      dIn[j] = r * (g[j] - n[j] * gnMean);
  }
  weight.store();
}

} // namespace colrow
