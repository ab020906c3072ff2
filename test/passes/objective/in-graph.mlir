// RUN: colrow-opt %s --colrow-objective --split-input-file | FileCheck %s
// Losses that are in the graph: cross entropies of labels that are an input are known, others are taken as
// they are.

// The mean over all labels, as they are: of a row they classify.
// CHECK: module attributes {colrow.labels = "none", colrow.labels_input = "y", colrow.objective = "classification"}
// CHECK: colrow.cross_entropy %{{.*}}, %[[Y:.*]], %{{.*}} ignore -100 valid 5
func.func @main(%x: tensor<2x4xf32> {colrow.role = "input", colrow.name = "x"},
                %y: tensor<2xi32> {colrow.role = "input", colrow.name = "y"},
                %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "output", colrow.name = "loss"}) {
  %n = colrow.constant dense<2.0> : tensor<f32>
  %0 = colrow.einsum "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = colrow.cast %y : (tensor<2xi32>) -> tensor<2xi64>
  %2 = colrow.cross_entropy %0, %1, %n ignore -100 valid 5
      : (tensor<2x5xf32>, tensor<2xi64>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Their sum is none of PyTorch's means: the graph's own.
// CHECK: module attributes {colrow.labels = "in_graph", colrow.objective = "in_graph"}
// CHECK-SAME: {
// CHECK: %[[C:[a-z0-9]+]]: tensor<f32> {colrow.name = "colrow.count", colrow.role = "input"})
// CHECK-SAME: -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"})
// CHECK: %[[L:.*]] = colrow.cross_entropy
// CHECK: %[[R:.*]] = colrow.div %[[L]], %[[C]]
// CHECK: return %[[R]]
func.func @main(%x: tensor<2x4xf32> {colrow.role = "input", colrow.name = "x"},
                %y: tensor<2xi64> {colrow.role = "input", colrow.name = "y"},
                %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "output", colrow.name = "loss"}) {
  %n = colrow.constant dense<1.0> : tensor<f32>
  %0 = colrow.einsum "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %2 = colrow.cross_entropy %0, %y, %n ignore -100 valid 5
      : (tensor<2x5xf32>, tensor<2xi64>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Tokens that are inputs and, shifted, labels: shifted by the host, the model would read others.
// CHECK: module attributes {colrow.labels = "in_graph", colrow.objective = "in_graph"}
// CHECK: colrow.pad %{{.*}}
func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "output", colrow.name = "loss"}) {
  %n = colrow.constant dense<14.0> : tensor<f32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x8xi64>) -> tensor<2x8x30xf32>
  %1 = colrow.pad %ids low [0, 0] high [0, 1] step [1, 1] value -1.0e2 : (tensor<2x8xi64>) -> tensor<2x9xi64>
  %2 = colrow.slice %1 from [0, 1] to [2, 9] step [1, 1] : (tensor<2x9xi64>) -> tensor<2x8xi64>
  %3 = colrow.cross_entropy %0, %2, %n ignore -100 valid 30
      : (tensor<2x8x30xf32>, tensor<2x8xi64>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// No cross entropy at all. The loss comes first.
// CHECK: module attributes {colrow.labels = "in_graph", colrow.objective = "in_graph"}
// CHECK: -> (tensor<f32> {colrow.name = "squares", colrow.role = "loss"}, tensor<2x4xf32> {colrow.name = "y", colrow.role = "output"})
// CHECK: %[[S:.*]] = colrow.reduce_sum
// CHECK: %[[R:.*]] = colrow.div %[[S]], %{{.*}}
// CHECK: return %[[R]], %{{.*}}
func.func @main(%x: tensor<2x4xf32> {colrow.role = "input", colrow.name = "x"},
                %w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x4xf32> {colrow.role = "output", colrow.name = "y"},
        tensor<f32> {colrow.role = "output", colrow.name = "squares"}) {
  %0 = colrow.mul %x, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = colrow.mul %0, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = colrow.reduce_sum %1 over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  return %0, %2 : tensor<2x4xf32>, tensor<f32>
}
