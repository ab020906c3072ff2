// RUN: colrow-opt %s --colrow-objective=objective=causal_lm --split-input-file | FileCheck %s

// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "labels", colrow.objective = "causal_lm"}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[L:[a-z0-9]+]]: tensor<2x8xi64> {colrow.name = "labels", colrow.role = "input"}, %[[C:[a-z0-9]+]]: tensor<f32> {colrow.name = "colrow.count", colrow.role = "input"}
// CHECK-SAME: -> (tensor<f32> {colrow.name = "loss", colrow.role = "loss"}, tensor<2x8x30xf32>
// CHECK: %[[T:.*]] = colrow.take
// CHECK: colrow.cross_entropy %[[T]], %[[L]], %[[C]] ignore -100 valid 30
func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x8x30xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x8xi64>) -> tensor<2x8x30xf32>
  return %0 : tensor<2x8x30xf32>
}

// -----

// A loss in the graph: pad by -100, drop the first label. Recognised by value, not by its ops.
// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "labels", colrow.objective = "causal_lm"}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[L:[a-z0-9]+]]: tensor<2x8xi64> {colrow.name = "labels", colrow.role = "input"}
// CHECK-SAME: -> (tensor<f32> {colrow.name = "out", colrow.role = "loss"}, tensor<2x8x30xf32>
// CHECK-NOT: colrow.pad
// CHECK: %[[R:.*]] = colrow.reshape %[[L]] : (tensor<2x8xi64>) -> tensor<16xi64>
// CHECK: colrow.cross_entropy %{{.*}}, %[[R]], %{{.*}} ignore -100 valid 30
func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"},
                %labels: tensor<2x8xi64> {colrow.role = "input", colrow.name = "labels"})
    -> (tensor<2x8x30xf32> {colrow.role = "output", colrow.name = "logits"},
        tensor<f32> {colrow.role = "output", colrow.name = "out"}) {
  %n = colrow.constant dense<14.0> : tensor<f32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x8xi64>) -> tensor<2x8x30xf32>
  %1 = colrow.pad %labels low [0, 0] high [0, 1] step [1, 1] value -1.0e2 : (tensor<2x8xi64>) -> tensor<2x9xi64>
  %2 = colrow.slice %1 from [0, 1] to [2, 9] step [1, 1] : (tensor<2x9xi64>) -> tensor<2x8xi64>
  %3 = colrow.reshape %2 : (tensor<2x8xi64>) -> tensor<16xi64>
  %4 = colrow.reshape %0 : (tensor<2x8x30xf32>) -> tensor<16x30xf32>
  %5 = colrow.cross_entropy %4, %3, %n ignore -100 valid 30
      : (tensor<16x30xf32>, tensor<16xi64>, tensor<f32>) -> tensor<f32>
  return %0, %5 : tensor<2x8x30xf32>, tensor<f32>
}

// -----

// Labels keep the name that the graph gives them.
// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "targets", colrow.objective = "causal_lm"}
// CHECK-SAME: {
// CHECK: colrow.name = "targets"
func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"},
                %labels: tensor<2x8xi64> {colrow.role = "input", colrow.name = "targets"})
    -> (tensor<f32> {colrow.role = "output", colrow.name = "out"}) {
  %n = colrow.constant dense<14.0> : tensor<f32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x8xi64>) -> tensor<2x8x30xf32>
  %1 = colrow.pad %labels low [0, 0] high [0, 1] step [1, 1] value -1.0e2 : (tensor<2x8xi64>) -> tensor<2x9xi64>
  %2 = colrow.slice %1 from [0, 1] to [2, 9] step [1, 1] : (tensor<2x9xi64>) -> tensor<2x8xi64>
  %3 = colrow.cross_entropy %0, %2, %n ignore -100 valid 30
      : (tensor<2x8x30xf32>, tensor<2x8xi64>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
