import Administration
import Bytes
import ResponseStorage
import Testing

@testable import Rendering

struct TableLayoutTests {
  private func rows(_ urls: [ByteString], columns: [EntryField]? = nil, width: Int?) -> [ArraySlice<
    UInt8
  >] {
    let responses = urls.enumerated().map {
      Samples.response(Int64($0.offset) * 1_000_000_007, url: $0.element)
    }
    return Samples.render(.table, responses, columns: columns, width: width).bytes
      .split(separator: UInt8(ascii: "\n"))
  }

  @Test(arguments: 60...200) func `no row is wider than the terminal`(width: Int) {
    let wide = ByteString("https://a.example/" + String(repeating: "漢😀e\u{301}", count: 80))
    for row in rows(Samples.hostile + [wide], width: width) {
      #expect(DisplayWidth.width(of: row) <= width)
    }
    let columns: [EntryField] = ["url", "key", "id", "mime", "size"]
    for row in rows(Samples.hostile + [wide], columns: columns, width: width) {
      #expect(DisplayWidth.width(of: row) <= width)
    }
  }

  @Test func `a URL uses what the other columns leave`() {
    let url = ByteString("https://a.example/" + String(repeating: "x", count: 300))
    for width in [80, 120, 200] {
      #expect(rows([url], width: width).map(DisplayWidth.width(of:)).max() == width)
    }
    #expect(
      rows([url], width: nil).last?.suffix(300).allSatisfy { $0 == UInt8(ascii: "x") } ?? false)
  }

  @Test(arguments: [
    ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
    ("ｗ", 2), ("😀", 2), ("🫠", 2), ("☕", 2), ("☀", 1), ("🇩🇪", 4), ("…", 1), ("\u{20000}", 2),
  ])
  func `a text is as wide as on a terminal`(_ text: String, _ width: Int) {
    #expect(DisplayWidth.width(of: Array(text.utf8)[...]) == width)
  }

  @Test(arguments: 0...20) func `a shortened text has the wanted width`(limit: Int) {
    for text in ["https://a.example/", "漢字漢字漢字漢字漢字漢字", "e\u{301}e\u{301}e\u{301}"] {
      for style in [TextStyle(), TextStyle(isASCII: true)] {
        let shortened = DisplayWidth.shortened(Array(text.utf8)[...], to: limit, style: style)
        #expect(DisplayWidth.width(of: shortened) <= limit)
        #expect(String(validating: shortened, as: UTF8.self) != nil)
      }
    }
  }

  @Test(arguments: 0...20) func `a shortened text has no mark without its letter`(limit: Int) {
    let text = String(repeating: "e\u{301}\u{302}", count: 30)
    let shortened = DisplayWidth.shortened(Array(text.utf8)[...], to: limit)
    let scalars = Array(String(decoding: Array(shortened), as: UTF8.self).unicodeScalars)
    let end = scalars.firstIndex(of: "…").map { scalars[($0 + 1)...] } ?? []
    #expect(end.first.map { $0 == "e" } ?? (limit < 3))
  }

  @Test func `only a style with colors colors`() {
    for isColored in [false, true] {
      var buffer = TextBuffer(style: TextStyle(isColored: isColored))
      buffer.append("stale", as: .stale)
      #expect(Samples.text(buffer) == (isColored ? "\u{1B}[31mstale\u{1B}[0m" : "stale"))
    }
  }
}
