public import Bytes
import PropertyLists

extension StoredResponse {
  /// The request that a response answers, as far as it is known.
  public struct Request: Sendable {
    /// The method, for example `GET`.
    @inlinable public var method: ByteString? {
      _read {
        requireDecoded(.method)
        yield fields.method
      }
      _modify { yield &fields.method }
    }

    /// The requested URL.
    @inlinable public var url: ByteString? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.url
      }
      _modify { yield &fields.url }
    }

    /// The header fields of the request.
    @inlinable public var headers: HeaderFields? {
      _read {
        requireDecoded(.ofRequestHeaders)
        yield fields.headers
      }
      _modify { yield &fields.headers }
    }

    /// The raw value of `NSURLRequest.CachePolicy` on Apple platforms.
    @inlinable public var cachePolicy: Int64? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.cachePolicy
      }
      _modify { yield &fields.cachePolicy }
    }

    /// The time-out interval, in seconds.
    @inlinable public var timeoutSeconds: Double? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.timeoutSeconds
      }
      _modify { yield &fields.timeoutSeconds }
    }

    /// The body, with all parts joined.
    @inlinable public var body: [UInt8]? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.body
      }
      _modify { yield &fields.body }
    }

    /// The fields without checks.
    @usableFromInline struct Fields: Hashable, Sendable {
      @usableFromInline var method: ByteString?
      @usableFromInline var url: ByteString?
      @usableFromInline var headers: HeaderFields?
      @usableFromInline var cachePolicy: Int64?
      @usableFromInline var body: [UInt8]?
      @usableFromInline var timeoutSeconds: Double?

      init() {}
    }

    @usableFromInline var fields = Fields()

    /// The decoded parts of the response.
    @usableFromInline var decoded = Projection.all

    /// Creates an empty request.
    public init() {}

    /// Stops a debug build unless a part of `projection` was decoded.
    @inlinable @inline(__always)
    func requireDecoded(_ projection: @autoclosure () -> Projection) {
      assert(!decoded.isDisjoint(with: projection()), "this part was not in the projection")
    }
  }
}

// Requests with equal parts are equal, whatever was requested.
extension StoredResponse.Request: Hashable {
  public static func == (one: Self, other: Self) -> Bool { one.fields == other.fields }

  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension StoredResponse {
  /// Decodes a raw response.
  ///
  /// Property lists that are too long to be in memory are not decoded.
  public init(decoding raw: borrowing RawResponse, _ projection: Projection) {
    self.init(id: .row(raw.id))
    decodeColumns(raw, projection)
    var memory = SpareMemory()
    if !projection.isDisjoint(with: .ofResponseObject) {
      decode(.responseObject, of: raw) { (bytes, response) throws(PropertyListError) in
        try response.decodeResponseObject(bytes, projection, reusing: &memory)
      }
    }
    if !projection.isDisjoint(with: .ofRequestObject) {
      decode(.requestObject, of: raw) { (bytes, response) throws(PropertyListError) in
        try response.decodeRequestObject(bytes, projection, reusing: &memory)
      }
    }
    if projection.contains(.protocolProperties) {
      decode(.protocolProperties, of: raw) { (bytes, response) throws(PropertyListError) in
        response.protocolProperties = try Self.decodeProperties(bytes)
      }
    }
    if projection.contains(.userInfo) {
      decode(.userInfo, of: raw) { (bytes, response) throws(PropertyListError) in
        response.userInfo = try Self.decodeProperties(bytes)
      }
    }
    // In the same order as a scan of a store, so that an archive of a store shows the same URLs.
    if projection.contains(.url), url == nil { url = request.url ?? raw.text("request_key") }
    if projection.contains(.body) { decodeBody(raw) }
    finishDecoding(projection)
  }

  private mutating func decodeColumns(_ raw: RawResponse, _ projection: Projection) {
    if projection.contains(.key) { key = raw.text("request_key") }
    if projection.contains(.firstStored), let text = raw.text("time_stamp") {
      firstStored = Timestamp(databaseText: text.bytes.span)
      if firstStored == nil {
        notes.append(.init(.badTime, "time_stamp is not a date and time"))
      }
    }
    guard projection.contains(.storage) else { return }
    if case .integer(let policy) = raw.value(of: "storage_policy") {
      storagePolicy = .init(stored: policy)
    }
    partition = raw.text("partition")
  }

  private mutating func decode(
    _ name: RawResponse.Part.Name, of raw: RawResponse,
    _ body: (Span<UInt8>, inout StoredResponse) throws(PropertyListError) -> Void
  ) {
    guard let part = raw.part(name) else { return }
    guard let bytes = part.content?.bytes else {
      // CFNetwork always writes these two; the other columns are often NULL.
      let isNeeded = name == .responseObject || name == .requestObject
      if part.content == nil, !isNeeded { return }
      notes.append(.init(.undecodable, "\(name.rawValue) is NULL or too large"))
      return
    }
    do throws(PropertyListError) { try body(bytes.span, &self) } catch {
      notes.append(.init(.undecodable, "\(name.rawValue) cannot be decoded: \(error)"))
    }
  }

  private mutating func decodeBody(_ raw: RawResponse) {
    guard let body = raw.part(.body)?.content else {
      bodyLocation = .missing
      notes.append(.init(.missingBodyFile, "its body is missing"))
      return
    }
    bodySize = body.size
    bodyLocation = raw.hasBodyFile ? .file : .inline
  }
}

extension RawResponse {
  /// Returns the bytes of a column that is text or a BLOB.
  public func text(_ column: String) -> ByteString? {
    switch value(of: column) {
    case .text(let text): text
    case .blob(let bytes): ByteString(bytes)
    case .null, .integer, .real, nil: nil
    }
  }
}
