public import Bytes
internal import CPCRE2

/// A regular expression in the syntax of Perl, compiled by PCRE2.
///
/// Texts come from any server, and some expressions need exponential time for some texts. So a match has limits: for
/// its steps, for its depth and for its memory. Characters are Unicode scalars, also in classes such as `\w`.
///
/// PCRE2 does not change compiled code while it matches, so threads can share an expression.
@safe
public final class RegularExpression: @unchecked Sendable {
  /// What an expression means besides its text.
  public struct Options: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Letters match in both cases, by the simple case folding of Unicode.
    public static let ignoresCase = Self(rawValue: 1 << 0)
    /// The expression must match a whole text.
    public static let matchesWholeText = Self(rawValue: 1 << 1)
    /// The expression is literal text.
    public static let isLiteral = Self(rawValue: 1 << 2)
    /// No word character may stand before or after a match.
    public static let matchesWords = Self(rawValue: 1 << 3)
    /// Bytes that are not UTF-8 are allowed in texts; they match nothing. Without this, such a text does not match.
    public static let allowsBrokenText = Self(rawValue: 1 << 4)
  }

  /// An invalid expression.
  public struct SyntaxError: Error, Hashable, Sendable {
    /// What is wrong: a clause of PCRE2.
    public let reason: String
    /// Where, in bytes from the beginning of the expression.
    public let offset: Int
    /// Where, as the number of a character, starting at 1.
    public let character: Int
  }

  /// A match that exceeded a limit.
  public struct Overrun: Error, Hashable, Sendable {
    /// A limit of a match.
    public enum Limit: Hashable, Sendable {
      case steps, memory
    }

    /// The expression.
    public let pattern: String
    /// The length of the text, in bytes.
    public let textLength: Int
    /// The limit that was exceeded.
    public let limit: Limit
  }

  /// The version of PCRE2 and its date, for example `10.42 2022-12-11`.
  public static var libraryVersion: String {
    var text = [UInt8](repeating: 0, count: 64)
    let length = unsafe pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
    return String(decoding: text.prefix(Int(max(1, length)) - 1), as: UTF8.self)
  }

  /// The maximum number of steps of a match, which take about 0.1 s at most.
  private static let mostSteps: UInt32 = 10_000_000
  /// The maximum depth of backtracking without machine code, and the memory for it in KiB.
  private static let (mostDepth, mostKiB): (UInt32, UInt32) = (100_000, 8 << 10)
  /// The memory for backtracking of machine code, in bytes, beyond the first 32 KiB, which are on the stack.
  private static let (firstStack, mostStack) = (64 << 10, 4 << 20)
  /// The maximum length of an expression, in bytes.
  private static let longestPattern = 64 << 10

  /// The expression, as written.
  public let pattern: String
  private let code: OpaquePointer
  private let limits: OpaquePointer?

  /// A byte that each match has, if PCRE2 knows one.
  public let requiredByte: UInt8?

  /// Creates an expression.
  public init(_ pattern: String, _ options: Options = []) throws(SyntaxError) {
    self.pattern = pattern
    guard pattern.utf8.count <= Self.longestPattern else {
      throw SyntaxError(
        reason: "it is longer than \(Self.longestPattern) bytes", offset: 0, character: 1)
    }
    // Compiled as written first, so that the offset of an error is that in the text of the user.
    var code = unsafe try Self.compiled(pattern, options.subtracting(.matchesWords))
    if options.contains(.matchesWords) {
      let text = options.contains(.isLiteral) ? Self.quoted(pattern) : pattern
      unsafe pcre2_code_free_8(code)
      unsafe code = try Self.compiled(
        "(?<!\\w)(?:\(text))(?!\\w)", options.subtracting([.matchesWords, .isLiteral]))
    }
    // Systems may forbid programs to make machine code. Then PCRE2 interprets the expression.
    _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
    unsafe limits = pcre2_match_context_create_8(nil)
    _ = unsafe pcre2_set_match_limit_8(limits, Self.mostSteps)
    _ = unsafe pcre2_set_depth_limit_8(limits, Self.mostDepth)
    _ = unsafe pcre2_set_heap_limit_8(limits, Self.mostKiB)
    unsafe requiredByte =
      options.contains(.ignoresCase) ? nil : Self.requiredByte(of: code, pattern)
    unsafe self.code = code
  }

  deinit {
    unsafe pcre2_match_context_free_8(limits)
    unsafe pcre2_code_free_8(code)
  }

  /// Whether the expression matches anywhere in a text.
  ///
  /// - Throws: ``Overrun`` if a limit is exceeded.
  public func matches(_ text: ByteString) throws(Overrun) -> Bool {
    try firstMatch(in: text.bytes.span) != nil
  }

  /// Returns the first match that begins at `start` or after it; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - start: Where the search begins. The expression sees the bytes before.
  ///   - isLineStart: Whether `^` matches at the beginning of the text.
  ///   - isLineEnd: Whether `$` matches at the end of the text.
  /// - Throws: ``Overrun`` if a limit is exceeded.
  public func firstMatch(
    in text: Span<UInt8>, from start: Int = 0, isLineStart: Bool = true, isLineEnd: Bool = true
  ) throws(Overrun) -> Range<Int>? {
    let options = (isLineStart ? 0 : PCRE2_NOTBOL) | (isLineEnd ? 0 : PCRE2_NOTEOL)
    let result = unsafe text.withUnsafeBufferPointer { bytes in
      unsafe match(bytes, from: start, options)
    }
    switch result {
    case .success(let range): return range
    case .failure(let overrun): throw overrun
    }
  }

  private func match(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, _ options: UInt32
  ) -> Result<Range<Int>?, Overrun> {
    let count = text.count
    guard let data = unsafe pcre2_match_data_create_8(1, nil) else {
      return failure(count, .memory)
    }
    defer { unsafe pcre2_match_data_free_8(data) }
    // PCRE2 does not take a null pointer for an empty text.
    var nothing: UInt8 = 0
    var code = unsafe withUnsafePointer(to: &nothing) { nothing in
      unsafe pcre2_match_8(
        self.code, text.baseAddress ?? nothing, text.count, start, options, data, limits)
    }
    if code == PCRE2_ERROR_JIT_STACKLIMIT {
      // Few matches need more than what the stack of the thread has.
      guard let context = unsafe pcre2_match_context_copy_8(limits),
        let stack = unsafe pcre2_jit_stack_create_8(Self.firstStack, Self.mostStack, nil)
      else { return failure(count, .memory) }
      unsafe pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack))
      code = unsafe pcre2_match_8(
        self.code, text.baseAddress, text.count, start, options, data, context)
      unsafe pcre2_jit_stack_free_8(stack)
      unsafe pcre2_match_context_free_8(context)
    }
    switch code {
    case PCRE2_ERROR_NOMATCH: return .success(nil)
    case PCRE2_ERROR_MATCHLIMIT: return failure(count, .steps)
    case PCRE2_ERROR_DEPTHLIMIT, PCRE2_ERROR_HEAPLIMIT, PCRE2_ERROR_JIT_STACKLIMIT,
      PCRE2_ERROR_NOMEMORY:
      return failure(count, .memory)
    // Zero says that not all groups fit, and nobody asks for them.
    case 0...:
      guard let ends = unsafe pcre2_get_ovector_pointer_8(data) else { return .success(nil) }
      let (lower, upper) = unsafe (ends[0], ends[1])
      // `\K` in a lookahead sets the beginning after the end.
      return .success(min(lower, upper)..<max(lower, upper))
    // The other errors mean that the text is not UTF-8.
    default: return .success(nil)
    }
  }

  private func failure(
    _ textLength: Int, _ limit: Overrun.Limit
  ) -> Result<Range<Int>?, Overrun> {
    .failure(Overrun(pattern: pattern, textLength: textLength, limit: limit))
  }

  private static func compiled(
    _ pattern: String, _ options: Options
  ) throws(SyntaxError) -> OpaquePointer {
    var flags = PCRE2_UTF
    flags |=
      options.contains(.isLiteral) ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C
    if options.contains(.ignoresCase) { flags |= PCRE2_CASELESS }
    if options.contains(.matchesWholeText) { flags |= PCRE2_ANCHORED | PCRE2_ENDANCHORED }
    if options.contains(.allowsBrokenText) { flags |= PCRE2_MATCH_INVALID_UTF }
    let context = unsafe pcre2_compile_context_create_8(nil)
    defer { unsafe pcre2_compile_context_free_8(context) }
    _ = unsafe pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
    var (number, offset): (Int32, Int) = (0, 0)
    let bytes = Array(pattern.utf8)
    let code = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe pcre2_compile_8(bytes.baseAddress, bytes.count, flags, &number, &offset, context)
    }
    guard let code = unsafe code else {
      offset = min(offset, bytes.count)
      let before = bytes[..<offset].count { $0 & 0xC0 != 0x80 }
      throw SyntaxError(reason: message(number), offset: offset, character: before + 1)
    }
    return unsafe code
  }

  private static func message(_ number: Int32) -> String {
    // The messages of PCRE2 have less than 256 bytes.
    var text = [UInt8](repeating: 0, count: 256)
    let count = unsafe text.withUnsafeMutableBufferPointer { text in
      unsafe pcre2_get_error_message_8(number, text.baseAddress, text.count)
    }
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }

  /// Returns literal text as part of an expression.
  private static func quoted(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isASCII, !UInt8(ascii: scalar).isASCIILetter, !UInt8(ascii: scalar).isASCIIDigit {
        result.append("\\")
      }
      result.append(scalar)
    }
    return String(result)
  }

  private static func requiredByte(of code: OpaquePointer, _ pattern: String) -> UInt8? {
    // A group such as `(?i)` may let a letter match in both cases, which PCRE2 does not tell.
    let hasOptions = LiteralSearch("(?").firstIndex(in: Array(pattern.utf8).span) != nil
    for (kind, value) in [
      (PCRE2_INFO_LASTCODETYPE, PCRE2_INFO_LASTCODEUNIT),
      (PCRE2_INFO_FIRSTCODETYPE, PCRE2_INFO_FIRSTCODEUNIT),
    ] {
      var (type, unit): (UInt32, UInt32) = (0, 0)
      _ = unsafe pcre2_pattern_info_8(code, UInt32(kind), &type)
      _ = unsafe pcre2_pattern_info_8(code, UInt32(value), &unit)
      if type == 1, let byte = UInt8(exactly: unit), !hasOptions || byte < 0x41 { return byte }
    }
    return nil
  }
}
