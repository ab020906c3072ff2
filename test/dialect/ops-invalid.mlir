// What single operations require of shapes and attributes.
// RUN: colrow-opt %s --split-input-file --verify-diagnostics

func.func @elementwise(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{shapes do not broadcast: 'tensor<3xf32>' 'tensor<4xf32>'}}
  %0 = "colrow.add"(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elementwise_result(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{incompatible with return type(s)}}
  %0 = "colrow.exp"(%x) : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce(%x: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{axis 1 is not one of a tensor of rank 1}}
  %0 = "colrow.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @einsum_equation(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) {
  // expected-error @+1 {{expects an equation like "ti,io->to", got: ti,io}}
  %0 = "colrow.einsum"(%x, %w) {equation = "ti,io"}
      : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @einsum_rank(%x: tensor<3x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{does not fit tensors of ranks 2 and 1}}
  %0 = "colrow.einsum"(%x, %w) {equation = "ti,io->to"}
      : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @einsum_size(%x: tensor<3x4xf32>, %w: tensor<6x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dimension i of ti,io->to has sizes 4 and 6}}
  %0 = "colrow.einsum"(%x, %w) {equation = "ti,io->to"}
      : (tensor<3x4xf32>, tensor<6x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @einsum_once(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dimension o of ti,io->t occurs once only}}
  %0 = "colrow.einsum"(%x, %w) {equation = "ti,io->t"}
      : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{cannot have type}}
  %0 = "colrow.constant"() {value = dense<1.0> : tensor<3xf32>} : () -> tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @+1 {{dimension 1 is not one of}}
  %0 = colrow.iota 1 : tensor<4xi64>
  return
}

// -----

func.func @reshape(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{changes the number of elements}}
  %0 = colrow.reshape %x : (tensor<3x4xf32>) -> tensor<13xf32>
  return
}

// -----

