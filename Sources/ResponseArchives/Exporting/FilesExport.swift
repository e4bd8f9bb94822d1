import Bytes
import Files
import ResponseStorage

/// A folder that entries are exported to as files, which is empty at first.
public protocol ExportFolder: AnyObject {
  /// Makes a folder in it, by its path below the folder.
  func makeFolder(_ path: String) throws

  /// Makes a file in it, by its path below the folder.
  ///
  /// - Parameter write: Calls its parameter with each piece.
  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void) throws
}

/// Writes the bodies of entries as files of a folder, and a list of them, `index.json`.
final class FilesExport: ResponseArchiveWriter {
  private let folder: any ExportFolder
  private var names = SafeFileNames()
  private var index: TemporaryFile
  private var isEmpty = true

  /// Creates a writer of files of an empty folder.
  init(for export: ArchiveExport, in folder: any ExportFolder) throws {
    index = try TemporaryFile(in: export.temporaryFolder)
    self.folder = folder
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

  /// Adds a line to the list.
  private func list(
    _ entry: ExportedEntry, _ path: String, _ sha256: String, _ size: ByteCount
  ) throws {
    var json = JSONWriter()
    json.object { json in
      json.member("file") { $0.string(path) }
      json.member("sha256") { $0.string(sha256) }
      json.member("size") { $0.byteCount(size) }
      json.member("status") { json in
        if let status = entry.response.status { json.integer(status) } else { json.null() }
      }
      json.member("stored") { $0.time(entry.response.stored) }
      json.member("type") { $0.text(entry.response.mimeType) }
      json.member("url") { $0.text(entry.response.url) }
    }
    try index.append(Array((isEmpty ? "[\n" : ",\n").utf8) + json.bytes)
    isEmpty = false
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try index.append(Array((isEmpty ? "[]\n" : "\n]\n").utf8))
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
