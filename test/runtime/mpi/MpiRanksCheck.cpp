//===- MpiRanksCheck.cpp - ranks as processes against ranks as threads -----===//
//
//   mpi-ranks-check threads dp=2,tp=3 FILE            writes what ranks get that are threads
//   mpirun -n 6 mpi-ranks-check equal dp=2,tp=3 FILE  compares it with what processes get
//   mpirun -n 2 mpi-ranks-check MISTAKE tp=2          what a wrong program ends in
//
// With "apart" at the end everything goes by messages. FILE has a checksum of each result.
//
//===----------------------------------------------------------------------===//

#include "colrow/Checksum.h"
#include "colrow/MpiRanks.h"
#include "colrow/ThreadRanks.h"

#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

using namespace colrow;

namespace {

/// What a rank got, in order: lines of name and checksum.
struct Results {
  std::vector<std::string> lines;

  template <typename T> void add(const std::string &name, const std::vector<T> &values) {
    Checksum sum;
    sum.add(values.data(), values.size() * sizeof(T));
    lines.push_back(name + ": " + std::to_string(sum.value()));
  }
};

/// Numbers whose sum depends on the order; a few of them are no numbers.
template <typename T> std::vector<T> inputOf(int64_t rank, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = (uint64_t(i) + 1) * 0x9e3779b97f4a7c15u ^ uint64_t(rank) * 0xbf58476d1ce4e5b9u;
    double value = double(int64_t(bits ^ bits >> 29) >> 20) / 1048573.0;
    values[size_t(i)] = T(value);
    if (std::is_floating_point<T>::value && i % 97 == 13 && i % 5 == rank % 5)
      values[size_t(i)] = T(i % 2 ? NAN : INFINITY);
  }
  return values;
}

template <typename T>
void useAll(const Rank &rank, Communicator &ranks, int64_t count, const std::string &name,
            Results &results) {
  int64_t self = rank.index(), members = ranks.size();
  std::vector<T> sum = inputOf<T>(self, count), most = sum, all(size_t(count * members));
  ranks.allReduce(sum.data(), count);
  results.add(name + " sum", sum);
  ranks.allReduce(most.data(), count, ReduceOp::max);
  results.add(name + " max", most);
  ranks.allGather(inputOf<T>(self, count).data(), all.data(), count);
  results.add(name + " gather", all);
  std::vector<T> large = inputOf<T>(self, count * members), part(static_cast<size_t>(count));
  ranks.reduceScatter(large.data(), part.data(), count);
  results.add(name + " scatter", part);
  ranks.allToAll(large.data(), all.data(), count);
  results.add(name + " all to all", all);
  for (int64_t root : {int64_t(0), members - 1}) {
    part = inputOf<T>(self, count);
    ranks.broadcast(part.data(), count, root);
    results.add(name + " broadcast", part);
  }
}

Results useAll(Rank &rank) {
  std::vector<std::vector<std::string>> groups = {{}};
  for (const GridAxis &axis : rank.grid()) // all subsets, in the order of the grid
    for (size_t g = 0, old = groups.size(); g < old; ++g) {
      groups.push_back(groups[g]);
      groups.back().push_back(axis.name);
    }
  if (rank.grid().size() == 2) // and in the other
    groups.push_back({rank.grid()[1].name, rank.grid()[0].name});
  Results results;
  for (const std::vector<std::string> &axes : groups)
    // 300007 doubles are several chunks of the staging buffer.
    for (int64_t count : {0, 1, 5, 64, 1021, 4099, 300007}) {
      Communicator &ranks = rank.over(axes);
      std::string name = "over";
      for (const std::string &axis : axes)
        name += " " + axis;
      name += " of " + std::to_string(count);
      useAll<float>(rank, ranks, count, name + " f32", results);
      if (count == 300007 && axes.size() != rank.grid().size())
        break; // enough
      useAll<double>(rank, ranks, count, name + " f64", results);
      useAll<int64_t>(rank, ranks, count, name + " i64", results);
    }
  // Many in a row, over groups in turn, of sizes that are small, and by parts.
  std::vector<double> values = inputOf<double>(rank.index(), 600);
  for (size_t i = 0; i < 3000; ++i) {
    Communicator &ranks = rank.over(groups[i % groups.size()]);
    ranks.allReduce(values.data(), i % 3 ? 7 : 600, i % 2 ? ReduceOp::max : ReduceOp::sum);
    for (double &value : values)
      value = std::isfinite(value) && std::abs(value) < 1e6 ? value : 1.0 / double(i + 3);
  }
  results.add("many in a row", values);
  return results;
}

