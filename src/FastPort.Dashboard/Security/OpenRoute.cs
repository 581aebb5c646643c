namespace FastPort.Dashboard.Security;

/// <summary>Metadata of a route that anyone may request, under any Host header, such as the health checks of a load balancer.</summary>
internal sealed class OpenRoute
{
    public static OpenRoute Instance { get; } = new();
}
