import Administration
import ArgumentParser
import Rendering
import ResponseStorage

extension CacheOptions {
  /// The policy for the cache.
  func policy(at now: Timestamp, in environment: CommandEnvironment) throws -> Administration.Policy
  {
    let rules = environment.configuration.rules(forCache: name(in: environment))
    return Administration.Policy(try rules.map { try $0.rule(at: now, in: environment) })
  }
}

extension ConfigurationRule {
  /// The rule, of which ages are counted to a time.
  fileprivate func rule(
    at now: Timestamp, in environment: CommandEnvironment
  ) throws -> Administration.Policy.Rule {
    // What follows '--' is no option, so the URLs come last.
    let criteria = match.filter { $0.option != "url" } + match.filter { $0.option == "url" }
    let options = try SelectionOptions.parse(criteria.flatMap(\.words))
    var rule = Administration.Policy.Rule(
      selecting: try options.resolved(at: now, in: environment))
    (rule.name, rule.place) = (name, place)
    (rule.action, rule.expireAfter) = (action, expireAfter)
    (rule.entries, rule.bytes) = (entries, bytes)
    return rule
  }
}

extension ConfigurationRule.Criterion {
  /// The words of a command line that say the same.
  fileprivate var words: [String] {
    if option == "url", !values.isEmpty { return ["--"] + values }
    return values.isEmpty ? ["--\(option)"] : values.map { "--\(option)=\($0)" }
  }

  /// What is wrong with the criterion, if anything is.
  fileprivate func error(in environment: CommandEnvironment) -> ConfigurationError? {
    // What a file names beside the configuration would be another thing at each run.
    if option == "url-file" {
      return ConfigurationError("there is no criterion 'url-file' here", at: namePlace)
    }
    if option == "where" {
      for text in values {
        do throws(ConditionError) { _ = try Condition(text) } catch {
          return ConfigurationError(
            error.reason, at: place.place(of: error.range, in: text), hint: error.hint)
        }
      }
    }
    do {
      var silent = environment
      silent.writeMessage = { _ in }
      _ = try SelectionOptions.parse(words).resolved(at: environment.now, in: silent)
      return nil
    } catch let failure as CommandFailure {
      return ConfigurationError(failure.message, at: place, hint: failure.hint)
    } catch  where SelectionOptions.exitCode(for: error) == .success {
      // A help page is no criterion.
      return ConfigurationError("there is no criterion '\(option)' here", at: namePlace)
    } catch {
      // The first line says it; the others are about a command line.
      let message = SelectionOptions.message(for: error)
      let line = message.utf8.split(separator: UInt8(ascii: "\n")).first.map(Array.init) ?? []
      return ConfigurationError(String(decoding: line, as: UTF8.self), at: namePlace)
    }
  }
}

extension Configuration {
  /// What is wrong with the criteria of rules.
  func ruleErrors(in environment: CommandEnvironment) -> [ConfigurationError] {
    allRules.flatMap(\.match).compactMap { $0.error(in: environment) }
  }
}
