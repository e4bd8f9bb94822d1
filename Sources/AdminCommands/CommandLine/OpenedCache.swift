public import ResponseArchives
public import ResponseStorage

// Two cases and no common type: an archive has no method that changes it, so no command can call
// one by mistake.
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
