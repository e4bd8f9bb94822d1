import ArgumentParser
import Files

extension URLCacheAdmin {
  /// `urlcache-admin completion`: writes the completion script for a shell.
  struct Completion: AdminCommand {
    static let configuration = CommandConfiguration(
      commandName: "completion",
      abstract: "Write the completion script for bash, zsh or fish.",
      shouldDisplay: false)

    @Argument(help: "The shell: bash, zsh, fish.")
    var shell: CompletedShell

    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      // The installed scripts are generated ones with improvements.
      if let script = try installedScript() {
        try environment.write(script)
      } else {
        let script = URLCacheAdmin.completionScript(for: shell.kind)
        try environment.write(Array((script + "\n").utf8))
      }
      return .done
    }

    /// Returns the script that was installed together with the program; `nil` if there is none.
    private func installedScript() throws -> [UInt8]? {
      guard let program = CurrentProcess.programPath,
        let slash = program.utf8.lastIndex(of: UInt8(ascii: "/"))
      else { return nil }
      for path in shell.installedPaths {
        let path = "\(program[..<slash])/../share/\(path)"
        if let script = try CommandEnvironment.readFile(path) { return script }
      }
      return nil
    }
  }
}

/// The shells with completions.
enum CompletedShell: String, CaseIterable, ExpressibleByArgument {
  case bash, zsh, fish

  /// The shell in the words of ArgumentParser.
  fileprivate var kind: CompletionShell {
    switch self {
    case .bash: .bash
    case .zsh: .zsh
    case .fish: .fish
    }
  }

  /// The paths below `share` where the script may be installed.
  fileprivate var installedPaths: [String] {
    switch self {
    case .bash: ["bash-completion/completions/urlcache-admin"]
    case .zsh:
      ["zsh/site-functions/_urlcache-admin", "zsh/vendor-completions/_urlcache-admin"]
    case .fish: ["fish/vendor_completions.d/urlcache-admin.fish"]
    }
  }
}
