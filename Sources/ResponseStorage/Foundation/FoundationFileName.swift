import Bytes

/// The name of a file of a Foundation store.
///
/// Foundation recognizes a stored response by the name `SECONDS.KEY.storedcachedurlresponse`, with the
/// suffix in either case, no other full stop, and seconds that are an `Int64`. It ignores other files with
/// the suffix. Files whose names begin like those of its temporary files were left by a crash.
/// Source: `URLCache.swift` of swift-corelibs-foundation.
struct FoundationFileName: Hashable {
  /// The kind of file that a name stands for.
  enum Kind: Hashable {
    /// A stored response, with the seconds since 2001 when it was stored, and its key in Base64.
    case response(seconds: Int64, key: [UInt8])
    /// A file that was being written.
    case temporary
    /// A file with the suffix that Foundation ignores.
    case unseen
  }

  /// The name.
  let bytes: [UInt8]
  /// The kind of file.
  let kind: Kind

  /// Whether Foundation recognizes a stored response, which it would try to read, and counts and removes: an entry.
  var isSeen: Bool {
    if case .response = kind { true } else { false }
  }

  /// Parses a name; `nil` if it is not the name of a file of a store.
  init?(_ bytes: [UInt8]) {
    // Such a name from the command line would lead to a file outside the folder.
    guard !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0) else { return nil }
    self.bytes = bytes
    if let stem = Self.stem(of: bytes[...]) {
      let parts = stem.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      // Foundation also parses an `Int64`, which may have a sign and leading zeros.
      // Twenty digits are refused by both, and `+7`, `-1` and `007` are accepted.
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

  /// Finds the name of the entry with this id; `nil` if no entry can have that id.
  init?(of id: ByteString) {
    for bytes in [id.bytes, id.bytes + Self.suffix] {
      guard let name = Self(bytes), name.isSeen, name.id == id else { continue }
      self = name
      return
    }
    return nil
  }

  /// The id of the file: the name without the suffix, or the whole name where two files could otherwise
  /// have the same id.
  var id: ByteString {
    // A suffix in capitals stays part of the id: otherwise `7.A.storedcachedurlresponse` and its
    // twin in capitals would have one id.
    guard case .response = kind, bytes.suffix(Self.suffix.count).elementsEqual(Self.suffix) else {
      return ByteString(bytes)
    }
    let stem = bytes.dropLast(Self.suffix.count)
    return ByteString(Self.stem(of: stem) == nil ? Array(stem) : bytes)
  }

  /// Returns the name without the full stop and the suffix in either case; `nil` if it does not end so.
  private static func stem(of name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard name.count > suffix.count,
      name.suffix(suffix.count).elementsEqual(suffix, by: { $0.asciiLowercased == $1 })
    else { return nil }
    return name.dropLast(suffix.count)
  }

  /// Returns a random name for a file that is being written, which hardly any file can have.
  static func temporary() -> FoundationFileName {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 36)
    // Foundation puts the number of its process where the 0 is. No process has this number, so the
    // file of a running app is never taken for one of ours.
    let bytes = temporaryPrefix + Array("0.\(digits)".utf8)
    return FoundationFileName(bytes: bytes, kind: .temporary)
  }

  private init(bytes: [UInt8], kind: Kind) {
    self.bytes = bytes
    self.kind = kind
  }

  /// Returns the name that was stored last for each key.
  static func newest(of names: [FoundationFileName]) -> [[UInt8]: FoundationFileName] {
    var newest: [[UInt8]: (seconds: Int64, name: FoundationFileName)] = [:]
    for name in names {
      guard case .response(let seconds, let key) = name.kind else { continue }
      // Foundation keeps the file with the most seconds when it stores a response, and removes all
      // others with that key.
      if newest[key].map({ $0.seconds < seconds }) ?? true { newest[key] = (seconds, name) }
    }
    return newest.mapValues(\.name)
  }

  /// The suffix of the names of stored responses.
  static let suffix = Array(".storedcachedurlresponse".utf8)

  /// The prefix of the names of temporary files.
  // Foundation writes `.dat.nosync`, its process number in hexadecimal digits, and six random
  // characters.
  static let temporaryPrefix = Array(".dat.nosync".utf8)
}
