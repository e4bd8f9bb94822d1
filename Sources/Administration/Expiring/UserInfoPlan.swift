public import Bytes
public import Files
public import ResponseStorage
public import SQLite

/// The changes to the user info of entries, decided before anything is changed, in ascending order of ids.
///
/// There may be millions, so most of them are in an unnamed file.
public struct UserInfoPlan {
  /// An entry that is changed.
  public struct Entry: Hashable, Sendable {
    /// The change.
    public let change: UserInfoChange
    /// The entry, as it was when the plan was made.
    public let version: ResponseVersion
    /// The URL of the entry.
    public let url: ByteString?

    /// Creates an entry.
    public init(_ change: UserInfoChange, of response: borrowing StoredResponse) {
      self.change = change
      version = ResponseVersion(
        id: change.id, key: response.key, stored: response.stored, file: nil)
      url = response.url
    }
  }

  /// The number of entries that are changed at a time.
  private static let batchSize = 1_024

  private var entries = Scratch.List<Entry>()

  /// Creates an empty plan.
  public init() {}

  /// The number of entries.
  public var count: Int { entries.count }

  /// Calls `body` with each entry until it returns `false`.
  ///
  /// - Throws: `FileError` if the entries cannot be read, or the error that `body` throws.
  public func forEach(_ body: (Entry) throws -> Bool) throws {
    var rest = entries.makeReader()
    while let entry = try rest.next(), try body(entry) {}
  }

  /// Returns a reader of the entries, as they were when the plan was made.
  public func makeVersionReader() -> VersionReader { VersionReader(entries: entries.makeReader()) }

  /// Reads the versions of entries, in ascending order of ids.
  public struct VersionReader {
    fileprivate var entries: Scratch.Reader<Entry>

    /// Returns the next version; `nil` at the end.
    public mutating func next() throws(FileError) -> ResponseVersion? {
      try entries.next()?.version
    }
  }

  /// Changes the entries in a store, except those whose user info has changed.
  ///
  /// - Parameters:
  ///   - done: Receives the entries that were changed, even if an error is thrown.
  ///   - shouldStop: Returns whether to stop; called between batches.
  /// - Throws: `StoreError`, or `FileError` if the entries cannot be read.
  public func carryOut(
    in store: any ResponseStore, into done: inout UserInfoPlan, unless shouldStop: () -> Bool
  ) throws {
    var writer = Writer()
    var failure: (any Error)?
    do {
      var rest = entries.makeReader()
      while !shouldStop() {
        var batch: [Entry] = []
        while batch.count < Self.batchSize, let entry = try rest.next() { batch.append(entry) }
        if batch.isEmpty { break }
        var changed: Set<StoredResponse.ID> = []
        do throws(StoreError) {
          try store.change(batch.map(\.change), into: &changed, unless: shouldStop)
        } catch {
          failure = error
        }
        for entry in batch where changed.contains(entry.change.id) { try writer.append(entry) }
        if failure != nil { break }
      }
    } catch {
      failure = error
    }
    done = try writer.finish()
    if let failure { throw failure }
  }

  /// Writes a plan.
  public struct Writer {
    private var entries = Scratch.List<Entry>.Writer()

    /// Creates a writer of an empty plan.
    public init() {}

    /// Appends an entry, whose id must be greater than those before.
    public mutating func append(_ entry: Entry) throws(FileError) { try entries.append(entry) }

    /// Returns the plan.
    public mutating func finish() throws(FileError) -> UserInfoPlan {
      var plan = UserInfoPlan()
      plan.entries = try entries.finish()
      return plan
    }
  }
}

extension UserInfoPlan.Entry: ScratchRow {
  public func pack(into values: inout PackedValues) {
    values.append(version: version)
    values.append(change.old)
    values.append(change.new) { $0.append($1) }
    values.append(url) { $0.append($1) }
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    version = try reader.version()
    let old = try reader.data()
    change = UserInfoChange(of: version.id, from: old, to: try reader.optionalText()?.bytes)
    url = try reader.optionalText()
  }
}
