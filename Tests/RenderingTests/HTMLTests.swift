import Bytes
import JSON
import ResponseStorage
import Testing

@testable import Rendering

@Suite struct HTMLTests {
  @Test func `interpolated values are text, and only literals are markup`() {
    let text = ByteString("<b title=\"x\" id='y'>&amp;</b>")
    let html: HTML = "<p title=\"\(text)\">\(text)\(7 as Int64)\(HTML("<br>"))</p>"
    let escaped = "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;"
    #expect(self.text(html) == "<p title=\"\(escaped)\">\(escaped)7<br></p>")
  }

  @Test(arguments: ["\u{301}", "\u{200D}", "\u{338}", "\u{FE0F}", "\u{20DD}"])
  func `a combining mark does not hide a special character`(_ mark: String) {
    for (special, escaped) in [
      ("<", "&lt;"), (">", "&gt;"), ("&", "&amp;"), ("\"", "&quot;"), ("'", "&#39;"),
    ] {
      let html = HTML(text: ByteString(special + mark + special))
      #expect(text(html).utf8.starts(with: escaped.utf8))
      #expect(!text(html).unicodeScalars.contains { "<>\"'".unicodeScalars.contains($0) })
    }
  }

  @Test func `invisible characters are named`() {
    let html = HTML(text: ByteString([0x1B, 0x41, 0xFF, 0xE2, 0x80, 0xAE]))
    #expect(text(html) == "‹U+001B›A‹0xFF›‹U+202E›")
  }

  @Test func `JSON in a page does not end an element`() {
    var json = TextBuffer()
    json.writeJSON { $0.value("</script><!--&\u{2028}") }
    #expect(text(HTML(json: json)) == #""\u003c/script\u003e\u003c!--\u0026\u2028""#)
  }

  @Test func `coordinates have at most one decimal place`() {
    let numbers = [0, 1, 1.04, 1.05, 1.96, -0.06, -2.5, 1_176, .nan, .infinity, 1e300]
    let texts = numbers.map { text("\($0)") }
    #expect(texts == ["0", "1", "1", "1.1", "2", "-0.1", "-2.5", "1176", "0", "0", "0"])
  }

  @Test func `text in Markdown is safe as code and as words`() {
    let hostile = ByteString("``a`|[b](c)\n")
    let cell: Markdown = "| \(code: hostile) | \(code: hostile, isCell: false) | \("*a|b*") |"
    #expect(
      ByteString(cell.bytes).string
        == "| ``` ``a`\\|[b](c)‹U+000A› ``` | ``` ``a`|[b](c)‹U+000A› ``` | \\*a\\|b\\* |")
  }

  private func text(_ html: HTML) -> String { ByteString(html.bytes).string ?? "not UTF-8" }
}
