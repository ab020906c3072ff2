//===- Check.cpp - the names of a graph are consistent --------------------===//

#include "colrow/Error.h"
#include "frontend/onnx/Model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace colrow {
namespace {

using Names = std::unordered_set<std::string>;

class GraphChecker {
public:
  explicit GraphChecker(const std::string &file) : file(file) {}

  /// `outer` holds the values visible from the surrounding graph; null for the main graph.
  void check(const onnx::GraphProto &graph, const Names *outer) {
    Names defined = outer ? *outer : Names();
    defineInputs(graph, defined);
    std::unordered_map<std::string, int> producers = findProducers(graph, defined);
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      if (node.output_size() == 0)
        throw Error(fmt::format("{} in '{}' has no output", describeNode(node, i), file));
      for (const std::string &input : node.input())
        if (!input.empty() && !defined.count(input))
          throw undefined(graph, i, input, producers);
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          check(attribute.g(), &defined);
        for (const onnx::GraphProto &nested : attribute.graphs())
          check(nested, &defined);
      }
      for (const std::string &output : node.output())
        if (!output.empty())
          defined.insert(output);
    }
    for (const onnx::ValueInfoProto &output : graph.output())
      if (!defined.count(output.name()))
        throw Error(fmt::format("output '{}' of '{}' is computed by no node", output.name(), file));
  }

private:
  void defineInputs(const onnx::GraphProto &graph, Names &defined) {
    Names inputs, initializers;
    for (const onnx::ValueInfoProto &input : graph.input())
      if (input.name().empty() || !inputs.insert(input.name()).second)
        throw duplicate("input", input.name());
    for (const onnx::TensorProto &tensor : graph.initializer())
      if (tensor.name().empty() || !initializers.insert(tensor.name()).second)
        throw duplicate("initializer", tensor.name());
    // An initializer may also be an input: its default value.
    defined.insert(inputs.begin(), inputs.end());
    defined.insert(initializers.begin(), initializers.end());
  }

  Error duplicate(const char *kind, const std::string &name) {
    if (name.empty())
      return Error(fmt::format("an {} of '{}' has no name", kind, file));
    return Error(fmt::format("'{}' has two {}s named '{}'", file, kind, name));
  }

  std::unordered_map<std::string, int> findProducers(const onnx::GraphProto &graph,
                                                     const Names &defined) {
    std::unordered_map<std::string, int> producers;
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string &output : graph.node(i).output()) {
        if (output.empty())
          continue;
        if (defined.count(output))
          throw Error(
              fmt::format("{} in '{}' computes '{}', which is already an input or initializer",
                          describeNode(graph.node(i), i), file, output));
        auto [other, isNew] = producers.emplace(output, i);
        if (!isNew)
          throw Error(fmt::format("value '{}' of '{}' is computed twice: by {} and by {}", output,
                                  file, describeNode(graph.node(other->second), other->second),
                                  describeNode(graph.node(i), i)));
      }
    return producers;
  }

  Error undefined(const onnx::GraphProto &graph, int user, const std::string &value,
                  const std::unordered_map<std::string, int> &producers) {
    auto producer = producers.find(value);
    std::string node = describeNode(graph.node(user), user);
    if (producer == producers.end())
      return Error(fmt::format("{} in '{}' uses '{}', which nothing computes: it is no input, no "
                               "initializer and no node's output",
                               node, file, value));
    std::vector<std::string> cycle = findCycle(graph, user, producers);
    if (!cycle.empty())
      return Error(
          fmt::format("the graph of '{}' has a cycle: {}", file, fmt::join(cycle, " -> ")));
    return Error(fmt::format("{} in '{}' uses '{}' before {} computes it: the nodes are not in "
                             "topological order",
                             node, file, value,
                             describeNode(graph.node(producer->second), producer->second)));
  }

  /// The cycle that leads from `start` through producers back to a node seen before, as node names
  /// in the direction of the data; empty if there is none.
  std::vector<std::string> findCycle(const onnx::GraphProto &graph, int start,
                                     const std::unordered_map<std::string, int> &producers) {
    enum { New, OnPath, Done };
    std::vector<char> state(size_t(graph.node_size()), New);
    std::vector<std::pair<int, int>> path{{start, 0}}; // node, next operand to follow
    state[size_t(start)] = OnPath;
    while (!path.empty()) {
      auto &[index, operand] = path.back();
      const onnx::NodeProto &node = graph.node(index);
      if (operand == node.input_size()) {
        state[size_t(index)] = Done;
        path.pop_back();
        continue;
      }
      auto producer = producers.find(node.input(operand++));
      if (producer == producers.end())
        continue;
      int next = producer->second;
      if (state[size_t(next)] == OnPath) {
        std::vector<std::string> names;
        auto first =
            std::find_if(path.begin(), path.end(), [&](auto &step) { return step.first == next; });
        for (auto step = first; step != path.end(); ++step)
          names.push_back(describeNode(graph.node(step->first), step->first));
        std::reverse(names.begin(), names.end());
        names.push_back(names.front());
        return names;
      }
      if (state[size_t(next)] == New) {
        state[size_t(next)] = OnPath;
        path.emplace_back(next, 0);
      }
    }
    return {};
  }

  const std::string &file;
};

} // namespace

void checkGraph(const onnx::GraphProto &graph, const std::string &file) {
  GraphChecker(file).check(graph, nullptr);
}

} // namespace colrow
