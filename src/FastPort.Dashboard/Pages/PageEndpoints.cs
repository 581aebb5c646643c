using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Pages;

/// <summary>The page and what it is made of.</summary>
internal sealed class PageEndpoints : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes) =>
        routes.MapGet("/", static context => context.Response.WriteAsync("FastPort dashboard"));
}
