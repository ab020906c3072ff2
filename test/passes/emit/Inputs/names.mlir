func.func @evaluate(
    %0: tensor<8x4xf32> {colrow.role = "input", colrow.name = "layer"},
    %1: tensor<4x4xf32> {colrow.role = "parameter", colrow.name = "constexpr"})
    -> (tensor<8x4xf32> {colrow.role = "output", colrow.name = "y"}) {
  %2 = colrow.einsum "ti,io->to" %0, %1
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32> loc("size_t")
  %3 = colrow.softmax %2 along 1 : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("layerNorm")
  return %3 : tensor<8x4xf32>
}
