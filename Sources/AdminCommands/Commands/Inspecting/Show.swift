import Administration
import ArgumentParser
import Bytes
import Files
import HTTPCaching
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin show`: shows all details of entries.
  struct Show: AllCachesCommand, SelectingCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Show all details of entries: times, request, response, body.")

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var secrets: SecretOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var sidecars: SidecarOptions

    @OptionGroup(title: "Output") var formats: FormatOptions<ShowFormat>

    @Flag(help: "Show only the response headers.")
    var headers = false

    @Flag(help: "Show only the request.")
    var request = false

    @Flag(help: "Print a curl command that repeats the request.")
    var curl = false

    @Flag(
      help: "With '--curl', make the request conditional with the entry's validators.")
    var conditional = false

    @Option(
      help: ArgumentHelp(
        "Write one property list of one entry: response_object, request_object,"
          + " proto_props, user_info or, in a Foundation cache, archive. Secrets are not masked.",
        valueName: "name"),
      completion: .list([
        "response_object", "request_object", "proto_props", "user_info", "archive",
      ]))
    var rawPlist: String?

    var format: ShowFormat { formats.format }
    var writesJSON: Bool { format == .json }

    func validate() throws {
      try sidecars.check(with: scope)
      guard sidecars.sidecars == nil || curl else {
        throw ValidationError(
          "'--sidecars' needs '--curl': it adds the ETag of a sidecar file to the request.")
      }
      guard !(headers && request) else {
        throw ValidationError("'--headers' and '--request' cannot be combined.")
      }
      guard !conditional || curl else {
        throw ValidationError("'--conditional' needs '--curl'.")
      }
      guard !curl || !(headers || request || rawPlist != nil || format == .json) else {
        throw ValidationError("'--curl' cannot be combined with other output options.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let now = cache.now(in: environment)
      let selection = try selection.resolved(at: now, of: cache, from: source, in: environment)
      guard !selection.isEmpty else {
        throw CommandFailure.usage(
          "no entries selected", hint: "give URLs or ids: 'urlcache-admin show -c PATH ID'")
      }
      var listing = Listing(selection: selection, now: now)
      var status = ExitStatus.done
      if let rawPlist {
        try writePropertyList(rawPlist, source, &listing, environment)
      } else if curl {
        status = try writeCurl(source, &listing, environment)
      } else {
        try write(source, &listing, environment)
      }
      guard listing.shown > 0 else {
        guard listing.absent.isEmpty else {
          throw try CommandFailure.absent(listing.absent, in: source, secrets.policy)
        }
        throw CommandFailure(
          .no, kind: "no-such-entry",
          "no entry in '\(source.description.path)' matches",
          hint: "list the entries with: "
            + OptionHints.commandLine(["list", "-c", source.description.path]))
      }
      let help = try listing.absent.help(in: source, secrets.policy)
      try source.finish()
      let absence = environment.report(absent: listing.absent, secrets.policy)
      environment.report(help)
      return absence == .done ? status : absence
    }

    private func write(
      _ source: any ResponseSource, _ listing: inout Listing, _ environment: CommandEnvironment
    ) throws {
      let part: ShowRenderer.Part = headers ? .responseHeaders : request ? .request : .everything
      var renderer = ShowRenderer(
        part: part, secrets: secrets.policy, now: listing.now,
        expiryRules: listing.selection.expiryRules)
      var output = OutputBuffer(environment)
      var isFirst = true
      try listing.scanSelected(source, .all) { response, content in
        let digest = part == .everything ? try digest(of: response, content) : nil
        if format == .json {
          renderer.appendJSON(response, sha256: digest, into: &output.text)
        } else {
          if !isFirst { output.text.append("\n") }
          renderer.appendText(response, sha256: digest, into: &output.text)
        }
        isFirst = false
        try output.flushIfLarge()
      }
      if format == .json, !isFirst { renderer.endJSON(into: &output.text) }
      // Before the last lines, which often are all: a cache that has changed is read again if nothing was written.
      try source.finish()
      try output.flush()
    }

    private func writePropertyList(
      _ name: String, _ source: any ResponseSource, _ listing: inout Listing,
      _ environment: CommandEnvironment
    ) throws {
      var ids: [StoredResponse.ID] = []
      try listing.scan(source, listing.selection.projection) { ids.append($0.id) }
      if ids.isEmpty { return }
      let names = source.description.rawPropertyLists
      guard names.contains(name) else {
        throw CommandFailure.usage(
          "entries have no property list '\(name)'",
          hint: "use one of: \(names.joined(separator: ", "))")
      }
      // Nothing separates two property lists, so a program could not tell where one ends.
      guard ids.count == 1 else {
        throw CommandFailure.usage(
          "'--raw-plist' takes one entry, but \(QuantityWords.grouped(Int64(ids.count))) are selected",
          hint: "give its id")
      }
      guard let bytes = try source.rawPropertyList(name, of: ids[0]) else {
        throw CommandFailure(
          .no, kind: "no-such-part", "the entry has no \(name)",
          hint: "show the entry with 'urlcache-admin show'")
      }
      // Binary property lists contain bytes that a terminal obeys.
      guard !environment.isOutputTerminal else {
        throw CommandFailure.usage(
          "refusing to write a binary property list to the terminal",
          hint: "redirect it: 'urlcache-admin show ID --raw-plist \(name) > FILE'")
      }
      try environment.write(bytes)
    }

    /// Returns the SHA-256 of a body; `nil` if it is missing.
    private func digest(
      of response: borrowing StoredResponse, _ body: ScannedBody
    ) throws -> String? {
      guard response.bodyLocation == .inline || response.bodyLocation == .file else { return nil }
      var digest = Digest()
      let isRead = try body.read { reader in
        try reader.forEachChunk { digest.update($0) }
      }
      return isRead ? digest.hexadecimal : nil
    }
  }
}

/// The output formats of `show`.
enum ShowFormat: String, OutputFormat {
  case table, json
}

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
    try listing.scanSelected(source, projection) { response, _ in
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
          "cannot write a curl command for entry \(response.id.short): \(error)\n")
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
        environment.note("entry \(response.id.short) has no sidecar file")
      }
    }
    if fields.isEmpty, conditional {
      // A weak validator is not enough to resume a body.
      let lack = request?.validators.isEmpty ?? true ? "validator" : "strong validator"
      environment.note(
        "entry \(response.id.short) has no \(lack), so the command requests the full response")
    }
    return HeaderFields(fields)
  }
}
