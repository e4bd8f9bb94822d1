public import ResponseArchives
public import ResponseStorage

/// A cache or an archive, open for reading.
public enum OpenedCache {
  /// A store, for which changes can be planned.
  case store(any StoreSource)
  /// An archive, which can only be read.
  case archive(any ResponseArchive)

  /// The source of responses.
  public var source: any ResponseSource {
    switch self {
    case .store(let source): source
    case .archive(let archive): archive
    }
  }
}
