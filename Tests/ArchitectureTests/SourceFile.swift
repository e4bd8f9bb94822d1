import Foundation

/// A file in `Sources`.
struct SourceFile {
  /// The folder with all modules.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(components: "..", "..", "Sources").standardizedFileURL

  /// The path below `Sources`.
  let path: String
  let text: String

  /// The module, which is the first folder of the path.
  var module: String { String(path.prefix { $0 != "/" }) }

  var isSwift: Bool { path.hasSuffix(".swift") }

  /// All files of all modules, at any depth.
  static func all() throws -> [SourceFile] { try files.get() }

  /// All files, which are read once for all tests.
  private static let files = Result { try read() }

  private static func read() throws -> [SourceFile] {
    try FileManager.default.subpathsOfDirectory(atPath: root.path()).sorted().compactMap { path in
      // The page about the sources is in no module.
      guard path.contains("/") else { return nil }
      let file = root.appending(path: path)
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        return nil
      }
      return SourceFile(path: path, text: try String(contentsOf: file, encoding: .utf8))
    }
  }
}
