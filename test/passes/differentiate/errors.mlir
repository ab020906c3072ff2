// RUN: colrow-opt %s --split-input-file --verify-diagnostics --colrow-differentiate -o /dev/null

// expected-error @+1 {{has no function @main to differentiate}}
module {}

// -----

// expected-error @+1 {{@main has no result of role 'loss': add an objective first}}
func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{expects a scalar loss, got: 'tensor<4xf32>'}}
func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<4xf32> {colrow.role = "loss", colrow.name = "loss"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{@main has two results of role 'loss'}}
func.func @main(%w: tensor<f32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "loss"}, tensor<f32> {colrow.role = "loss"}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// The user's node and parameter are named.
func.func @main(%w: tensor<4xf32> {colrow.role = "parameter", colrow.name = "w"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  // expected-error @unknown {{'/model/ReduceProd': colrow.reduce_prod has no gradient, but the loss depends on trained parameters through it ('w')}}
  %0 = colrow.reduce_prod %w over [0] : (tensor<4xf32>) -> tensor<f32> loc("/model/ReduceProd")
  return %0 : tensor<f32>
}

// -----

// Where no trained parameter is behind it, no gradient is needed.
func.func @main(%w: tensor<f32> {colrow.role = "parameter", colrow.name = "w"},
                %x: tensor<4xf32> {colrow.role = "input", colrow.name = "x"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  %0 = colrow.reduce_prod %x over [0] : (tensor<4xf32>) -> tensor<f32>
  %1 = colrow.mul %w, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// L8: a maximum over a cut dimension has no gradient; the value's name is in the message.
#s0 = #colrow.layout<tp = shard<0>>
#m = #colrow.layout<tp = partial<max>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(%w: tensor<4xf32, #s0> {colrow.role = "parameter", colrow.name = "w"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.reduce_max %w over [0] : (tensor<4xf32, #s0>) -> tensor<f32, #m> loc("/model/ReduceMax")
    // expected-error @+1 {{breaks L8: the maximum '/model/ReduceMax' is partial<max>, which has no gradient}}
    %1 = colrow.g %0 on ["tp"] : (tensor<f32, #m>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

func.func @main(%w: tensor<4x8xf32> {colrow.role = "parameter", colrow.name = "w"},
                %labels: tensor<4xi64> {colrow.role = "input", colrow.name = "labels"},
                %count: tensor<f32> {colrow.role = "parameter", colrow.name = "count"})
    -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
  // expected-error @+1 {{has no gradient with respect to the count of labels}}
  %0 = colrow.cross_entropy %w, %labels, %count ignore -100 valid 8
      : (tensor<4x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
