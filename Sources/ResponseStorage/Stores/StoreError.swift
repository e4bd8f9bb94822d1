public import Bytes

/// A failure to open, read or change a store.
public struct StoreError: Error, Hashable, Sendable {
  /// The kind of failure, as far as a program can act on it.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// There is nothing at the path.
    case notFound

    /// There is something at the path, but not a store of a known format.
    case notACache

    /// The store breaks the rules of its own format.
    case damaged

    /// A transaction must be finished first, which only the program that began it can do.
    case unfinished

    /// Another process holds a lock that reading needs.
    case inUse

    /// A program works with its files without a lock that could be waited for.
    case inUseWithoutLock

    /// The store changed while it was read without a lock, as no process had it open at first.
    case changedWhileReading

    /// The operating system refused access.
    case accessDenied

    /// The operating system failed to read or write.
    case inputOutput

    /// The disk is full.
    case noRoom

    /// The store has no such response, or the response no such part.
    case noSuchResponse

    /// Stores of this kind cannot be changed.
    case unsupported

    /// Stores of this kind have no such operation.
    case inapplicable

    /// Stores of this kind cannot even be read.
    case unreadable
  }

  /// The kind of failure.
  public let code: Code

  /// The path of the store, as the user gave it, or of the file in question; `nil` for a body that was opened without one.
  public let path: String?

  /// The reason, as one clause without a final full stop, or `nil`.
  public let reason: String?

  /// Creates an error about the store at `path`, or about a body.
  public init(_ code: Code, at path: String?, because reason: String? = nil) {
    self.code = code
    self.path = path
    self.reason = reason
  }

  /// Whether another process is using the store, so that trying again may help.
  public var isContention: Bool { code == .inUse || code == .changedWhileReading }

  /// Names the cache in an error about a body that was opened without its path.
  public func inCache(at path: String?) -> StoreError {
    self.path == nil ? StoreError(code, at: path, because: reason) : self
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    let place = path.map { "'\($0)'" } ?? "a body"
    let cache = path == nil ? place : "the cache at \(place)"
    let summary =
      switch code {
      case .notFound: "no cache at \(place)"
      case .notACache: "\(place) is not a URL cache"
      case .damaged: "\(cache) is damaged"
      case .unfinished: "cannot open \(cache)"
      case .inUse, .inUseWithoutLock: "\(cache) is in use"
      case .changedWhileReading: "\(cache) changed while it was read"
      case .accessDenied: "cannot open \(place)"
      case .inputOutput: "cannot read or change \(place)"
      case .noRoom: "cannot write to \(place): the disk is full"
      case .noSuchResponse where reason != nil: "cannot read the entry in \(place)"
      case .noSuchResponse: "no such entry in \(place)"
      case .unsupported: "\(cache) is read-only"
      case .inapplicable: "not supported for \(cache)"
      case .unreadable: "\(cache) has an unsupported format"
      }
    return reason.map { "\(summary): \($0)" } ?? summary
  }
}

/// A search for damage in a store as a whole, which goes on while its responses are read.
///
/// It must not outlive the store. Its end waits for its threads.
public final class DamageSearch {
  let check: AppleDatabaseCheck
  private var names = AppleBodyFileNames()
  private var hasAllNames = false

  init(_ check: AppleDatabaseCheck) {
    self.check = check
  }

  /// Calls `body` with each answer of SQLite, the first time; waits for them.
  func forEachAnswer(_ body: (String) throws -> Void) throws { try check.forEachAnswer(body) }

  /// Notes body files that responses name.
  public func insert(bodyFiles: [ByteString]) {
    for name in bodyFiles { names.insert(name.bytes) }
  }

  /// Notes that the body files of all responses were inserted, so that no search for their names is needed.
  public func finishBodyFiles() { hasAllNames = true }

  /// Returns the names of all body files; `nil` if some may be missing.
  func allNames() -> AppleBodyFileNames? { hasAllNames ? names : nil }

  // A thread must not read the database of a store that may be closed.
  deinit { check.waitForEnd() }
}
