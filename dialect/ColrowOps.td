//===- ColrowOps.td - all operations ---------------------------*- tablegen -*-===//

include "dialect/MathOps.td"
include "dialect/ShapeOps.td"
include "dialect/NNOps.td"
include "dialect/AttentionOps.td"
include "dialect/LossOps.td"
include "dialect/ConversionOps.td"
include "dialect/CommOps.td"
include "dialect/OptimizerOps.td"
