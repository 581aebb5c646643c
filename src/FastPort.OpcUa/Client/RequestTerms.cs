namespace FastPort.OpcUa.Client;

/// <summary>How a request waits for its response.</summary>
/// <param name="TimeoutMilliseconds">
/// After this time it fails with BadTimeout; <see cref="Timeout.Infinite"/> for never. Defaults to the client's RequestTimeout.
/// </param>
/// <param name="BorrowsBytes">Whether byte strings of the response stay in the message's memory. Defaults to false.</param>
/// <param name="ContinuesOnLoop">
/// Whether the code that waits for the response continues on the connection's loop, before the next message is handled. Defaults to false.
/// </param>
internal readonly record struct RequestTerms(int? TimeoutMilliseconds = null, bool BorrowsBytes = false, bool ContinuesOnLoop = false);
