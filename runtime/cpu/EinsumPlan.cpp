//===- EinsumPlan.cpp - from an equation to one matrix product ------------===//
//
// Letters form four groups: batch, rows, columns, summed. Letters of a group that lie next to each
// other in every operand become one dimension ("bsi,io->bso": b and s are one dimension of rows).
// If every group then is one dimension, the equation is one product for each batch element, on the
// operands as they lie. If not, there are two ways, and the cheaper is taken:
//
//   loop   over the dimensions that do not fit, around a smaller product
//   copy   the operands that stand in the way into scratch, in the order batch, rows, columns
//
// oneDNN wants a stride of 1 in one dimension of each matrix, and in the columns of the result. A
// result with stride 1 in its rows is computed as the transposed product.
//
//===----------------------------------------------------------------------===//
#include "EinsumPlan.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace colrow {
namespace {

enum Group { batch, row, column, sum };
enum Operand { a, b, out };

/// The groups of letters that operand a, b and out consist of, in canonical order.
constexpr Group groupsOf[3][3] = {{batch, row, sum}, {batch, sum, column}, {batch, row, column}};

/// Below this many multiplications in one product, plain loops beat the call.
constexpr int64_t plainLimit = 512;
/// A product this large is worth a call of its own inside a loop.
constexpr int64_t loopLimit = 64 * 64 * 64;

using Groups = std::vector<EinsumDim>[4];

[[noreturn]] void fail(const char *equation, const std::string &message) {
  throw std::invalid_argument("einsum \"" + std::string(equation) + "\": " + message);
}

/// Splits "ab,bc->ac" and sorts its letters into groups.
void parse(const char *equation, const Shape *shapes[3], const Strides *strides[3],
           Groups &groups) {
  const char *comma = std::strchr(equation, ',');
  const char *arrow = std::strstr(equation, "->");
  if (!comma || !arrow || arrow < comma)
    fail(equation, "expects two operands and a result, as in \"ti,io->to\"");
  std::string names[3] = {{equation, comma}, {comma + 1, arrow}, arrow + 2};

  std::string letters = names[out];
  for (char letter : names[a] + names[b])
    if (letters.find(letter) == std::string::npos)
      letters += letter;
  for (int i = 0; i < 3; ++i)
    if (int64_t(names[i].size()) != shapes[i]->rank())
      fail(equation, "expects " + std::to_string(names[i].size()) + " dimensions of '" + names[i] +
                         "', got " + std::to_string(shapes[i]->rank()));

  for (char letter : letters) {
    EinsumDim dim;
    bool in[3];
    int64_t size = -1;
    for (int i = 0; i < 3; ++i) {
      size_t at = names[i].find(letter);
      in[i] = at != std::string::npos;
      if (!in[i])
        continue;
      if (names[i].find(letter, at + 1) != std::string::npos)
        fail(equation, std::string("letter '") + letter + "' occurs twice in one operand");
      int64_t here = (*shapes[i])[int(at)];
      if (size >= 0 && size != here)
        fail(equation, std::string("letter '") + letter + "' has sizes " + std::to_string(size) +
                           " and " + std::to_string(here));
      size = here;
      dim.strides[i] = (*strides[i])[int(at)];
    }
    dim.size = size;
    if (in[a] + in[b] + in[out] < 2)
      fail(equation, std::string("letter '") + letter + "' is in one operand only");
    groups[in[a] && in[b] ? (in[out] ? batch : sum) : in[a] ? row : column].push_back(dim);
  }
}

/// Joins neighbours that compose in all operands (in one of them if `only` names it), and drops
/// dimensions of one element.
std::vector<EinsumDim> merged(const std::vector<EinsumDim> &dims, int only = -1) {
  std::vector<EinsumDim> result;
  for (const EinsumDim &dim : dims) {
    if (dim.size == 1)
      continue;
    bool composes = !result.empty();
    for (int i = 0; composes && i < 3; ++i)
      if (only < 0 || only == i)
        composes = result.back().strides[i] == dim.strides[i] * dim.size;
    if (composes) {
      int64_t size = result.back().size * dim.size;
      result.back() = dim;
      result.back().size = size;
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

/// Strides for oneDNN of a matrix, {ld, 1} or {1, ld}; zeros if it takes none with these strides.
struct MatrixStrides {
  int64_t row = 0, column = 0;

  MatrixStrides(int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride) {
    if ((columnStride == 1 || columns == 1) && (rows == 1 || rowStride >= columns)) {
      row = rows == 1 ? columns : rowStride;
      column = 1;
    } else if ((rowStride == 1 || rows == 1) && (columns == 1 || columnStride >= rows)) {
      row = 1;
      column = columns == 1 ? rows : columnStride;
    }
  }
  /// The matrix that two dimensions make of operand i.
  MatrixStrides(const EinsumDim &rows, const EinsumDim &columns, int i)
      : MatrixStrides(rows.size, rows.strides[i], columns.size, columns.strides[i]) {}

  bool fit() const { return row != 0; }
  dnnl::memory::dims dims(bool transposed) const {
    return transposed ? dnnl::memory::dims{column, row} : dnnl::memory::dims{row, column};
  }
};

/// Which dimension of each group becomes the product's; the others become loops.
struct Choice {
  int64_t volume = 0; ///< 0: none fits
  int picked[4] = {-1, -1, -1, -1};
  EinsumDim dims[4];
  bool leftOver = false;
};

Choice choose(const Groups &groups) {
  Choice best;
  auto count = [&](Group g) { return std::max<int>(int(groups[g].size()), 1); };
  auto dimOf = [&](Group g, int i) { return groups[g].empty() ? EinsumDim() : groups[g][i]; };
  for (int r = 0; r < count(row); ++r)
    for (int c = 0; c < count(column); ++c)
      for (int s = 0; s < count(sum); ++s) {
        EinsumDim m = dimOf(row, r), n = dimOf(column, c), k = dimOf(sum, s);
        int64_t volume = m.size * n.size * k.size;
        if (volume <= best.volume || !MatrixStrides(m, k, a).fit() ||
            !MatrixStrides(k, n, b).fit() || !MatrixStrides(m, n, out).fit())
          continue;
        best.volume = volume;
        best.picked[row] = r, best.picked[column] = c, best.picked[sum] = s;
        best.dims[row] = m, best.dims[column] = n, best.dims[sum] = k;
      }
  for (Group g : {row, column, sum})
    best.leftOver |= groups[g].size() > 1;
  return best;
}

/// Whether operand i is a matrix as it lies, for each batch element.
bool isMatrix(const Groups &groups, int i) {
  std::vector<EinsumDim> first = merged(groups[groupsOf[i][1]], i);
  std::vector<EinsumDim> second = merged(groups[groupsOf[i][2]], i);
  if (first.size() > 1 || second.size() > 1)
    return false;
  EinsumDim rows = first.empty() ? EinsumDim() : first[0];
  EinsumDim columns = second.empty() ? EinsumDim() : second[0];
  return MatrixStrides(rows, columns, i).fit();
}

/// Sends operand i through contiguous scratch: notes the copy and gives the groups its strides.
void copyOperand(Groups &groups, int i, EinsumPlan &plan) {
  plan.copies[i] = true;
  int64_t stride = 1;
  for (int g = 3; g-- > 0;) {
    std::vector<EinsumDim> &dims = groups[groupsOf[i][g]];
    for (size_t d = dims.size(); d-- > 0;) {
      EinsumDim copied;
      copied.size = dims[d].size;
      copied.strides[0] = dims[d].strides[i];
      copied.strides[1] = dims[d].strides[i] = stride;
      stride *= dims[d].size;
      plan.copyDims[i].insert(plan.copyDims[i].begin(), copied);
    }
  }
}

std::unique_ptr<MatrixProduct> prepare(EinsumCache &cache, const Choice &choice, bool swapped,
                                       bool add) {
  const EinsumDim &m = choice.dims[row], &n = choice.dims[column], &k = choice.dims[sum];
  auto describe = [&](const EinsumDim &rows, const EinsumDim &columns, int i) {
    dnnl::memory::dims sizes{rows.size, columns.size};
    if (swapped)
      std::swap(sizes[0], sizes[1]);
    return dnnl::memory::desc(sizes, dnnl::memory::data_type::f32,
                              MatrixStrides(rows, columns, i).dims(swapped));
  };
  // (a b)^T = b^T a^T: the same memory with rows and columns exchanged.
  dnnl::memory::desc aDesc = describe(m, k, a), bDesc = describe(k, n, b);
  dnnl::memory::desc outDesc = describe(m, n, out);
  if (swapped)
    std::swap(aDesc, bDesc);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (add) {
    dnnl::post_ops after;
    after.append_sum(1.0f);
    attributes.set_post_ops(after);
  }
  dnnl::matmul::primitive_desc description(dnnl::matmul::desc(aDesc, bDesc, outDesc), attributes,
                                           cache.engine);

  auto product = std::make_unique<MatrixProduct>();
  product->primitive = dnnl::matmul(description);
  product->a = dnnl::memory(aDesc, cache.engine, nullptr);
  product->b = dnnl::memory(bDesc, cache.engine, nullptr);
  product->out = dnnl::memory(outDesc, cache.engine, nullptr);
  product->workspace = dnnl::memory(description.scratchpad_desc(), cache.engine, nullptr);
  product->workspaceBytes = int64_t(description.scratchpad_desc().get_size());
  product->arguments = {{{DNNL_ARG_SRC, product->a.get()},
                         {DNNL_ARG_WEIGHTS, product->b.get()},
                         {DNNL_ARG_DST, product->out.get()},
                         {DNNL_ARG_SCRATCHPAD, product->workspace.get()}}};
  return product;
}

int64_t volumeOf(const std::vector<EinsumDim> &dims) {
  int64_t product = 1;
  for (const EinsumDim &dim : dims)
    product *= dim.size;
  return product;
}

} // namespace

EinsumPlan planEinsum(EinsumCache &cache, const char *equation, const ConstTensor &aView,
                      const ConstTensor &bView, const Tensor &outView, bool add) {
  const Shape *shapes[3] = {&aView.shape, &bView.shape, &outView.shape};
  const Strides *strides[3] = {&aView.strides, &bView.strides, &outView.strides};
  Groups letters;
  parse(equation, shapes, strides, letters);

  EinsumPlan plan;
  plan.nothing = outView.numel() == 0;
  plan.zero = volumeOf(letters[sum]) == 0;
  if (plan.nothing || plan.zero)
    return plan;

  Groups groups;
  auto mergeAll = [&] {
    for (Group g : {batch, row, column, sum})
      groups[g] = merged(letters[g]);
  };
  auto loopOver = [&](Group g, int except) {
    for (int i = 0; i < int(groups[g].size()); ++i)
      if (i != except) {
        plan.loops.push_back(groups[g][i]);
        plan.sumLoops += g == sum;
      }
  };

  mergeAll();
  int64_t total = volumeOf(letters[row]) * volumeOf(letters[column]) * volumeOf(letters[sum]);
  if (total <= plainLimit) {
    plan.plain = true;
    for (Group g : {batch, row, column, sum})
      loopOver(g, -1);
    return plan;
  }

  Choice choice = choose(groups);
  if (choice.volume == 0 || (choice.leftOver && choice.volume < loopLimit)) {
    for (int i = 0; i < 3; ++i)
      if (!isMatrix(letters, i))
        copyOperand(letters, i, plan);
    mergeAll();
    choice = choose(groups);
  }
  for (Group g : {batch, row, column, sum})
    loopOver(g, choice.picked[g]);

  plan.swapped = MatrixStrides(choice.dims[row], choice.dims[column], out).column != 1;
  plan.first = prepare(cache, choice, plan.swapped, add && !plan.copies[out]);
  if (plan.sumLoops > 0)
    plan.next = prepare(cache, choice, plan.swapped, true);
  return plan;
}

} // namespace colrow
