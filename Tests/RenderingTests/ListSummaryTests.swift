import Bytes
import Testing

@testable import Rendering

@Suite struct ListSummaryTests {
  @Test(arguments: [
    (50, 50, 50, false, "50 of 50 entries, 0 B"),
    (50, 20_000, 20_000, true, "50 shown of over 20,000 entries; 0 B shown"),
    (30_000, 30_000, 30_000, true, "30,000 shown of over 30,000 entries; 0 B shown"),
    (1, 1, 20_000, true, "1 of over 20,000 entries, 0 B"),
    (1, 2, 20_000, true, "1 shown of 2 selected, over 20,000 in all; 0 B shown"),
  ])
  func `a summary shows that entries were not counted`(
    _ shown: Int64, _ selected: Int64, _ total: Int64, _ hasUncounted: Bool, _ text: String
  ) {
    var summary = ListSummary(shown: shown, selected: selected, total: total, bodyBytes: 0)
    summary.hasUncounted = hasUncounted
    #expect(summary.text == text)
  }
}
