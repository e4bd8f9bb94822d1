import Files

/// A list of values as bytes, most of them in an unnamed file: its memory does not grow with the number of values.
///
/// Copies share the bytes. It is created by a ``Writer``, and does not change.
struct SpooledList<Element: Spoolable> {
  /// The number of values.
  fileprivate(set) var count = 0
  /// The bytes of a list that is too short for a file.
  fileprivate var bytes: [UInt8] = []
  /// The part of a file that contains the values of a longer one.
  fileprivate var place: (file: SpoolFile, range: Range<Int64>)?

  /// Creates an empty list.
  init() {}

  /// Whether there are no values.
  var isEmpty: Bool { count == 0 }

  /// Returns a reader that starts with the first value.
  func makeReader() -> Reader { Reader(self) }

  /// Calls `body` with each value.
  func forEach(_ body: (Element) throws -> Void) throws {
    var reader = makeReader()
    while let element = try reader.next() { try body(element) }
  }
}

extension SpooledList {
  /// Writes a list.
  struct Writer {
    private let folder: String
    /// The number of bytes that are kept in memory.
    private let memory: Int
    private var file: SpoolFile?
    private var start: Int64 = 0
    private var bytes: [UInt8] = []

    /// The number of values.
    private(set) var count = 0

    /// - Parameters:
    ///   - folder: The folder for an unnamed file, which a long list needs.
    ///   - memory: The number of bytes that are kept in memory.
    init(in folder: String, keeping memory: Int = 1 << 17) {
      (self.folder, self.memory) = (folder, memory)
    }

    /// Creates a writer for the next part of a file.
    init(to file: SpoolFile, in folder: String) {
      self.init(in: folder)
      (self.file, start) = (file, file.end)
    }

    /// Appends a value.
    mutating func append(_ element: Element) throws(FileError) {
      let start = bytes.count
      bytes.append(number: 0)
      element.append(to: &bytes)
      let length = UInt64(bytes.count - start - 8)
      for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      count += 1
      if bytes.count >= memory { try flush() }
    }

    /// Returns the list, and starts a new one.
    mutating func finish() throws(FileError) -> SpooledList {
      var list = SpooledList()
      list.count = count
      if let file {
        if !bytes.isEmpty { try flush() }
        list.place = (file, start..<file.end)
      } else {
        list.bytes = bytes
      }
      self = Self(in: folder, keeping: memory)
      return list
    }

    private mutating func flush() throws(FileError) {
      if file == nil { file = try SpoolFile(in: folder) }
      try file?.append(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
  }

  /// Reads a list.
  struct Reader {
    private var bytes: SpooledBytes
    private var rest: (file: SpoolFile, range: Range<Int64>)?
    /// The number of values that were not read yet.
    private(set) var count: Int

    fileprivate init(_ list: SpooledList) {
      (bytes, rest, count) = (SpooledBytes(list.bytes), list.place, list.count)
    }

    /// Returns the next value; `nil` at the end.
    mutating func next() throws(FileError) -> Element? {
      guard count > 0 else { return nil }
      count -= 1
      try fill(8)
      try fill(Int(clamping: bytes.number()))
      return Element(reading: &bytes)
    }

    /// Reads on until there are as many bytes.
    private mutating func fill(_ length: Int) throws(FileError) {
      while bytes.count < length, let (file, range) = rest {
        let next = try file.read(range, atMost: max(1 << 14, length - bytes.count))
        bytes.append(next)
        rest = (file, range.lowerBound + Int64(next.count)..<range.upperBound)
      }
    }
  }
}
