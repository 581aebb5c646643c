using FastPort.Connections;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

/// <summary>A further limit of a server's own for connections that are about to get their protocol.</summary>
/// <param name="TryEnter">Takes a place, or says why there is none, as a reason and in a sentence.</param>
/// <param name="Leave">
/// Gives a place back, exactly once for each that was taken; gets the connection that the protocol has, if it came so far.
/// </param>
internal sealed record ConnectionPlaces(Func<(ConnectionRejection Rejection, string Reason)?> TryEnter, Action<Connection?> Leave);
