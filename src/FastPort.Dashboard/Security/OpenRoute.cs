namespace FastPort.Dashboard.Security;

/// <summary>Metadata of a route that everybody may ask, under any Host header, such as the health checks of a load balancer.</summary>
internal sealed class OpenRoute
{
    public static OpenRoute Instance { get; } = new();
}
