import Bytes

extension StoredResponse {
  /// Notes a text that is not UTF-8.
  mutating func noteUnlessUTF8(_ text: ByteString?, _ what: @autoclosure () -> String) {
    // Nearly all is ASCII.
    guard let text, !PrintableASCII.isAll(of: text.bytes.span), text.string == nil else { return }
    notes.append(.init(.notUTF8, "\(what()) is not UTF-8"))
  }

  /// Notes what of the response is not UTF-8.
  mutating func noteResponseUnlessUTF8() {
    noteUnlessUTF8(url, "the URL of the response")
    noteUnlessUTF8(mimeType, "its media type")
    noteUnlessUTF8(responseHeaders, "of the response")
  }

  /// Notes what of the request is not UTF-8.
  mutating func noteRequestUnlessUTF8() {
    noteUnlessUTF8(request.url, "the URL of the request")
    noteUnlessUTF8(request.method, "its method")
    noteUnlessUTF8(request.headers, "of the request")
  }

  private mutating func noteUnlessUTF8(_ headers: HeaderFields?, _ whose: String) {
    guard let headers else { return }
    // A loop over the array would hold on to each field.
    let fields = headers.fields.span
    for index in fields.indices {
      noteUnlessUTF8(fields[index].name, "the name of a header field \(whose)")
      noteUnlessUTF8(fields[index].value, "a header field \(whose)")
    }
  }
}

extension Projection {
  /// What is looked at for notes: what is odd about a part is only found where it is decoded.
  static let examinedForNotes: Self = [.key, .body, .url, .stored, .status, .mimeType, .method]
}