func.func @transpose(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{expects a permutation of all dimensions}}
  %0 = colrow.transpose %x [0, 0] : (tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<3xf32>) {
  // expected-error @+1 {{does not broadcast}}
  %0 = colrow.broadcast %x : (tensor<3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @slice(%x: tensor<3xf32>) {
  // expected-error @+1 {{takes 1 to 5 step 1 of a dimension of 3}}
  %0 = colrow.slice %x from [1] to [5] step [1] : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad(%x: tensor<3xf32>) {
  // expected-error @+1 {{expects padding of at least 0 and steps of at least 1}}
  %0 = colrow.pad %x low [-1] high [0] step [1] value 0.0 : (tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @concat(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{dimension 1 has sizes 2 and 4}}
  %0 = colrow.concat %x, %y along 0 : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @take(%t: tensor<3xf32>, %ids: tensor<2xf32>) {
  // expected-error @+1 {{expects integer ids}}
  %0 = colrow.take %t at %ids along 0 : (tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @take_axis(%t: tensor<3xf32>, %ids: tensor<2xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{axis 1 is not one of}}
  %0 = colrow.take %t at %ids along 1 : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @take_along(%t: tensor<3x4xf32>, %ids: tensor<2xi64>) {
  // expected-error @+1 {{expects indices of the input's rank and one of its axes}}
  %0 = colrow.take_along %t at %ids along 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @attention(%q: tensor<2x4x3x2xf32>, %k: tensor<2x4x5x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects query [b, h, s, d], key [b, hk, t, d] and value [b, hk, t, e], got: 'tensor<2x4x3x2xf32>', 'tensor<2x4x5x3xf32>' and 'tensor<2x4x5x3xf32>'}}
  %0 = colrow.attention %q, %k, %k scale 1.0
      : (tensor<2x4x3x2xf32>, tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x3x3xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<2x12x3x2xf32>, %k: tensor<2x5x3x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects kv heads to divide query heads, got: 5 and 12}}
  %0 = colrow.attention %q, %k, %k scale 1.0
      : (tensor<2x12x3x2xf32>, tensor<2x5x3x2xf32>, tensor<2x5x3x2xf32>) -> tensor<2x12x3x2xf32>
  return
}

// -----

func.func @attention_mask(%q: tensor<2x4x3x2xf32>, %m: tensor<2x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{mask 'tensor<2x3x3xf32>' does not broadcast to [b, h, s, t] of}}
  %0 = colrow.attention %q, %q, %q mask %m scale 1.0
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x3x3xf32>)
      -> tensor<2x4x3x2xf32>
  return
}

// -----

func.func @attention_dropout(%q: tensor<2x4x3x2xf32>) {
  // expected-error @+1 {{expects random, rate and id together}}
  %0 = colrow.attention %q, %q, %q scale 1.0 {rate = 0.5, id = 7}
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  return
}

// -----

func.func @attention_cap(%q: tensor<2x4x3x2xf32>) {
  // expected-error @+1 {{expects a positive cap, got: -1}}
  %0 = colrow.attention %q, %q, %q scale 1.0 cap -1.0
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
  return
}

// -----

func.func @attention_mask_gradient(%q: tensor<2x4x3x2xf32>, %l: tensor<2x4x3xf32>) {
  // expected-error @+1 {{expects a mask where its gradient is asked for}}
  %0:3 = colrow.attention_grad %q at %q, %q, %q log_sum_exp %l scale 1.0 with_mask_gradient
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>,
         tensor<2x4x3xf32>) -> (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>)
  return
}

// -----

func.func @rms_norm_scale(%x: tensor<8x6xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{expects a scale of the dimensions from 1 on, got: 'tensor<8xf32>' for 'tensor<8x6xf32>'}}
  %0 = colrow.rms_norm %x scale %w from 1 epsilon 1.0e-5
      : (tensor<8x6xf32>, tensor<8xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @attention_grad(%q: tensor<2x4x3x2xf32>, %l: tensor<2x4x3x1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects a gradient [b, h, s, e] and log_sum_exp [b, h, s], got: 'tensor<2x4x3x2xf32>' and 'tensor<2x4x3x1xf32>'}}
  %0:3 = colrow.attention_grad %q at %q, %q, %q log_sum_exp %l scale 1.0
      : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>,
         tensor<2x4x3x1xf32>) -> (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>)
  return
}

// -----

func.func @cross_entropy(%x: tensor<3x4xf32>, %labels: tensor<2xi64>, %count: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{labels 'tensor<2xi64>' do not fit 'tensor<3x4xf32>'}}
  %0 = colrow.cross_entropy %x, %labels, %count ignore -100 valid 4
      : (tensor<3x4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @label_smoothing(%x: tensor<3x4xf32>, %labels: tensor<3xi64>, %count: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects label_smoothing between 0 and 1, got: 1.5}}
  %0 = colrow.cross_entropy %x, %labels, %count ignore -100 valid 4 {label_smoothing = 1.5 : f64}
      : (tensor<3x4xf32>, tensor<3xi64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @z_loss(%x: tensor<3x4xf32>, %w: tensor<8x4xf32>, %labels: tensor<3xi64>,
                  %count: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects z_loss of at least 0, got: -1}}
  %0 = colrow.linear_cross_entropy %x, %w, %labels, %count ignore -100 valid 8 {z_loss = -1.0 : f64}
      : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<3xi64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @linear_cross_entropy(%x: tensor<3x4xf32>, %w: tensor<8x5xf32>, %labels: tensor<3xi64>,
                                %count: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects input [..., hidden] and weight [vocabulary, hidden]}}
  %0 = colrow.linear_cross_entropy %x, %w, %labels, %count ignore -100 valid 8
      : (tensor<3x4xf32>, tensor<8x5xf32>, tensor<3xi64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @adamw(%p: tensor<4xf32>, %g: tensor<5xf32>, %clip: tensor<f32>, %s: tensor<7xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{gradient and moments must have the parameter's shape}}
  %0:3 = colrow.adamw %p, %g, %p, %p clip %clip scalars %s
      : (tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<7xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
