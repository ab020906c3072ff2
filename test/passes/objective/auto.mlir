// RUN: colrow-opt %s --colrow-objective --split-input-file | FileCheck %s
// What kind of model it is follows from the graph.

// Each position may see all others: the labels are those of masked tokens.
// CHECK: module attributes {colrow.labels = "none", colrow.labels_input = "labels", colrow.objective = "masked_lm"}
func.func @main(%ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x3x30xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %scores = colrow.constant dense<[[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]> : tensor<3x3xf32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x3xi64>) -> tensor<2x3x30xf32>
  %1 = colrow.einsum "st,btv->bsv" %scores, %0 : (tensor<3x3xf32>, tensor<2x3x30xf32>) -> tensor<2x3x30xf32>
  return %1 : tensor<2x3x30xf32>
}

// -----

// A mask of booleans, true where something is visible.
// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "labels", colrow.objective = "causal_lm"}
func.func @main(%ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x3x30xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %mask = colrow.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %zero = colrow.constant dense<0.0> : tensor<2x3x3xf32>
  %one = colrow.constant dense<1.0> : tensor<2x3x3xf32>
  %scores = colrow.select %mask, %one, %zero : (tensor<1x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x30xf32>, tensor<2x3xi64>) -> tensor<2x3x30xf32>
  %1 = colrow.einsum "bst,btv->bsv" %scores, %0 : (tensor<2x3x3xf32>, tensor<2x3x30xf32>) -> tensor<2x3x30xf32>
  return %1 : tensor<2x3x30xf32>
}

// -----

// Numbers that are added to scores.
// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "labels", colrow.objective = "causal_lm"}
func.func @main(%ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x3xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x3x3xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %mask = colrow.constant dense<[[0.0, -3.0e+38, -3.0e+38], [0.0, 0.0, -3.0e+38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  %1 = colrow.add %0, %mask : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  return %1 : tensor<2x3x3xf32>
}

// -----

// A sliding window: each position sees itself and the one before.
// CHECK: module attributes {colrow.labels = "shift_left", colrow.labels_input = "labels", colrow.objective = "causal_lm"}
func.func @main(%ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %w: tensor<30x3xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x3x3xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %mask = colrow.constant dense<[[0.0, -1.0e+9, -1.0e+9], [0.0, 0.0, -1.0e+9], [-1.0e+9, 0.0, 0.0]]> : tensor<3x3xf32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  %1 = colrow.add %0, %mask : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  return %1 : tensor<2x3x3xf32>
}

// -----

// An encoder's tokens and a decoder's, looked up in one table: labels enter as they are, though the
// decoder is causal.
// CHECK: module attributes {colrow.labels = "none", colrow.labels_input = "labels", colrow.objective = "seq2seq"}
func.func @main(%ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "input_ids"},
                %decoder: tensor<2x3xi64> {colrow.role = "input", colrow.name = "decoder_input_ids"},
                %w: tensor<30x3xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x3x3xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %mask = colrow.constant dense<[[0.0, -3.0e+38, -3.0e+38], [0.0, 0.0, -3.0e+38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %0 = colrow.take %w at %ids along 0 : (tensor<30x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  %1 = colrow.take %w at %decoder along 0 : (tensor<30x3xf32>, tensor<2x3xi64>) -> tensor<2x3x3xf32>
  %2 = colrow.add %0, %1 : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = colrow.add %2, %mask : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  return %3 : tensor<2x3x3xf32>
}

// -----

// CHECK: module attributes {colrow.labels = "none", colrow.labels_input = "labels", colrow.objective = "classification"}
// CHECK: %{{.*}}: tensor<2xi64> {colrow.name = "labels"
func.func @main(%x: tensor<2x4xf32> {colrow.role = "input", colrow.name = "x"},
                %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x5xf32> {colrow.role = "output", colrow.name = "logits"}) {
  %0 = colrow.einsum "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
