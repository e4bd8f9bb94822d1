/// An error of decoding coded data.
public struct ContentDecodingError: Error, Hashable, Sendable {
  /// The kinds of failure.
  public enum Kind: Hashable, Sendable {
    /// The data is truncated.
    case endsTooEarly
    /// The data is not valid in its coding.
    case broken
    /// The decoded data does not match the checksum or the length in the coded data.
    case wrongChecksum
    /// There is more decoded data than allowed.
    case tooLarge
    /// The libarchive of this system does not support the coding.
    case notSupported
    /// libarchive could not allocate a handle.
    case outOfMemory
  }

  /// The kind of failure.
  public let kind: Kind

  /// What happened, with the offset in the data: a clause without bytes of the data.
  public let description: String

  static func endsTooEarly(_ offset: Int64) -> Self {
    Self(kind: .endsTooEarly, description: "it ends too early, at byte \(offset)")
  }

  static func broken(from offset: Int64, because reason: String?) -> Self {
    let place = "it cannot be decoded from byte \(offset) on"
    return Self(kind: .broken, description: reason.map { "\(place): \($0)" } ?? place)
  }

  static func notBeginning(_ coding: ContentCoding, _ offset: Int64) -> Self {
    Self(kind: .broken, description: "no whole \(coding.rawValue) header is at byte \(offset)")
  }

  static func wrongChecksum(ofMemberAt offset: Int64) -> Self {
    Self(
      kind: .wrongChecksum,
      description: "the member that begins at byte \(offset) does not match its checksum")
  }

  static func tooLarge(_ limit: Int64) -> Self {
    Self(kind: .tooLarge, description: "more than \(limit) bytes come out of it")
  }

  static let outOfMemory = Self(kind: .outOfMemory, description: "there is no memory for it")

  static func notSupported(_ coding: ContentCoding) -> Self {
    Self(
      kind: .notSupported, description: "this system's libarchive has no \(coding.rawValue)")
  }
}

extension ContentDecodingError: CustomStringConvertible {}
