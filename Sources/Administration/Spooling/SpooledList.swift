import Bytes
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
    /// The values that are not in the file, each after its length.
    private var values = PackedValues()
    private var next = PackedValues()

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
      next.removeAll()
      element.pack(into: &next)
      values.append(bits: UInt64(next.bytes.count))
      values.append(next)
      count += 1
      if values.bytes.count >= memory { try flush() }
    }

    /// Returns the list, and starts a new one.
    mutating func finish() throws(FileError) -> SpooledList {
      var list = SpooledList()
      list.count = count
      if let file {
        if !values.bytes.isEmpty { try flush() }
        list.place = (file, start..<file.end)
      } else {
        list.bytes = values.bytes
      }
      self = Self(in: folder, keeping: memory)
      return list
    }

    private mutating func flush() throws(FileError) {
      if file == nil { file = try SpoolFile(in: folder) }
      try file?.append(values.bytes)
      values.removeAll()
    }
  }

  /// Reads a list.
  struct Reader {
    private var values: PackedReader
    private var rest: (file: SpoolFile, range: Range<Int64>)?
    /// The number of values that were not read yet.
    private(set) var count: Int

    fileprivate init(_ list: SpooledList) {
      (values, rest, count) = (PackedReader(list.bytes), list.place, list.count)
    }

    /// Returns the next value; `nil` at the end.
    mutating func next() throws(FileError) -> Element? {
      guard count > 0 else { return nil }
      count -= 1
      try fill(Self.lengthBytes)
      try fill(
        Int(clamping: try read { reader throws(PackedReader.Failure) in try reader.bits() }))
      return try read { reader throws(PackedReader.Failure) in try Element(from: &reader) }
    }

    private mutating func read<Value>(
      _ body: (inout PackedReader) throws(PackedReader.Failure) -> Value
    ) throws(FileError) -> Value {
      do throws(PackedReader.Failure) { return try body(&values) } catch {
        throw FileError.incomplete(at: rest?.file.folder ?? "").ofTemporaryFile
      }
    }

    /// The bytes of the length before each value.
    private static var lengthBytes: Int { 8 }

    /// Reads on until there are as many bytes.
    private mutating func fill(_ length: Int) throws(FileError) {
      while values.count < length, let (file, range) = rest {
        let next = try file.read(range, atMost: max(1 << 14, length - values.count))
        values.append(next)
        rest = (file, range.lowerBound + Int64(next.count)..<range.upperBound)
      }
    }
  }
}
