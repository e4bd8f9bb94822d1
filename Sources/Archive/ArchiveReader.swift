internal import CArchive

/// A sequential reader of an archive's members.
///
/// It never extracts files: the caller decides what to do with the bytes. It supports only tar and zip, and runs
/// no other programs.
@safe
public struct ArchiveReader: ~Copyable {
  private let handle: ReadHandle
  private let input: ArchiveInput
  // Both must outlive the handle, which is freed first.
  private let decoded: DecodedInput?
  private let isZip: Bool

  /// Opens an archive.
  ///
  /// - Throws: ``ArchiveError``, or any error of the input's closure.
  public init(_ format: ArchiveFormat, of input: ArchiveInput) throws {
    // The coding is removed by a handle of its own and not by a filter of this one, because
    // `TarHeaderCheck` must see the decoded bytes before the tar reader of libarchive does.
    try self.init(
      format, of: input, decodedBy: format.coding.map { try DecodedInput($0, of: input) })
  }

  private init(_ format: ArchiveFormat, of input: ArchiveInput, decodedBy decoded: DecodedInput?)
    throws
  {
    let handle = try ReadHandle()
    if format == .tar { input.headerCheck = TarHeaderCheck() }
    // Register no other formats: some of those in libarchive can refer to local files.
    // For zip, the reader that seeks takes the list of members from the directory. The one that
    // streams would believe the local headers, even of members that the directory does not list.
    let code =
      format == .zip
      ? unsafe archive_read_support_format_zip_seekable(handle.pointer)
      : unsafe archive_read_support_format_tar(handle.pointer)
    guard code == ARCHIVE_OK, unsafe decoded?.open(handle.pointer) ?? input.open(handle.pointer)
    else {
      throw unsafe Self.failure(of: handle.pointer, input, decoded)
    }
    self.handle = handle
    self.input = input
    self.decoded = decoded
    isZip = format == .zip
  }

  /// Moves to the next member, and skips the rest of the last one.
  ///
  /// - Returns: The member, or `nil` at the end.
  public mutating func next() throws -> ArchiveMember? {
    var entry: OpaquePointer?
    switch unsafe archive_read_next_header(handle.pointer, &entry) {
    // For zip, a warning means that the directory and the header of the member differ.
    case ARCHIVE_WARN where isZip: throw failure()
    // For tar, a warning is mostly about a name that cannot be converted to the C locale. The
    // caller compares each name with the one it expects anyway.
    case ARCHIVE_OK, ARCHIVE_WARN:
      guard let entry = unsafe entry else { throw failure() }
      return unsafe ArchiveMember(entry)
    case ARCHIVE_EOF: return nil
    default: throw failure()
    }
  }

  /// Reads the next bytes of the member into the start of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at its end.
  public mutating func read(into buffer: inout [UInt8]) throws -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe archive_read_data(handle.pointer, bytes.baseAddress, bytes.count)
    }
    guard count >= 0 else { throw failure() }
    return count
  }

  /// Checks that only padding follows the end of a tar archive.
  ///
  /// - Throws: ``ArchiveError`` for other data, or for more padding than any program writes.
  public mutating func end() throws {
    // The rest of the last chunk that libarchive has not used, and all chunks after it.
    // libarchive stops at the blocks of zeros that end a tar archive, and ignores what follows.
    // With `--ignore-zeros`, GNU tar reads on, and would find another archive in the same file.
    var rest = decoded.map { $0.tail(from: position) } ?? input.tail(from: position)
    var padding = 0
    while !rest.isEmpty {
      padding += rest.count
      guard padding <= Self.mostPadding, rest.allSatisfy({ $0 == 0 }) else {
        throw ArchiveError("there is data after the end of the archive")
      }
      guard let piece = unsafe decoded == nil ? input.next() : decoded?.next() else {
        throw failure()
      }
      rest = unsafe Array(piece)
    }
  }

  // Programs fill up the last record, which has 10 KiB unless they are told otherwise. Without a
  // limit, a small compressed file could decode to zeros for hours.
  private static let mostPadding = 1 << 20

  /// The number of bytes read from the file, and the number of bytes decoded from them.
  public var progress: (read: Int64, decoded: Int64) {
    (input.offset, decoded?.count ?? position)
  }

  /// The number of bytes of the archive that were used, without the compression of the whole file. After ``next()``, a
  /// member that a zip archive stores without compression begins there.
  public var position: Int64 { unsafe max(0, archive_filter_bytes(handle.pointer, 0)) }

  private borrowing func failure() -> any Error {
    unsafe Self.failure(of: handle.pointer, input, decoded)
  }

  private static func failure(
    of handle: OpaquePointer, _ input: ArchiveInput, _ decoded: DecodedInput?
  ) -> any Error {
    unsafe input.failure ?? decoded?.failure ?? ArchiveError(of: handle)
  }
}

