// RUN: colrow-opt %s --colrow-widen-constants | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // Short decimals: GELU's weight of the cube, an epsilon.
  // CHECK-NEXT: dense<4.471500e-02> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<1.000000e-05> : tensor<2x3xf64> as tensor<2x3xf32>
  %0 = colrow.constant dense<4.471500e-02> : tensor<f32>
  %1 = colrow.constant dense<9.99999974E-6> : tensor<2x3xf32>
  // sqrt(2 / pi), sqrt(1 / 2), -sqrt(2), 48 to the power of -1/2 and of -1/4.
  // CHECK-NEXT: dense<0.7978845608028654{{[0-9]*}}> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<0.70710678118654{{[0-9]*}}> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<-1.414213562373095{{[0-9]*}}> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<0.144337567297406{{[0-9]*}}> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<0.379917842825796{{[0-9]*}}> : tensor<f64> as tensor<f32>
  %2 = colrow.constant dense<0.797884583> : tensor<f32>
  %3 = colrow.constant dense<0.707106769> : tensor<f32>
  %4 = colrow.constant dense<-1.41421354> : tensor<f32>
  %5 = colrow.constant dense<0.144337565> : tensor<f32>
  %6 = colrow.constant dense<0.379917845> : tensor<f32>
  // sqrt(12), by which scores are divided; 12 to the power of -1/4, which is 0.537285 by chance.
  // CHECK-NEXT: dense<3.46410161513775{{[0-9]*}}> : tensor<f64> as tensor<f32>
  // CHECK-NEXT: dense<0.53728496591177{{[0-9]*}}> : tensor<f64> as tensor<f32>
  %12 = colrow.constant dense<3.46410155> : tensor<f32>
  %13 = colrow.constant dense<0.537284970> : tensor<f32>
  // Exact already, of no such form, not a number, more than one number, integers.
  // CHECK-NEXT: dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: dense<0.123456791> : tensor<f32>
  // CHECK-NEXT: dense<0xFF800000> : tensor<f32>
  // CHECK-NEXT: dense<[1.000000e-01, 2.000000e-01]> : tensor<2xf32>
  // CHECK-NEXT: dense<7> : tensor<i64>
  %7 = colrow.constant dense<5.000000e-01> : tensor<f32>
  %8 = colrow.constant dense<0.123456791> : tensor<f32>
  %9 = colrow.constant dense<0xFF800000> : tensor<f32>
  %10 = colrow.constant dense<[1.000000e-01, 2.000000e-01]> : tensor<2xf32>
  %11 = colrow.constant dense<7> : tensor<i64>
  return
}
