public import Bytes
public import Matching
public import ResponseStorage

/// The criteria for selecting entries that mean the same at any time: all must match, each by any of its values.
public struct EntryCriteria: Sendable {
  /// URL prefixes, compared by bytes with the stored URL, or with the key if there is no URL; ``globs`` and
  /// ``expressions`` are compared likewise. One of the spellings of the host has to match.
  public var prefixes: [URLPrefix] = []
  /// Patterns for whole URLs.
  public var globs: [Glob] = []
  /// Regular expressions for whole URLs; they never match a URL that is not UTF-8.
  public var expressions: [RegularExpression] = []
  /// Hosts, in any spelling; `.example.com` matches that host and all its subdomains.
  public var hosts: [HostPattern] = []
  /// Query parameters of the URL.
  public var parameters: [ParameterCriterion] = []
  /// Header fields of the response.
  public var headers: [HeaderCriterion] = []
  /// Header fields of the request.
  public var requestHeaders: [HeaderCriterion] = []
  /// Texts, one of which the body must contain, after decoding it.
  ///
  /// This depends on bodies: call ``Selection/prepare(for:at:)`` before any decision.
  public var texts: [ByteString] = []
  /// Methods, ignoring case.
  public var methods: [ByteString] = []
  /// Statuses.
  public var statuses: [ClosedRange<Int64>] = []
  /// Lowercase patterns for media types, which match in any case.
  public var mimeTypes: [Glob] = []
  /// Matches bodies larger than this number of bytes; a missing body is neither larger nor smaller.
  public var largerThan: ByteCount?
  /// Matches bodies smaller than this number of bytes.
  public var smallerThan: ByteCount?
  /// The locations of bodies.
  public var bodyLocations: Set<StoredResponse.BodyLocation> = []
  /// Cache partitions.
  public var partitions: Set<ByteString> = []
  /// Whether to match only partial bodies, as defined by ``BodyCompleteness``.
  public var isPartial = false
  /// The storage policies of responses.
  public var storagePolicies: Set<StoredResponse.StoragePolicy> = []
  /// The required properties in `userInfo`.
  public var userInfo: [PropertyCriterion] = []
  /// The freshness of responses.
  public var freshness: Set<ResponseFreshness.State> = []
  /// Matches fresh responses that become stale within this number of seconds.
  public var expiresWithin: Double?
  /// The kinds of validators of responses.
  public var validators: Set<ResponseFreshness.ValidatorKind> = []
  /// Expressions, one of which must match.
  public var conditions: [Condition] = []
  /// Whether to match only older versions of resources that are also stored in a newer version.
  ///
  /// This depends on all entries of a cache: call ``Selection/prepare(for:)`` before any decision.
  public var selectsSuperseded = false

  /// Creates criteria that match every response.
  public init() {}
}
