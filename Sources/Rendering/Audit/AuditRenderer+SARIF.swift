import Auditing
import Bytes
import JSON
import ResponseStorage
import Secrets

/// SARIF 2.1.0, which code scanning services read.
extension AuditRenderer {
  mutating func beginSARIF(into buffer: inout TextBuffer) {
    let (generator, rules) = (generator, rules)
    stream.begin(
      "results", inOnlyElementOf: "runs", in: &buffer.bytes,
      {
        $0.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
        $0.member("version", "2.1.0")
      },
      {
        $0.object("tool") {
          $0.object("driver") {
            $0.member("name", generator.name)
            $0.member("version", generator.version)
            $0.array("rules", objects: rules) { json, rule in json.sarifMembers(of: rule) }
          }
        }
        $0.member("columnKind", "utf16CodeUnits")
      })
  }

  mutating func appendSARIF(_ finding: AuditFinding, into buffer: inout TextBuffer) {
    let (words, index) = (words, rules.firstIndex(of: finding.rule))
    // Only ASCII is left as it is, so that any path is a URI.
    let path = Array(cache.path.utf8).percentEscaped {
      $0.isASCIILetter || $0.isASCIIDigit || "-._~/".utf8.contains($0)
    }
    stream.append(to: &buffer.bytes) { json in
      json.object {
        $0.member("ruleId", finding.rule.id)
        $0.member("ruleIndex", index)
        $0.member("level", finding.rule.severity.rawValue)
        $0.object("message") { $0.member("text", words.message(of: finding)) }
        $0.key("locations")
        $0.array {
          $0.object {
            $0.object("physicalLocation") {
              $0.object("artifactLocation") {
                $0.member("uri", String(decoding: path, as: UTF8.self))
              }
            }
            $0.key("logicalLocations")
            $0.array {
              $0.object {
                $0.member("fullyQualifiedName", words.place(of: finding))
                $0.member("kind", "member")
              }
            }
          }
        }
        $0.object("partialFingerprints") {
          $0.member("finding/v1", finding.identity)
          if let secret = finding.secret { $0.member("secret/v1", secret.fingerprint) }
        }
        $0.object("properties") { json in
          json.member("url", utf8OrBase64: finding.url.map(AuditWords.withoutQuery))
          json.member("bytes", finding.bytes)
          json.member("count", finding.count)
        }
      }
    }
  }
}

extension AuditWords {
  /// Returns a URL without the parts in which secrets are: such a file is uploaded to a service.
  fileprivate static func withoutQuery(_ url: ByteString) -> ByteString {
    let parts = URLParts(URLParts(url.bytes).withoutUserInfo)
    return Mask.url(ByteString(Array(parts.bytes[..<parts.path.endIndex])))
  }

  /// Returns the place, safe to show.
  fileprivate func place(of finding: AuditFinding) -> String {
    var buffer = TextBuffer()
    append(placeOf: finding, into: &buffer)
    return ByteString(buffer.bytes).string ?? ""
  }

  /// Returns a sentence about a finding, safe to show.
  fileprivate func message(of finding: AuditFinding) -> String {
    "\(finding.rule.summary): \(text(of: finding).string ?? ""). \(finding.rule.fix)"
  }
}

extension JSONWriter {
  fileprivate mutating func sarifMembers(of rule: AuditRule) {
    member("id", rule.id)
    object("shortDescription") { $0.member("text", rule.summary) }
    object("fullDescription") { $0.member("text", rule.reason) }
    object("help") { $0.member("text", rule.fix) }
    object("defaultConfiguration") { $0.member("level", rule.severity.rawValue) }
    object("properties") {
      $0.key("tags")
      let tags = rule.subject == .caching ? ["caching"] : ["security", rule.subject.rawValue]
      $0.array { for tag in tags { $0.value(tag) } }
      // GitHub ranks alerts by this number.
      if rule.subject != .caching {
        let scores: [Finding.Severity: String] = [.error: "8.0", .warning: "5.0", .note: "2.0"]
        $0.member("security-severity", scores[rule.severity])
      }
    }
  }
}
