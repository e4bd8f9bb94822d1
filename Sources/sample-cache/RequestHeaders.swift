import PropertyLists
import ResponseStorage

/// The header fields of requests, archived once and used for many.
struct RequestHeaders {
  /// The header fields of a request.
  struct Sent {
    let fields: HeaderFields
    let archived: PropertyListValue

    init(_ pairs: [(String, String)]) {
      fields = HeaderFields(
        pairs.map { .init(name: ByteString($0.0), value: ByteString($0.1)) })
      archived = AppleMessage.archivedHeaders(fields)
    }
  }

  private let plain: [Sent]
  private let secret: [Sent]

  /// Creates a choice of header fields, drawing made-up secrets from `generator`.
  init(using generator: inout SplitMix64) {
    let languages = ["en-us", "de-de", "en-US,en;q=0.9", "fr-FR,fr;q=0.9"]
    // Most requests in the sample stores have no `User-Agent`.
    let agents = [nil, nil, nil, "Sample/12 CFNetwork/1410.0.3 Darwin/22.6.0"]
    plain = languages.flatMap { language in
      agents.flatMap { agent in
        ["*/*", "application/json", "image/webp,image/png,image/*;q=0.8"].map { accept in
          Sent(Self.common(accept: accept, language: language, agent: agent))
        }
      }
    }
    secret = (0..<256).map { index in
      let token = generator.next().hexadecimal(16) + generator.next().hexadecimal(16)
      let common = Self.common(
        accept: "*/*", language: generator.pick(languages), agent: generator.pick(agents))
      return index % 3 == 0
        ? Sent(common + [("Authorization", "Bearer \(token)")])
        : Sent(common + [("Cookie", "session=\(token); theme=dark")])
    }
  }

  /// Returns random header fields, of which some hold a secret.
  func pick(using generator: inout SplitMix64) -> Sent {
    generator.chance(inThousand: 110) ? generator.pick(secret) : generator.pick(plain)
  }

  private static func common(
    accept: String, language: String, agent: String?
  ) -> [(String, String)] {
    [
      ("Accept", accept), ("Accept-Encoding", "gzip, deflate, br"), ("Accept-Language", language),
    ] + (agent.map { [("User-Agent", $0)] } ?? [])
  }
}
