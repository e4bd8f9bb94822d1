import Foundation
import Testing

/// Expects a text to equal a file in the folder `Golden`.
///
/// With `RECORD_GOLDEN=1` in the environment the file is written instead, and the test fails, so that a recording is
/// never mistaken for a pass.
func expectGolden(_ text: String, named name: String) throws {
  let golden = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(components: "Golden", name)
  if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: golden)
    Issue.record("recorded \(name)")
  } else {
    let expected = try String(contentsOf: golden, encoding: .utf8)
    #expect(text == expected, "differs from Golden/\(name)")
  }
}
