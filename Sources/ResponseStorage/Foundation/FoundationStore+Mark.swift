import Files

extension FoundationStore {
  static let entriesAreFiles = true

  static func mark(at path: String) throws(StoreError) -> StoreMark {
    do throws(FileError) {
      // `/.`, as the path may be a link to the folder.
      let status = try FileStatus.of(path + "/.")
      return StoreMark(of: status, header: [], counter: nil)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  static func isEntry(_ name: [UInt8]) -> Bool { FoundationFileName(name)?.isSeen ?? false }
}
