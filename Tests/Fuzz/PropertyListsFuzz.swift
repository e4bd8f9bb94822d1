// Feeds made-up bytes to every function of the reader; built by `run.sh` together with the sources of
// the module, as libFuzzer brings a `main` of its own.

/// Reads `bytes` in every way; an error is what most bytes deserve, a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPropertyLists(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let list = try? BinaryPropertyList(bytes.span) else { return 0 }
  let root = list.root
  exercise(list, root)
  if let value = try? list.value(of: root) {
    // What could be read is written and read again; a string that is not UTF-8 is repaired once.
    let once = PropertyListWriter().bytes(of: value)
    guard let first = tree(once) else { fatalError("what was written cannot be read") }
    let twice = PropertyListWriter().bytes(of: first)
    guard once == twice || tree(twice) == first || first != first else {
      fatalError("what was written and read is another")
    }
  }
  return 0
}

private func tree(_ bytes: [UInt8]) -> PropertyListValue? {
  guard let list = try? BinaryPropertyList(bytes.span) else { return nil }
  return try? list.value(of: list.root)
}

private func exercise(_ list: borrowing BinaryPropertyList, _ root: BinaryPropertyList.Object) {
  visit(list, root)
  if let array = try? list.value(forKey: "Array", in: root) {
    visit(list, array)
    for position in 0..<24 {
      if let element = try? list.element(position, of: array) {
        visit(list, element)
        if let url = try? list.value(forKey: "_CFURLString", in: element) { visit(list, url) }
      }
    }
  }
  var seen = 0
  try? list.forEachEntry(in: root) { (key, value) throws(PropertyListError) in
    seen += 1
    guard seen < 100 else { return }
    visit(list, key)
    visit(list, value)
  }
}

private func visit(_ list: borrowing BinaryPropertyList, _ object: BinaryPropertyList.Object) {
  _ = try? list.kind(of: object)
  _ = try? list.boolean(object)
  _ = try? list.integer(object)
  _ = try? list.real(object)
  _ = try? list.date(object)
  _ = try? list.count(of: object)
  _ = try? list.utf8(object)
  _ = try? list.isString(object, equalTo: "Version")
  if let data = try? list.data(object), data.count > 0 { _ = data[data.count - 1] }
}
