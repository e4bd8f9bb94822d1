public import Bytes
import PropertyLists

extension NewResponse {
  /// The size from which CFNetwork stores a body in a body file (`apple-cache.md`, "Body").
  private static let fileThreshold = ByteCount(AppleStoreWriter.fileThreshold)

  /// Whether CFNetwork stores a body of this size in a body file.
  static func hasBodyFile(_ size: ByteCount?) -> Bool { (size ?? 0) >= fileThreshold }

  /// The key under which an Apple store finds the response.
  public var key: ByteString {
    // The URL of the request, as CFNetwork looks a response up before it follows any redirect.
    AppleCacheKey(of: request.url ?? url, partition: partition).text
  }

  /// Returns the response as the columns of an Apple store of schema 203.
  ///
  /// - Parameter id: The id of the rows in all three tables.
  /// - Returns: The response with its body unchanged, marked as a body file if it is large.
  public func raw(id: Int64) -> RawResponse {
    var raw = RawResponse(id: id)
    raw.columns = [
      .init("entry_ID", .integer(id)),
      // The column is 0 in all responses of real caches, and is not the version of the schema.
      .init("version", .integer(0)),
      .init("hash_value", .integer(CacheKeyHash(of: key).whenInserted)),
      .init("storage_policy", .integer(storagePolicy.number)),
      .init("request_key", .text(key)),
      .init("time_stamp", .text(ByteString(AppleStoreWriter.text(of: firstStored)))),
      .init("partition", partition.map { .text($0) } ?? .null),
    ]
    let writer = PropertyListWriter()
    func content(_ list: PropertyListValue?) -> Body? { list.map { Body(writer.bytes(of: $0)) } }
    raw.parts = [
      .init(.responseObject, content(archivedResponse)),
      .init(.requestObject, content(archivedRequest)),
      .init(.protocolProperties, content(protocolProperties)),
      .init(.userInfo, content(userInfo.isEmpty ? nil : PropertyListValue(userInfo))),
      .init(.body, body),
    ]
    raw.hasBodyFile = Self.hasBodyFile(body?.size)
    raw.columns.append(.init("isDataOnFS", .integer(raw.hasBodyFile ? 1 : 0)))
    return raw
  }

  private var archivedResponse: PropertyListValue {
    AppleMessage.Response(
      url: url, stored: stored, status: status, headers: headers, expectedLength: body?.size,
      mimeType: mimeType
    ).propertyList
  }

  private var archivedRequest: PropertyListValue {
    AppleMessage.Request(
      url: request.url ?? url, method: request.method ?? "GET",
      headers: request.headers ?? HeaderFields(), cachePolicy: request.cachePolicy ?? 0,
      // 60 seconds is the default of `URLRequest`, so the archive then has no flag for an explicit
      // time-out.
      timeoutSeconds: request.timeoutSeconds ?? 60, bodyParts: request.body.map { [$0] }
    ).propertyList
  }

  /// The `Vary` record and the properties of the request, or `nil` if there are none.
  ///
  /// Without the `Vary` record, CFNetwork would serve the response to requests that it does not match.
  private var protocolProperties: PropertyListValue? {
    var entries: [PropertyListValue.Entry] = []
    let vary = headers.fields.filter { $0.name.equalsIgnoringASCIICase("vary") }.map(\.value.bytes)
    if !vary.isEmpty {
      // CFNetwork uses the whole value of `Vary`, verbatim, as the key of the record.
      let value = ByteString(Array(vary.joined(separator: [0x2C, 0x20])))
      entries.append(AppleMessage.varyRecord(value, of: request.headers ?? HeaderFields()))
    }
    // In caches of OS X 10.10, stored POSTs have this property, by which an app allows them to be
    // cached.
    if request.method == "POST" {
      entries.append(
        .init(key: Array("kCFURLRequestAllowAllPOSTCaching".utf8), value: .boolean(true)))
    }
    if let partition {
      entries.append(
        .init(key: Array("_kCFURLCachePartitionKey".utf8), value: .string(partition.bytes)))
    }
    return entries.isEmpty ? nil : .dictionary(entries)
  }
}
