// RMS norm written out, with and without scale, and where it is left alone.
// RUN: colrow-opt %s --split-input-file --colrow-raise | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-raise=only=layer_norm | FileCheck %s --check-prefix=OFF
// RUN: colrow-opt %s --split-input-file --colrow-raise --remarks-filter=colrow-raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: colrow.rms_norm
// OFF-NOT: colrow.layer_norm
// OFF: @operations
// REMARK: RMS norm recognised, epsilon 1e-05

// CHECK-LABEL: @divided
// CHECK-NEXT: colrow.rms_norm %arg0 from 1 epsilon 9.9
// CHECK-NEXT: return
func.func @divided(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f32>
  %3 = colrow.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %x, %7 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %8 : tensor<2x4xf32>
}

// -----

// As the exporters of Llama write it: by the reciprocal of the root.
// CHECK-LABEL: @reciprocal
// CHECK-NEXT: colrow.rms_norm %arg0 scale %arg1 from 1 epsilon 1.000000e-05
// CHECK-NEXT: return
func.func @reciprocal(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %two = colrow.constant dense<2.0> : tensor<f32>
  %one = colrow.constant dense<1.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f64> as tensor<f32>
  %3 = colrow.pow %x, %two : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %one, %7 : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %9 = colrow.mul %x, %8 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %10 = colrow.mul %w, %9 : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %10 : tensor<2x4xf32>
}

// -----

// What is normalised is taken apart into heads (OLMo 2): to cut heads is to cut the norm, which as
// primitive operations it can be.
// CHECK-LABEL: @heads
// CHECK-NOT: colrow.rms_norm
// CHECK: return
func.func @heads(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x2x2xf32> {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f32>
  %3 = colrow.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %x, %7 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %9 = colrow.mul %8, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %10 = colrow.reshape %9 : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  return %10 : tensor<2x2x2xf32>
}

// -----

// The same of norms that are one operation.
// CHECK-LABEL: @operations
// CHECK-NOT: _norm
// CHECK: return
func.func @operations(%x: tensor<2x4xf32>, %w: tensor<4xf32>)
    -> (tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %0 = colrow.rms_norm %x scale %w from 1 epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = colrow.reshape %0 : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  %2 = colrow.layer_norm %x scale %w from 1 epsilon 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = colrow.reshape %2 : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  return %1, %3 : tensor<2x2x2xf32>, tensor<2x2x2xf32>
}

// -----

// A second reader of the mean.
// CHECK-LABEL: @second_reader
// CHECK-NOT: colrow.rms_norm
// CHECK: return
func.func @second_reader(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>) {
  %n = colrow.constant dense<4.0> : tensor<f32>
  %e = colrow.constant dense<1.0e-5> : tensor<f32>
  %3 = colrow.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = colrow.reduce_sum %3 over [1] keepdims : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %5 = colrow.div %4, %n : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = colrow.add %5, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %7 = colrow.sqrt %6 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %8 = colrow.div %x, %7 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %8, %5 : tensor<2x4xf32>, tensor<2x1xf32>
}
