import Bytes
import PropertyLists
import ResponseStorage

/// The header fields of requests, archived once and shared by many requests.
struct RequestHeaders {
  /// The header fields of a request.
  struct Sent {
    let fields: HeaderFields
    let archived: PropertyListValue

    init(_ pairs: [(String, String)], withArrays: Bool) {
      fields = HeaderFields(
        pairs.map { .init(name: ByteString($0.0), value: ByteString($0.1)) })
      archived = AppleMessage.archivedHeaders(fields, withArrays: withArrays)
    }
  }

  /// No header fields.
  let none: Sent
  private let plain: [Sent]
  private let secret: [Sent]

  /// Creates the header fields, with random secrets.
  ///
  /// - Parameter withArrays: Whether they are archived with the key `__hhaa__`.
  init(withArrays: Bool, using generator: inout SplitMix64) {
    none = Sent([], withArrays: withArrays)
    let languages = ["en-us", "de-de", "en-US,en;q=0.9", "fr-FR,fr;q=0.9"]
    // Most requests in real caches have no `User-Agent`.
    let agents = [nil, nil, nil, "Sample/12 CFNetwork/1410.0.3 Darwin/22.6.0"]
    plain = languages.flatMap { language in
      agents.flatMap { agent in
        ["*/*", "application/json", "image/webp,image/png,image/*;q=0.8"].map { accept in
          Sent(
            Self.common(accept: accept, language: language, agent: agent), withArrays: withArrays)
        }
      }
    }
    secret = (0..<256).map { index in
      let token = generator.next().hexadecimal(16) + generator.next().hexadecimal(16)
      let common = Self.common(
        accept: "*/*", language: generator.pick(languages), agent: generator.pick(agents))
      let secret =
        index % 3 == 0
        ? ("Authorization", "Bearer \(token)") : ("Cookie", "session=\(token); theme=dark")
      return Sent(common + [secret], withArrays: withArrays)
    }
  }

  /// Returns random header fields, some with a secret. Half of all requests have none, as in real caches.
  func pick(using generator: inout SplitMix64) -> Sent {
    switch generator.below(1_000) {
    case 0..<110: generator.pick(secret)
    case 110..<600: none
    default: generator.pick(plain)
    }
  }

  private static func common(
    accept: String, language: String, agent: String?
  ) -> [(String, String)] {
    [
      ("Accept", accept), ("Accept-Encoding", "gzip, deflate, br"), ("Accept-Language", language),
    ] + (agent.map { [("User-Agent", $0)] } ?? [])
  }
}
