import Fetching
import Foundation
import Testing

@testable import AdminCommands

@Suite struct FetchProcessTests {
  @Test func `each process gets some of the requests`() throws {
    let process = try FetchProcess(BuiltProduct("urlcache-admin-fetch").path, renewingAfter: 2)
    let request = FetchRequest(url: Array("file:///".utf8))
    for number in 0..<7 as Range<UInt32> { try process.send(request, as: number) }
    // The last one waits for the fourth process.
    try process.cancel(6)
    var failures: [UInt32: FetchFailure.Kind] = [:]
    for _ in 0..<7 {
      let (number, event) = try #require(try process.receive(milliseconds: 20_000))
      guard case .failure(let failure) = event else {
        Issue.record("\(number): \(event)")
        continue
      }
      #expect(failures.updateValue(failure.kind, forKey: number) == nil)
    }
    #expect(failures.count == 7)
    #expect(failures.allSatisfy { $0.value == ($0.key == 6 ? .cancelled : .notSendable) })
    #expect(try process.receive(milliseconds: 0) == nil)
  }
}
