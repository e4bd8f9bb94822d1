/// What caching has to know of status codes (RFC 9110 §15).
public enum StatusCode {
  /// Whether a response of this status ends its request, and is no interim one
  /// (RFC 9110 §15, RFC 9111 §3).
  public static func isFinal(_ status: Int64) -> Bool { status >= 200 }

  /// Whether a heuristic may give a response of this status a lifetime (RFC 9110 §15.1).
  public static func isHeuristicallyCacheable(_ status: Int64) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether this is a final status that RFC 9110 §15 defines, which is what `must-understand`
  /// asks for (RFC 9111 §5.2.2.3).
  public static func isUnderstood(_ status: Int64) -> Bool {
    switch status {
    case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }

  /// Whether this tells of a failure that `stale-if-error` is for (RFC 5861 §4).
  public static func isError(_ status: Int64) -> Bool {
    switch status {
    case 500, 502, 503, 504: true
    default: false
    }
  }
}
