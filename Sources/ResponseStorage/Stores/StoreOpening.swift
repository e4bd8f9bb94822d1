public import Bytes
import Files

/// The parameters for opening a store of any kind for reading or for changes.
public struct StoreOpening: Sendable {
  /// The kinds of stores, in the order in which they are tried. A new kind is one more line here.
  static let kinds: [any StoreKind.Type] = [
    AppleStore.self,
    FoundationStore.self,
  ]

  /// The path of a store.
  public var path: String

  /// How long to wait for another process's lock, in milliseconds.
  public var wait: Int32

  /// The folder for a private copy if the store cannot be read without changing it.
  public var temporaryFolder: String

  /// The current time; later times count as in the future.
  public var now: Timestamp

  /// The folder in which changes are recorded before they are made; `nil` for none.
  public var intents: IntentFolder?

  /// Creates the parameters.
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

  /// Determines the kind of the store at the path, and opens it for reading.
  ///
  /// - Throws: ``StoreError``: `notFound` if there is nothing, `notACache` if it is not a store of any kind.
  public func open() throws -> any StoreSource { try kind().init(self) }

  /// Determines the kind of the store at the path, and opens it for changes.
  ///
  /// - Parameter verifying: Whether to check the store first.
  /// - Throws: ``StoreError``, also `unsupported` if stores of that kind can only be read.
  public func openForChanging(verifying: Bool) throws(StoreError) -> any ResponseStore {
    try kind().changing(self, verifying: verifying)
  }

  func kind() throws(StoreError) -> any StoreKind.Type {
    let isFolder = try Self.isFolder(path)
    // The Apple store comes first: a folder with a `Cache.db` is one even if it also contains files
    // of a Foundation store.
    for kind in Self.kinds where try kind.isStore(at: path, isFolder: isFolder) { return kind }
    let marks = Self.kinds.map { $0.mark }.joined(separator: " nor ")
    throw StoreError(.notACache, at: path, because: "the folder has neither \(marks)")
  }

  /// Whether a path is a folder or a link to one.
  ///
  /// Links to folders are followed, as the folders for temporary files are links on macOS; links to files
  /// are not.
  static func isFolder(_ path: String) throws(StoreError) -> Bool {
    do throws(FileError) {
      let status = try FileStatus.of(path)
      if status.kind == .symbolicLink {
        // The status of the path itself is that of the link, while `/.` is looked up in the folder
        // behind it.
        return (try? FileStatus.of(path + "/."))?.kind == .directory
      }
      return status.kind == .directory
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
