// RUN: not colrow-opt %s --colrow-set-grid=axes=tp=2 --colrow-shard 2>&1 | FileCheck %s
// CHECK: error: {{.*}}'both': is an output whose 2 blocks would be filled up
// CHECK: '{{.*}}': 3 heads or units of a block do not divide over tp = 2; values that would do: 1, 3

// What leaves the program in several blocks cannot be filled up.
module {
  func.func @main(%x: tensor<8x4xf32> {colrow.role = "input", colrow.name = "x"},
                  %w: tensor<4x6xf32> {colrow.role = "parameter", colrow.name = "w"},
                  %v: tensor<3x4xf32> {colrow.role = "parameter", colrow.name = "v"})
      -> (tensor<8x4xf32>, tensor<8x6xf32>) {
    %0 = colrow.einsum "ti,io->to" %x, %w : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32> loc("both")
    %1 = colrow.slice %0 from [0, 0] to [8, 3] step [1, 1] : (tensor<8x6xf32>) -> tensor<8x3xf32>
    %2 = colrow.slice %0 from [0, 3] to [8, 6] step [1, 1] : (tensor<8x6xf32>) -> tensor<8x3xf32>
    %3 = colrow.mul %1, %2 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
    %4 = colrow.einsum "ti,io->to" %3, %v : (tensor<8x3xf32>, tensor<3x4xf32>) -> tensor<8x4xf32> loc("down")
    return %4, %0 : tensor<8x4xf32>, tensor<8x6xf32>
  }
}
