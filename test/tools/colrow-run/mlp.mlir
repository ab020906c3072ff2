// Whole tensors go in and come out, whatever the ranks hold of them.
// RUN: colrow-run %s --json %t.json --output %t.safetensors | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON < %t.json

// CHECK: @main on 2 ranks (tp=2), f64, random inputs (seed 1)
// CHECK: result role shape norm first values
// CHECK-NEXT: y output [4x8] {{[0-9.]+}}
// CHECK-NEXT: result1 [4x16]
// JSON: "tp": 2
// JSON: "name": "y"
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(%x: tensor<4x8xf32> {colrow.name = "x", colrow.role = "input"},
                  %w: tensor<8x16xf32, #colrow.layout<tp = shard<1>>>
                      {colrow.name = "w", colrow.role = "parameter"},
                  %v: tensor<16x8xf32, #colrow.layout<tp = shard<0>>>
                      {colrow.name = "v", colrow.role = "parameter"})
      -> (tensor<4x8xf32> {colrow.name = "y", colrow.role = "output"},
          tensor<4x16xf32, #colrow.layout<tp = shard<1>>>) {
    %0 = colrow.f %x on ["tp"]
        : (tensor<4x8xf32>) -> tensor<4x8xf32, #colrow.layout<tp = replicated>>
    %1 = colrow.einsum "ti,io->to" %0, %w
        : (tensor<4x8xf32, #colrow.layout<tp = replicated>>,
           tensor<8x16xf32, #colrow.layout<tp = shard<1>>>)
        -> tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
    %2 = colrow.einsum "to,oi->ti" %1, %v
        : (tensor<4x16xf32, #colrow.layout<tp = shard<1>>>,
           tensor<16x8xf32, #colrow.layout<tp = shard<0>>>)
        -> tensor<4x8xf32, #colrow.layout<tp = partial>>
    %3 = colrow.g %2 on ["tp"]
        : (tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32>
    return %3, %1 : tensor<4x8xf32>, tensor<4x16xf32, #colrow.layout<tp = shard<1>>>
  }
}
