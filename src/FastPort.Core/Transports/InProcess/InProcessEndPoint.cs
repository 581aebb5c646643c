using System.Net;

namespace FastPort.Transports.InProcess;

/// <summary>The address of both ends: the link's name.</summary>
internal sealed class InProcessEndPoint(Endpoint endpoint) : EndPoint
{
    public override string ToString() => endpoint.ToString();
}
