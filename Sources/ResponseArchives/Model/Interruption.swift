import Files

/// Throws if a signal arrived. Signals are held back so that partial files can be removed before the process ends.
///
/// Every loop over the bytes of a body or an archive calls it once per chunk.
func checkSignals() throws(FileError) {
  if HeldSignals.areWaiting { throw .interrupted(at: "body") }
}
