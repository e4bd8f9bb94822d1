public import Bytes
import Files

/// A type that can be written as JSON.
public protocol JSONValue {
  /// Writes the value.
  func write(to json: inout JSONWriter)
}

extension JSONWriter {
  /// Writes an element of an array, or a document.
  @inlinable
  public mutating func value(_ value: some JSONValue) { value.write(to: &self) }

  /// Writes a member of an object.
  @inlinable
  public mutating func member(_ name: StaticString, _ value: some JSONValue) {
    key(name)
    value.write(to: &self)
  }

  /// Writes a member of an object whose name is not a literal.
  @inlinable
  public mutating func member(named name: String, _ value: some JSONValue) {
    key(named: name)
    value.write(to: &self)
  }

  /// Writes a member whose value is a string that needs no escaping.
  public mutating func member(_ name: StaticString, word: String) {
    key(name)
    self.word(word)
  }

  /// Writes a member that is an object.
  @inlinable
  public mutating func object<Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine,
    _ members: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try object(layout, members)
  }

  /// Writes a member that is an array.
  @inlinable
  public mutating func array<Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine,
    _ values: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    try array(layout, values)
  }

  /// Writes a member that is an array of objects; `members` writes the members of each object.
  @inlinable
  public mutating func array<Element, Failure: Error>(
    _ name: StaticString, _ layout: Layout = .inLine, objects elements: some Sequence<Element>,
    _ members: (inout JSONWriter, Element) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    let outer = open(UInt8(ascii: "["), layout)
    for element in elements {
      let outer = open(UInt8(ascii: "{"), .inLine)
      try members(&self, element)
      close(UInt8(ascii: "}"), outer)
    }
    close(UInt8(ascii: "]"), outer)
  }

  /// Writes a member that is a string. Bytes that are not UTF-8 become `null` and a member `NAME_base64`.
  public mutating func member(_ name: StaticString, utf8OrBase64 text: [UInt8]?) {
    key(name)
    guard let text else { return null() }
    // A URL in a damaged or hostile cache can be any bytes. If they were repaired, two keys could
    // look equal, and the response could not be found by what is printed.
    if !string(utf8: text) { base64(text, inPlaceOf: name) }
  }

  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes a member that is `null`.
  public mutating func null(_ name: StaticString) {
    key(name)
    null()
  }

  /// Writes JSON that another writer has produced: one value, or several with commas between them.
  public mutating func written(_ value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
    place = .next
  }

  /// Writes a JSON literal.
  mutating func literal(_ word: StaticString) {
    separate()
    bytes.append(word)
    place = .next
  }

  /// Writes a number from its digits.
  public mutating func number(_ numeral: String) {
    separate()
    bytes.append(contentsOf: numeral.utf8)
    place = .next
  }

  /// Writes an integer.
  public mutating func integer(_ value: Int64) {
    separate()
    // The longest integer has a sign and 19 digits.
    // All digits are written, although JavaScript and `jq` before 1.7 read integers beyond 2⁵³ as
    // the nearest `Double`. Archives write such numbers as strings for that reason.
    bytes.append(addingCapacity: 20) { (output: inout OutputSpan<UInt8>) in
      output.append(decimal: value)
    }
    place = .next
  }
}

extension Bool: JSONValue {
  public func write(to json: inout JSONWriter) { json.literal(self ? "true" : "false") }
}

extension Int: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(Int64(self)) }
}

extension Int64: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(self) }
}

extension ByteCount: JSONValue {
  public func write(to json: inout JSONWriter) { json.integer(bytes) }
}

/// A number, or `null` if it is not finite: JSON has no such numbers.
extension Double: JSONValue {
  public func write(to json: inout JSONWriter) {
    // The description of a `Double` is the shortest text that is read as the same number again.
    if isFinite { json.number("\(self)") } else { json.null() }
  }
}

extension String: JSONValue {
  public func write(to json: inout JSONWriter) { json.string(self) }
}

/// A time in UTC, truncated to seconds.
extension Timestamp: JSONValue {
  public func write(to json: inout JSONWriter) { json.time(self) }
}

/// A value or `null`.
extension Optional: JSONValue where Wrapped: JSONValue {
  @inlinable
  public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.null() }
  }
}

/// An array on one line.
extension Array: JSONValue where Element: JSONValue {
  @inlinable
  public func write(to json: inout JSONWriter) {
    json.array { json in
      for element in self { element.write(to: &json) }
    }
  }
}
