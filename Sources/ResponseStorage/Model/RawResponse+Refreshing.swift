public import Bytes
import PropertyLists

extension RawResponse {
  /// The response with other header fields, as CFNetwork writes it once the origin has said that the body is
  /// still good: only the time of storing is another besides.
  ///
  /// - Parameter time: When the origin said so.
  /// - Returns: `nil` if the response cannot be decoded.
  public func freshened(_ headers: HeaderFields, at time: Timestamp) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard let url = old.url, let status = old.status else { return nil }
    return withResponse(
      AppleMessage.Response(
        url: url, stored: time, status: status, headers: headers, expectedLength: old.bodySize,
        mimeType: old.mimeType))
  }

  /// The response with another to the same request in its place, as CFNetwork writes it: it keeps its number,
  /// its key, its request and when it was first stored. What the application attached goes.
  ///
  /// - Returns: `nil` if the response cannot be decoded.
  public func replaced(by response: NewResponse) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard old.url != nil else { return nil }
    let new = response.raw(id: id)
    var raw = withResponse(
      AppleMessage.Response(
        url: response.url, stored: response.stored, status: response.status,
        headers: response.headers, expectedLength: new.part(.body)?.content?.size,
        mimeType: response.mimeType))
    raw.set(.protocolProperties, to: nil)
    let properties = Self.properties(of: old, replacing: new)
    if !properties.isEmpty {
      let bytes = PropertyListWriter().bytes(of: PropertyListValue(properties))
      raw.set(.protocolProperties, to: Body(bytes))
    }
    raw.set(.userInfo, to: nil)
    raw.setBody(to: response.body)
    return raw
  }

  /// The response with all of a body of which a part was stored, as a 200: its request, what was attached to it
  /// and when it was first stored stay.
  ///
  /// - Parameter time: When the rest of the body was received.
  /// - Returns: `nil` if the response cannot be decoded.
  public func completed(
    by body: Body, _ headers: HeaderFields, at time: Timestamp
  ) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard let url = old.url else { return nil }
    var raw = withResponse(
      AppleMessage.Response(
        url: url, stored: time, status: 200, headers: headers,
        expectedLength: body.size, mimeType: old.mimeType))
    raw.setBody(to: body)
    return raw
  }

  private mutating func setBody(to body: Body?) {
    set(.body, to: body)
    hasBodyFile = NewResponse.hasBodyFile(body?.size)
    if let place = columns.firstIndex(where: { $0.name == "isDataOnFS" }) {
      columns[place].value = .integer(hasBodyFile ? 1 : 0)
    }
  }

  /// What the URL loading system attached, with the `Vary` record of the new response for that of the old.
  private static func properties(
    of old: StoredResponse, replacing new: RawResponse
  ) -> [StoredResponse.Property] {
    let vary = (old.responseHeaders?.fields ?? []).filter {
      $0.name.equalsIgnoringASCIICase("vary")
    }
    let record = ByteString(Array(vary.map(\.value.bytes).joined(separator: [0x2C, 0x20])))
    let added = StoredResponse(decoding: new, [.protocolProperties]).protocolProperties
    let kept = old.protocolProperties.filter { property in
      property.key != record && !added.contains { $0.key == property.key }
    }
    return kept + added
  }

  private func withResponse(_ response: AppleMessage.Response) -> RawResponse {
    // Systems before some macOS 10.13 do not keep repeated fields apart, and need not be given what they
    // do not know.
    let marker = Array("__hhaa__".utf8)
    let hasArrays = part(.responseObject)?.content?.bytes?.contains(marker) ?? true
    let headers = AppleMessage.archivedHeaders(response.headers, withArrays: hasArrays)
    var raw = self
    raw.set(
      .responseObject,
      to: Body(PropertyListWriter().bytes(of: response.propertyList(archivedHeaders: headers))))
    return raw
  }

  private mutating func set(_ name: Part.Name, to content: Body?) {
    columns.removeAll { $0.name == name.rawValue }
    if let place = parts.firstIndex(where: { $0.name == name }) {
      parts[place] = Part(name, content)
    } else {
      parts.append(Part(name, content))
    }
  }
}

extension [UInt8] {
  /// Whether other bytes are somewhere in these.
  fileprivate func contains(_ other: [UInt8]) -> Bool {
    guard let first = other.first, count >= other.count else { return false }
    return indices.dropLast(other.count - 1).contains { index in
      self[index] == first && self[index..<index + other.count].elementsEqual(other)
    }
  }
}
