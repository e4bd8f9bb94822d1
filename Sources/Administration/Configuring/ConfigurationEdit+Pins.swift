public import Bytes

extension ConfigurationEdit.Key {
  /// The pinned URLs of one cache, or of all.
  static func pins(ofCache name: String?) -> Self { Self(cache: name, name: "pinned") }
}

extension ConfigurationEdit {
  /// The result of changing pins.
  public struct PinChange: Sendable {
    /// The new text of the file.
    public let text: [UInt8]
    /// The URLs that were added or removed, in the order given.
    public let changed: [ByteString]
  }

  /// Returns the file with additional pins.
  ///
  /// - Parameters:
  ///   - urls: The URLs; those that the file already pins, in any spelling, are left unchanged.
  ///   - name: The cache, or `nil` for all.
  /// - Returns: `nil` if the file pins all of them.
  public func pinning(
    _ urls: [ByteString], inCache name: String?
  ) throws(Failure) -> PinChange? {
    // Two spellings of a URL name the same entries. A second pin would keep nothing more, and would
    // have to be found again to unpin the URL.
    var known = Set(pinned(inCache: name).map { CanonicalURL.of($0.url) })
    let added = urls.filter { known.insert(CanonicalURL.of($0)).inserted }
    guard !added.isEmpty else { return nil }
    let key = Key.pins(ofCache: name)
    let literals = added.map { Self.quoted(String(decoding: $0.bytes, as: UTF8.self)) }
    var result = bytes
    if let member = member(key) {
      insert(literals, into: member.value, of: &result)
    } else {
      let lines = literals.flatMap { Array("  ".utf8) + $0 + Array(",\n".utf8) }
      insert(Array("pinned = [\n".utf8) + lines + Array("]".utf8), for: key, into: &result)
    }
    // The empty text stands for any list: only whether the file has pins at all is compared with
    // it.
    // The text was edited and not generated. Reading it again is what proves that only this setting
    // has changed.
    try verify(result, key, "")
    return PinChange(text: result, changed: added)
  }

  /// Returns the file without some pins.
  ///
  /// - Parameters:
  ///   - urls: The URLs, in any spelling.
  ///   - name: The cache, or `nil` for all.
  /// - Returns: `nil` if the file pins none of them.
  public func unpinning(
    _ urls: [ByteString], inCache name: String?
  ) throws(Failure) -> PinChange? {
    let unwanted = Set(urls.map(CanonicalURL.of))
    let pins = pinned(inCache: name)
    let found = Set(pins.map { CanonicalURL.of($0.url) }).intersection(unwanted)
    guard !found.isEmpty, let member = member(.pins(ofCache: name)),
      case .array(let items) = member.value.content
    else { return nil }
    let removed = items.indices.filter { index in
      guard case .text(let text) = items[index].content else { return false }
      return unwanted.contains(CanonicalURL.of(ByteString(text)))
    }
    var result = bytes
    // An empty array would be left behind as a setting without an effect.
    if removed.count == items.count {
      let start = startOfLine(member.range.lowerBound)
      result.removeSubrange(start..<endOfLine(member.value.range.upperBound))
      if let name, ConfigurationFile.isPath(name),
        let header = headerOfOnly(member, of: .pins(ofCache: name))
      {
        result.removeSubrange(startOfLine(header.lowerBound)..<endOfLine(header.upperBound))
      }
    } else {
      var goes = [Bool](repeating: false, count: bytes.count)
      for index in removed {
        for place in range(ofItem: index, in: items, of: member.value) { goes[place] = true }
      }
      result = zip(bytes, goes).compactMap { byte, goes in goes ? nil : byte }
    }
    try verify(result, .pins(ofCache: name), removed.count == items.count ? nil : "")
    var left = found
    return PinChange(text: result, changed: urls.filter { left.remove(CanonicalURL.of($0)) != nil })
  }

  /// The pins as text, for ``values(of:)``.
  static func text(of pins: [Pin]) -> String? {
    pins.isEmpty
      ? nil : pins.map { String(decoding: $0.url.bytes, as: UTF8.self) }.joined(separator: "\n")
  }

  private func pinned(inCache name: String?) -> [Pin] {
    let file = file
    guard let name else { return file.pins }
    return file.caches.first { $0.name == name }?.pins ?? []
  }

  /// Adds items to an array: on separate lines if the last item is not on the line of the opening bracket.
  private func insert(_ literals: [[UInt8]], into array: TOMLValue, of result: inout [UInt8]) {
    guard case .array(let items) = array.content, let last = items.last?.range else {
      let text = literals.map { Array($0) }.joined(separator: Array(", ".utf8))
      result.insert(contentsOf: Array(text), at: array.range.lowerBound + 1)
      return
    }
    let line = startOfLine(last.lowerBound)
    guard line > array.range.lowerBound else {
      let text = literals.flatMap { Array(", ".utf8) + $0 }
      result.insert(contentsOf: text, at: last.upperBound)
      return
    }
    // As the lines before, so that the file stays as its author formats it, and a difference in
    // version control is one line.
    let indent = bytes[line...].prefix { $0 == 0x20 || $0 == 0x09 }
    let comma = placeOfComma(after: last.upperBound)
    let next = endOfLine(last.upperBound)
    if next < array.range.upperBound {
      let lines = literals.flatMap { Array(indent) + $0 + Array(",\n".utf8) }
      result.insert(contentsOf: lines, at: next)
      if comma == nil { result.insert(UInt8(ascii: ","), at: last.upperBound) }
    } else {
      // The closing bracket follows the last item.
      let lines = literals.flatMap { Array(",\n".utf8) + Array(indent) + $0 }
      result.insert(contentsOf: lines, at: last.upperBound)
    }
  }

  /// Returns the range of an item with its comma; the whole line if it only contains the item and a comment.
  private func range(ofItem index: Int, in items: [TOMLValue], of array: TOMLValue) -> Range<Int> {
    let item = items[index].range
    let comma = placeOfComma(after: item.upperBound)
    let line = startOfLine(item.lowerBound)
    let next = endOfLine(item.upperBound)
    let rest = bytes[(comma.map { $0 + 1 } ?? item.upperBound)..<next].drop(while: \.isBlank)
    // A comment in the line of a URL is about this URL, such as `# needed offline`, and is removed
    // with it.
    let isAlone =
      line > array.range.lowerBound && next < array.range.upperBound
      && bytes[line..<item.lowerBound].allSatisfy(\.isBlank)
      && [UInt8(ascii: "#"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(rest.first)
    if isAlone { return line..<next }
    if let comma {
      let end = bytes[(comma + 1)...].firstIndex { !$0.isBlank } ?? bytes.count
      return item.lowerBound..<end
    }
    return (index > 0 ? items[index - 1].range.upperBound : item.lowerBound)..<item.upperBound
  }

  /// Returns the position of the comma after an item, if it is on the same line.
  private func placeOfComma(after end: Int) -> Int? {
    guard let place = bytes[end...].firstIndex(where: { !$0.isBlank }) else { return nil }
    return bytes[place] == UInt8(ascii: ",") ? place : nil
  }
}
