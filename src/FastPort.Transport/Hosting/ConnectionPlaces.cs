using FastPort.Connections;
using FastPort.Telemetry;

namespace FastPort.Hosting;

/// <summary>An additional limit of a server for connections that are about to get their protocol.</summary>
/// <param name="TryEnter">Takes a place (null), or returns why there is none, as a reason and as a sentence.</param>
/// <param name="Leave">
/// Returns a place, exactly once for each one taken. Receives the connection that the protocol uses; null if no protocol was started.
/// </param>
internal sealed record ConnectionPlaces(Func<(ConnectionRejection Rejection, string Reason)?> TryEnter, Action<Connection?> Leave);
