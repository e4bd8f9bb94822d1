public import ResponseArchives
public import ResponseStorage

/// What is at the path of a cache, open for reading.
public enum OpenedCache {
  /// A store, which can be planned to be changed.
  case store(any StoreSource)
  /// An archive, which is read as a store is.
  case archive(any ResponseArchive)

  /// What responses are read from.
  public var source: any ResponseSource {
    switch self {
    case .store(let source): source
    case .archive(let archive): archive
    }
  }
}
