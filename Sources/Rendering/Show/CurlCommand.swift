import Bytes
public import ResponseStorage

/// A `curl` command that repeats the request of a stored response.
///
/// `curl` still adds `Host`, `User-Agent` and `Accept` if the cache has none, and always sets `Content-Length` and
/// `Transfer-Encoding` itself.
public struct CurlCommand: Hashable, Sendable {
  /// The reason why a request cannot be repeated.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason: a clause without text from the cache.
    public let description: String

    init(_ description: String) {
      self.description = description
    }
  }

  /// An option, with its value if it takes one.
  private struct Option: Hashable, Sendable {
    var name: String
    var value: [UInt8]?
  }

  /// The maximum total size of options: Linux limits one argument to 128 KiB.
  private static let longestOptions = 100_000

  /// The fields that make a request conditional, in lowercase (RFC 9110 §13.1), and `Range`.
  private static let conditionalFields: Set<ByteString> = [
    "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range",
  ]

  private var options: [Option] = []
  private let body: [UInt8]?

  /// Creates the command.
  ///
  /// The response must have been decoded for ``projection``.
  ///
  /// - Parameters:
  ///   - conditions: The field lines that make the request conditional (RFC 9110 §13.1) and replace stored ones; `nil`
  ///     to repeat the request as it is stored. With conditions, `curl` shows the head of the response, because a 304
  ///     has nothing else.
  ///   - secrets: Which secrets the command may contain. All others are replaced by `***`, and so is the body of the
  ///     request.
  /// - Throws: ``Failure`` if there is no such command, or if `curl` would misinterpret a part of the request.
  public init(
    repeating response: StoredResponse, under conditions: HeaderFields? = nil, secrets: SecretPolicy
  ) throws(Failure) {
    let request = response.request
    let url = try Self.requestTarget(of: response, secrets)
    body = request.body.map { secrets.showSecrets ? $0 : Mask.replacement.bytes }
    // Otherwise, `curl` would treat brackets as ranges of URLs, and resolve dot segments.
    if url.contains(where: "[]".utf8.contains) { options.append(Option(name: "globoff")) }
    if Self.hasDotSegment(url) { options.append(Option(name: "path-as-is")) }
    try addMethod(request.method)
    var headers = request.headers ?? HeaderFields()
    if let conditions {
      options.append(Option(name: "include"))
      headers.fields.removeAll { Self.conditionalFields.contains($0.name.asciiLowercased) }
      headers.fields += conditions.fields
    }
    try addHeaders(secrets.headers(headers))
    options.append(Option(name: "url", value: url))
    let length = options.reduce(0) { $0 + ($1.value?.count ?? 0) }
    guard length <= Self.longestOptions else {
      throw Failure("its URL and header fields are longer than \(Self.longestOptions) bytes")
    }
  }

  /// The parts of a response to decode for its command.
  public static let projection: Projection = [
    .url, .key, .method, .requestHeaders, .requestDetails,
  ]

  /// Appends the command and a line end.
  public func append(into buffer: inout TextBuffer) {
    let isInline = body.map(Self.fitsIntoWord) ?? true
    if let body, !isInline { Self.append(printing: body, into: &buffer) }
    buffer.append("curl")
    for (index, option) in options.enumerated() {
      buffer.append(index == 0 || option.value == nil ? " --" : " \\\n  --")
      buffer.append(option.name)
      guard let value = option.value else { continue }
      buffer.append(UInt8(ascii: " "))
      buffer.append(shellWord: value)
    }
    if let body {
      buffer.append(" \\\n  --data-binary ")
      if isInline { buffer.append(shellWord: body) } else { buffer.append("@-") }
    }
    buffer.append(UInt8(ascii: "\n"))
  }
}

