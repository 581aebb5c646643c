using FastPort.Dashboard.Security;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard;

/// <summary>
/// The endpoints of a feature. A singleton of the host, so that it gets its services by its constructor; the dashboard's own web
/// application asks every one for its routes.
/// </summary>
internal interface IDashboardEndpoints
{
    /// <summary>Adds the routes.</summary>
    /// <param name="routes">
    /// The web application. Mark routes that need neither token nor matching Host with <see cref="OpenRoute"/>.
    /// </param>
    void Map(IEndpointRouteBuilder routes);
}
