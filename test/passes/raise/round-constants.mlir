// RUN: colrow-opt %s --colrow-round-constants | FileCheck %s
// RUN: colrow-opt %s --colrow-widen-constants --colrow-round-constants | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK-NEXT: dense<0.797884583> : tensor<f32>
  // CHECK-NEXT: dense<[1.000000e-01, 2.000000e-01]> : tensor<2xf32>
  // CHECK-NEXT: dense<0.797884583> : tensor<f32>
  // CHECK-NEXT: dense<7> : tensor<i64>
  %0 = colrow.constant dense<0.79788456080286541> : tensor<f64> as tensor<f32>
  %1 = colrow.constant dense<[0.1, 0.2]> : tensor<2xf64> as tensor<2xf32>
  %2 = colrow.constant dense<0.797884583> : tensor<f32>
  %3 = colrow.constant dense<7> : tensor<i64>
  return
}
