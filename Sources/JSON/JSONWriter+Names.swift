import Files

extension JSONWriter {
  /// Writes the name of a member; its value must follow.
  ///
  /// - Parameter name: Printable ASCII without quotes and backslashes. A literal is copied in one go; a `String` takes
  ///   twice as long, because its storage has several forms.
  public mutating func key(_ name: StaticString) {
    assert(
      name.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
    // One copy of three literals takes less than half of a call for each byte around the name.
    let start: StaticString =
      switch (place == .next, layout) {
      case (true, .inLine): ",\""
      case (false, .inLine): "\""
      case (true, .lines): ",\n\""
      case (false, .lines): "\n\""
      }
    bytes.append(start, name, JSONNames.end)
    self.place = .value
  }

  /// Writes the name of a member; its value must follow.
  public mutating func key(named name: String) {
    string(name)
    endKey()
  }

  /// Writes the name of a member, whose value must follow. Writes nothing if the name is not UTF-8.
  ///
  /// - Returns: Whether the name is UTF-8.
  public mutating func key(utf8 name: [UInt8]) -> Bool {
    guard string(utf8: name) else { return false }
    endKey()
    return true
  }

  /// Writes the name of a member, whose value must follow. Invalid UTF-8 becomes U+FFFD.
  public mutating func key(repairing name: [UInt8]) {
    string(repairing: name)
    endKey()
  }

  /// Writes a name that was encoded before, by its index; the value must follow.
  public mutating func key(_ names: borrowing JSONNames, at index: Int) {
    write(names.bytes.span.extracting(names.places.span[index]))
    place = .value
  }

  /// Writes `null` as the value of a member, and the bytes in Base64 as a second member, named after the first with
  /// `_base64` appended.
  ///
  /// - Parameter name: The name of the first member.
  public mutating func base64(_ data: [UInt8], inPlaceOf name: StaticString) {
    null()
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(name)
    endBase64Key()
    base64(data)
  }

  /// Writes `null` as the value of a member, and the bytes in Base64 as a second member, named after the first with
  /// `_base64` appended.
  ///
  /// - Parameter index: The index of the name of the first member.
  public mutating func base64(
    _ data: [UInt8], inPlaceOf names: borrowing JSONNames, at index: Int
  ) {
    null()
    let name = names.bytes.span.extracting(names.places.span[index])
    write(name.extracting(droppingLast: JSONNames.end.utf8CodeUnitCount))
    endBase64Key()
    base64(data)
  }

  private mutating func endBase64Key() {
    bytes.append("_base64")
    bytes.append(JSONNames.end)
    place = .value
  }

  private mutating func endKey() {
    bytes.append(UInt8(ascii: ":"))
    place = .value
  }

  /// Writes an encoded name, or its beginning.
  ///
  /// - Parameter name: The encoded name, with the comma before it.
  private mutating func write(_ name: Span<UInt8>) {
    if layout == .lines { separate() }
    let isAfterComma = layout == .inLine && place == .next
    let name = isAfterComma ? name : name.extracting(droppingFirst: 1)
    bytes.append(addingCapacity: name.count) { (output: inout OutputSpan<UInt8>) in
      output.append(name)
    }
  }
}
