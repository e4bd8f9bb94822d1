import Bytes
import HTTPCaching
import PropertyLists

/// A quick look at header fields in place, which tells of most messages that no check finds anything in them.
///
/// It may take a message for remarkable that is not, which only costs the decoding of its fields.
struct FieldScreen: ~Copyable {
  /// What header fields are like.
  enum Verdict {
    /// All fields are printable ASCII, and none causes a finding.
    case plain
    /// All fields are printable ASCII, and those that caching depends on may cause a finding.
    case remarkable
    /// Any field may cause a finding.
    case unclear
  }

  private static let ofResponse = FieldSelection([.cacheControl, .contentEncoding, .contentLength])
  private static let ofRequest = FieldSelection([.cacheControl])

  private let selection: FieldSelection
  private let bodyLength: Int64?
  private var isCoded = false
  private var hasOtherLength = false
  private var mayForbid = false

  /// Creates a screen for the fields of a response.
  ///
  /// - Parameter bodyLength: The length of the stored body; `nil` if it is not known yet.
  init(ofResponseWith bodyLength: Int64?) {
    selection = Self.ofResponse
    self.bodyLength = bodyLength
  }

  /// Creates a screen for the fields of a request.
  init(ofRequest: Void = ()) {
    selection = Self.ofRequest
    bodyLength = nil
  }

  /// Reads an object that should be a dictionary of header fields.
  mutating func read(
    _ object: BinaryPropertyList.Object, in list: borrowing BinaryPropertyList
  ) -> Verdict {
    // An error is reported when the fields are decoded.
    guard (try? readPrintable(object, list)) ?? false else { return .unclear }
    // The announced length is that of the coded body, and the stored body has no coding.
    return mayForbid || hasOtherLength && !isCoded ? .remarkable : .plain
  }

  /// Reads header fields.
  ///
  /// - Returns: Whether they are a dictionary of printable ASCII.
  private mutating func readPrintable(
    _ object: BinaryPropertyList.Object, _ list: borrowing BinaryPropertyList
  ) throws(PropertyListError) -> Bool {
    guard let entries = try list.entries(of: object) else { return false }
    for position in 0..<entries.count {
      let key = try list.key(position, of: entries)
      guard let name = try list.ascii(key),
        let value = try list.ascii(list.value(position, of: entries))
      else { return false }
      // The copy that keeps repeated fields apart adds no text to the joined values.
      if name.count == 8, try list.isString(key, equalTo: allValuesKey) { continue }
      guard PrintableASCII.isAll(of: name), PrintableASCII.isAll(of: value) else { return false }
      guard let field = selection.name(matching: name) else { continue }
      if field == .cacheControl {
        mayForbid = mayForbid || Self.mayForbid(value)
      } else if field == .contentEncoding {
        isCoded = true
      } else if bodyLength == nil || Self.number(value) != bodyLength {
        hasOtherLength = true
      }
    }
    return true
  }

  /// Whether `Cache-Control` may have `no-store` or `no-cache`, in quotes or not: whether `no-` is in it, in any case.
  private static func mayForbid(_ value: Span<UInt8>) -> Bool {
    var place = 2
    while place < value.count {
      if value[place] == UInt8(ascii: "-"), value[place - 1] | 0x20 == UInt8(ascii: "o"),
        value[place - 2] | 0x20 == UInt8(ascii: "n")
      {
        return true
      }
      place += 1
    }
    return false
  }

  /// Parses up to 18 decimal digits, which cannot overflow; `nil` for anything else.
  private static func number(_ text: Span<UInt8>) -> Int64? {
    guard 1...18 ~= text.count else { return nil }
    var number: Int64 = 0
    for place in text.indices {
      guard text[place].isASCIIDigit else { return nil }
      number = number * 10 + Int64(text[place] - UInt8(ascii: "0"))
    }
    return number
  }
}