extension CurlCommand {
  /// Returns the URL to request, with characters that are not allowed in URLs percent-encoded.
  private static func requestTarget(
    of response: StoredResponse, _ secrets: SecretPolicy
  ) throws(Failure) -> [UInt8] {
    guard let url = response.requestedURL ?? response.url else { throw Failure("it has no URL") }
    // With any other URL, `curl` might read a file or use another protocol.
    let isHTTP = ["http://", "https://"].contains { scheme in
      url.asciiLowercased.bytes.starts(with: scheme.utf8)
    }
    guard isHTTP else { throw Failure("its URL is not an HTTP URL") }
    return secrets.url(url, for: .people).bytes.percentEscaped { byte in
      byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte)
    }
  }

  /// Whether the path of a URL may have a segment `.` or `..`, percent-encoded or not.
  private static func hasDotSegment(_ url: [UInt8]) -> Bool {
    let path = ByteString(url).asciiLowercased.bytes
    return ["/.", "/%2e"].contains { dots in
      path.indices.contains { path[$0...].starts(with: dots.utf8) }
    }
  }

  private mutating func addMethod(_ method: ByteString?) throws(Failure) {
    let method = method ?? (body == nil ? "GET" : "POST")
    // A hostile cache can contain a method with a space or a line end, which would begin another
    // request.
    guard method.bytes.isToken else { throw Failure("its method is not a valid HTTP method") }
    if method == "HEAD" {
      // With `--request`, `curl` would wait for a body, which a response to HEAD does not have.
      guard body == nil else { throw Failure("it is a HEAD request with a body") }
      options.append(Option(name: "head"))
    } else if method != "GET" || body != nil {
      options.append(Option(name: "request", value: method.bytes))
    }
  }

  private mutating func addHeaders(_ headers: HeaderFields) throws(Failure) {
    for (index, field) in headers.fields.enumerated() {
      guard field.name.bytes.isToken else {
        throw Failure("the name of its header field \(index + 1) is invalid")
      }
      // `curl` passes a line end on, so a stored value could add header fields to the request of
      // whoever repeats it.
      guard !field.value.bytes.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
        throw Failure("its header field \(index + 1) contains a line break or NUL")
      }
      // `curl` computes these from the body that it sends.
      if ["content-length", "transfer-encoding"].contains(field.name.asciiLowercased) { continue }
      // A name with a colon and only white space removes a field. A semicolon sends an empty field instead.
      let isEmpty = field.value.bytes.allSatisfy { [0x20, 0x09, 0x0B, 0x0C].contains($0) }
      let line =
        field.name.bytes + (isEmpty ? [UInt8(ascii: ";")] : [0x3A, 0x20] + field.value.bytes)
      options.append(Option(name: "header", value: line))
    }
    // Without `--compressed`, `curl` would print the encoded body.
    if headers.firstValue(named: "accept-encoding") != nil {
      options.append(Option(name: "compressed"))
    }
    if body != nil, headers.firstValue(named: "content-type") == nil {
      // Otherwise, `curl` would send the body as a form.
      options.append(Option(name: "header", value: Array("Content-Type:".utf8)))
    }
  }

  /// Whether a body can be an argument; one that begins with `@` would name a file.
  private static func fitsIntoWord(_ body: [UInt8]) -> Bool {
    body.count <= 4_096 && body.first != UInt8(ascii: "@") && HostileText.isShownAsIs(body)
  }

  /// Appends the first half of a pipeline, which writes a body of any bytes and any size.
  private static func append(printing body: [UInt8], into buffer: inout TextBuffer) {
    // As an octal escape, a byte has four characters, so each `printf` argument stays below 128 KiB.
    let size = 16_384
    if body.count <= size {
      buffer.append(printing: body[...])
    } else {
      buffer.append("{\n")
      for start in stride(from: 0, to: body.count, by: size) {
        buffer.append("  ")
        buffer.append(printing: body[start..<min(start + size, body.count)])
        buffer.append("\n")
      }
      buffer.append("}")
    }
    buffer.append(" | ")
  }
}
