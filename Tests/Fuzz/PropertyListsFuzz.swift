// Feeds random bytes to every function of the reader. `run.sh` builds it together with the sources of the module,
// because libFuzzer provides its own `main`.

/// Small enough for thousands of runs per second, and for reaching every limit.
private let limits = PropertyListLimits(
  maximumBytes: 4096, maximumDepth: 16, maximumVisits: 2000, maximumDecodedBytes: 1 << 15)

/// Reads `bytes` in every way. Errors are expected; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do {
    let list = try BinaryPropertyList(bytes.span, limits: limits)
    exercise(list)
    check(try list.value(of: list.root))
  } catch {
    require(!"\(error)".isEmpty, "an error has words")
  }
  return 0
}

/// Writes a tree and reads it again. It must be the same, except for text that is not UTF-8.
private func check(_ value: PropertyListValue) {
  let written = PropertyListWriter().bytes(of: value)
  require(tree(written).map(normal) == normal(value), "what was written and read is the same")
  require(PropertyListWriter().bytes(of: value) == written, "the same value, the same bytes")
}

private func tree(_ bytes: [UInt8]) -> PropertyListValue? {
  guard let list = try? BinaryPropertyList(bytes.span) else { return nil }
  return try? list.value(of: list.root)
}

/// Returns a tree with repaired text and with NaN replaced by something that equals itself.
private func normal(_ value: PropertyListValue) -> PropertyListValue {
  switch value {
  case .string(let text): .string(repaired(text))
  case .real(let number): number.isNaN ? .text("NaN") : value
  case .array(let values): .array(values.map(normal))
  case .dictionary(let entries):
    .dictionary(entries.map { .init(key: repaired($0.key), value: normal($0.value)) })
  default: value
  }
}

private func repaired(_ text: [UInt8]) -> [UInt8] {
  Array(String(decoding: text, as: UTF8.self).utf8)
}

private func require(_ condition: Bool, _ words: String) {
  guard condition else { fatalError("not true: \(words)") }
}

private func exercise(_ list: borrowing BinaryPropertyList) {
  let root = list.root
  visit(list, root)
  if let array = try? list.value(forKey: "Array", in: root) {
    visit(list, array)
    for position in -1..<24 {
      guard let element = try? list.element(position, of: array) else { continue }
      visit(list, element)
      if let url = try? list.value(forKey: "_CFURLString", in: element) { visit(list, url) }
      guard let elements = try? list.elements(of: array) else { continue }
      require(
        (try? list.integer(position, of: elements)) == (try? list.integer(element)),
        "an integer is the same as an element")
      let real = (try? list.real(position, of: elements))?.bitPattern
      require(real == (try? list.real(element))?.bitPattern, "a real is the same as an element")
    }
  }
  if let count = try? list.count(of: root) {
    require((try? list.element(count, of: root)) == .some(nil), "nothing lies beyond the end")
    for position in 0..<min(count, 24) {
      if let element = try? list.element(position, of: root) { visit(list, element) }
    }
  }
  if let entries = try? list.entries(of: root) {
    require(entries.count == (try? list.count(of: root)), "a dictionary has its entries")
    for position in 0..<min(entries.count, 100) {
      guard let key = try? list.key(position, of: entries) else { continue }
      visit(list, key)
      if let value = try? list.value(position, of: entries) { visit(list, value) }
    }
    var position = 0
    while position < min(entries.count, 100) {
      let before = position
      if let found = try? list.next(in: entries, from: &position, whoseKeyIsIn: keySet) {
        let text = (try? list.utf8(list.key(found.position, of: entries))).flatMap { $0 } ?? []
        require(
          String(decoding: text, as: UTF8.self).lowercased() == keySetTexts[found.place],
          "a key that is found has the text")
        require(found.position == position - 1, "the walk goes on after what it found")
      }
      require(position > before, "the walk goes on")
    }
  }
}

private let keySetTexts = ["age", "array", "version", "cache-control"]
private let keySet = PropertyListKeySet(keySetTexts)

private func visit(_ list: borrowing BinaryPropertyList, _ object: BinaryPropertyList.Object) {
  let kind = try? list.kind(of: object)
  of(.boolean, kind, try? list.boolean(object))
  of(.integer, kind, try? list.integer(object))
  of(.real, kind, try? list.real(object))
  of(.date, kind, try? list.date(object))
  of(.string, kind, try? list.utf8(object))
  if let count = try? list.count(of: object) {
    require(kind == .array || kind == .dictionary, "only containers are counted")
    require(count >= 0, "a count is not negative")
  }
  if let text = try? list.utf8(object) {
    let isKey = try? list.isString(object, equalTo: "Array")
    require(isKey == (text == Array("Array".utf8)), "a string equals its own text only")
  }
  if let data = try? list.data(object) {
    require(kind == .data, "only data has bytes")
    var sum: UInt8 = 0
    for index in data.indices { sum &+= data[index] }
  }
  if case .string(let text)? = try? list.value(of: object) {
    require((try? list.utf8(object)) == text, "a string is the same alone and in a tree")
  }
}

/// Checks that a function only returns a value for objects of its own type.
private func of<Value>(
  _ wanted: BinaryPropertyList.Kind, _ kind: BinaryPropertyList.Kind?, _ value: Value??
) {
  if case .some(.some) = value { require(kind == wanted, "\(wanted) is read from \(wanted)") }
}
