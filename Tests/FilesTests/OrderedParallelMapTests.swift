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

  @Test func `parts of a batch come before its error`() throws {
    let results = OrderedResults<Int, Int>()
    results.end(1, with: .success(9))
    for part in 1...3 { try results.send(part, bytes: 10, of: 0) }
    results.end(0, with: .failure(Failure(number: 4)))
    results.setCount(2)
    var parts: [Int] = []
    let error = #expect(throws: Failure.self) {
      try results.forEach { if case .part(let part) = $0 { parts.append(part) } }
    }
    #expect(error?.number == 4 && parts == [1, 2, 3])
  }

  @Test func `nothing comes after an error of the caller`() throws {
    let threads = OrderedParallelMap<Int, Never, [Int]>("test") { { batch, _ in batch } }
    for number in 0..<300 { threads.add(number, byteCount: 1_048_576) }
    var count = 0
    for _ in 0..<2 {
      try? threads.forEachSummary(all: true) { _ in
        count += 1
        if count == 2 { throw Failure(number: 0) }
      }
    }
    #expect(count == 2)
  }

  @Test func `values made ahead come before the error, which stays`() throws {
    let values = ReadAhead<Int>("test", most: 2) { send in
      for number in 0..<9 { try send(number) }
      throw Failure(number: 9)
    }
    for number in 0..<9 { #expect(try values.next() == number) }
    for _ in 0..<2 {
      let error = #expect(throws: Failure.self) { _ = try values.next() }
      #expect(error?.number == 9)
    }
    #expect(values.nextNow() == nil)
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
