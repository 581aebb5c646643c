using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard;

/// <summary>Routes that are read.</summary>
internal static class ReadRoutes
{
    private static readonly string[] Methods = [HttpMethods.Get, HttpMethods.Head];

    /// <summary>
    /// Adds a route for GET and for HEAD, which monitors ask with. Kestrel sends no body in answer to HEAD, even if one is written.
    /// </summary>
    public static IEndpointConventionBuilder MapRead(this IEndpointRouteBuilder routes, string path, RequestDelegate read) =>
        routes.MapMethods(path, Methods, read);
}
