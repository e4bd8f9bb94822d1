import Bytes

/// The words in file and folder names that matter for versions.
enum VersionVocabulary {
  /// Words that are added to names, and identify nothing on their own.
  private static let additions = set(
    "min chunk chunks async module js css map gz br small medium large thumb thumbs thumbnail xs sm md lg xl xxl o n s m l orig"
      + " original full tiny big preview")

  /// Generic names of images and files, and names of content that is new every day.
  private static let contents = set(
    "photo photos image images img imgs picture pictures pic pics dsc dscn dcim pxl screenshot screen capture scan file files upload"
      + " uploads avatar avatars user users profile cover covers poster media video videos film clip audio voice recording song track"
      + " podcast episode attachment attachments document doc asset item items post posts article story stories comment message"
      + " product products gallery album slide page data record result response report reports chart charts graph radar weather"
      + " forecast daily weekly monthly today news newsletter comic strip cartoon puzzle crossword log logs backup export dump"
      + " snapshot statement invoice receipt calendar issue edition menu quote price prices rates rate score scores map tile figure"
      + " fig table swatch color colour sample test tmp temp download signal whatsapp wa fb insta vid mvimg burst"
  )

  /// Folders for uploads, or for many similar files.
  private static let contentFolders = set(
    "upload uploads uploaded avatar avatars user users profile profiles photo photos gallery galleries album albums attachment"
      + " attachments product products catalog covers posters thumbnails comments stories posts ugc usercontent"
  )

  private static func set(_ words: String) -> Set<ByteString> {
    Set(words.utf8.split(separator: UInt8(ascii: " ")).map { ByteString(Array($0)) })
  }

  private static func contains(_ set: Set<ByteString>, _ word: ArraySlice<UInt8>) -> Bool {
    word.count <= 12 && set.contains(ByteString(word.map(\.asciiLowercased)))
  }

  /// Whether a word, a size or a scale is only an addition to a name.
  static func isAddition(_ word: ArraySlice<UInt8>) -> Bool {
    VersionText(word).isSize || contains(additions, word)
  }

  /// Whether a word is a generic name of many resources.
  static func isContent(_ word: ArraySlice<UInt8>) -> Bool {
    contains(contents, word.prefix { !$0.isASCIIDigit })
  }

  /// Whether a folder is for uploads, or for a year or a date.
  static func isFolderOfContents(_ folder: ArraySlice<UInt8>) -> Bool {
    if contains(contentFolders, folder) { return true }
    let text = VersionText(folder)
    return text.isDay || (text.bytes.count == 4 && (1990...2049).contains(text.number ?? 0))
  }
}
