import Bytes
import Testing

@testable import ResponseStorage

@Suite struct RowsByKeyTests {
  @Test func `rows are sorted by sixteen bytes after the common prefix`() {
    let beginning = "https://a.example/a-long-beginning/"
    #expect(
      order(of: [
        beginning + "b", beginning + "a/2", beginning + "a", beginning, beginning + "\u{E9}",
        // The first different byte of these is after the first sixteen.
        beginning + "0123456789abcdef-2", beginning + "0123456789abcdef-1",
      ]) == [4, 6, 7, 3, 2, 1, 5])
  }

  @Test func `keys without a common prefix, equal keys and missing keys are sorted too`() {
    #expect(order(of: ["b", "a", "b"]) == [2, 1, 3])
    #expect(order(of: ["same", "same"]) == [1, 2])
    #expect(order(of: ["a", nil, "b"]) == [2, 1, 3])
    #expect(order(of: [nil, nil, ""]) == [1, 2, 3])
    #expect(order(of: []) == [])
  }

  /// Returns the numbers of the rows with these keys, starting at 1.
  private func order(of keys: [String?]) -> [Int64] {
    let versions = keys.enumerated().map { place, key in
      ResponseVersion(
        id: .row(Int64(place) + 1), key: key.map { ByteString($0) }, stored: nil, file: nil
      )
    }
    var rows = RowsByKey()
    for version in versions {
      guard case .row(let row) = version.id else { continue }
      rows.append(row, version.key)
    }
    return rows.inOrderOfKeys()
  }
}
