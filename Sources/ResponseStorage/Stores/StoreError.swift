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

    /// Another process holds a lock that reading needs.
    case inUse

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

    /// Stores of this kind cannot even be read.
    case unreadable
  }

  /// The kind of failure.
  public let code: Code

  /// The path of the store, as the user gave it, or of the file in question.
  public let path: String

  /// The reason, as one clause without a final full stop, or `nil`.
  public let reason: String?

  /// Creates an error about the store at `path`.
  public init(_ code: Code, at path: String, because reason: String? = nil) {
    self.code = code
    self.path = path
    self.reason = reason
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    let summary =
      switch code {
      case .notFound: "no cache at '\(path)'"
      case .notACache: "'\(path)' is not a URL cache"
      case .damaged: "the cache at '\(path)' is damaged"
      case .inUse: "the cache at '\(path)' is in use"
      case .changedWhileReading: "the cache at '\(path)' changed while it was read"
      case .accessDenied: "not allowed to read or change '\(path)'"
      case .inputOutput: "cannot read or change '\(path)'"
      case .noRoom: "cannot write to '\(path)': the disk is full"
      case .noSuchResponse: "no such entry in '\(path)'"
      case .unsupported: "the cache at '\(path)' is read-only"
      case .unreadable: "the cache at '\(path)' has an unsupported format"
      }
    return reason.map { "\(summary): \($0)" } ?? summary
  }
}
