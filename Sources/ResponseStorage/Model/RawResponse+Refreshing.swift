public import Bytes
import PropertyLists

extension RawResponse {
  /// Returns the response with other header fields, as CFNetwork writes it after the origin has confirmed that
  /// the body is still valid. Apart from them, only the time of storing changes.
  ///
  /// - Parameter time: When the origin confirmed it.
  /// - Returns: `nil` if the response cannot be decoded.
  public func freshened(_ headers: HeaderFields, at time: Timestamp) -> RawResponse? {
    let old = StoredResponse(decoding: self, .all)
    guard let url = old.url, let status = old.status else { return nil }
    return withResponse(
      AppleMessage.Response(
        // The status stays that of the stored response: a 304 updates its header fields only (RFC
        // 9111 §4.3.4).
        url: url, stored: time, status: status, headers: headers, expectedLength: old.bodySize,
        mimeType: old.mimeType))
  }

  /// Returns the response replaced by another one to the same request, as CFNetwork writes it: id, key, request
  /// and the time of first storing are kept, and the user info of the app is removed.
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
    // What an app attached belongs to the old body, for example a date of expiry.
    raw.set(.userInfo, to: nil)
    raw.setBody(to: response.body)
    return raw
  }

  /// Returns a partly stored response with its complete body, as a 200. Its request, its user info and the time
  /// of first storing are kept.
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
        // The parts of a body together are a complete 200 (RFC 9110 §15.3.7.3).
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

  /// Returns the request's properties of the old response, with the `Vary` record of the new one.
  private static func properties(
    of old: StoredResponse, replacing new: RawResponse
  ) -> [StoredResponse.Property] {
    let vary = (old.responseHeaders?.fields ?? []).filter {
      $0.name.equalsIgnoringASCIICase("vary")
    }
    let record = ByteString(Array(vary.map(\.value.bytes).joined(separator: [0x2C, 0x20])))
    let added = StoredResponse(decoding: new, [.protocolProperties]).protocolProperties
    let kept = old.protocolProperties.filter { property in
      // The record is stored under the value of `Vary`, which can be another one now. With both
      // records, CFNetwork might match a request by the old one.
      property.key != record && !added.contains { $0.key == property.key }
    }
    return kept + added
  }

  private func withResponse(_ response: AppleMessage.Response) -> RawResponse {
    // Systems before macOS 10.13 do not write `__hhaa__`: add it only where the old response has it.
    let marker = Array("__hhaa__".utf8)
    // The marker is searched in the bytes, as the list need not be decoded for that.
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
  /// Whether the array contains other bytes.
  fileprivate func contains(_ other: [UInt8]) -> Bool {
    guard let first = other.first, count >= other.count else { return false }
    return indices.dropLast(other.count - 1).contains { index in
      self[index] == first && self[index..<index + other.count].elementsEqual(other)
    }
  }
}
