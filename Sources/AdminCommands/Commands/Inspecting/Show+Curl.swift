import Administration
import Bytes
import HTTPCaching
import Rendering
import ResponseStorage

extension URLCacheAdmin.Show {
  /// Writes a `curl` command for each entry.
  ///
  /// - Returns: ``ExitStatus/no`` if a request cannot be repeated.
  func writeCurl(
    _ source: any ResponseSource, _ listing: inout Listing, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    let tags = try sidecars.open().map(SidecarTags.init)
    var output = OutputBuffer(environment)
    var (isFirst, isMasked, status) = (true, false, ExitStatus.done)
    let projection = CurlCommand.projection.union(conditional ? Exchange.projection : [])
      .union(tags == nil ? [] : SidecarTags.projection)
    try listing.scanSelected(
      source, projection, temporaryFolder: environment.temporaryFolder
    ) { response, _ in
      let response = copy response
      let conditions =
        conditional || tags != nil ? conditions(for: response, tags, environment) : nil
      do throws(CurlCommand.Failure) {
        let command = try CurlCommand(
          repeating: response, under: conditions, secrets: secrets.policy)
        let whole = try CurlCommand(
          repeating: response, under: conditions, secrets: SecretPolicy(showSecrets: true))
        // A command with `***` in it would be sent as it is, and the server's refusal would be a
        // riddle.
        isMasked = isMasked || command != whole
        if !isFirst { output.text.append("\n") }
        isFirst = false
        command.append(into: &output.text)
      } catch {
        environment.writeMessage(
          "cannot write a curl command for entry \(response.id.shown): \(error)\n")
        // The other commands are still written, since each stands alone.
        status = .no
      }
      try output.flushIfLarge()
    }
    try output.flush()
    if isMasked { environment.note("secrets are masked as '***'; show them with '--show-secrets'") }
    return status
  }
}

extension URLCacheAdmin.Show {
  /// Returns the lines that make a request conditional; reports if there are none.
  ///
  /// With sidecars, the `ETag` comes from the sidecar, as the app would send it.
  private func conditions(
    for response: StoredResponse, _ tags: SidecarTags?, _ environment: CommandEnvironment
  ) -> HeaderFields {
    var fields: [HeaderFields.Field] = []
    let exchange = conditional ? Exchange(of: response) : nil
    let request = exchange.map { ConditionalRequest(validating: $0, for: nil) }
    if conditional {
      fields = (request?.conditions ?? [])
        .map { .init(name: ByteString($0.name), value: ByteString($0.value)) }
    }
    if let tags {
      fields.removeAll { $0.name.asciiLowercased == "if-none-match" }
      if let tag = tags.tag(of: response) {
        fields.insert(.init(name: "If-None-Match", value: tag), at: 0)
      } else {
        environment.note("entry \(response.id.shown) has no sidecar file")
      }
    }
    if fields.isEmpty, conditional {
      // A weak validator is not enough to resume a body.
      let lack = request?.validators.isEmpty ?? true ? "validator" : "strong validator"
      environment.note(
        "entry \(response.id.shown) has no \(lack), so the command requests the full response")
    }
    return HeaderFields(fields)
  }
}

extension StoredResponse.ID {
  /// The id in readable form.
  fileprivate var shown: String {
    switch self {
    case .row(let row): "\(row)"
    case .file(let name): HostileText.shown(name).string ?? ""
    }
  }
}
