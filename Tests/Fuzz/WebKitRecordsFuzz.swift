// Feeds random bytes to the decoder of WebKit's records. `run.sh` builds it together with its sources as one module,
// because libFuzzer provides its own `main`.

import Bytes

/// Reads `bytes` in every way. Errors are expected; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebKitRecords(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  // A header begins somewhere in the bytes of its file.
  let shifted = [0, 1, 0, 0, 0] + bytes
  let parts = [bytes[...], shifted[5...]]
  let metadata = parts.map { try? WebKitMetadata($0) }
  require(metadata[0] == metadata[1], "where metadata begins does not matter")
  if let metadata = metadata[0] {
    require(metadata.count <= count, "metadata ends in its file")
    require(metadata.key.hash.count == 20 && metadata.bodyHash.count == 20, "a hash has 20 bytes")
    _ = metadata.key.isSound(salt: Array(bytes.prefix(8)), version: metadata.version)
    _ = (metadata.bodyStart, metadata.stored)
  }
  for version in UInt32(16)...18 {
    let responses = parts.map { try? WebKitResponse($0, version: version) }
    let verified = try? WebKitResponse(bytes[...], version: version, withFields: false)
    require((responses[0] == nil) == (responses[1] == nil), "where a header begins does not matter")
    require(
      (responses[0] == nil) == (verified == nil),
      "a header is sound or not, with its fields or without")
    require(responses[0]?.fields == responses[1]?.fields, "where fields begin does not matter")
    require(responses[0]?.status == verified?.status, "a status is known without fields")
    require(verified?.fields.fields.isEmpty ?? true, "fields that are not wanted are left out")
  }
  let lists = parts.map { try? WebKitSubresources($0) }
  require(
    lists[0]?.resources.map(\.key) == lists[1]?.resources.map(\.key),
    "where a list begins does not matter")
  require(lists[0]?.resources.count ?? 0 <= count / 60, "a resource has a key")
  return 0
}

private func require(_ condition: Bool, _ words: String) {
  guard condition else { fatalError("not true: \(words)") }
}