void writeThreadResults(const std::vector<GridAxis> &grid, const std::string &path) {
  std::vector<Results> results(static_cast<size_t>(gridSize(grid)));
  runRanks(grid, [&](Rank &rank) { results[size_t(rank.index())] = useAll(rank); });
  std::ofstream file(path);
  for (size_t r = 0; r < results.size(); ++r)
    for (const std::string &line : results[r].lines)
      file << "rank " << r << " " << line << "\n";
}

/// Returns how many results are equal.
size_t requireEqual(const Rank &rank, const Results &mine, const std::string &path) {
  std::ifstream file(path);
  std::string begin = "rank " + std::to_string(rank.index()) + " ";
  std::vector<std::string> wanted;
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, begin.size(), begin) == 0)
      wanted.push_back(line.substr(begin.size()));
  if (wanted.size() != mine.lines.size())
    throw Error(path + " is of another program");
  for (size_t i = 0; i < wanted.size(); ++i)
    if (mine.lines[i] != wanted[i])
      throw Error(begin + mine.lines[i] + ", with threads " + wanted[i]);
  return wanted.size();
}

/// What programs do wrong, each in its way.
void err(const std::string &mistake, Rank &rank) {
  float x[8] = {};
  int64_t self = rank.index();
  if (mistake == "count")
    rank.world().allReduce(x, self == 0 ? 8 : 4);
  else if (mistake == "kind")
    self == 0 ? rank.world().allReduce(x, 8) : rank.world().barrier();
  else if (mistake == "throws") {
    for (int i = 0; i < 100; ++i) {
      if (i == 50 && self == rank.size() - 1)
        throw Error("'data.bin' is damaged");
      rank.world().allReduce(x, 8);
    }
  } else if (mistake == "all-throw") {
    throw Error("'data.bin' is missing");
  } else if (mistake == "returns") {
    if (self != 1)
      rank.world().barrier();
  } else if (mistake == "crossed") {
    bool dpFirst = self == 0 || self == 3;
    rank.over({dpFirst ? "dp" : "tp"}).allReduce(x, 1);
    rank.over({dpFirst ? "tp" : "dp"}).allReduce(x, 1);
  } else if (mistake == "late") {
    if (self == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    rank.world().allReduce(x, 8);
  } else if (mistake == "computes") { // while another fails
    if (self == 0)
      std::this_thread::sleep_for(std::chrono::seconds(3600));
    throw Error("'data.bin' is damaged");
  } else if (mistake == "killed") {
    if (self == 1)
      std::raise(SIGKILL);
    rank.world().allReduce(x, 8);
  } else if (mistake == "killed-meanwhile") {
    if (self == 1)
      std::raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::seconds(3600));
  } else {
    throw Error("no such mistake: " + mistake);
  }
}

std::vector<GridAxis> parseGrid(const std::string &text) {
  std::vector<GridAxis> grid;
  std::istringstream axes(text);
  for (std::string axis; std::getline(axes, axis, ',');)
    grid.push_back({axis.substr(0, axis.find('=')), std::stoll(axis.substr(axis.find('=') + 1))});
  return grid;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string task = arguments.at(0);
  std::vector<GridAxis> grid = parseGrid(arguments.at(1));
  if (task == "threads")
    return writeThreadResults(grid, arguments.at(2)), 0;
  MpiRankOptions options;
  options.apart = arguments.back() == "apart";
  options.waitLimit = task == "late" ? 0.3 : 0;
  std::signal(SIGTERM, SIG_IGN); // as a trainer does, which finishes its step
  std::unique_ptr<RankRunner> ranks;
  size_t equal = 0;
  try {
    ranks = mpiRunner(grid, options);
    ranks->run(
        [&](Rank &rank) {
          if (task == "equal")
            equal = requireEqual(rank, useAll(rank), arguments.at(2));
          else
            err(task, rank);
        },
        [] { return "do it again"; });
  } catch (const std::exception &error) {
    if (!ranks || ranks->reports())
      std::cerr << "error: " << error.what() << std::endl;
    return 1;
  }
  if (ranks->hasFirst())
    std::cout << equal << " results are equal" << std::endl;
  return 0;
}
