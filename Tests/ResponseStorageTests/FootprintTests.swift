import Bytes
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

  @Test func `sizes whose sum overflows do not trap`() {
    var footprint = Footprint()
    footprint.databaseBytes = .max
    footprint.bodyFilesBytes = .max
    #expect(footprint.totalBytes == .max)
  }
}
