import Administration
import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

/// The bodies of an entry in two stores, which are compared line by line if they are text.
enum ComparedBodies {
  /// The maximum size of a decoded body, and of an indented one. Both bodies and their lines are in memory; a text of
  /// this size is more than anybody reads, and its comparison takes less than a second.
  static let limit = ByteCount(1 << 20)

  /// The maximum number of lines of each body. A comparison needs some hundred bytes for each line, however short it is.
  static let mostLines = 50_000

  /// Compares the bodies of two responses; `nil` is a body that cannot be read.
  static func compare(_ before: Body?, _ after: Body?) -> BodyDifference {
    guard let before, let after else { return .unreadable }
    guard case .whole(let before) = before, case .whole(let after) = after else {
      return .tooLarge(limit)
    }
    guard before != after else { return .sameDecoded }
    // Lines of pictures would be of no use to anybody.
    guard before.isText, after.isText else { return .binary }
    if let (before, after) = indented(before, after) {
      return before == after
        ? .sameJSON
        : .lines(
          LineComparison(of: before, with: after, limit: mostLines), isIndented: true)
    }
    return .lines(
      LineComparison(of: before, with: after, limit: mostLines), isIndented: false)
  }

  /// A decoded body.
  enum Body {
    case whole([UInt8])
    case tooLarge

    /// The number of bytes in memory.
    var count: Int { if case .whole(let bytes) = self { bytes.count } else { 0 } }
  }

  /// Returns a body after undoing its content coding; `nil` if it cannot be read.
  static func decoded(_ body: ScannedBody) throws -> Body? {
    struct TooLarge: Error {}
    var bytes: [UInt8] = []
    do {
      let isRead = try body.read { reader in
        _ = try reader.forEachDecodedChunk(limit: limit) { piece in
          bytes += piece
          // The limit is one of decoding; a body without a coding is passed on as it is.
          if bytes.count > limit.bytes { throw TooLarge() }
        }
      }
      return isRead ? .whole(bytes) : nil
    } catch is TooLarge {
      return .tooLarge
    } catch let error as BodyDecodingError {
      return error.isTooLarge ? .tooLarge : nil
    } catch let error as StoreError where error.code == .noSuchResponse || error.code == .damaged {
      return nil
    }
  }

  /// Returns two JSON texts with each value on its own line; `nil` if one is not JSON, or would become too large.
  private static func indented(_ one: [UInt8], _ other: [UInt8]) -> ([UInt8], [UInt8])? {
    guard let one = indented(one), let other = indented(other) else { return nil }
    return (one, other)
  }

  private static func indented(_ text: [UInt8]) -> [UInt8]? {
    struct TooLarge: Error {}
    var indenter = JSONIndenter()
    var buffer = TextBuffer()
    do {
      try indenter.append(all: text[...], into: &buffer) { buffer in
        if buffer.bytes.count > 4 * limit.bytes { throw TooLarge() }
      }
      try indenter.finish(into: &buffer)
    } catch {
      return nil
    }
    return buffer.bytes
  }
}

extension [UInt8] {
  /// Whether the bytes are UTF-8 without NUL, which no text contains.
  fileprivate var isText: Bool {
    !contains(0) && String(validating: self, as: UTF8.self) != nil
  }
}
