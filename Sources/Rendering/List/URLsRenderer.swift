import Bytes
import ResponseStorage

/// Renders a list as URLs, one on each line, with everything but printable ASCII percent-encoded.
///
/// Responses without a known URL are left out.
struct URLsRenderer: LineRenderer {
  let secrets: SecretPolicy

  mutating func begin(into buffer: inout TextBuffer) {}

  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    guard let url = response.url else { return }
    // Not masked by default: the list is made for tools such as `xargs curl`, for which a masked
    // URL is useless.
    let bytes = secrets.url(url, for: .programs).bytes
    // A line feed in a URL would become two lines, and a space two arguments. Encoded, every line
    // is exactly one URL.
    if PrintableASCII.isAll(of: bytes.span, but: UInt8(ascii: " ")) {
      buffer.append(contentsOf: bytes)
      buffer.append(UInt8(ascii: "\n"))
      return
    }
    buffer.append(contentsOf: bytes.percentEscaped { $0 > 0x20 && $0 < 0x7F })
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}
