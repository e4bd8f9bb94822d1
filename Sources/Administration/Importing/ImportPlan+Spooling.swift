import Bytes
import ResponseArchives
import ResponseStorage

extension ImportPlan.Entry: Spoolable {
  func pack(into values: inout PackedValues) {
    values.append(number)
    values.append(url) { $0.append($1) }
    values.append(size) { $0.append($1.bytes) }
    values.append(choice: action)
    values.append(reason) { $0.append(ByteString($1)) }
    values.append(all: losses) { $0.append(choice: $1) }
    values.append(archived) { $0.append(time: $1) }
    values.append(key) { $0.append(digest: $1) }
    values.append(standing) { $0.append(version: $1) }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    number = try reader.number()
    url = try reader.optionalText()
    size = try reader.optionalNumber().map { ByteCount($0) }
    action = try reader.choice()
    reason = try reader.optionalText().map { String(decoding: $0.bytes, as: UTF8.self) }
    losses = try reader.all { reader throws(PackedReader.Failure) in try reader.choice() }
    archived = try reader.optional { reader throws(PackedReader.Failure) in try reader.time() }
    key = try reader.optional { reader throws(PackedReader.Failure) in try reader.digest() }
    standing = try reader.optional { reader throws(PackedReader.Failure) in try reader.version() }
  }
}
