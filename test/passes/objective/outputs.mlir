// RUN: not colrow-opt %s --colrow-objective 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: colrow-opt %s --colrow-objective=logits=b | FileCheck %s
// RUN: not colrow-opt %s --colrow-objective=logits=c 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not colrow-opt %s --colrow-objective="logits=b objective=masked_lm" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not colrow-opt %s --colrow-objective=objective=diffusion 2>&1 | FileCheck %s --check-prefix=KNOWN

// Which output are the logits.
// SEVERAL: error: the graph has several outputs that could be the logits: 'a' 2x5xf32, 'b' 2x5xf32; name one by --logits
// NONE: error: the graph has no output 'c' for --logits; its outputs are 'a' 2x5xf32, 'b' 2x5xf32
// RANK: error: output 'b' cannot be the logits of objective masked_lm: a floating tensor [batch, positions, classes]; the outputs are 'a' 2x5xf32, 'b' 2x5xf32
// KNOWN: error: knows no objective 'diffusion'
// CHECK: %[[B:.*]] = colrow.neg
// CHECK: colrow.cross_entropy %[[B]],
func.func @main(%x: tensor<2x4xf32> {colrow.role = "input", colrow.name = "x"},
                %w: tensor<4x5xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<2x5xf32> {colrow.role = "output", colrow.name = "a"},
        tensor<2x5xf32> {colrow.role = "output", colrow.name = "b"}) {
  %0 = colrow.einsum "bi,io->bo" %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  %1 = colrow.neg %0 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0, %1 : tensor<2x5xf32>, tensor<2x5xf32>
}