extension ArchiveInput {
  /// Opens libarchive's handle with the input, which must outlive the handle.
  ///
  /// - Returns: Whether it succeeded.
  func open(_ handle: OpaquePointer) -> Bool {
    _ = unsafe archive_read_set_read_callback(handle) { handle, context, block in
      guard let context = unsafe context else { return -1 }
      let input = unsafe Unmanaged<ArchiveInput>.fromOpaque(context).takeUnretainedValue()
      guard let piece = unsafe input.next() else {
        unsafe carchive_set_error(handle, "cannot read the file")
        return -1
      }
      unsafe block?.pointee = piece.baseAddress
      return piece.count
    }
    _ = unsafe archive_read_set_seek_callback(handle) { _, context, offset, origin in
      guard let context = unsafe context else { return -1 }
      let input = unsafe Unmanaged<ArchiveInput>.fromOpaque(context).takeUnretainedValue()
      return input.seek(to: offset, from: origin)
    }
    _ = unsafe archive_read_set_callback_data(handle, Unmanaged.passUnretained(self).toOpaque())
    return unsafe archive_read_open1(handle) == ARCHIVE_OK
  }
}

extension DecodedInput {
  /// Opens libarchive's handle with the decoded data of the file, which must outlive the handle.
  ///
  /// - Returns: Whether it succeeded.
  func open(_ handle: OpaquePointer) -> Bool {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let code = unsafe archive_read_open2(
      handle, context, nil,
      { handle, context, block in
        guard let context = unsafe context else { return -1 }
        let input = unsafe Unmanaged<DecodedInput>.fromOpaque(context).takeUnretainedValue()
        guard let piece = unsafe input.next() else {
          unsafe carchive_set_error(handle, "cannot decode the archive")
          return -1
        }
        unsafe block?.pointee = piece.baseAddress
        return piece.count
      }, nil, nil)
    return code == ARCHIVE_OK
  }
}

/// The header of a member of an archive.
public struct ArchiveMember: Hashable, Sendable {
  /// The name, byte for byte; `nil` if libarchive cannot decode it.
  public var name: [UInt8]?

  /// The size in bytes; `nil` if the archive does not contain it.
  public var size: Int64?

  /// Why the member is not a regular file, if it is not: a clause.
  public var finding: String?
}

extension ArchiveMember {
  init(_ entry: OpaquePointer) {
    // Byte for byte, as `String(cString:)` would repair invalid UTF-8, and two different names
    // could become equal.
    name = unsafe archive_entry_pathname(entry).map { name in
      var bytes: [UInt8] = []
      while case let byte = unsafe name[bytes.count], byte != 0 {
        bytes.append(UInt8(bitPattern: byte))
      }
      return bytes
    }
    size = unsafe archive_entry_size_is_set(entry) == 0 ? nil : archive_entry_size(entry)
    finding = unsafe Self.finding(of: entry)
  }

  private static func finding(of entry: OpaquePointer) -> String? {
    // This comes before the file type: a hard link with data is a regular file for libarchive.
    if unsafe archive_entry_hardlink(entry) != nil { return "is a hard link" }
    if unsafe archive_entry_symlink(entry) != nil { return "is a symbolic link" }
    if unsafe UInt32(archive_entry_filetype(entry)) != CArchiveRegularFile {
      return "is not a regular file"
    }
    // libarchive fills the gaps with zeros, so a member of a few bytes could claim to be terabytes
    // long.
    if unsafe archive_entry_sparse_count(entry) > 0 { return "is sparse" }
    if unsafe archive_entry_is_encrypted(entry) != 0 { return "is encrypted" }
    return nil
  }
}

/// A libarchive handle for reading, which is freed when its owner is destroyed.
@safe
struct ReadHandle: ~Copyable {
  let pointer: OpaquePointer

  init() throws(ArchiveError) {
    try LibArchive.load()
    guard let pointer = unsafe archive_read_new() else { throw .outOfMemory }
    unsafe self.pointer = pointer
  }

  deinit {
    _ = unsafe archive_read_free(pointer)
  }
}
