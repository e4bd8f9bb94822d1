/// The exit statuses, mostly from `sysexits.h`.
public enum ExitStatus: Int32, Sendable {
  /// Success, also if there was nothing to do.
  case done = 0
  /// The answer is "no": something named is missing, or a limit is not met.
  case no = 1
  /// Partial success.
  case partly = 3
  /// The command line is wrong.
  case usage = 64
  /// Not a cache, or a damaged one.
  case data = 65
  /// No such file.
  case noInput = 66
  /// A required program is missing.
  case unavailable = 69
  /// An error in this program or in the system.
  case software = 70
  /// An output file cannot be created.
  case cannotCreate = 73
  /// Reading or writing failed.
  case inputOutput = 74
  /// Another process is using the cache; trying again may help.
  case temporary = 75
  /// Permission denied.
  case noPermission = 77
  /// The configuration is wrong.
  case configuration = 78
}
