import ResponseStorage
import Testing

@Suite struct FootprintTests {
  @Test func `the total is the sum of all files`() {
    var footprint = Footprint()
    footprint.databaseBytes = 1
    footprint.walBytes = 20
    footprint.shmBytes = 300
    footprint.bodyFilesBytes = 4_000
    footprint.freeBytes = 50_000
    footprint.orphanBytes = 600_000
    #expect(footprint.totalBytes == 4_321)
  }

  @Test func `files that no sum can hold do not crash it`() {
    var footprint = Footprint()
    footprint.databaseBytes = .max
    footprint.bodyFilesBytes = .max
    #expect(footprint.totalBytes == .max)
  }

  @Test(
    arguments: [
      (Int64.max, 1, Int64.max), (.max, .max, .max), (.min, -1, .min), (.min, .min, .min),
      (.max, .min, -1), (.max - 1, 1, .max), (-5, 7, 2), (0, 0, 0),
    ] as [(Int64, Int64, Int64)])
  func `a sum stays within what a number can say`(_ one: Int64, _ other: Int64, _ sum: Int64) {
    #expect(one.addingClamped(other) == sum)
    #expect(other.addingClamped(one) == sum)
  }
}
