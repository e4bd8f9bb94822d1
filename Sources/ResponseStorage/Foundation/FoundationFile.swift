import Bytes
import Files
import PropertyLists

/// An open file of a Foundation store, which contains one archive.
struct FoundationFile: ~Copyable {
  private let file: OpenFile

  /// The version of the file when it was opened.
  let version: FileVersion

  /// The limits for a file without its body, which are far larger than anything Foundation writes. It may
  /// have more objects than are decoded.
  private static let fileLimits = PropertyListLimits(
    maximumBytes: 8 << 20, maximumVisits: 200_000)

  /// The limits for what is decoded of it.
  private static let archiveLimits = PropertyListLimits(
    maximumBytes: 10 << 20, maximumVisits: 20_000, maximumDecodedBytes: 8 << 20)

  /// Takes over a regular file.
  init(_ file: consuming OpenFile, version: FileVersion) {
    self.file = file
    self.version = version
  }

  /// Whether the file is far longer than the data written to it.
  var isSparse: Bool {
    get throws(FileError) { try file.isSparse() }
  }

  /// Passes the archive to `body`, without reading a large body.
  ///
  /// - Throws: ``PropertyListError``, ``FileError``, or any error of `body`.
  borrowing func withArchive<Result>(_ body: (borrowing KeyedArchive) throws -> Result) throws
    -> Result
  {
    let condensed = try CondensedPropertyList(size: version.size.bytes, limits: Self.fileLimits) {
      range in
      try file.read(range.count, at: range.lowerBound)
    }
    let list = try BinaryPropertyList(condensed.bytes.span, limits: Self.archiveLimits)
    return try body(KeyedArchive(list, leftOut: condensed.leftOut))
  }

  /// Returns a reader of the body of the response.
  ///
  /// - Throws: ``PropertyListError``, also if the archive has no body, or ``FileError``.
  consuming func bodyReader() throws -> BodyReader {
    let data = try withArchive { archive in
      // A large body was left out of the list, so its place in the file is known here, and not its
      // bytes.
      guard let place = try archive.member("data", of: archive.root),
        let data = try archive.data(place)
      else { throw PropertyListError(.notKeyedArchive, at: 0) }
      return data
    }
    switch data {
    case .bytes(let bytes): return BodyReader(bytes)
    case .left(let range): return BodyReader(file, range: range)
    }
  }

  /// Returns all bytes of the file, or `nil` if there are more than `limit`.
  borrowing func bytes(upTo limit: ByteCount) throws(FileError) -> [UInt8]? {
    guard version.size <= limit else { return nil }
    return try file.read(Int(version.size.bytes), at: 0)
  }
}

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

/// The properties of a Foundation store that the names and sizes of its files show, without opening them.
struct FoundationFolder {
  /// The folder in which swift-corelibs-foundation keeps the stores of programs that name no folder.
  static let parentName = "org.swift.foundation.URLCache"

  /// Whether a folder, which need not exist, is one in which swift-corelibs-foundation keeps a store.
  static func isStandard(_ path: String) -> Bool {
    let path = Array(absolutePath(path).utf8)
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    let parent = String(decoding: path[..<slash], as: UTF8.self)
    // The parent is resolved and not the path, which may not exist yet.
    let parts = (Directory.resolvedPath(parent) ?? parent).utf8.split(separator: UInt8(ascii: "/"))
    return parts.last.map { $0.elementsEqual(parentName.utf8) } ?? false
  }

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The total length of their files, which `URLCache` compares with its capacity.
  private(set) var bytes: ByteCount = 0
  /// When the newest entry was stored, among those whose names have a valid time.
  private(set) var newestStored: Timestamp?
  /// Whether an entry is a regular file, which proves that the folder is a store.
  private(set) var hasRegularEntry = false
  /// Whether there is anything but entries and temporary files of a store.
  private(set) var hasOtherFiles = false

  /// Adds a file of the folder.
  ///
  /// - Returns: Whether it is a file of an entry, so that the folder is a store.
  mutating func insert(_ name: [UInt8], _ status: FileStatus) -> Bool {
    let kind = FoundationFileName(name)?.kind
    guard case .response(let seconds, _) = kind else {
      if kind != .temporary { hasOtherFiles = true }
      return false
    }
    // `URLCache` counts anything with such a name, even a folder or a link.
    entries += 1
    bytes += status.size
    guard status.kind == .regular else {
      hasOtherFiles = true
      return false
    }
    hasRegularEntry = true
    // Foundation accepts any `Int64` in a name, and most of them are no time in a calendar.
    if let time = Timestamp(secondsSince2001: Double(seconds)) {
      newestStored = max(newestStored ?? time, time)
    }
    return true
  }
}
