import Bytes
import ResponseArchives
import ResponseStorage

extension ImportPlan.Entry: Spoolable {
  func append(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(url) { $0.append(text: $1) }
    bytes.append(size) { $0.append(integer: $1.bytes) }
    bytes.append(choice: action)
    bytes.append(reason) { $0.append(text: ByteString($1)) }
    bytes.append(UInt8(losses.count))
    for loss in losses { bytes.append(choice: loss) }
    bytes.append(archived) { $0.append(time: $1) }
    bytes.append(key) { $0.append(digest: $1) }
    bytes.append(standing) { $0.append(version: $1) }
  }

  init(reading bytes: inout SpooledBytes) {
    number = bytes.integer()
    url = bytes.optional { $0.text() }
    size = bytes.optional { ByteCount($0.integer()) }
    action = bytes.choice() ?? .skip
    reason = bytes.optional { String(decoding: $0.text().bytes, as: UTF8.self) }
    losses = (0..<bytes.byte()).compactMap { _ in bytes.choice() }
    archived = bytes.optional { $0.time() } ?? nil
    key = bytes.optional { $0.digest() }
    standing = bytes.optional { $0.version() }
  }
}
