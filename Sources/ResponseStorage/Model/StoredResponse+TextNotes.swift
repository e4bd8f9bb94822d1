import Bytes

extension StoredResponse {
  /// Adds a note if a text is not UTF-8.
  mutating func noteUnlessUTF8(_ text: ByteString?, _ what: @autoclosure () -> String) {
    // Nearly every text is ASCII, which is quick to check.
    guard let text, !PrintableASCII.isAll(of: text.bytes.span), text.string == nil else { return }
    notes.append(.init(.notUTF8, "\(what()) is not UTF-8"))
  }

  /// Adds notes on the texts of the response that are not UTF-8.
  mutating func noteResponseUnlessUTF8() {
    noteUnlessUTF8(url, "the URL of the response")
    noteUnlessUTF8(mimeType, "its media type")
    noteUnlessUTF8(responseHeaders, "of the response")
  }

  /// Adds notes on the texts of the request that are not UTF-8.
  mutating func noteRequestUnlessUTF8() {
    noteUnlessUTF8(request.url, "the URL of the request")
    noteUnlessUTF8(request.method, "its method")
    noteUnlessUTF8(request.headers, "of the request")
  }

  private mutating func noteUnlessUTF8(_ headers: HeaderFields?, _ whose: String) {
    guard let headers else { return }
    // Iterating over the array would retain and release each field.
    let fields = headers.fields.span
    for index in fields.indices {
      noteUnlessUTF8(fields[index].name, "the name of a header field \(whose)")
      noteUnlessUTF8(fields[index].value, "a header field \(whose)")
    }
  }
}

extension Projection {
  /// The parts to decode for notes: only decoding a part shows whether it is damaged.
  static let examinedForNotes: Self = [.key, .body, .url, .stored, .status, .mimeType, .method]
}
