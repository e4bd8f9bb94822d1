import Bytes

/// The name of a file of a Foundation store.
///
/// Foundation takes a file for a stored response whose name is `SECONDS.KEY.storedcachedurlresponse`, the
/// suffix in either case, with no other full stop, and seconds that are an `Int64`. What has the suffix
/// only is never seen by it; what begins like the names of its temporary files was left by a crash.
/// Source: `URLCache.swift` of swift-corelibs-foundation.
struct FoundationFileName: Hashable {
  /// What a name says of its file.
  enum Kind: Hashable {
    /// A stored response, by the seconds since 2001 when it was stored, and its key in Base64.
    case response(seconds: Int64, key: [UInt8])
    /// A file that was being written.
    case temporary
    /// A file that has the suffix, and that Foundation does not see.
    case unseen
  }

  /// The name.
  let bytes: [UInt8]
  /// What it says.
  let kind: Kind

  /// Whether Foundation takes the file for a stored response, and so counts and removes it.
  var isSeen: Bool {
    if case .response = kind { true } else { false }
  }

  /// Reads a name; `nil` if it is not that of a file of a store.
  init?(_ bytes: [UInt8]) {
    // No file of a folder is called so; it would be another file.
    guard !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0) else { return nil }
    self.bytes = bytes
    if let stem = Self.stem(of: bytes[...]) {
      let parts = stem.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      if parts.count == 2, let seconds = Int64(String(decoding: parts[0], as: UTF8.self)) {
        kind = .response(seconds: seconds, key: Array(parts[1]))
      } else {
        kind = .unseen
      }
    } else if bytes.starts(with: Self.temporaryPrefix) {
      kind = .temporary
    } else {
      return nil
    }
  }

  /// Finds the name of the file that a store calls `id`; `nil` if no file can be called so.
  init?(of id: ByteString) {
    for bytes in [id.bytes, id.bytes + Self.suffix] {
      guard let name = Self(bytes), name.id == id else { continue }
      self = name
      return
    }
    return nil
  }

  /// What a store calls the file: the name without the suffix; the whole of it where that would not tell
  /// two files apart.
  var id: ByteString {
    guard case .response = kind, bytes.suffix(Self.suffix.count).elementsEqual(Self.suffix) else {
      return ByteString(bytes)
    }
    let stem = bytes.dropLast(Self.suffix.count)
    return ByteString(Self.stem(of: stem) == nil ? Array(stem) : bytes)
  }

  /// The name without a full stop and the suffix in either case; `nil` if it does not end so.
  private static func stem(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard name.count > suffix.count,
      name.suffix(suffix.count).elementsEqual(suffix, by: { $0.asciiLowercased == $1 })
    else { return nil }
    return name.dropLast(suffix.count)
  }

  /// A name for a file that is being written, which is hardly one that there is.
  static func temporary() -> FoundationFileName {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 36)
    let bytes = temporaryPrefix + Array("0.\(digits)".utf8)
    return FoundationFileName(bytes: bytes, kind: .temporary)
  }

  private init(bytes: [UInt8], kind: Kind) {
    self.bytes = bytes
    self.kind = kind
  }

  /// Of the names of each key that which was stored last.
  static func newest(of names: [FoundationFileName]) -> [[UInt8]: FoundationFileName] {
    var newest: [[UInt8]: (seconds: Int64, name: FoundationFileName)] = [:]
    for name in names {
      guard case .response(let seconds, let key) = name.kind else { continue }
      if newest[key].map({ $0.seconds < seconds }) ?? true { newest[key] = (seconds, name) }
    }
    return newest.mapValues(\.name)
  }

  /// What all names of stored responses end with.
  static let suffix = Array(".storedcachedurlresponse".utf8)

  /// What the names of temporary files begin with.
  static let temporaryPrefix = Array(".dat.nosync".utf8)
}
