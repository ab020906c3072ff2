//===- Passes.td - phase objective -----------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Objective : Pass<"colrow-objective", "::mlir::ModuleOp"> {
  let summary = "gives @main one result with role loss";
  let description = [{
    Needs a program as imported. Afterwards @main has one result with role `loss`: the cross entropy
    of the logits summed over the valid labels and divided by the input `colrow.count`, which is
    their number in the whole step. Labels enter as the input `labels`; module attributes say what
    the host has to know: `colrow.objective` which kind of model it is, `colrow.labels` what is done to
    a batch's labels first: `shift_left` for a causal language model (position t predicts label t + 1,
    the last position is ignored), or `none`, and `colrow.labels_input` which input they are. Logits are
    never sliced.

    Where no objective is named (`auto`), logits [batch, positions, classes] are a causal language
    model's if the program hides from each position what comes behind it: by an attention that is
    causal, or by a constant mask of that form. They are a sequence-to-sequence model's if two inputs
    are looked up in one table, and a masked language model's otherwise. Other logits classify. Logits are
    the only output of such a rank, or that called `logits`, or that which the option names.

    A loss that is in the graph already is kept: its only scalar output, or that which the option `loss`
    names. What the graph does to the labels of a cross entropy is recognised by value: the operations
    between labels and loss are executed on their own positions. Any other scalar is a loss as it is
    (`colrow.labels` is `in_graph`), divided by `colrow.count`, the number of microbatches in the step.

    Before:

    ```mlir
    func.func @main(%ids: tensor<2x8xi64> {colrow.role = "input", colrow.name = "input_ids"},
                    %w: tensor<30x30xf32> {colrow.role = "parameter", colrow.name = "w"})
        -> (tensor<2x8x30xf32> {colrow.role = "output", colrow.name = "logits"}) {
      %0 = colrow.take %w at %ids along 0
          : (tensor<30x30xf32>, tensor<2x8xi64>) -> tensor<2x8x30xf32>
      return %0 : tensor<2x8x30xf32>
    }
    ```

    After:

    ```
    %1 = colrow.cross_entropy %0, %labels, %count ignore -100 valid 30
    return %1, %0
    ```
  }];
  let options = [
    Option<"objective", "objective", "std::string", "\"auto\"",
           "auto, causal_lm (labels are the inputs, shifted), next_token (labels are shifted "
           "already), masked_lm, seq2seq or classification">,
    Option<"lossName", "loss", "std::string", "\"\"", "the output that is the loss">,
    Option<"logitsName", "logits", "std::string", "\"\"",
           "the output that the added loss takes as logits">,
    Option<"labelSmoothing", "label-smoothing", "double", "0",
           "what share of the loss is the mean over all classes">,
    Option<"zLoss", "z-loss", "double", "0", "what times the square of logsumexp is added to the loss">
  ];
}
