import Rendering
import ResponseStorage

extension URLCacheAdmin.Show {
  /// Writes a `curl` command for each entry.
  ///
  /// - Returns: ``ExitStatus/no`` if the request of any cannot be repeated.
  func writeCurl(
    _ ids: [StoredResponse.ID], _ source: any ResponseSource, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    var output = OutputBuffer(environment)
    var (isFirst, isMasked, status) = (true, false, ExitStatus.done)
    for id in ids {
      guard let response = try source.response(id, CurlCommand.projection) else { continue }
      do throws(CurlCommand.Obstacle) {
        let command = try CurlCommand(repeating: response, secrets: secrets.policy)
        let whole = try CurlCommand(repeating: response, secrets: SecretPolicy(showSecrets: true))
        isMasked = isMasked || command != whole
        if !isFirst { output.text.append("\n") }
        isFirst = false
        command.append(into: &output.text)
      } catch {
        environment.writeMessage("entry \(id.shown) cannot be repeated with curl: \(error)\n")
        status = .no
      }
      try output.flushIfLarge()
    }
    try output.flush()
    if isMasked { environment.note("secrets are '***'; '--show-secrets' writes them") }
    return status
  }
}

extension StoredResponse.ID {
  /// The id for people.
  fileprivate var shown: String {
    switch self {
    case .row(let row): "\(row)"
    case .file(let name): HostileText.shown(name).string ?? ""
    }
  }
}
