public import Bytes

/// Somewhere that stored responses can be read from, in whatever format they are on disk.
///
/// Reading creates, changes and deletes nothing in the store's folder.
public protocol ResponseSource {
  /// What the source is.
  var description: StoreDescription { get }

  /// Calls `body` with each response, in ascending order of ``StoredResponse/ID``.
  ///
  /// The source drives the loop, so that no cursor outlives the snapshot that it reads. A response
  /// that is damaged is passed on with what is known of it and a note; it is no error.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - body: What to do with a response. Return ``ScanStep/stop`` to end the scan.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func forEachResponse(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep) throws

  /// Has all responses taken in by portions, on several threads if the store can be read by several.
  ///
  /// - Parameters:
  ///   - projection: What to decode of each response.
  ///   - portion: What every portion starts as.
  ///   - order: The order of the portions.
  ///   - body: What to do with a portion, on the thread of the caller. It is filled again then, and should be
  ///     empty.
  /// - Throws: ``StoreError``, or whatever `body` throws.
  func forEachPortion<Portion: ResponsePortion>(
    _ projection: Projection, startingWith portion: Portion, in order: PortionOrder,
    _ body: (inout Portion) throws -> ScanStep) throws

  /// Returns one response, or `nil` if the store has none that is called `id`.
  func response(_ id: StoredResponse.ID, _ projection: Projection) throws -> StoredResponse?

  /// Counts the responses, without decoding any.
  func count() throws -> Int64

  /// Passes the body of one response to `read`, which takes it piece by piece.
  ///
  /// - Throws: ``StoreError`` if there is no such response or no such body, or whatever `read`
  ///   throws.
  func withBody(of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void) throws

  /// Returns the bytes of a property list as stored, or `nil` if the store has none there.
  ///
  /// - Parameter name: One of ``StoreDescription/rawPropertyLists``.
  func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]?

  /// Measures what the store takes up on disk.
  func footprint() throws -> Footprint

  /// Calls `body` with what is wrong with the store, beyond what a scan notes of each response.
  ///
  /// Damage is a finding as far as something can still be read, and no error.
  ///
  /// - Parameters:
  ///   - fully: Whether to look at everything, however long that takes.
  ///   - now: The time of the system, which files are young or old by.
  func forEachFinding(
    fully: Bool, now: Timestamp, _ body: (Finding) throws -> Void) throws

  /// Ends the reading: makes sure that all that was read belongs to one state of the store.
  ///
  /// - Throws: ``StoreError`` with ``StoreError/Code/changedWhileReading`` if it does not.
  func finish() throws
}

extension ResponseSource {
  /// Has all responses taken in by one portion, on this thread.
  public func forEachPortion<Portion: ResponsePortion>(
    _ projection: Projection, startingWith portion: Portion, in order: PortionOrder,
    _ body: (inout Portion) throws -> ScanStep
  ) throws {
    var portion = portion
    var step = ScanStep.next
    try forEachResponse(projection) { response in
      var response = copy response
      portion.take(&response)
      if portion.isFull { step = try body(&portion) }
      return step
    }
    if step == .next { _ = try body(&portion) }
  }
}

/// What a scan does after a response.
public enum ScanStep: Sendable {
  case next
  case stop
}

/// What a source is.
public struct StoreDescription: Hashable, Sendable {
  /// A format that responses are read from, by its name in our JSON.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// The path of the store, as the user gave it.
  public var path: String

  /// The format.
  public var format: Format

  /// The schema version of an Apple store; `nil` if the store names none.
  public var schemaVersion: Int64?

  /// The device, and the number on it, of the file or folder that makes the store itself and no copy;
  /// empty if there is none.
  public var identity: [UInt64]

  /// Whether another process had the store open when the reading began.
  public var inUse: Bool

  /// The process that had the store open when the reading began, if there was one and the system
  /// tells.
  public var holder: Int32?

  /// The names by which ``ResponseSource/rawPropertyList(_:of:)`` knows the parts of a response.
  public var rawPropertyLists: [String]

  /// What is odd about the store as a whole, for people.
  public var notes: [String]

  /// Why the store is read and never changed, as a clause; `nil` if it can be changed, or is no store.
  public var obstacle: String?

  /// Creates a description.
  public init(
    path: String, format: Format, schemaVersion: Int64?, identity: [UInt64] = [],
    inUse: Bool = false,
    holder: Int32? = nil, rawPropertyLists: [String] = [], notes: [String] = [],
    obstacle: String? = nil
  ) {
    self.path = path
    self.format = format
    self.schemaVersion = schemaVersion
    self.identity = identity
    self.inUse = inUse
    self.holder = holder
    self.rawPropertyLists = rawPropertyLists
    self.notes = notes
    self.obstacle = obstacle
  }
}

