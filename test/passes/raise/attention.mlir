// Attention as exporters write it, and what only looks like it.
// RUN: colrow-opt %s --split-input-file --colrow-raise | FileCheck %s
// RUN: colrow-opt %s --split-input-file --colrow-raise=only=gelu,silu,layer_norm | FileCheck %s --check-prefix=OFF
// RUN: colrow-opt %s --split-input-file --colrow-raise --remarks-filter=colrow-raise -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// OFF-NOT: colrow.attention
// REMARK: attention recognised: causal, 2 heads of 4, dropout 0.1
// REMARK: attention recognised: masked, 2 heads of 4"
// REMARK: attention recognised: causal, 4 heads of 4 in 2 groups

// PyTorch's sdpa by TorchScript: the root of the scale on both sides, a mask of -inf, dropout.
// CHECK-LABEL: @torchscript
// CHECK-NEXT: %[[Q:.*]] = colrow.transpose %arg0 [0, 2, 1, 3] : (tensor<1x3x2x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = colrow.attention %[[Q]], %arg1, %arg2 random %arg3 rate 1.000000e-01 id 7 scale 2.500000e-01 causal 0
// CHECK-NEXT: return %[[Y]]
func.func @torchscript(%x: tensor<1x3x2x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %random: tensor<4xi64>) -> tensor<1x2x3x4xf32> {
  %c = colrow.constant dense<0.5> : tensor<f32>
  %mask = colrow.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %q = colrow.transpose %x [0, 2, 1, 3] : (tensor<1x3x2x4xf32>) -> tensor<1x2x3x4xf32>
  %kt = colrow.transpose %k [0, 1, 3, 2] : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x3xf32>
  %0 = colrow.mul %q, %c : (tensor<1x2x3x4xf32>, tensor<f32>) -> tensor<1x2x3x4xf32>
  %1 = colrow.mul %kt, %c : (tensor<1x2x4x3xf32>, tensor<f32>) -> tensor<1x2x4x3xf32>
  %2 = colrow.einsum "abmk,abkn->abmn" %0, %1 : (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.dropout %4 random %random rate 0.1 id 7 : (tensor<1x2x3x3xf32>, tensor<4xi64>) -> tensor<1x2x3x3xf32>
  %6 = colrow.einsum "abmk,abkn->abmn" %5, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %6 : tensor<1x2x3x4xf32>
}

// -----

// The same by dynamo: the transpose of k through three dimensions, a large finite number, and NaN made
// 0, which cannot occur.
// CHECK-LABEL: @dynamo
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 scale 5.000000e-01 causal 0 :
// CHECK-NEXT: return
func.func @dynamo(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %c = colrow.constant dense<0.5> : tensor<f32>
  %zero = colrow.constant dense<0.0> : tensor<f32>
  %mask = colrow.constant dense<[[[[0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %k3 = colrow.reshape %k : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  %k3t = colrow.transpose %k3 [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %kt = colrow.reshape %k3t : (tensor<2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %2 = colrow.einsum "abmk,abkn->abmn" %q, %kt : (tensor<1x2x3x4xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.mul %2, %c : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.add %mask, %3 : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.softmax %4 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.isnan %5 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi1>
  %7 = colrow.select %6, %zero, %5 : (tensor<1x2x3x3xi1>, tensor<f32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "abmk,abkn->abmn" %7, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// A condition that is computed, with two keys before the first query; dimensions of k and of the result
// in other orders; the scores divided.
// CHECK-LABEL: @offset
// CHECK-NEXT: %[[K:.*]] = colrow.transpose %arg1 [0, 2, 1, 3] : (tensor<1x5x2x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: %[[Y:.*]] = colrow.attention %arg0, %[[K]], %arg2 scale 5.000000e-01 causal 2 :
// CHECK-NEXT: colrow.transpose %[[Y]] [0, 2, 1, 3] : (tensor<1x2x3x4xf32>) -> tensor<1x3x2x4xf32>
// CHECK-NEXT: return
func.func @offset(%q: tensor<1x2x3x4xf32>, %k: tensor<1x5x2x4xf32>, %v: tensor<1x2x5x4xf32>) -> tensor<1x3x2x4xf32> {
  %root = colrow.constant dense<2.0> : tensor<f32>
  %low = colrow.constant dense<-1.0e9> : tensor<f32>
  %two = colrow.constant dense<2> : tensor<i64>
  %rows = colrow.iota 0 : tensor<3x1xi64>
  %last = colrow.add %rows, %two : (tensor<3x1xi64>, tensor<i64>) -> tensor<3x1xi64>
  %columns = colrow.iota 0 : tensor<5xi64>
  %hides = colrow.compare gt %columns, %last : (tensor<5xi64>, tensor<3x1xi64>) -> tensor<3x5xi1>
  %0 = colrow.einsum "bhsd,bthd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x5x2x4xf32>) -> tensor<1x2x3x5xf32>
  %1 = colrow.div %0, %root : (tensor<1x2x3x5xf32>, tensor<f32>) -> tensor<1x2x3x5xf32>
  %2 = colrow.select %hides, %low, %1 : (tensor<3x5xi1>, tensor<f32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %3 = colrow.softmax %2 along 3 : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %4 = colrow.einsum "bhst,bhtd->bshd" %3, %v : (tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x3x2x4xf32>
  return %4 : tensor<1x3x2x4xf32>
}

// -----

// Padding, from an input: some other mask.
// CHECK-LABEL: @padding
// CHECK: %[[M:.*]] = colrow.select
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %[[M]] scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @padding(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %seen: tensor<1x1x1x3xi1>) -> tensor<1x2x3x4xf32> {
  %zero = colrow.constant dense<0.0> : tensor<f32>
  %low = colrow.constant dense<-3.40282347E+38> : tensor<f32>
  %mask = colrow.select %seen, %zero, %low : (tensor<1x1x1x3xi1>, tensor<f32>, tensor<f32>) -> tensor<1x1x1x3xf32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.isnan %4 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi1>
  %7 = colrow.select %6, %zero, %4 : (tensor<1x2x3x3xi1>, tensor<f32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %7, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// A window of two keys is not causal alone.
// CHECK-LABEL: @window
// CHECK: colrow.attention %arg0, %arg1, %arg2 mask %{{.*}} scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @window(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %mask = colrow.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0xFF800000, 0.0, 0.0]]> : tensor<3x3xf32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// The first row of a causal mask, for all queries, is a padding of keys.
// CHECK-LABEL: @key_padding
// CHECK: colrow.attention %arg0, %arg1, %arg2 mask %{{.*}} scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @key_padding(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %mask = colrow.constant dense<[[0.0, 0xFF800000, 0xFF800000]]> : tensor<1x3xf32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<1x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// A condition for each head, the same for all.
// CHECK-LABEL: @condition
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 scale 1.000000e+00 causal 0 :
// CHECK-NEXT: return
func.func @condition(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %low = colrow.constant dense<-3.40282347E+38> : tensor<f32>
  %sees = colrow.constant dense<[[[true, false, false], [true, true, false], [true, true, true]], [[true, false, false], [true, true, false], [true, true, true]]]> : tensor<2x3x3xi1>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.select %sees, %2, %low : (tensor<2x3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// Two heads of q share one of k and v: repeated by the graph, not by attention.
// CHECK-LABEL: @groups
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 scale 1.000000e+00 causal 0 : (tensor<1x4x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>)
// CHECK-NEXT: return
func.func @groups(%q: tensor<1x4x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x4x3x4xf32> {
  %mask = colrow.constant dense<[[0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %k5 = colrow.reshape %k : (tensor<1x2x3x4xf32>) -> tensor<1x2x1x3x4xf32>
  %kr = colrow.broadcast %k5 : (tensor<1x2x1x3x4xf32>) -> tensor<1x2x2x3x4xf32>
  %k4 = colrow.reshape %kr : (tensor<1x2x2x3x4xf32>) -> tensor<1x4x3x4xf32>
  %v5 = colrow.reshape %v : (tensor<1x2x3x4xf32>) -> tensor<1x2x1x3x4xf32>
  %vr = colrow.broadcast %v5 : (tensor<1x2x1x3x4xf32>) -> tensor<1x2x2x3x4xf32>
  %v4 = colrow.reshape %vr : (tensor<1x2x2x3x4xf32>) -> tensor<1x4x3x4xf32>
  %kt = colrow.transpose %k4 [0, 1, 3, 2] : (tensor<1x4x3x4xf32>) -> tensor<1x4x4x3xf32>
  %2 = colrow.einsum "abmk,abkn->abmn" %q, %kt : (tensor<1x4x3x4xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x4x3x3xf32>, tensor<3x3xf32>) -> tensor<1x4x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %8 = colrow.einsum "abmk,abkn->abmn" %4, %v4 : (tensor<1x4x3x3xf32>, tensor<1x4x3x4xf32>) -> tensor<1x4x3x4xf32>
  return %8 : tensor<1x4x3x4xf32>
}

// -----

// An importer leaves a batch of 1 out of the products.
// CHECK-LABEL: @batch_of_one
// CHECK-NEXT: %[[Y:.*]] = colrow.attention %arg0, %arg1, %arg2 mask %arg3 scale 1.000000e+00 :
// CHECK-NEXT: colrow.transpose %[[Y]] [0, 2, 1, 3]
// CHECK-NEXT: return
func.func @batch_of_one(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %mask: tensor<1x2x3x3xf32>) -> tensor<1x3x2x4xf32> {
  %q3 = colrow.reshape %q : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  %kt = colrow.transpose %k [0, 1, 3, 2] : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x3xf32>
  %k3 = colrow.reshape %kt : (tensor<1x2x4x3xf32>) -> tensor<2x4x3xf32>
  %v3 = colrow.reshape %v : (tensor<1x2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = colrow.einsum "bmk,bkn->bmn" %q3, %k3 : (tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>
  %3 = colrow.reshape %2 : (tensor<2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.add %3, %mask : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.softmax %4 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.reshape %5 : (tensor<1x2x3x3xf32>) -> tensor<2x3x3xf32>
  %7 = colrow.einsum "bmk,bkn->bmn" %6, %v3 : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %8 = colrow.reshape %7 : (tensor<2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %9 = colrow.transpose %8 [0, 2, 1, 3] : (tensor<1x2x3x4xf32>) -> tensor<1x3x2x4xf32>
  return %9 : tensor<1x3x2x4xf32>
}

// -----

// Somebody else reads the probabilities.
// CHECK-LABEL: @second_reader
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @second_reader(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>) {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %2 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8, %4 : tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>
}

// -----

// A bias of the scores that is trained.
// CHECK-LABEL: @bias
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %arg3 scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @bias(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %bias: tensor<2x3x3xf32> {colrow.role = "parameter", colrow.name = "bias"}) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %bias : (tensor<1x2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// The scale is also one of the mask.
// CHECK-LABEL: @scaled_mask
// CHECK: %[[M:.*]] = colrow.mul %arg3
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %[[M]] scale
// CHECK-NEXT: return
func.func @scaled_mask(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %mask: tensor<1x2x3x3xf32>) -> tensor<1x2x3x4xf32> {
  %c = colrow.constant dense<0.5> : tensor<f32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.mul %3, %c : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.softmax %4 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %5, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// A query that sees nothing gives 0 here, where attention gives NaN.
// CHECK-LABEL: @sees_nothing
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @sees_nothing(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %mask: tensor<1x2x3x3xf32>) -> tensor<1x2x3x4xf32> {
  %zero = colrow.constant dense<0.0> : tensor<f32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.isnan %4 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xi1>
  %7 = colrow.select %6, %zero, %4 : (tensor<1x2x3x3xi1>, tensor<f32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %7, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// The softmax is over queries.
// CHECK-LABEL: @queries
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @queries(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %2 along 2 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhtd->bhsd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// The values are summed over queries.
// CHECK-LABEL: @transposed
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @transposed(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.softmax %2 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.einsum "bhst,bhsd->bhtd" %4, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %8 : tensor<1x2x3x4xf32>
}

// -----

// Capped scores (Gemma 2), the mask added behind.
// CHECK-LABEL: @capped
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 scale 5.000000e-01 cap 5.000000e+01 causal 0 :
// CHECK-NEXT: return
func.func @capped(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %c = colrow.constant dense<0.5> : tensor<f32>
  %cap = colrow.constant dense<50.0> : tensor<f32>
  %mask = colrow.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.mul %2, %c : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.div %3, %cap : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.tanh %4 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.mul %5, %cap : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %7 = colrow.add %6, %mask : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %7 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}

// -----

// A mask inside of the cap is no mask.
// CHECK-LABEL: @mask_in_cap
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @mask_in_cap(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %mask: tensor<1x2x3x3xf32>) -> tensor<1x2x3x4xf32> {
  %cap = colrow.constant dense<50.0> : tensor<f32>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.tanh %3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = colrow.mul %5, %cap : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %6 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}

// -----

// Slopes over the distance for each head (ALiBi), a window by a condition, and a causal mask: one
// mask of the first two.
// CHECK-LABEL: @slopes
// CHECK-DAG: %[[A:.*]] = colrow.constant {{.*}} : tensor<2x1x3xf32>
// CHECK-DAG: %[[W:.*]] = colrow.select
// CHECK: %[[M:.*]] = colrow.add %[[W]], %[[A]]
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %[[M]] scale 1.000000e+00 causal 0 :
// CHECK-NEXT: return
func.func @slopes(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %low = colrow.constant dense<-3.40282347E+38> : tensor<f32>
  %slopes = colrow.constant dense<[[[0.0, 0.5, 1.0]], [[0.0, 0.25, 0.5]]]> : tensor<2x1x3xf32>
  %mask = colrow.constant dense<[[0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %near = colrow.constant dense<[[true, true, true], [true, true, true], [false, true, true]]> : tensor<3x3xi1>
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.add %2, %slopes : (tensor<1x2x3x3xf32>, tensor<2x1x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = colrow.add %3, %mask : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = colrow.select %near, %4, %low : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %5 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}

// -----

// Batch and heads joined for the products of matrices and the slopes, apart for the mask (BLOOM).
// CHECK-LABEL: @joined
// CHECK-DAG: %[[A:.*]] = colrow.reshape %arg4 : (tensor<6x1x4xf32>) -> tensor<2x3x1x4xf32>
// CHECK: %[[M:.*]] = colrow.add %arg3, %[[A]]
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %[[M]] scale 5.000000e-01 : (tensor<2x3x4x5xf32>,
// CHECK-NEXT: return
func.func @joined(%q: tensor<2x3x4x5xf32>, %k: tensor<2x3x4x5xf32>, %v: tensor<2x3x4x5xf32>, %mask: tensor<2x1x4x4xf32>, %slopes: tensor<6x1x4xf32>) -> tensor<2x3x4x5xf32> {
  %c = colrow.constant dense<0.5> : tensor<f32>
  %q6 = colrow.reshape %q : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %k6 = colrow.reshape %k : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %v6 = colrow.reshape %v : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %0 = colrow.einsum "bsd,btd->bst" %q6, %k6 : (tensor<6x4x5xf32>, tensor<6x4x5xf32>) -> tensor<6x4x4xf32>
  %scaled = colrow.mul %0, %c : (tensor<6x4x4xf32>, tensor<f32>) -> tensor<6x4x4xf32>
  %sloped = colrow.add %slopes, %scaled : (tensor<6x1x4xf32>, tensor<6x4x4xf32>) -> tensor<6x4x4xf32>
  %1 = colrow.reshape %sloped : (tensor<6x4x4xf32>) -> tensor<2x3x4x4xf32>
  %2 = colrow.add %1, %mask : (tensor<2x3x4x4xf32>, tensor<2x1x4x4xf32>) -> tensor<2x3x4x4xf32>
  %3 = colrow.softmax %2 along 3 : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %4 = colrow.reshape %3 : (tensor<2x3x4x4xf32>) -> tensor<6x4x4xf32>
  %5 = colrow.einsum "bst,btd->bsd" %4, %v6 : (tensor<6x4x4xf32>, tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %6 = colrow.reshape %5 : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %6 : tensor<2x3x4x5xf32>
}

// -----

// A temperature for each head, the same for all keys, is one of the queries.
// CHECK-LABEL: @temperature
// CHECK: %[[Q:.*]] = colrow.mul %arg0, %arg3
// CHECK-NEXT: colrow.attention %[[Q]], %arg1, %arg2 scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @temperature(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %t: tensor<2x1x1xf32>) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.mul %2, %t : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}

// -----

// One head of keys and values for all, without its dimension in the products (Falcon).
// CHECK-LABEL: @one_head
// CHECK: colrow.attention %arg0, %{{.*}}, %{{.*}} scale 1.000000e+00 : (tensor<2x4x3x5xf32>, tensor<2x1x3x5xf32>, tensor<2x1x3x5xf32>)
// CHECK-NEXT: return
func.func @one_head(%q: tensor<2x4x3x5xf32>, %k: tensor<2x3x5xf32>, %v: tensor<2x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %0 = colrow.einsum "bhsd,btd->bhst" %q, %k : (tensor<2x4x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x4x3x3xf32>
  %1 = colrow.softmax %0 along 3 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %2 = colrow.einsum "bhst,bte->bhse" %1, %v : (tensor<2x4x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x3x5xf32>
  return %2 : tensor<2x4x3x5xf32>
}

// -----

// A softmax of batch and heads joined, of scores that are raised to a number first (XGLM).
// CHECK-LABEL: @joined_softmax
// CHECK: colrow.attention %arg0, %arg1, %arg2 scale 1.000000e+00 causal 0 : (tensor<2x3x2x5xf32>,
// CHECK-NEXT: return
func.func @joined_softmax(%q: tensor<2x3x2x5xf32>, %k: tensor<2x3x2x5xf32>, %v: tensor<2x3x2x5xf32>) -> tensor<2x3x2x5xf32> {
  %mask = colrow.constant dense<[[0.0, -3.40282347E+38], [0.0, 0.0]]> : tensor<2x2xf32>
  %low = colrow.constant dense<-3.40282347E+38> : tensor<f32>
  %q6 = colrow.reshape %q : (tensor<2x3x2x5xf32>) -> tensor<6x2x5xf32>
  %k6 = colrow.reshape %k : (tensor<2x3x2x5xf32>) -> tensor<6x2x5xf32>
  %v6 = colrow.reshape %v : (tensor<2x3x2x5xf32>) -> tensor<6x2x5xf32>
  %0 = colrow.einsum "bsd,btd->bst" %q6, %k6 : (tensor<6x2x5xf32>, tensor<6x2x5xf32>) -> tensor<6x2x2xf32>
  %1 = colrow.reshape %0 : (tensor<6x2x2xf32>) -> tensor<2x3x2x2xf32>
  %2 = colrow.add %1, %mask : (tensor<2x3x2x2xf32>, tensor<2x2xf32>) -> tensor<2x3x2x2xf32>
  %3 = colrow.max %2, %low : (tensor<2x3x2x2xf32>, tensor<f32>) -> tensor<2x3x2x2xf32>
  %4 = colrow.reshape %3 : (tensor<2x3x2x2xf32>) -> tensor<6x2x2xf32>
  %5 = colrow.softmax %4 along 2 : (tensor<6x2x2xf32>) -> tensor<6x2x2xf32>
  %6 = colrow.reshape %5 : (tensor<6x2x2xf32>) -> tensor<2x3x2x2xf32>
  %7 = colrow.reshape %6 : (tensor<2x3x2x2xf32>) -> tensor<6x2x2xf32>
  %8 = colrow.einsum "bst,btd->bsd" %7, %v6 : (tensor<6x2x2xf32>, tensor<6x2x5xf32>) -> tensor<6x2x5xf32>
  %9 = colrow.reshape %8 : (tensor<6x2x5xf32>) -> tensor<2x3x2x5xf32>
  return %9 : tensor<2x3x2x5xf32>
}

// -----

// Subtracted.
// CHECK-LABEL: @subtracted
// CHECK: %[[M:.*]] = colrow.neg %arg3
// CHECK-NEXT: colrow.attention %arg0, %arg1, %arg2 mask %[[M]] scale 1.000000e+00 :
// CHECK-NEXT: return
func.func @subtracted(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %m: tensor<1x1x1x3xf32>) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.sub %2, %m : (tensor<1x2x3x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}

// -----

// A factor of each key is not.
// CHECK-LABEL: @factor_of_keys
// CHECK-NOT: colrow.attention
// CHECK: return
func.func @factor_of_keys(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x4xf32>, %t: tensor<3xf32>) -> tensor<1x2x3x4xf32> {
  %2 = colrow.einsum "bhsd,bhtd->bhst" %q, %k : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = colrow.mul %2, %t : (tensor<1x2x3x3xf32>, tensor<3xf32>) -> tensor<1x2x3x3xf32>
  %8 = colrow.softmax %3 along 3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = colrow.einsum "bhst,bhtd->bhsd" %8, %v : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %9 : tensor<1x2x3x4xf32>
}
