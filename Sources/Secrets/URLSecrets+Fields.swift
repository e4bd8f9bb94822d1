public import Bytes

extension URLSecrets {
  /// Returns the value of a header field, or of a property, with each secret replaced; all other bytes are unchanged.
  ///
  /// A value that is a secret as a whole, as the name of the field or a scheme before a token tells, is replaced as a whole.
  /// In other values, secrets are found in URLs, by their formats, and by the names before them: `token=…`,
  /// `{"password":"…"}`. Without ``includesTokens``, only URLs are looked at.
  public func replacing(
    in value: ByteString, ofField name: ByteString, by replacement: (Secret) -> ByteString?
  ) -> ByteString {
    // Fields such as `Location` and `Referer` contain whole URLs, with the tokens in them. Most values have none of these
    // bytes.
    let mayContainURL = value.bytes.contains { byte in
      switch byte {
      case UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: ";"): true
      default: false
      }
    }
    let new = mayContainURL ? replacing(in: value, as: .text, by: replacement) : value
    guard includesTokens else { return new }
    if Self.isSecret(new, named: name) { return replacement(.value(value.bytes[...])) ?? "" }
    let text = new.bytes
    let places = SecretRanges.merged(
      SecretDetector.credentials(in: text, .fields) + SecretRanges.namedValues(in: text))
    guard !places.isEmpty else { return new }
    var result: [UInt8] = []
    var position = 0
    for place in places {
      result += text[position..<place.lowerBound]
      result +=
        isReplaced(text[place])
        ? Array(text[place]) : replacement(.value(text[place]))?.bytes ?? []
      position = place.upperBound
    }
    return ByteString(result + text[position...])
  }

  /// Whether a value was replaced before, by a mask or a redaction. A weak password, such as `secret`, is none of these.
  private func isReplaced(_ value: ArraySlice<UInt8>) -> Bool {
    value.elementsEqual("***".utf8) || value.starts(with: "REDACTED-".utf8)
  }

  /// Whether a value is a secret as a whole. Apps send tokens in fields of any name, so the value decides as well.
  private static func isSecret(_ value: ByteString, named name: ByteString) -> Bool {
    if hasWebToken(value.bytes[...]) || Credentials.areIn(fieldValue: value.bytes[...]) {
      return true
    }
    return FieldSecrets(now: .epoch).matches(in: value, named: name).contains { match in
      match.rule.isCredential
        && value.bytes[...].trimmingBlanks.count <= match.value.bytes.count
    }
  }
}
