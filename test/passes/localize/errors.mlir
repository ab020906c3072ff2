// RUN: colrow-opt %s --colrow-localize --split-input-file --verify-diagnostics

module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @loss(%logits: tensor<4x8xf32, #colrow.layout<tp = shard<1>>>, %labels: tensor<4xi64>,
                  %count: tensor<f32, #colrow.layout<tp = replicated>>) -> tensor<f32> {
    // expected-error @+1 {{communicates over a cut dimension by itself: run colrow-decompose before colrow-localize}}
    %0 = colrow.cross_entropy %logits, %labels, %count ignore -100 valid 8
        : (tensor<4x8xf32, #colrow.layout<tp = shard<1>>>, tensor<4xi64>,
           tensor<f32, #colrow.layout<tp = replicated>>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
