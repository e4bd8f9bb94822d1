import Bytes
import Files
import Testing

@Suite struct OrderedParallelMapTests {
  private struct Failure: Error {
    var number: Int
  }

  @Test func `results come in order however long each takes`() throws {
    // The first batch ends only after another thread has finished others.
    let others = Channel<Int>()
    let threads = OrderedParallelMap<Int, Never, [Int]>("test") {
      { batch, _ in
        if batch.contains(0), processorCount > 1 { _ = others.receive() } else { others.send(1) }
        return batch
      }
    }
    var numbers: [Int] = []
    for number in 0..<3_000 {
      threads.add(number, byteCount: number % 100 == 0 ? 200_000 : 10)
      try threads.forEachSummary(all: false) { numbers += $0 }
    }
    #expect(numbers.count > 1_000, "the caller waits if there is too much in flight")
    try threads.forEachSummary(all: true) { numbers += $0 }
    #expect(numbers == Array(0..<3_000))
  }

  @Test func `the first error is thrown after the results before it`() throws {
    let threads = OrderedParallelMap<Int, Never, [Int]>("test") {
      { batch, _ in
        for number in batch where number >= 100 { throw Failure(number: number) }
        return batch
      }
    }
    for number in 0..<300 { threads.add(number, byteCount: 1_048_576) }
    var numbers: [Int] = []
    let error = #expect(throws: Failure.self) {
      try threads.forEachSummary(all: true) { numbers += $0 }
    }
    #expect(error?.number == 100 && numbers == Array(0..<100))
  }

  @Test func `the threads end with their owner, whatever is left to do`() {
    final class Work: Sendable {
      let ends: Channel<Bool>

      init(_ ends: Channel<Bool>) { self.ends = ends }

      deinit { ends.send(true) }
    }
    let ends = Channel<Bool>()
    var threads: OrderedParallelMap? = OrderedParallelMap<Int, Never, Int>("test") {
      let work = Work(ends)
      return { batch, _ in withExtendedLifetime(work) { batch.count } }
    }
    for number in 0..<1_000 { threads?.add(number, byteCount: 1_048_576) }
    threads = nil
    for _ in 0..<min(processorCount, 4) { #expect(ends.receive() == true) }
  }
}
