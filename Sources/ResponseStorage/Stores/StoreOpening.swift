public import Bytes
import Files

/// What it takes to open a store, of whatever kind it is, for reading or for changing.
public struct StoreOpening: Sendable {
  /// The kinds of stores, in the order in which they are looked for. A new kind is one more line here.
  static let kinds: [any StoreKind.Type] = [
    AppleStore.self,
    FoundationStore.self,
  ]

  /// The path of a store.
  public var path: String

  /// How long to wait for another process's lock, in milliseconds.
  public var wait: Int32

  /// Where a private copy may be put, if the store cannot be read without changing it.
  public var temporaryFolder: String

  /// The time from which on a moment counts as one of the future.
  public var now: Timestamp

  /// Where changes are noted before they are made; `nil` if they need not be.
  public var intents: IntentFolder?

  /// Creates an opening.
  public init(
    path: String, wait: Int32, temporaryFolder: String, now: Timestamp,
    intents: IntentFolder? = nil
  ) {
    self.path = path
    self.wait = wait
    self.temporaryFolder = temporaryFolder
    self.now = now
    self.intents = intents
  }

  /// Finds out which kind of store is at the path, and opens it for reading.
  ///
  /// - Throws: ``StoreError``: `notFound` if there is nothing, `notACache` if it is no store of any kind.
  public func open() throws -> any StoreSource { try kind().init(self) }

  /// Finds out which kind of store is at the path, and opens it for changing.
  ///
  /// - Parameter verifying: Whether to have the store checked before.
  /// - Throws: ``StoreError``, also `unsupported` if stores of that kind can only be read.
  public func openForChanging(verifying: Bool) throws(StoreError) -> any ResponseStore {
    try kind().changing(self, verifying: verifying)
  }

  private func kind() throws(StoreError) -> any StoreKind.Type {
    let isFolder = try Self.isFolder(path)
    for kind in Self.kinds where try kind.isStore(at: path, isFolder: isFolder) { return kind }
    let marks = Self.kinds.map { $0.mark }.joined(separator: " nor ")
    throw StoreError(.notACache, at: path, because: "the folder has neither \(marks)")
  }

  /// Whether a path is that of a folder, or of a link to one.
  ///
  /// A link to a folder is followed, as the system's own folders for temporary files are links on macOS;
  /// a link to a file is not.
  static func isFolder(_ path: String) throws(StoreError) -> Bool {
    do throws(FileError) {
      let status = try FileStatus.of(path)
      if status.kind == .symbolicLink {
        return (try? FileStatus.of(path + "/."))?.kind == .directory
      }
      return status.kind == .directory
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
