import Administration
import Bytes
import Fetching
import Files
import ResponseStorage

/// What a worker is to do, and all that it gets for it: it reads no configuration, and knows nothing of who started it.
struct WorkerOrder {
  /// The kinds of work.
  enum Task {
    /// Run the command line for a cache.
    case run
    /// Measure a cache, for metrics.
    case measure(capacity: ByteCount?, rules: [UserInfoExpiry.Rule])
    /// Search for caches.
    case find(StoreSearch)
  }

  /// What can be seen of the terminals.
  struct Terminals {
    var outputWidth: Int?
    var messageWidth: Int?
    var isOutput = false
    var isMessage = false
    var isInput = false
  }

  var task = Task.run
  /// The words of the command line, without the name of the program.
  var words: [String] = []
  /// The name of the cache in a run for all caches.
  var name: String?
  /// The path of the cache, which must belong to the user of the worker; `nil` for a worker of this user.
  var ownPath: String?
  /// The time for all evaluations, in seconds since 1970.
  var now = 0.0
  /// How long the command may run, in milliseconds; `nil` for any time.
  var millisecondsLeft: Int64?
  /// The configuration files.
  var files: [(path: String, bytes: [UInt8])] = []
  /// What `~` means in them.
  var home: String?
  /// The other names of the cache.
  var otherNames: [String] = []
  var terminals = Terminals()

  init() {}

  /// Takes what the environment of this process has for a command.
  mutating func take(_ environment: CommandEnvironment) {
    files = environment.configuration.files.map { ($0.path, $0.bytes) }
    home = environment.variable("HOME") ?? environment.homeFolder()
    terminals = Terminals(
      outputWidth: environment.terminalWidth, messageWidth: environment.messageWidth(),
      isOutput: environment.isOutputTerminal, isMessage: environment.isMessageTerminal,
      isInput: environment.isInputTerminal)
  }
}

extension WorkerOrder {
  /// The names of the values, each of which is followed by its value.
  private enum Key: String {
    case word, name, path, now, left, file, bytes, home, other, outputWidth, messageWidth, output,
      message, input, measure, capacity, ruleKey, ruleSeconds, folder, needed, depth,
      application, unmeasured
  }

  /// The encoded order.
  var payload: [UInt8] {
    var texts: [[UInt8]] = []
    func add(_ key: Key, _ value: String?) {
      if let value { texts += [Array(key.rawValue.utf8), Array(value.utf8)] }
    }
    func add(_ key: Key, if flag: Bool) { if flag { add(key, "") } }
    switch task {
    case .run: break
    case .measure(let capacity, let rules):
      add(.measure, "")
      add(.capacity, capacity.map { String($0.bytes) })
      for rule in rules {
        texts += [Array(Key.ruleKey.rawValue.utf8), rule.key.bytes]
        add(.ruleSeconds, String(rule.seconds))
      }
    case .find(let search):
      for folder in search.folders { add(.folder, folder) }
      add(.needed, if: search.needsFolders)
      add(.depth, String(search.maximumDepth))
      add(.application, search.application)
      add(.unmeasured, if: !search.measures)
    }
    for word in words { add(.word, word) }
    add(.name, name)
    add(.path, ownPath)
    // As its bits, so that it is exactly the same.
    add(.now, String(now.bitPattern))
    add(.left, millisecondsLeft.map { String($0) })
    for file in files {
      add(.file, file.path)
      texts += [Array(Key.bytes.rawValue.utf8), file.bytes]
    }
    add(.home, home)
    for name in otherNames { add(.other, name) }
    add(.outputWidth, terminals.outputWidth.map { String($0) })
    add(.messageWidth, terminals.messageWidth.map { String($0) })
    add(.output, if: terminals.isOutput)
    add(.message, if: terminals.isMessage)
    add(.input, if: terminals.isInput)
    return Payload.bytes(texts)
  }

  /// Decodes an order; `nil` if it is none.
  init?(payload: [UInt8]) {
    var payload = Payload(payload)
    var isMeasuring = false
    var capacity: ByteCount?
    var rules: [UserInfoExpiry.Rule] = []
    var ruleKey = ByteString("")
    var search = StoreSearch(below: [], needsFolders: false)
    var isSearching = false
    while let name = payload.next() {
      guard let key = Key(rawValue: String(decoding: name, as: UTF8.self)),
        let bytes = payload.next()
      else { return nil }
      let text = String(decoding: bytes, as: UTF8.self)
      switch key {
      case .word: words.append(text)
      case .name: self.name = text
      case .path: ownPath = text
      case .now: now = UInt64(text).map { Double(bitPattern: $0) } ?? 0
      case .left: millisecondsLeft = Int64(text)
      case .file: files.append((text, []))
      case .bytes:
        guard let last = files.indices.last else { return nil }
        files[last].bytes = bytes
      case .home: home = text
      case .other: otherNames.append(text)
      case .outputWidth: terminals.outputWidth = Int(text)
      case .messageWidth: terminals.messageWidth = Int(text)
      case .output: terminals.isOutput = true
      case .message: terminals.isMessage = true
      case .input: terminals.isInput = true
      case .measure: isMeasuring = true
      case .capacity: if let number = Int64(text) { capacity = ByteCount(number) }
      case .ruleKey: ruleKey = ByteString(bytes)
      case .ruleSeconds:
        rules.append(UserInfoExpiry.Rule(key: ruleKey, seconds: Int64(text) ?? 0))
      case .folder:
        search.folders.append(text)
        isSearching = true
      case .needed: search.needsFolders = true
      case .depth: search.maximumDepth = Int(text) ?? search.maximumDepth
      case .application: search.application = text
      case .unmeasured: search.measures = false
      }
    }
    if isMeasuring { task = .measure(capacity: capacity, rules: rules) }
    if isSearching { task = .find(search) }
  }
}
