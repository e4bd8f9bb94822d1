import Bytes

/// The parameters of a signed URL in a text, and when it expires.
struct SignedURL {
  /// When the signature expires, in seconds since 1970; `nil` if that is unknown.
  let expires: Int64?

  /// The most bytes before and after the signature that are looked at.
  static let reach = 2_048

  /// Reads the URL around a signature; `nil` if its parameters are not those of a signed URL.
  init?(in text: [UInt8], signature: NamedValue) {
    guard signature.value.count >= 16 else { return nil }
    let start = Self.start(in: text, before: signature.name.lowerBound)
    let end = Self.end(in: text, after: signature.value.upperBound)
    let parameters = Self.parameters(of: text[start..<end])
    func has(_ name: String) -> Bool { parameters[name] != nil }
    let name = ByteString(text[signature.name].map(\.asciiLowercased)).string ?? ""
    switch name {
    case "x-amz-signature":
      expires = Self.expiry(parameters, date: "x-amz-date", seconds: "x-amz-expires")
    case "x-goog-signature":
      expires = Self.expiry(parameters, date: "x-goog-date", seconds: "x-goog-expires")
    case "sig":
      guard has("se") || has("sv") || has("skoid") else { return nil }
      expires = parameters["se"].flatMap { text in
        Timestamp(iso8601: text, .programs)?.wholeSeconds
          ?? CivilTime(text.span)?.secondsSince1970
      }
    case "signature":
      let signers = [
        "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "keyname",
      ]
      guard signers.contains(where: has) else { return nil }
      expires = parameters["expires"].flatMap(Self.number)
    // Akamai: hdnea=exp=…~acl=…~hmac=….
    case let name where name.utf8.starts(with: "hdn".utf8) || name == "hmac":
      let whole = text[start..<end]
      guard let place = Self.index(of: "exp=", in: whole), Self.index(of: "hmac=", in: whole) != nil
      else { return nil }
      expires = Self.number(Array(whole[(place + 4)...]))
    default: return nil
    }
  }

  private static func start(in text: [UInt8], before place: Int) -> Int {
    var start = place
    let least = max(0, place - reach)
    while start > least, !endsURL(text[start - 1]) { start -= 1 }
    return start
  }

  private static func end(in text: [UInt8], after place: Int) -> Int {
    var end = place
    let most = min(text.count, place + reach)
    while end < most, !endsURL(text[end]) { end += 1 }
    return end
  }

  private static func endsURL(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
      || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
  }

  /// Returns the parameters by their names in lower case, with their values percent-decoded.
  private static func parameters(of url: ArraySlice<UInt8>) -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    // In JSON, `&` is often written `\u0026`, and in HTML `&amp;`.
    // No service has more parameters; a text of many signatures would otherwise be split for each.
    let parts = url.split(
      maxSplits: 64, whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "?") })
    for part in parts {
      var pair = part
      for escape in ["amp;", "u0026"] where pair.starts(with: escape.utf8) {
        pair = pair.dropFirst(escape.utf8.count)
      }
      for piece in pair.split(separator: UInt8(ascii: "\\")) {
        let piece = piece.starts(with: "u0026".utf8) ? piece.dropFirst(5) : piece
        guard let equals = piece.firstIndex(of: UInt8(ascii: "=")),
          let name = ByteString(piece[..<equals].map(\.asciiLowercased)).string
        else { continue }
        if result[name] == nil { result[name] = piece[(equals + 1)...].percentUnescaped() }
      }
    }
    return result
  }

  /// Returns the end of a validity that is a date of the form 20260131T120000Z and a number of seconds.
  private static func expiry(
    _ parameters: [String: [UInt8]], date: String, seconds: String
  ) -> Int64? {
    guard let text = parameters[date], text.count == 16, let seconds = parameters[seconds],
      let length = number(seconds)
    else { return nil }
    var iso = Array(text[0..<4]) + [UInt8(ascii: "-")] + text[4..<6] + [UInt8(ascii: "-")]
    iso += text[6..<11] + [UInt8(ascii: ":")] + text[11..<13] + [UInt8(ascii: ":")] + text[13...]
    return Timestamp(iso8601: iso, .rfc3339).map { $0.wholeSeconds + length }
  }

  private static func number(_ text: [UInt8]) -> Int64? {
    Int64(String(decoding: Array(text.prefix { $0.isASCIIDigit }.prefix(15)), as: UTF8.self))
  }

  private static func index(of word: String, in text: ArraySlice<UInt8>) -> Int? {
    let word = Array(word.utf8)
    guard text.count >= word.count else { return nil }
    return (text.startIndex...text.endIndex - word.count).first { start in
      text[start..<start + word.count].elementsEqual(word)
    }
  }
}
