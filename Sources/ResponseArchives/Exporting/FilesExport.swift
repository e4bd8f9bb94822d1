import Bytes
import Files
import JSON
import ResponseStorage

/// A folder that entries are exported to as files; empty at first.
public protocol ExportFolder: AnyObject {
  /// Creates a subfolder at a relative path.
  func makeFolder(_ path: String) throws

  /// Creates a file at a relative path.
  ///
  /// - Parameter write: Calls `append` with each piece of the contents.
  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void) throws
}

/// Writes the bodies of entries as files in a folder, and an index of them, `index.json`.
final class FilesExport: ResponseArchiveWriter {
  private let folder: any ExportFolder
  private var names = SafeFileNames()
  private var index: TemporaryFile
  private var json = JSONStream(.ascii)

  /// Creates a writer for an empty folder.
  init(for export: ArchiveExport, in folder: any ExportFolder) throws {
    // The index comes into the folder last, and may be larger than memory.
    index = try TemporaryFile()
    self.folder = folder
    try write { json.begin(in: &$0) }
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    guard let url = entry.response.url else { return "it has no URL" }
    guard let body = entry.body else { return "it has no body" }
    let name = names.name(for: url, entry.response.mimeType)
    for path in name.newFolders { try folder.makeFolder(path) }
    var sha256 = ""
    try folder.makeFile(name.path) { append in
      sha256 = try body.forEachVerifiedChunk { try append(Array($0)) }
    }
    try list(entry, name.path, sha256, body.size)
    return nil
  }

  /// Adds a line to the index.
  private func list(_ entry: ExportedEntry, _ path: String, _ sha256: String, _ size: ByteCount)
    throws
  {
    try write { bytes in
      json.append(to: &bytes) { json in
        json.object { json in
          json.member("file", path)
          json.member("sha256", sha256)
          json.member("size", size)
          json.member("status", entry.response.status)
          json.member("stored", entry.response.stored)
          json.member("type", text: entry.response.mimeType)
          json.member("url", text: entry.response.url)
        }
      }
    }
  }

  private func write(_ piece: (inout [UInt8]) -> Void) throws {
    var bytes: [UInt8] = []
    piece(&bytes)
    try index.append(bytes)
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try write { json.end(in: &$0) }
    try folder.makeFile("index.json") { append in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var offset: Int64 = 0
      while case let count = try index.read(into: &buffer, at: offset), count > 0 {
        try append(Array(buffer[..<count]))
        offset += Int64(count)
      }
    }
  }
}