/// What to decode of each response; what is not asked for costs nothing.
public struct Projection: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// ``StoredResponse/key``.
  public static let key = Self(rawValue: 1 << 0)
  /// ``StoredResponse/firstStored``.
  public static let firstStored = Self(rawValue: 1 << 1)
  /// ``StoredResponse/storagePolicy`` and ``StoredResponse/partition``.
  public static let storage = Self(rawValue: 1 << 2)
  /// ``StoredResponse/url``.
  public static let url = Self(rawValue: 1 << 3)
  /// ``StoredResponse/stored``.
  public static let stored = Self(rawValue: 1 << 4)
  /// ``StoredResponse/status``.
  public static let status = Self(rawValue: 1 << 5)
  /// ``StoredResponse/mimeType``.
  public static let mimeType = Self(rawValue: 1 << 6)
  /// ``StoredResponse/responseHeaders``.
  public static let responseHeaders = Self(rawValue: 1 << 7)
  /// ``StoredResponse/Request/method``.
  public static let method = Self(rawValue: 1 << 8)
  /// ``StoredResponse/Request/headers``.
  public static let requestHeaders = Self(rawValue: 1 << 9)
  /// All else of ``StoredResponse/request``.
  public static let requestDetails = Self(rawValue: 1 << 10)
  /// ``StoredResponse/bodySize``, ``StoredResponse/bodyLocation`` and
  /// ``StoredResponse/bodyFileName``.
  public static let body = Self(rawValue: 1 << 11)
  /// ``StoredResponse/userInfo``.
  public static let userInfo = Self(rawValue: 1 << 12)
  /// ``StoredResponse/protocolProperties``.
  public static let protocolProperties = Self(rawValue: 1 << 13)
  /// ``StoredResponse/notes`` on an entry as a whole and on what is decoded of it; its key, its body, its URL, its
  /// status, its media type, its method and the time that it was stored are decoded for that.
  public static let notes = Self(rawValue: 1 << 14)
  /// ``StoredResponse/freshnessFields``, or of ``StoredResponse/responseHeaders`` at least these fields.
  public static let freshnessFields = Self(rawValue: 1 << 15)
  /// ``StoredResponse/file``.
  public static let file = Self(rawValue: 1 << 16)

  /// Of ``StoredResponse/responseHeaders`` and ``StoredResponse/Request/headers`` at least the fields that
  /// caching depends on, which are those that `Vary` names too.
  public static let cachingFields = Self(rawValue: 1 << 17)

  /// ``notes`` on what nothing goes wrong by, such as a hash that nobody looks up.
  public static let consistency = Self(rawValue: 1 << 18)

  /// Everything but ``consistency``.
  public static let all = Self(rawValue: (1 << 18) - 1)

  /// Whatever needs the header fields of the response.
  static let ofResponseHeaders: Self = [.responseHeaders, .freshnessFields, .cachingFields]
  /// Whatever needs the header fields of the request.
  static let ofRequestHeaders: Self = [.requestHeaders, .cachingFields]
}

/// What a store takes up on disk.
public struct Footprint: Hashable, Sendable {
  /// The length of the database file.
  public var databaseBytes: ByteCount = 0
  /// The length of the write-ahead log.
  public var walBytes: ByteCount = 0
  /// The length of the log's index.
  public var shmBytes: ByteCount = 0
  /// What the database file gets longer by, or shorter, once all of the log is in it.
  public var growthBytes: ByteCount = 0
  /// The lengths of all regular files below the folder of body files, orphans included; in a Foundation
  /// store, of all that `URLCache` counts: whatever has the name of a stored response.
  public var bodyFilesBytes: ByteCount = 0
  /// The free pages of the database.
  public var freeBytes: ByteCount = 0
  /// The number of files in the folder of body files that no response names; in a Foundation store, of
  /// those that `URLCache` neither counts nor removes.
  public var orphanFiles: Int64 = 0
  /// The lengths of those files.
  public var orphanBytes: ByteCount = 0
  /// What the file system charges for all of these files.
  public var allocatedBytes: ByteCount = 0
  /// What the database takes up without an entry: a page for its header and for each table and index.
  public var emptyBytes: ByteCount = 0
  /// The length of a page of the database.
  public var pageBytes: ByteCount = 0

  /// Creates a footprint of nothing.
  public init() {}

  /// The lengths of all files, which is what `URLCache` holds against its disk capacity; the
  /// largest number if no number can hold them.
  public var totalBytes: ByteCount {
    [walBytes, shmBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }

  /// What the database file is longer than the database in it, as a crash leaves it; whoever copies a log into the
  /// file cuts that off.
  public var tailBytes: ByteCount { walBytes == 0 ? max(0, -growthBytes) : 0 }

  /// The lengths of all files once nobody has the store open, as whoever closes it last takes the log
  /// away.
  public var closedBytes: ByteCount {
    [growthBytes, bodyFilesBytes].reduce(databaseBytes) { $0 + $1 }
  }
}
