import Bytes
import ResponseStorage

/// The versions in the folders of a path: `/npm/vue@3.2.1/`, `/jquery/3.6.1/`, `/v1571218039/`.
enum FolderVersions {
  /// Returns the version marks in the folders of a file.
  static func marks(
    in folders: ArraySlice<UInt8>, of type: AssetType
  ) -> [ResourceVersion.Mark] {
    guard folders.contains(where: \.isASCIIDigit) else { return [] }
    return folders.split(separator: UInt8(ascii: "/")).flatMap { folder -> [ResourceVersion.Mark] in
      let ranges =
        if let range = commit(in: folder) ?? upload(folder, of: type) { [range] } else {
          SemanticVersion.ranges(in: folder)
        }
      return ranges.map { ResourceVersion.Mark(range: $0, kind: .number) }
    }
  }

  /// Returns the range of a Git commit after `@`.
  private static func commit(in folder: ArraySlice<UInt8>) -> Range<Int>? {
    guard let at = folder.lastIndex(of: UInt8(ascii: "@")), at > folder.startIndex else {
      return nil
    }
    let text = folder[(at + 1)...]
    // Only whole digests: a short one after `@` could be a name or a size.
    return text.count == 40 && VersionText(text).isHexadecimal ? text.indices : nil
  }

  /// Returns the range after `v`: an upload timestamp for images, or a number for fonts.
  private static func upload(_ folder: ArraySlice<UInt8>, of type: AssetType) -> Range<Int>? {
    guard folder.first == UInt8(ascii: "v") else { return nil }
    let text = VersionText(folder.dropFirst())
    let isVersion =
      switch type {
      // Cloudinary puts the second of the upload into the path.
      case .media: text.bytes.count == 10 && text.isMoment
      // Google Fonts numbers the versions of a font: `/s/roboto/v30/`.
      case .font: text.isNumber && text.bytes.count <= 3
      case .code, .data: false
      }
    return isVersion ? text.bytes.indices : nil
  }
}
