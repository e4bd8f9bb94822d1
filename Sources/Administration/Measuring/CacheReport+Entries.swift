import ResponseStorage

extension CacheReport {
  /// Looks up what is shown of the entries that are named.
  mutating func describeEntries(from source: any ResponseSource) throws {
    var ids: Set<StoredResponse.ID> = []
    changeEntries { ids.insert($0.id) }
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse([.url, .mimeType, .status, .stored, .body], of: ids) {
      responses[$0.id] = copy $0
    }
    changeEntries { entry in
      guard let response = responses[entry.id] else { return }
      entry.url = response.url
      entry.mimeType = response.mimeType
      entry.status = response.status
      entry.stored = response.stored
      entry.bodyLocation = response.bodyLocation
    }
  }

  private mutating func changeEntries(_ change: (inout Entry) -> Void) {
    for place in largest.indices { change(&largest[place]) }
    for host in hosts.indices {
      for folder in hosts[host].folders.indices {
        for place in hosts[host].folders[folder].entries.indices {
          change(&hosts[host].folders[folder].entries[place])
        }
      }
    }
  }
}

extension ResponseSource {
  /// Calls `body` with those of some responses that there are, in one walk if the source finds them by
  /// their numbers.
  fileprivate func forEachResponse(
    _ projection: Projection, of ids: Set<StoredResponse.ID>,
    _ body: (borrowing StoredResponse) -> Void
  ) throws {
    guard let source = self as? any NumberedResponseSource else {
      for id in ids {
        if let response = try response(id, projection) { body(response) }
      }
      return
    }
    let numbers = ids.compactMap { if case .row(let number) = $0 { number } else { nil } }
    try source.forEachResponse(projection, numbered: numbers.sorted()) { response in
      body(response)
      return .next
    }
  }
}
