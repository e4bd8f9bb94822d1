import Files
import Testing

@Suite struct BackgroundThreadTests {
  private struct Failure: Error, Equatable {
    let number: Int
  }

  @Test func `results are in the order of their numbers`() throws {
    #expect(BackgroundThread.map(100) { $0 * $0 } == (0..<100).map { $0 * $0 })
    #expect(BackgroundThread.map(0) { $0 } == [])
  }

  @Test func `the error of the smallest number is thrown when all have ended`() {
    #expect(throws: Failure(number: 3)) {
      try BackgroundThread.map(50) { number throws(Failure) in
        if number % 10 == 3 { throw Failure(number: number) }
      }
    }
  }
}
