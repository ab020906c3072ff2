// RUN: colrow-opt %s --split-input-file --verify-diagnostics --colrow-optimizer

// expected-error @+1 {{has no function @forward_backward: run colrow-differentiate first}}
module {}

// -----

// expected-error @+1 {{has no gradient to update a parameter with}}
func.func @forward_backward(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"}) {
  return
}
