public import Bytes

/// What a search for removed entries found in the files of their cache.
public struct TraceReport: Hashable, Sendable {
  /// A file with traces.
  public struct Place: Hashable, Sendable {
    /// The name of the file, relative to the folder of the cache.
    public var file: ByteString
    /// The number of traces; of a text that is there more than ``TraceSearch/mostOccurrences`` times, that many are
    /// counted, or one if there are many texts.
    public var traces: Int64
    /// Where the first one begins.
    public var offset: Int64
  }

  /// The number of removed entries.
  public var entries = 0
  /// The number of texts that were looked for.
  public var texts = 0
  /// The number of texts that were not looked for, because they are too short.
  public var tooShort = 0
  /// The number of texts that were not looked for, because there are too many; a body that was not read counts as one.
  public var tooMany = 0
  /// The number of files that were searched.
  public var files = 0
  /// The files with traces.
  public var places: [Place] = []
  /// Whether ``traces`` is exact; otherwise it is a lower bound.
  public var countsAllTraces = true
  /// The number of texts that entries of the cache have, too, so that finding them proves nothing.
  public var sharedTexts = 0
  /// The number of those entries that were found.
  public var sharingEntries = 0
  /// Whether there are no more of them: a text is looked for only until it was found often enough.
  public var countsAllSharing = true

  /// The number of all traces.
  public var traces: Int64 { places.reduce(0) { $0 + $1.traces } }
}
