//===- MpiAllReduce.cpp - Open MPI's all-reduce, for comparison -------------===//
//
// mpirun -n 2 colrow-bench-mpi BYTES CALLS [BYTES CALLS ...]
//
// prints a line "BYTES SECONDS" for each size: the median of ten rounds of this many calls.
//
//===----------------------------------------------------------------------===//

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3 || argc % 2 == 0) {
    if (rank == 0)
      std::fprintf(stderr, "usage: colrow-bench-mpi BYTES CALLS [BYTES CALLS ...]\n");
    MPI_Finalize();
    return 2;
  }
  for (int argument = 1; argument < argc; argument += 2) {
    int bytes = std::atoi(argv[argument]), calls = std::atoi(argv[argument + 1]);
    std::vector<float> data(size_t(bytes) / sizeof(float), 1.0f);
    auto reduce = [&] {
      MPI_Allreduce(MPI_IN_PLACE, data.data(), int(data.size()), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    };
    std::vector<double> rounds;
    for (int round = 0; round < 10; ++round) {
      reduce();
      MPI_Barrier(MPI_COMM_WORLD);
      double begin = MPI_Wtime();
      for (int call = 0; call < calls; ++call)
        reduce();
      MPI_Barrier(MPI_COMM_WORLD);
      rounds.push_back((MPI_Wtime() - begin) / calls);
    }
    std::nth_element(rounds.begin(), rounds.begin() + 5, rounds.end());
    if (rank == 0)
      std::printf("%d %.9g\n", bytes, rounds[5]);
  }
  MPI_Finalize();
  return 0;
}
