import Archive
import Bytes
import Files
import JSON
import ResponseStorage

/// Reads the members of a WACZ file once, verifies their digests, and concatenates the WARC files.
///
/// A WACZ file may also have WACZ files as members, as Browsertrix packs a collection of several crawls.
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

  private let file: FileBytes
  private let path: String
  private let limits: ArchiveLimits
  private var zip: ArchiveReader
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// Bytes of the file that are compared with those of a member.
  private var inFile = [UInt8](repeating: 0, count: 1 << 16)
  private var members: [ByteString: Member] = [:]
  /// The names of the WARC and WACZ files.
  private var warcNames: Set<ByteString> = []
  private var documents: [ByteString: [UInt8]] = [:]
  private var total: ByteCount = 0
  /// Compresses plain WARC files if others are compressed.
  private let compressor: DeflateCompressor?
  /// The size of the file on disk that all bytes come from.
  private let sourceSize: ByteCount
  /// The WACZ file that this one is a member of.
  private let outer: Outer?

  /// A WACZ file that has another one as a member.
  private enum Outer {
    /// The member is there at an offset, without compression.
    case stored(at: Int64)
    case extracted
  }

  /// Starts reading a file.
  ///
  /// - Parameter path: The path of the file, for errors.
  init(_ file: FileBytes, at path: String, limits: ArchiveLimits) throws {
    var survey = Survey()
    try Self.translatingErrors(at: path) { try survey.add(file) }
    // Members of gzip can follow each other, and so can plain records, but a reader cannot change between both.
    let compressor = survey.isMixed ? try DeflateCompressor(level: 1) : nil
    try self.init(file, file.size(), nil, at: path, limits, compressor)
  }

  private init(
    _ file: FileBytes, _ sourceSize: ByteCount, _ outer: Outer?, at path: String,
    _ limits: ArchiveLimits, _ compressor: DeflateCompressor?
  ) throws {
    zip = try Self.translatingErrors(at: path) { try ArchiveReader(.zip, of: file.input) }
    (self.file, self.path) = (file, path)
    (self.limits, self.compressor) = (limits, compressor)
    (self.sourceSize, self.outer) = (sourceSize, outer)
  }

  /// What the WARC files of a WACZ file begin with.
  private struct Survey {
    var isMixed = false
    private var isPlain: Bool?

    mutating func add(_ file: FileBytes) throws {
      var zip = try ArchiveReader(.zip, of: file.input)
      var start = [UInt8](repeating: 0, count: ContentCoding.longestMark)
      while let member = try zip.next(), !isMixed {
        let name = member.name ?? []
        // What is in a WACZ file is unknown before it is read.
        if WACZ.isFile(name) { isMixed = true }
        guard name.starts(with: WACZ.archiveFolder.utf8), name.last != UInt8(ascii: "/"),
          case let count = try zip.read(into: &start), count > 0
        else { continue }
        let isPlain = ContentCoding(ofDataBeginningWith: start[..<count]) == nil
        isMixed = isMixed || self.isPlain ?? isPlain != isPlain
        self.isPlain = isPlain
      }
    }
  }

  private static func translatingErrors<Result: ~Copyable>(
    at path: String, _ body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch let error as ArchiveError {
      throw ResponseArchiveError(.damaged, at: path, "libarchive reports: \(error)")
    } catch let error as JSONError {
      throw ResponseArchiveError(.damaged, at: path, "'\(WACZ.packageName)' is malformed: \(error)")
    }
  }

  private borrowing func damage(_ fact: String) -> ResponseArchiveError {
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
    let isWACZ = !isWARC && WACZ.isFile(name.bytes)
    let isDocument =
      name == ByteString(WACZ.packageName) || name == ByteString(WACZ.packageDigestName)
    if isDocument { documents[name] = [] }
    guard !isWACZ || outer == nil else {
      throw damage("a WACZ in it contains another WACZ, which is not supported")
    }
    var copy = isWACZ ? try TemporaryFile() : nil
    var digest = Digest()
    var size: ByteCount = 0
    let start = zip.position
    var isStored = isWARC || isWACZ
    var coding: ContentCoding?
    while case let count = try piece(), count > 0 {
      let bytes = buffer[..<count]
      let place = start + size.bytes
      if isWARC, size == 0 { coding = ContentCoding(ofDataBeginningWith: bytes) }
      size += ByteCount(count)
      total += ByteCount(count)
      try limits.check(size, isDocument ? .document : .member, at: path)
      try limits.check(total, .total, at: path)
      try limits.checkRatio(total, outOf: sourceSize, at: path)
      digest.update(bytes)
      if isWARC || isWACZ { isStored = try isStored && fileHas(bytes, at: place) }
      if isWARC { try self.append(bytes, coding, isStored ? place : nil, append) }
      if isWACZ, !isStored {
        guard copy?.size == size.bytes - Int64(count) else {
          throw damage("a WACZ in it is only partly compressed")
        }
        try copy?.append(Array(bytes))
      }
      if isDocument { documents[name, default: []] += bytes }
    }
    if isWARC || isWACZ { warcNames.insert(name) }
    members[name] = Member(size: size, sha256: digest.hexadecimal)
    guard let copy = copy.take() else { return }
    let inner =
      isStored ? file.part(start..<start + size.bytes) : FileBytes(copy)
    try WACZUnpacking(
      inner, sourceSize, isStored ? .stored(at: start) : .extracted, at: path, limits,
      compressor
    ).run(append)
  }

  /// Appends bytes of a WARC file to the concatenation.
  ///
  /// - Parameter place: Their offset in the file, if it has them without compression.
  private func append(
    _ bytes: ArraySlice<UInt8>, _ coding: ContentCoding?, _ place: Int64?,
    _ append: (Piece) throws -> Void
  ) throws {
    if let compressor {
      guard coding != .zstd else {
        throw damage("its WARC files are compressed in different ways, which is not supported")
      }
      // Short members, because a record in one is found by decoding the member from its start.
      guard coding != nil else {
        return try withoutActuallyEscaping(append) { append in
          var member = GzipMemberWriter(compressor, size: bytes.count) {
            try append(.extracted($0[...]))
          }
          try member.append(bytes)
          try member.finish()
        }
      }
    }
    switch (place, outer) {
    case (let place?, nil): try append(.stored(at: place, count: bytes.count))
    case (let place?, .stored(let start)):
      try append(.stored(at: start + place, count: bytes.count))
    default: try append(.extracted(bytes))
    }
  }

  private mutating func piece() throws -> Int {
    try checkSignals()
    return try Self.translatingErrors(at: path) { try zip.read(into: &buffer) }
  }

  /// Whether the file has some bytes of a member at an offset.
  private mutating func fileHas(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws -> Bool {
    let count = try file.read(&inFile, offset)
    return inFile.span.extracting(..<count).starts(with: bytes.span)
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

extension FileBytes {
  /// The bytes as an input for libarchive.
  fileprivate var input: ArchiveInput { ArchiveInput(size: size().bytes) { try read(&$0, $1) } }

  /// Returns a part of the bytes.
  fileprivate func part(_ range: Range<Int64>) -> FileBytes {
    FileBytes(size: { ByteCount(range.count) }) { buffer, offset in
      let count = try read(&buffer, range.lowerBound + offset)
      return Int(min(Int64(count), max(0, range.upperBound - range.lowerBound - offset)))
    }
  }
}
