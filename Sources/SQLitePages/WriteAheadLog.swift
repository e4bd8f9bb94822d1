/// The header of a write-ahead log, and the check of its frames.
///
/// SQLite writes a log from its beginning again after a checkpoint. What follows the last frame of the present
/// generation are frames of earlier ones, until they are overwritten.
public struct WriteAheadLog: Sendable {
  /// The length of the header of a log.
  public static let headerLength = 32

  /// The length of the header of a frame.
  public static let frameHeaderLength = 24

  /// A frame of a log: a page as a transaction wrote it.
  public struct Frame: Hashable, Sendable {
    /// The number of the frame in the file; the first is 1.
    public var number: Int

    /// The number of the page.
    public var page: UInt32

    /// The number of pages of the database after the transaction, if the frame is the last of one; otherwise 0.
    public var pageCount: UInt32

    /// What the frames of one generation have in common.
    public var salt: Salt

    /// What its checksum says.
    public var check: Check
  }

  /// Two numbers that all frames of one generation have in common.
  public struct Salt: Hashable, Sendable {
    /// A number that grows by one with each generation.
    public var first: UInt32

    /// A random number.
    public var second: UInt32
  }

  /// What the checksum of a frame says.
  public enum Check: Hashable, Sendable {
    /// The frame and all before it belong to the present generation.
    case current

    /// The frame continues the one before it, in the present generation after its end, or in an earlier one.
    case continued

    /// The frame before it is overwritten, so its checksum cannot be verified.
    case unknown

    /// The checksum is wrong.
    case wrong
  }

  /// The length of a page.
  public let pageSize: Int

  /// What the frames of the present generation have in common.
  public let salt: Salt

  private let isBigEndian: Bool
  /// The sums up to the end of the frame before, as far as they are known.
  private var sums: (UInt32, UInt32)
  private var saltBefore: Salt
  private var isCurrent: Bool
  private var frameCount = 0

  /// Reads the header of a log.
  ///
  /// - Parameter header: The first 32 bytes.
  /// - Returns: `nil` if it is not the header of a log.
  public init?(_ header: Span<UInt8>) {
    guard header.count >= Self.headerLength, header.number32(at: 0) & ~1 == 0x377F_0682,
      header.number32(at: 4) == 3_007_000
    else { return nil }
    isBigEndian = header.number32(at: 0) & 1 == 1
    let size = Int(header.number32(at: 8))
    guard DatabaseHeader.pageSizes.contains(size) else { return nil }
    pageSize = size
    salt = Salt(first: header.number32(at: 16), second: header.number32(at: 20))
    saltBefore = salt
    sums = (header.number32(at: 24), header.number32(at: 28))
    let computed = Self.sums(header, 0..<24, after: (0, 0), isBigEndian: isBigEndian)
    // SQLite ignores a log with a wrong header, but its frames may still be those of earlier generations.
    isCurrent = computed == sums
  }

  /// Creates the reader of a log whose header is damaged. All its frames count as those of earlier generations.
  public init(pageSize: Int) {
    self.pageSize = pageSize
    salt = Salt(first: 0, second: 0)
    saltBefore = salt
    isBigEndian = false
    isCurrent = false
    sums = (0, 0)
  }

  /// The length of a frame with its header.
  public var frameLength: Int { Self.frameHeaderLength + pageSize }

  /// Returns where a frame begins in the file.
  public func offset(ofFrame number: Int) -> Int64 {
    Int64(Self.headerLength) + Int64(number - 1) * Int64(frameLength)
  }

  /// Reads the next frame of the file, and checks it.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that contain the header of the frame and its page.
  ///   - start: Where the frame begins in `bytes`.
  /// - Returns: `nil` if the bytes are not those of a frame. The next one can follow all the same.
  public mutating func next(_ bytes: Span<UInt8>, at start: Int) -> Frame? {
    frameCount += 1
    guard start >= 0, start + frameLength <= bytes.count else { return nil }
    var frame = Frame(
      number: frameCount, page: bytes.number32(at: start),
      pageCount: bytes.number32(at: start + 4),
      salt: Salt(first: bytes.number32(at: start + 8), second: bytes.number32(at: start + 12)),
      check: .unknown)
    let stored = (bytes.number32(at: start + 16), bytes.number32(at: start + 20))
    let isContinued = frame.salt == saltBefore
    if isContinued {
      var computed = Self.sums(bytes, start..<start + 8, after: sums, isBigEndian: isBigEndian)
      computed = Self.sums(
        bytes, start + 24..<start + frameLength, after: computed, isBigEndian: isBigEndian)
      frame.check = computed != stored ? .wrong : isCurrent ? .current : .continued
    }
    isCurrent = frame.check == .current
    // The sums of the next frame continue those that this one contains, even if this one is damaged.
    sums = stored
    saltBefore = frame.salt
    // Space that was never written to has zeros.
    return frame.page == 0 ? nil : frame
  }

  /// Skips frames without reading them: those in a hole of the file, after a first one that was read.
  ///
  /// - Returns: The number of frames.
  public mutating func skip(_ count: Int) -> Int {
    frameCount += count
    return count
  }

  /// Continues the checksum of a log over a part of it, whose length is a multiple of eight.
  private static func sums(
    _ bytes: Span<UInt8>, _ range: Range<Int>, after before: (UInt32, UInt32), isBigEndian: Bool
  ) -> (UInt32, UInt32) {
    var (first, second) = before
    let part = bytes.extracting(range)
    var place = 0
    while place &+ 8 <= part.count {
      var one = part.number32(at: place)
      var other = part.number32(at: place &+ 4)
      if !isBigEndian { (one, other) = (one.byteSwapped, other.byteSwapped) }
      first = first &+ one &+ second
      second = second &+ other &+ first
      place &+= 8
    }
    return (first, second)
  }
}
