// Layer norm written out, with and without scale and bias, and what only looks like it.
// RUN: colrow-opt %s --split-input-file --colrow-raise | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-raise=only=gelu | FileCheck %s --check-prefix=OFF
// RUN: colrow-opt %s --split-input-file --colrow-raise --remarks-filter=colrow-raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: colrow.layer_norm
// REMARK: layer norm recognised, epsilon 1e-05

// As exporters wrote it below opset 17.
// CHECK-LABEL: @divided
// CHECK-NEXT: colrow.layer_norm %arg0 scale %arg1 bias %arg2 from 1 epsilon 1.000000e-05
// CHECK-NEXT: return
func.func @divided(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %two = colrow.constant dense<2.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f64> as tensor<f32>
  %0 = colrow.reduce_sum %x over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %1 = colrow.div %0, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %2 = colrow.sub %x, %1 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %3 = colrow.pow %2, %two : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %2, %7 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %9 = colrow.mul %8, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %10 = colrow.add %9, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %10 : tensor<2x4xf32>
}

// -----

// By the reciprocal of the root, with a scale alone, over two dimensions; what follows has another
// shape.
// CHECK-LABEL: @reciprocal
// CHECK-NEXT: %[[Y:.*]] = colrow.layer_norm %arg0 scale %arg1 from 1 epsilon
// CHECK-NEXT: colrow.add %[[Y]], %arg2
func.func @reciprocal(%x: tensor<3x2x4xf32>, %w: tensor<2x4xf32>, %b: tensor<4xf32>)
    -> tensor<3x2x4xf32> {
  %n = colrow.constant dense<0.125> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f32>
  %0 = colrow.reduce_sum %x over [1, 2] keepdims : (tensor<3x2x4xf32>) -> tensor<3x1x1xf32>
  %1 = colrow.mul %0, %n : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32>
  %2 = colrow.sub %x, %1 : (tensor<3x2x4xf32>, tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
  %3 = colrow.mul %2, %2 : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %4 = colrow.reduce_sum %3 over [1, 2] keepdims : (tensor<3x2x4xf32>) -> tensor<3x1x1xf32>
  %5 = colrow.mul %4, %n : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32>
  %6 = colrow.add %5, %e : (tensor<3x1x1xf32>, tensor<f32>) -> tensor<3x1x1xf32>
  %7 = colrow.sqrt %6 : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32>
  %8 = colrow.reciprocal %7 : (tensor<3x1x1xf32>) -> tensor<3x1x1xf32>
  %9 = colrow.mul %2, %8 : (tensor<3x2x4xf32>, tensor<3x1x1xf32>) -> tensor<3x2x4xf32>
  %10 = colrow.mul %w, %9 : (tensor<2x4xf32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %11 = colrow.add %10, %b : (tensor<3x2x4xf32>, tensor<4xf32>) -> tensor<3x2x4xf32>
  return %11 : tensor<3x2x4xf32>
}

// -----

// -----

// The unbiased variance: a sum over n - 1.
// CHECK-LABEL: @unbiased
// CHECK-NOT: colrow.layer_norm
// CHECK: return
func.func @unbiased(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %m = colrow.constant dense<3.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f32>
  %0 = colrow.reduce_sum %x over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %1 = colrow.div %0, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %2 = colrow.sub %x, %1 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %3 = colrow.mul %2, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %m : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %2, %7 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %8 : tensor<2x4xf32>
}
