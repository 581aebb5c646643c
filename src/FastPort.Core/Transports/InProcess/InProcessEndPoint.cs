using System.Net;

namespace FastPort.Transports.InProcess;

/// <summary>Both ends' address: the link's name.</summary>
internal sealed class InProcessEndPoint(Endpoint endpoint) : EndPoint
{
    public override string ToString() => endpoint.ToString();
}
