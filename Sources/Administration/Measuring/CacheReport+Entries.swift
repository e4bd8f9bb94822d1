import ResponseStorage

extension CacheReport {
  /// Looks up the details of the entries in the report.
  mutating func describeEntries(from source: any ResponseSource) throws {
    var ids: Set<StoredResponse.ID> = []
    // URLs and other details are looked up only for the entries that the report shows: keeping them
    // for all candidates would take memory that grows with the cache.
    changeEntries { ids.insert($0.id) }
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse(of: ids.sorted(), [.url, .mimeType, .status, .stored, .body]) {
      responses[$0.id] = copy $0
      return .next
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
