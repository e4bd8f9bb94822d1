/// The properties of status codes that matter for caching (RFC 9110 §15).
public enum StatusCode {
  /// Whether a response with this status is final, not interim (RFC 9110 §15, RFC 9111 §3).
  public static func isFinal(_ status: Int64) -> Bool { status >= 200 }

  /// Whether a response with this status may have a heuristic lifetime (RFC 9110 §15.1).
  public static func isHeuristicallyCacheable(_ status: Int64) -> Bool {
    switch status {
    // 302 and 307 are not in the list: a temporary redirect needs an explicit lifetime.
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether this is a final status that RFC 9110 §15 defines: the test for `must-understand` (RFC 9111 §5.2.2.3).
  public static func isUnderstood(_ status: Int64) -> Bool {
    switch status {
    case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
