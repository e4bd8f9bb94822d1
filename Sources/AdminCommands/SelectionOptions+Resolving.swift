import Administration
import Files
import ResponseStorage

extension SelectionOptions {
  /// Turns what the user wrote into a selection.
  ///
  /// - Parameter now: The time that ages are counted to.
  func resolved(at now: Timestamp, in environment: CommandEnvironment) throws -> Selection {
    var selection = Selection()
    selection.names = try names(in: environment)
    selection.prefixes = prefix.map { ByteString($0) }
    selection.globs = try glob.map { try Self.glob($0, "--glob") }
    selection.mimeTypes = try mime.map {
      try Self.glob(ByteString($0).asciiLowercased.string ?? $0, "--mime")
    }
    selection.expressions = try regex.map { pattern in
      do { return try URLExpression(pattern) } catch {
        throw CommandFailure.usage(
          "'\(pattern)' is not a regular expression: \(error)",
          hint: "quote it for the shell; '--glob' takes simple patterns")
      }
    }
    selection.hosts = host.map { ByteString($0).asciiLowercased }
    selection.methods = method.map { ByteString($0) }
    selection.statuses = status.flatMap { $0 }
    guard let basis = AgeBasis(name: ageBasis) else {
      throw CommandFailure.usage(
        "'\(ageBasis)' is not an age basis",
        hint: "take one of stored, first-stored, date, last-modified, user-info:KEY")
    }
    selection.ageBasis = basis
    for note in [storedBefore?.note, storedAfter?.note].compactMap({ $0 }) {
      environment.note(note)
    }
    let olderBound = olderThan.flatMap { Self.moment($0, before: now) }
    let newerBound = newerThan.flatMap { Self.moment($0, before: now) }
    selection.before = [olderBound, storedBefore?.time].compactMap { $0 }.min()
    selection.after = [newerBound, storedAfter?.time].compactMap { $0 }.max()
    selection.largerThan = largerThan
    selection.smallerThan = smallerThan
    selection.bodyLocations = Set(body)
    selection.partitions = Set(partition.map { ByteString($0) })
    selection.userInfo = userInfo
    if fresh { selection.freshness.insert(.fresh) }
    if stale { selection.freshness.insert(.stale) }
    if noLifetime { selection.freshness.insert(.noLifetime) }
    selection.expiresWithin = expiresWithin
    selection.validators = Set(validator)
    selection.expiryRules = expiry.rules
    selection.conditions = try conditions.map { text in
      do throws(ConditionError) { return try Condition(text) } catch {
        throw CommandFailure.usage(
          error.message(about: "the expression of '--where'", text), hint: error.hint)
      }
    }
    for note in selection.conditions.flatMap(\.notes) { environment.note(note) }
    return selection
  }

  /// The entries that were named, in whichever way; `nil` if no option or operand names any.
  private func names(in environment: CommandEnvironment) throws -> EntryNames? {
    if entries.isEmpty, id.isEmpty, urlFile.isEmpty { return nil }
    var names = try entries.map { try EntryNames.Name(operand: $0) }
    names += id.map { .id($0) }
    for file in urlFile { names += try Self.urls(in: file, environment).map { .url($0) } }
    return EntryNames(names)
  }

  /// The moment `seconds` before `now`, or the first there is: a bound that is too far back must not
  /// be no bound.
  private static func moment(_ seconds: Double, before now: Timestamp) -> Timestamp? {
    Timestamp(secondsSince1970: max(now.secondsSince1970 - seconds, -62_135_596_800))
  }

  private static func glob(_ pattern: String, _ option: String) throws -> Glob {
    if let glob = Glob(pattern) { return glob }
    throw CommandFailure.usage(
      "the pattern '\(pattern)' of '\(option)' has a class that is not closed",
      hint: "write '\\[' for a bracket that stands for itself")
  }

  /// The URLs of a file, one a line; empty lines are skipped.
  private static func urls(in file: String, _ environment: CommandEnvironment) throws
    -> [ByteString]
  {
    let limit = 256 << 20
    let bytes: [UInt8]
    if file == "-" {
      bytes = try environment.readInput(limit)
    } else {
      let list = try OpenFile(readingInput: file)
      var (all, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
      var count = try list.read(into: &buffer)
      while count > 0, all.count <= limit {
        all += buffer[..<count]
        count = try list.read(into: &buffer)
      }
      bytes = all
    }
    guard bytes.count <= limit else {
      throw CommandFailure.usage("the list of URLs '\(file)' is larger than 256 MiB")
    }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      return line.isEmpty ? nil : ByteString(Array(line))
    }
  }
}
