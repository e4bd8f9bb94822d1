import Foundation

/// Compresses data with the system's programs.
enum Compressed {
  /// Runs a program, and returns its output for `input`.
  static func by(_ program: [String], of input: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
    try Data(input).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = program
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(program: program) }
    return Array(output)
  }

  struct Failure: Error {
    let program: [String]
  }

  /// Returns a gzip member with one uncompressed block, of at most 65,535 bytes.
  static func storedMember(of data: [UInt8], name: [UInt8]? = nil) -> [UInt8] {
    let (count, checksum) = (UInt16(data.count), checksum(of: data))
    let header: [UInt8] = [0x1F, 0x8B, 8, name == nil ? 0 : 8, 0, 0, 0, 0, 0, 255]
    let block = [1] + bytes(count) + bytes(~count) + data
    return header + (name.map { $0 + [0] } ?? []) + block + bytes(checksum)
      + bytes(UInt32(data.count))
  }

  private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Returns the CRC-32 of RFC 1952, computed bit by bit.
  private static func checksum(of data: [UInt8]) -> UInt32 {
    ~data.reduce(UInt32.max) { state, byte in
      (0..<8).reduce(state ^ UInt32(byte)) { state, _ in
        state >> 1 ^ (state & 1 == 0 ? 0 : 0xEDB8_8320)
      }
    }
  }
}
