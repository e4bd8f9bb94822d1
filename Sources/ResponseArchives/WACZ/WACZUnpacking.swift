import Archive
import Bytes
import Files
import JSON
import ResponseStorage

/// Reads the members of a WACZ file once, verifies their digests, and concatenates the WARC files.
struct WACZUnpacking: ~Copyable {
  /// Some bytes of a WARC file.
  enum Piece {
    /// The WACZ has them at an offset, without compression.
    case stored(at: Int64, count: Int)
    /// The WACZ has them only compressed.
    case extracted(ArraySlice<UInt8>)
  }

  /// The measured size and digest of a member.
  private struct Member {
    var size: ByteCount
    var sha256: String
  }

  private let file: ArchiveFile
  private let limits: ArchiveLimits
  private var zip: ArchiveReader
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// Bytes of the file that are compared with those of a member.
  private var inFile = [UInt8](repeating: 0, count: 1 << 16)
  private var members: [ByteString: Member] = [:]
  private var warcNames: Set<ByteString> = []
  private var isCompressed: Bool?
  private var documents: [ByteString: [UInt8]] = [:]
  private var total: ByteCount = 0

  /// Starts reading a file.
  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    let zip = try Self.translatingErrors(at: file.path) {
      try ArchiveReader(.zip, of: file.makeInput())
    }
    self.file = file
    self.limits = limits
    self.zip = zip
  }

  private var path: String { file.path }

  private static func translatingErrors<Result: ~Copyable>(
    at path: String, _ body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch let error as ArchiveError {
      throw ResponseArchiveError(.damaged, at: path, "libarchive reports: \(error)")
    } catch let error as JSONError {
      throw ResponseArchiveError(.damaged, at: path, "'\(WACZ.packageName)' is malformed: \(error)")
    }
  }

  private func damage(_ fact: String) -> ResponseArchiveError {
    ResponseArchiveError(.damaged, at: path, fact)
  }

  /// Reads all members.
  ///
  /// - Parameter append: Appends bytes to the concatenated WARC files.
  /// - Throws: ``ResponseArchiveError``, or any error from reading or appending.
  consuming func run(_ append: (Piece) throws -> Void) throws {
    while let member = try next() {
      try read(member, append)
    }
    try verify()
    guard !warcNames.isEmpty else { throw damage("it has no WARC file") }
  }

  private mutating func next() throws -> ByteString? {
    guard let member = try Self.translatingErrors(at: path, { try zip.next() }) else { return nil }
    guard let name = member.name, name.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
      throw damage("a member has an unexpected name")
    }
    // Some programs add an entry for each folder, which has no contents.
    if name.last == UInt8(ascii: "/") { return try next() }
    if let finding = member.finding { throw damage("member \(members.count + 1) \(finding)") }
    // Zip allows two members with one name, of which some programs read the first and others the
    // last.
    guard members[ByteString(name)] == nil else { throw damage("it contains a member twice") }
    try limits.check(Int64(members.count), .members, at: path)
    return ByteString(name)
  }

  private mutating func read(_ name: ByteString, _ append: (Piece) throws -> Void) throws {
    let isWARC = name.bytes.starts(with: WACZ.archiveFolder.utf8)
    let isDocument =
      name == ByteString(WACZ.packageName) || name == ByteString(WACZ.packageDigestName)
    if isDocument { documents[name] = [] }
    var digest = Digest()
    var size: ByteCount = 0
    let start = zip.position
    var isStored = isWARC
    while case let count = try piece(), count > 0 {
      let bytes = buffer[..<count]
      let place = start + size.bytes
      if isWARC, size == 0 { try begin(bytes) }
      size += ByteCount(count)
      total += ByteCount(count)
      try limits.check(size, isDocument ? .document : .member, at: path)
      try limits.check(total, .total, at: path)
      try limits.checkRatio(total, outOf: file.status.size, at: path)
      digest.update(bytes)
      if isWARC {
        isStored = try isStored && fileHas(bytes, at: place)
        try append(isStored ? .stored(at: place, count: count) : .extracted(bytes))
      }
      if isDocument { documents[name, default: []] += bytes }
    }
    if isWARC { warcNames.insert(name) }
    members[name] = Member(size: size, sha256: digest.hexadecimal)
  }

  private mutating func piece() throws -> Int {
    try checkSignals()
    return try Self.translatingErrors(at: path) { try zip.read(into: &buffer) }
  }

  /// Whether the file has some bytes of a member at an offset.
  private mutating func fileHas(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws -> Bool {
    let count = try file.read(into: &inFile, at: offset)
    return inFile.span.extracting(..<count).starts(with: bytes.span)
  }

  /// Checks that the WARC files can be concatenated: all compressed, or none.
  private mutating func begin(_ bytes: ArraySlice<UInt8>) throws {
    let isCompressed = ContentCoding(ofDataBeginningWith: bytes) != nil
    // gzip members can follow each other, and so can plain records, but a reader cannot change
    // between both in one stream.
    guard self.isCompressed ?? isCompressed == isCompressed else {
      throw damage("only some of its WARC files are compressed, which is not supported")
    }
    self.isCompressed = isCompressed
  }

  /// Verifies all members that have a digest.
  private mutating func verify() throws {
    guard let package = documents[ByteString(WACZ.packageName)] else {
      throw damage("'\(WACZ.packageName)' is missing")
    }
    if let digest = documents[ByteString(WACZ.packageDigestName)] {
      let hash = try Self.translatingErrors(at: path) { try WACZPackage.hash(reading: digest) }
      guard hash == ByteString("sha256:\(Digest(of: package).hexadecimal)") else {
        throw damage("'\(WACZ.packageName)' does not match its digest")
      }
    }
    var missing = warcNames
    try Self.translatingErrors(at: path) {
      try WACZPackage.forEachResource(reading: package) { resource in
        try verify(resource)
        missing.remove(resource.path)
      }
    }
    // A WARC file that the package does not list has no digest, and could have been added by
    // anybody.
    guard missing.isEmpty else { throw damage("'\(WACZ.packageName)' does not list a WARC file") }
  }

  private func verify(_ resource: WACZPackage.Resource) throws {
    guard let member = members[resource.path] else {
      throw damage("a member listed in '\(WACZ.packageName)' is missing")
    }
    // Data packages may use other algorithms such as MD5, which are not verified. The sizes are
    // compared all the same.
    let isOther = resource.hash.map { !$0.bytes.starts(with: "sha256:".utf8) } ?? true
    guard isOther || resource.hash == ByteString("sha256:\(member.sha256)"),
      resource.size.map({ $0 == member.size }) ?? true
    else { throw damage("a member does not match its digest in '\(WACZ.packageName)'") }
  }
}
