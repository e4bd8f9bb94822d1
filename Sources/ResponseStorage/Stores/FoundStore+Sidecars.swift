import Files

extension FoundStore {
  /// Adds a note about a folder in which apps keep an `ETag` for each URL: next to the store, or next to the folder of
  /// its database, such as `Library/Caches/etags` for `Library/Caches/com.example.shop/Cache.db`.
  mutating func noteSidecars() {
    var folder = Directory.parent(of: path)
    for _ in 0..<(format.hasDatabase ? 2 : 1) {
      guard let parent = folder else { return }
      let sidecars = (parent == "/" ? "" : parent) + "/etags"
      if sidecars != path, let status = try? FileStatus.of(sidecars), status.kind == .directory {
        notes.append(
          "'\(sidecars)' may hold ETag files of its URLs; 'check --sidecars' compares them")
        return
      }
      folder = Directory.parent(of: parent)
    }
  }
}
