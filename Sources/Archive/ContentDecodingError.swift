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
    Self(kind: .endsTooEarly, description: "it ends unexpectedly at byte \(offset)")
  }

  static func broken(from offset: Int64, because reason: String?) -> Self {
    let place = "decoding failed at byte \(offset)"
    return Self(kind: .broken, description: reason.map { "\(place): \($0)" } ?? place)
  }

  static func notBeginning(_ coding: ContentCoding, _ offset: Int64) -> Self {
    Self(
      kind: .broken, description: "there is no complete \(coding.rawValue) header at byte \(offset)"
    )
  }

  static func wrongChecksum(ofMemberAt offset: Int64) -> Self {
    Self(
      kind: .wrongChecksum,
      description: "the checksum of the member at byte \(offset) does not match")
  }

  static func tooLarge(_ limit: Int64) -> Self {
    Self(kind: .tooLarge, description: "its decoded size exceeds \(limit) bytes")
  }

  static let outOfMemory = Self(kind: .outOfMemory, description: "out of memory")

  static func notSupported(_ coding: ContentCoding) -> Self {
    Self(
      kind: .notSupported,
      description: "this system's libarchive does not support \(coding.rawValue)")
  }
}

extension ContentDecodingError: CustomStringConvertible {}
