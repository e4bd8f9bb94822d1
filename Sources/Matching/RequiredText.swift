import Bytes

/// Finds text that each match of a pattern contains, so that only lines with that text need to be tried.
enum RequiredText {
  /// Returns a search for text that each match of a regular expression contains; `nil` if none is known.
  static func search(of expression: String, ignoringCase ignoresCase: Bool) -> LiteralSearch? {
    var parser = Parser(Array(expression.utf8))
    guard let runs = parser.runs() else { return nil }
    return longest(runs.flatMap { ignoresCase ? caselessRuns(of: $0) : [$0] }).map {
      LiteralSearch(ByteString(Array($0)), ignoringASCIICase: ignoresCase)
    }
  }

  /// Returns a search for text that each match of literal text in any case contains; `nil` if none is known.
  static func caselessSearch(of literal: String) -> LiteralSearch? {
    longest(caselessRuns(of: Array(literal.utf8)[...])).map {
      LiteralSearch(ByteString(Array($0)), ignoringASCIICase: true)
    }
  }

  private static func longest(_ runs: [ArraySlice<UInt8>]) -> ArraySlice<UInt8>? {
    runs.filter { !$0.isEmpty }.max { $0.count < $1.count }
  }

  /// Returns the parts of a text that match only the same letters of ASCII, in either case.
  private static func caselessRuns(of text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    text.split { byte in
      // U+212A and U+017F are other cases of these two; no other letter of ASCII has one outside of ASCII.
      byte >= 0x80 || byte.asciiLowercased == UInt8(ascii: "k")
        || byte.asciiLowercased == UInt8(ascii: "s")
    }
  }

  /// A parser of regular expressions that knows only their simplest constructs, and gives up on any other.
  private struct Parser {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private struct Unknown: Error {}

    /// The escapes that stand for one character, or for a place, and have no arguments.
    private static let simpleEscapes = Array("dDwWsSbBAzZGhHvVtnrefa".utf8)

    /// Returns the texts that each match contains, one after the other; `nil` if the expression is not understood.
    mutating func runs() -> [ArraySlice<UInt8>]? {
      var runs: [[UInt8]] = []
      do throws(Unknown) {
        var run: [UInt8] = []
        func end() {
          runs.append(run)
          run = []
        }
        while place < bytes.count {
          let byte = bytes[place]
          switch byte {
          case UInt8(ascii: "|"), UInt8(ascii: ")"): return nil
          case UInt8(ascii: "("):
            end()
            try skipGroup()
          case UInt8(ascii: "["):
            end()
            try skipClass()
          case UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "$"):
            end()
            place += 1
          case UInt8(ascii: "+"):
            // The character is there at least once, and may be repeated before what follows.
            end()
            place += 1
          case UInt8(ascii: "?"), UInt8(ascii: "*"), UInt8(ascii: "{"):
            run.removeLastCharacter()
            end()
            try skipQuantifier()
          case UInt8(ascii: "\\"):
            guard let literal = try escaped() else {
              end()
              continue
            }
            run.append(literal)
          default:
            run.append(byte)
            place += 1
          }
        }
        end()
      } catch { return nil }
      return runs.map { $0[...] }
    }

    /// Moves past an escape, and returns the byte that it stands for; `nil` if it stands for something else.
    private mutating func escaped() throws(Unknown) -> UInt8? {
      guard place + 1 < bytes.count else { throw Unknown() }
      let byte = bytes[place + 1]
      place += 2
      if Self.simpleEscapes.contains(byte) { return nil }
      // The others have arguments, refer to groups, or begin quoted text.
      guard !byte.isASCIILetter, !byte.isASCIIDigit, byte < 0x80 else { throw Unknown() }
      return byte
    }

    private mutating func skipQuantifier() throws(Unknown) {
      if bytes[place] == UInt8(ascii: "{") {
        // Otherwise the brace may be a literal character.
        guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "}")),
          bytes[place + 1..<end].allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ",") }),
          bytes[place + 1].isASCIIDigit
        else { throw Unknown() }
        place = end
      }
      place += 1
    }

    private mutating func skipGroup() throws(Unknown) {
      var depth = 0
      repeat {
        guard place < bytes.count else { throw Unknown() }
        switch bytes[place] {
        case UInt8(ascii: "("):
          // Groups with options, assertions, verbs and comments can change the meaning of everything else.
          guard place + 1 < bytes.count, bytes[place + 1] != UInt8(ascii: "?"),
            bytes[place + 1] != UInt8(ascii: "*")
          else { throw Unknown() }
          depth += 1
          place += 1
        case UInt8(ascii: ")"):
          depth -= 1
          place += 1
        case UInt8(ascii: "["): try skipClass()
        case UInt8(ascii: "\\"): _ = try escaped()
        default: place += 1
        }
      } while depth > 0
    }

    private mutating func skipClass() throws(Unknown) {
      place += 1
      if place < bytes.count, bytes[place] == UInt8(ascii: "^") { place += 1 }
      // A bracket at the beginning belongs to the class.
      var isFirst = true
      while place < bytes.count {
        let byte = bytes[place]
        if byte == UInt8(ascii: "]"), !isFirst {
          place += 1
          return
        }
        // Within it another bracket may begin the name of a class, such as `[:alpha:]`.
        if byte == UInt8(ascii: "[") { throw Unknown() }
        if byte == UInt8(ascii: "\\") { _ = try escaped() } else { place += 1 }
        isFirst = false
      }
      throw Unknown()
    }
  }
}

extension [UInt8] {
  /// Removes the last character, which can have several bytes.
  fileprivate mutating func removeLastCharacter() {
    while let byte = popLast(), byte & 0xC0 == 0x80 {}
  }
}
