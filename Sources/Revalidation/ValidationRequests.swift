import Administration
import Bytes
public import Files
public import ResponseStorage
import SQLite

/// The requests of a run, in a temporary database: memory does not grow with their number.
public final class ValidationRequests {
  private let database: Scratch
  private var insertion: Statement

  /// The number of requests, with those that are not sent.
  public private(set) var count: Int64 = 0

  /// The number of requests that are sent.
  public private(set) var sentCount: Int64 = 0

  /// Creates an empty list.
  public init() throws(FileError) {
    database = try Scratch(
      tables: [
        """
        CREATE TABLE requests(number INTEGER PRIMARY KEY, host BLOB, asks_for_rest INTEGER,
        request BLOB)
        """
      ])
    insertion = try database.prepare("INSERT INTO requests VALUES(?1, ?2, ?3, ?4)")
  }

  /// Adds a request.
  public func append(_ request: ValidationRequest) throws(FileError) {
    try database.restart(&insertion, count)
    try database.bind(to: &insertion) { statement throws(SQLiteError) in
      try statement.bind(blob: request.host?.bytes ?? [], at: 2)
      try statement.bind(integer: request.asksForRest ? 1 : 0, at: 3)
      try statement.bind(row: request, at: 4)
    }
    _ = try database.step(&insertion)
    count += 1
    if request.skipReason == nil { sentCount += 1 }
  }

  /// Copies the stored beginnings of bodies to the spool, so that their rests can be joined to them.
  ///
  /// - Throws: The error that the spool or the database throws.
  public func keepStarts(from source: any ResponseSource, in spool: BodySpool) throws {
    var next = try database.prepare(
      """
      SELECT number, request FROM requests WHERE number > ?1 AND asks_for_rest ORDER BY number
      LIMIT 1
      """)
    var update = try database.prepare("UPDATE requests SET request = ?2 WHERE number = ?1")
    var number: Int64 = -1
    while true {
      try database.restart(&next, number)
      guard try database.step(&next) else { return }
      number = next.integer(at: 0)
      var request: ValidationRequest = try database.row(next, at: 1)
      // No row that is read is changed.
      next.reset()
      try request.keepStart(from: source, in: spool)
      try database.restart(&update, number)
      try database.bind(to: &update) { statement throws(SQLiteError) in
        try statement.bind(row: request, at: 2)
      }
      _ = try database.step(&update)
    }
  }

  /// Returns a reader of all requests, which takes one request of each host in turn: one host with a thousand entries
  /// would otherwise keep all others waiting.
  ///
  /// To be called after the last request was added.
  func makeReader() throws(FileError) -> Reader {
    try database.execute("CREATE INDEX IF NOT EXISTS hosts ON requests(host, number)")
    try database.execute("DROP TABLE IF EXISTS turns")
    try database.execute(
      """
      CREATE TABLE turns AS SELECT number FROM (
        SELECT number, row_number() OVER (PARTITION BY host ORDER BY number) AS turn FROM requests
      ) ORDER BY turn, number
      """)
    return Reader(
      requests: self,
      turns: try database.prepare(
        """
        SELECT number, request, host FROM turns CROSS JOIN requests USING (number)
        ORDER BY turns.rowid
        """),
      rest: try database.prepare(
        """
        SELECT number, request FROM requests WHERE host = ?2 AND number >= ?1 ORDER BY number
        LIMIT 1
        """))
  }

  /// Reads requests with their numbers, which are those of their order in the cache.
  struct Reader: ~Copyable {
    fileprivate let requests: ValidationRequests
    fileprivate var turns: Statement
    fileprivate var rest: Statement
    /// Whether the last request was read.
    private(set) var isAtEnd = false

    fileprivate init(
      requests: ValidationRequests, turns: consuming Statement, rest: consuming Statement
    ) {
      self.requests = requests
      self.turns = turns
      self.rest = rest
    }

    /// Returns the next request; `nil` at the end, or if it is not wanted.
    mutating func next(
      if isWanted: (_ host: [UInt8], _ number: Int64) -> Bool
    ) throws(FileError) -> (number: Int64, request: ValidationRequest)? {
      if !isAtEnd { isAtEnd = try !requests.database.step(&turns) }
      // A statement that is stepped after its last row begins again.
      guard !isAtEnd, isWanted(turns.bytes(at: 2), turns.integer(at: 0)) else { return nil }
      return (turns.integer(at: 0), try requests.database.row(turns, at: 1))
    }

    /// Returns the first request of a host from a number on; `nil` if there are no more.
    mutating func next(
      of host: [UInt8], from number: Int64
    ) throws(FileError) -> (number: Int64, request: ValidationRequest)? {
      try requests.database.restart(&rest, number)
      try requests.database.bind(to: &rest) { statement throws(SQLiteError) in
        try statement.bind(blob: host, at: 2)
      }
      guard try requests.database.step(&rest) else { return nil }
      return (rest.integer(at: 0), try requests.database.row(rest, at: 1))
    }
  }
}

/// The URL of a request, as stored.
struct TargetURL {
  private let parts: URLParts

  /// Creates a target from a URL, without its fragment, which is not sent (RFC 9110 §7.1).
  init(_ url: [UInt8]) {
    // Find credentials even in text that is not a URL: the report must not claim that there were none.
    parts = URLParts(Array(URLParts(url).withoutFragment), allowsAnyScheme: true)
  }

  /// The URL without its fragment.
  var bytes: [UInt8] { parts.bytes }

  /// Whether it is an `http` or `https` URL with a host.
  var isFetchable: Bool {
    let scheme = CanonicalURL.scheme(of: ByteString(bytes))
    return (scheme == "http" || scheme == "https")
      && CanonicalURL.host(of: ByteString(bytes)) != nil
      && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Whether it contains a user name, with or without a password.
  var hasUserInfo: Bool { parts.authority?.userInfo != nil }

  /// The URL without user name and password.
  var withoutUserInfo: [UInt8] { parts.withoutUserInfo }
}
